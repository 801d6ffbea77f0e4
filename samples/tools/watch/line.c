/* SPDX-License-Identifier: MIT */
/* Writes events down. */
#include "watch/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/name.h"

static const char *const kinds[] = {
    "fork", "exec", "exit", "mmap", "comm", "thread", "thread_exit", "lost",
};

watch_event_t *watch_event_new(watch_kind_t kind, uint64_t time, uint32_t pid,
                               uint32_t tid) {
  watch_event_t *event = common_calloc(1, sizeof(*event));

  event->kind = kind;
  event->time = time;
  event->pid = pid;
  event->tid = tid;
  return event;
}

void watch_event_name(watch_event_t *event, const char *comm) {
  snprintf(event->comm, sizeof(event->comm), "%s", comm);
}

void watch_event_path(watch_event_t *event, const char *path) {
  size_t size = strlen(path) + 1;

  event->path = common_calloc(size, 1);
  memcpy(event->path, path, size);
}

/* A name that is not known. */
static void put_text_name(common_buffer_t *buffer, const char *name) {
  if (name[0] == '\0')
    common_buffer_print(buffer, "?");
  else
    common_name_text(buffer, name);
}

static void put_text(common_buffer_t *buffer, const watch_event_t *event) {
  common_buffer_print(buffer, "%" PRIu64 ".%06" PRIu64 " %-6s ",
                      event->time / 1000000000, event->time / 1000 % 1000000,
                      kinds[event->kind]);
  if (event->kind == WATCH_LOST) {
    common_buffer_print(buffer, "%" PRIu64 " record%s on CPU %u", event->lost,
                        event->lost == 1 ? "" : "s", event->cpu);
    return;
  }
  if (event->kind == WATCH_FORK || event->kind == WATCH_THREAD)
    common_buffer_print(buffer, "%u -> ", event->ppid);
  common_buffer_print(buffer, "%u", event->pid);
  if (event->tid != event->pid)
    common_buffer_print(buffer, "/%u", event->tid);
  common_buffer_print(buffer, " ");
  if (event->kind != WATCH_MMAP)
    put_text_name(buffer, event->comm);
  if (event->kind == WATCH_EXEC && event->path != NULL)
    common_buffer_print(buffer, " ");
  if (event->path != NULL)
    put_text_name(buffer, event->path);
  if (event->kind == WATCH_MMAP)
    common_buffer_print(buffer, " 0x%" PRIx64 "+0x%" PRIx64, event->addr,
                        event->len);
}

static void put_json_name(common_buffer_t *buffer, const char *key,
                          const char *name) {
  if (name != NULL && name[0] != '\0')
    common_name_json(buffer, key, name);
}

static void put_json(common_buffer_t *buffer, const watch_event_t *event) {
  common_buffer_print(
      buffer, "{\"time\":%" PRIu64 ".%09" PRIu64 ",\"type\":\"%s\"",
      event->time / 1000000000, event->time % 1000000000, kinds[event->kind]);
  if (event->kind == WATCH_LOST) {
    common_buffer_print(buffer, ",\"lost\":%" PRIu64 ",\"cpu\":%u}",
                        event->lost, event->cpu);
    return;
  }
  common_buffer_print(buffer, ",\"pid\":%u", event->pid);
  if (event->tid != event->pid || event->kind == WATCH_THREAD_EXIT)
    common_buffer_print(buffer, ",\"tid\":%u", event->tid);
  if (event->ppid != 0 && event->kind != WATCH_THREAD)
    common_buffer_print(buffer, ",\"ppid\":%u", event->ppid);
  put_json_name(buffer, "comm", event->comm);
  put_json_name(buffer, event->kind == WATCH_EXEC ? "exe" : "path",
                event->path);
  if (event->kind == WATCH_MMAP)
    common_buffer_print(buffer,
                        ",\"addr\":\"0x%" PRIx64 "\",\"len\":%" PRIu64
                        ",\"pgoff\":%" PRIu64,
                        event->addr, event->len, event->pgoff);
  common_buffer_print(buffer, "}");
}

void watch_line(common_buffer_t *buffer, const watch_event_t *event, int json) {
  if (json)
    put_json(buffer, event);
  else
    put_text(buffer, event);
  common_buffer_add(buffer, "\n", 1);
}
