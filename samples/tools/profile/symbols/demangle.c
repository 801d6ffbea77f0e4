/* SPDX-License-Identifier: MIT */
#include "profile/symbols/demangle.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

/* Longer names are shown as they are. */
#define MAX_BYTES ((size_t)16 << 10)

typedef struct sink_s {
  char *text;
  size_t size, used;
  jmp_buf full;
} sink_t;

/* A few bytes can encode a name of gigabytes. So this jumps out of the
 * demangler when there is no more room. At that point the demangler holds no
 * memory. */
static void put(const char *bytes, size_t nr, void *arg) {
  sink_t *sink = arg;
  size_t room = sink->size - 1 - sink->used;

  memcpy(sink->text + sink->used, bytes, nr < room ? nr : room);
  sink->used += nr < room ? nr : room;
  sink->text[sink->used] = '\0';
  if (nr > room)
    longjmp(sink->full, 1);
}

static int demangle_by(sink_t *sink, const char *name,
                       int (*demangle)(const char *, int, demangle_callbackref,
                                       void *)) {
  sink->used = 0;
  if (setjmp(sink->full) != 0)
    return 1;
  return demangle(name, DMGL_NO_OPTS, put, sink);
}

/* The demangler for D has no callback. */
static int demangle_d(sink_t *sink, const char *name) {
  char *text = dlang_demangle(name, DMGL_NO_OPTS);

  if (text == NULL)
    return 0;
  snprintf(sink->text, sink->size, "%s", text);
  free(text);
  return 1;
}

void symbols_demangle(char *text, size_t size, const char *name) {
  sink_t sink = {.text = text, .size = size};

  if ((name[0] == '_' || name[0] == '.' || name[0] == '$') &&
      strnlen(name, MAX_BYTES) < MAX_BYTES &&
      (demangle_by(&sink, name, rust_demangle_callback) ||
       demangle_by(&sink, name, cplus_demangle_v3_callback) ||
       demangle_d(&sink, name)))
    return;
  snprintf(text, size, "%s", name);
}
