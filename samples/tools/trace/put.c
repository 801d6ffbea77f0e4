/* SPDX-License-Identifier: MIT */
/* Writes times, CPUs and threads. Does not depend on records. */
#include "trace/put.h"

#include "common/name.h"

#define NS_PER_S UINT64_C(1000000000)

/* With nanoseconds the time would have too many digits to read. */
void trace_put_begin(common_buffer_t *buffer, uint64_t time, uint32_t cpu) {
  common_buffer_number(buffer, time / NS_PER_S, 1);
  common_buffer_text(buffer, ".");
  common_buffer_number(buffer, time / 1000 % 1000000, 6);
  common_buffer_text(buffer, " [");
  common_buffer_number(buffer, cpu, 3);
  common_buffer_text(buffer, "] ");
}

static void put_id(common_buffer_t *buffer, const char *before, uint32_t id) {
  common_buffer_text(buffer, before);
  if (id == UINT32_MAX)
    common_buffer_text(buffer, "-1");
  else
    common_buffer_number(buffer, id, 1);
}

void trace_put_task(common_buffer_t *buffer, const char *comm, uint32_t pid,
                    uint32_t tid) {
  common_name_text(buffer, comm[0] != '\0' ? comm : "?");
  put_id(buffer, " ", pid);
  if (tid != pid)
    put_id(buffer, "/", tid);
}

void trace_put_lost(common_buffer_t *buffer, uint64_t lost) {
  common_buffer_text(buffer, "lost ");
  common_buffer_number(buffer, lost, 1);
  common_buffer_text(buffer, lost == 1 ? " record\n" : " records\n");
}

static void put_key(common_buffer_t *buffer, const char *key) {
  common_buffer_text(buffer, ",\"");
  common_buffer_text(buffer, key);
  common_buffer_text(buffer, "\":");
}

void trace_put_json(common_buffer_t *buffer, uint64_t time, const char *type) {
  common_buffer_text(buffer, "{\"time\":");
  common_buffer_number(buffer, time / NS_PER_S, 1);
  common_buffer_text(buffer, ".");
  common_buffer_number(buffer, time % NS_PER_S, 9);
  put_key(buffer, "type");
  common_buffer_text(buffer, "\"");
  common_buffer_text(buffer, type);
  common_buffer_text(buffer, "\"");
}

void trace_put_json_number(common_buffer_t *buffer, const char *key,
                           uint64_t number) {
  put_key(buffer, key);
  common_buffer_number(buffer, number, 1);
}

void trace_put_json_id(common_buffer_t *buffer, const char *key, uint32_t id) {
  put_key(buffer, key);
  put_id(buffer, "", id);
}
