/* SPDX-License-Identifier: MIT */
/* Writes times, CPUs and threads the same way everywhere. Knows no records. */
#include "common/line.h"

#include "common/name.h"

#define NS_PER_S UINT64_C(1000000000)

void shared_line_time(shared_buffer_t *buffer, uint64_t time) {
  shared_buffer_number(buffer, time / NS_PER_S, 1);
  shared_buffer_text(buffer, ".");
  shared_buffer_number(buffer, time / 1000 % 1000000, 6);
}

void shared_line_begin(shared_buffer_t *buffer, uint64_t time, uint32_t cpu) {
  shared_line_time(buffer, time);
  shared_buffer_text(buffer, " [");
  shared_buffer_number(buffer, cpu, 3);
  shared_buffer_text(buffer, "] ");
}

static void put_id(shared_buffer_t *buffer, const char *before, uint32_t id) {
  shared_buffer_text(buffer, before);
  if (id == UINT32_MAX)
    shared_buffer_text(buffer, "-1");
  else
    shared_buffer_number(buffer, id, 1);
}

void shared_line_task(shared_buffer_t *buffer, const char *comm, uint32_t pid,
                      uint32_t tid) {
  shared_name_text(buffer, comm[0] != '\0' ? comm : "?");
  put_id(buffer, " ", pid);
  if (tid != pid)
    put_id(buffer, "/", tid);
}

void shared_line_lost(shared_buffer_t *buffer, uint64_t lost) {
  shared_buffer_text(buffer, "lost ");
  shared_buffer_number(buffer, lost, 1);
  shared_buffer_text(buffer, lost == 1 ? " record\n" : " records\n");
}

static void put_full_time(shared_buffer_t *buffer, uint64_t time) {
  shared_buffer_number(buffer, time / NS_PER_S, 1);
  shared_buffer_text(buffer, ".");
  shared_buffer_number(buffer, time % NS_PER_S, 9);
}

static void put_key(shared_buffer_t *buffer, const char *key) {
  shared_buffer_text(buffer, ",\"");
  shared_buffer_text(buffer, key);
  shared_buffer_text(buffer, "\":");
}

void shared_line_json(shared_buffer_t *buffer, uint64_t time,
                      const char *type) {
  shared_buffer_text(buffer, "{\"time\":");
  put_full_time(buffer, time);
  put_key(buffer, "type");
  shared_buffer_text(buffer, "\"");
  shared_buffer_text(buffer, type);
  shared_buffer_text(buffer, "\"");
}

void shared_line_json_time(shared_buffer_t *buffer, const char *key,
                           uint64_t time) {
  put_key(buffer, key);
  put_full_time(buffer, time);
}

void shared_line_json_number(shared_buffer_t *buffer, const char *key,
                             uint64_t number) {
  put_key(buffer, key);
  shared_buffer_number(buffer, number, 1);
}

void shared_line_json_id(shared_buffer_t *buffer, const char *key,
                         uint32_t id) {
  put_key(buffer, key);
  put_id(buffer, "", id);
}
