/* SPDX-License-Identifier: MIT */
/* Writes events down. Names come from other processes, which choose them as
 * they like: in text all that a terminal could take for a command, and the
 * backslash, is escaped; in JSON all that would not be JSON. */
#include "watch_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared_memory.h"
#include "shared_text.h"

static const char *const kinds[] = {
    "fork", "exec", "exit", "mmap", "comm", "thread", "thread_exit", "lost",
};

watch_event_t *watch_event_new(watch_kind_t kind, uint64_t time, uint32_t pid,
                               uint32_t tid) {
  watch_event_t *event = shared_calloc(1, sizeof(*event));

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

  event->path = shared_calloc(size, 1);
  memcpy(event->path, path, size);
}

static void put_text_name(watch_buffer_t *buffer, const char *name) {
  size_t nr;

  if (name[0] == '\0') {
    watch_buffer_print(buffer, "?");
    return;
  }
  for (; *name != '\0'; name += nr == 0 ? 1 : nr) {
    nr = shared_text_printable(name);
    if (*name == '\n')
      watch_buffer_print(buffer, "\\n");
    else if (*name == '\t')
      watch_buffer_print(buffer, "\\t");
    else if (*name == '\\')
      watch_buffer_print(buffer, "\\\\");
    else if (nr == 0)
      watch_buffer_print(buffer, "\\x%02x", (unsigned char)*name);
    else
      watch_buffer_add(buffer, name, nr);
  }
}

static void put_text(watch_buffer_t *buffer, const watch_event_t *event) {
  watch_buffer_print(buffer, "%" PRIu64 ".%06" PRIu64 " %-6s ",
                     event->time / 1000000000, event->time / 1000 % 1000000,
                     kinds[event->kind]);
  if (event->kind == WATCH_LOST) {
    watch_buffer_print(buffer, "%" PRIu64 " record%s on CPU %u", event->lost,
                       event->lost == 1 ? "" : "s", event->cpu);
    return;
  }
  if (event->kind == WATCH_FORK || event->kind == WATCH_THREAD)
    watch_buffer_print(buffer, "%u -> ", event->ppid);
  watch_buffer_print(buffer, "%u", event->pid);
  if (event->tid != event->pid)
    watch_buffer_print(buffer, "/%u", event->tid);
  watch_buffer_print(buffer, " ");
  if (event->kind != WATCH_MMAP)
    put_text_name(buffer, event->comm);
  if (event->kind == WATCH_EXEC && event->path != NULL)
    watch_buffer_print(buffer, " ");
  if (event->path != NULL)
    put_text_name(buffer, event->path);
  if (event->kind == WATCH_MMAP)
    watch_buffer_print(buffer, " 0x%" PRIx64 "+0x%" PRIx64, event->addr,
                       event->len);
}

static void put_json_string(watch_buffer_t *buffer, const char *name) {
  char json[SHARED_TEXT_JSON_BYTES];

  watch_buffer_print(buffer, "\"");
  while (*name != '\0') {
    name += shared_text_json(json, name);
    watch_buffer_print(buffer, "%s", json);
  }
  watch_buffer_print(buffer, "\"");
}

static int is_utf8(const char *name) {
  size_t nr;

  while ((nr = shared_text_utf8(name)) > 0)
    name += nr;
  return *name == '\0';
}

/* A string of JSON has characters, a name has bytes: where they are no
 * characters they are told in hex as well. */
static void put_json_name(watch_buffer_t *buffer, const char *key,
                          const char *name) {
  if (name == NULL || name[0] == '\0')
    return;
  watch_buffer_print(buffer, ",\"%s\":", key);
  put_json_string(buffer, name);
  if (is_utf8(name))
    return;
  watch_buffer_print(buffer, ",\"%s_hex\":\"", key);
  for (; *name != '\0'; name++)
    watch_buffer_print(buffer, "%02x", (unsigned char)*name);
  watch_buffer_print(buffer, "\"");
}

static void put_json(watch_buffer_t *buffer, const watch_event_t *event) {
  watch_buffer_print(
      buffer, "{\"time\":%" PRIu64 ".%09" PRIu64 ",\"type\":\"%s\"",
      event->time / 1000000000, event->time % 1000000000, kinds[event->kind]);
  if (event->kind == WATCH_LOST) {
    watch_buffer_print(buffer, ",\"lost\":%" PRIu64 ",\"cpu\":%u}", event->lost,
                       event->cpu);
    return;
  }
  watch_buffer_print(buffer, ",\"pid\":%u", event->pid);
  if (event->tid != event->pid || event->kind == WATCH_THREAD_EXIT)
    watch_buffer_print(buffer, ",\"tid\":%u", event->tid);
  if (event->ppid != 0 && event->kind != WATCH_THREAD)
    watch_buffer_print(buffer, ",\"ppid\":%u", event->ppid);
  put_json_name(buffer, "comm", event->comm);
  put_json_name(buffer, event->kind == WATCH_EXEC ? "exe" : "path",
                event->path);
  if (event->kind == WATCH_MMAP)
    watch_buffer_print(buffer,
                       ",\"addr\":\"0x%" PRIx64 "\",\"len\":%" PRIu64
                       ",\"pgoff\":%" PRIu64,
                       event->addr, event->len, event->pgoff);
  watch_buffer_print(buffer, "}");
}

void watch_line(watch_buffer_t *buffer, const watch_event_t *event, int json) {
  if (json)
    put_json(buffer, event);
  else
    put_text(buffer, event);
  watch_buffer_add(buffer, "\n", 1);
}
