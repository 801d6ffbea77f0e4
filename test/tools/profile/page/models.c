/* SPDX-License-Identifier: MIT */
#include "models.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD     1001001
#define MAX_FRAMES 60

static void begin(stacks_t *stacks, const char *unit) {
  stacks_init(stacks);
  stacks->event = strcmp(unit, "ns") == 0 ? "cpu-clock" : "cycles";
  stacks->unit = unit;
  stacks->start_ns = UINT64_C(1790000000123456789);
  stacks->duration_ns = UINT64_C(2500000000);
}

static uint32_t add_object(stacks_t *stacks, const char *name) {
  const stacks_object_t object = {.name = name, .path = name};

  return stacks_object(stacks, &object);
}

static uint32_t add_function(stacks_t *stacks, const char *name,
                             uint32_t object) {
  const stacks_function_t function = {name, name, "", object};

  return stacks_function(stacks, &function);
}

static uint32_t add_task(stacks_t *stacks, uint32_t pid, uint32_t tid,
                         const char *process, const char *thread) {
  const stacks_task_t task = {pid, tid, thread, process,
                              pid == 100 ? "/a.slice" : "/b.slice"};

  return stacks_task(stacks, &task);
}

void models_empty(stacks_t *stacks) {
  begin(stacks, "ns");
}

/* Adds one of the stacks below. `names` begins with the outermost function and
 * ends with NULL. A name with "~" is inlined into the one before it. */
static void add_named(stacks_t *stacks, uint32_t task, uint64_t address,
                      uint64_t samples, const char *const *names) {
  static const char *const objects[] = {"server", "libc.so.6", "[kernel]"};
  stacks_frame_t frames[16] = {{0}};
  size_t nr = 0, i;

  while (names[nr] != NULL)
    nr++;
  for (i = 0; i < nr; i++) {
    const char *name = names[nr - 1 - i];
    size_t object = strncmp(name, "sys_", 4) == 0   ? 2
                    : strncmp(name, "lib_", 4) == 0 ? 1
                                                    : 0;

    frames[i].is_inlined = name[0] == '~';
    frames[i].address = address + i * 16;
    frames[i].function = add_function(stacks, name + frames[i].is_inlined,
                                      add_object(stacks, objects[object]));
  }
  stacks_add(stacks, task, frames, nr, samples, samples * PERIOD);
}

void models_small(stacks_t *stacks) {
  static const char *const paths[][8] = {
      {"main", "serve", "parse"},
      {"main", "serve", "parse", "~scan"},
      {"main", "serve", "walk", "walk", "walk", "lib_malloc"},
      {"main", "serve", "walk", "walk"},
      {"main", "serve", "lib_write", "sys_write"},
      {"main", "idle"},
  };
  uint32_t tasks[4];
  size_t i;

  begin(stacks, "ns");
  tasks[0] = add_task(stacks, 100, 100, "server", "server");
  tasks[1] = add_task(stacks, 100, 101, "server", "worker");
  tasks[2] = add_task(stacks, 200, 200, "server", "server");
  tasks[3] = add_task(stacks, 300, 300, "client", "client");
  for (i = 0; i < 6; i++) {
    add_named(stacks, tasks[0], 0x1000, 10 + 7 * i, paths[i]);
    add_named(stacks, tasks[0], 0x9000, 5, paths[i]);
    add_named(stacks, tasks[1], 0x1000, 3 + i, paths[i]);
  }
  add_named(stacks, tasks[2], 0x1000, 20, paths[2]);
  add_named(stacks, tasks[3], 0x1000, 40, paths[4]);
  add_named(stacks, tasks[3], 0x1000, 2, paths[5]);
  /* These samples have no stack. */
  stacks_add(stacks, tasks[3], NULL, 0, 9, (uint64_t)9 * PERIOD);
}

const char *const models_hostile_names[] = {
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "--><!--<!DOCTYPE html>",
    "\"'`${alert(1)}\\\"\\u0041",
    "&lt;b&gt; &amp; &#60;",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "toString",
    "rtl \xe2\x80\xae gnp.exe \xe2\x81\xa6 end",
    "line\nbreak\ttab\rreturn \xe2\x80\xa8 \xe2\x80\xa9",
    "\xff\xfe broken \xc0\xaf utf-8 \xed\xa0\x80",
    "\033]0;title\a\033[31m escape",
    "\xf0\x9f\x94\xa5 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d "
    "\xe6\xbc\xa2\xe5\xad\x97",
    "@data@ @script@ @title@",
    "",
    NULL,
};

void models_hostile(stacks_t *stacks) {
  stacks_frame_t frames[2] = {{0}};
  char *longest = malloc(1001);
  const char *name;
  size_t i;

  begin(stacks, "ns");
  memset(longest, 'x', 1000);
  longest[1000] = '\0';
  for (i = 0; i == 0 || models_hostile_names[i - 1] != NULL; i++) {
    name = models_hostile_names[i] != NULL ? models_hostile_names[i] : longest;
    frames[0].function = frames[1].function =
        add_function(stacks, name, add_object(stacks, name));
    stacks_add(stacks, add_task(stacks, 0, 0, name, name), frames, 2, i + 1,
               (i + 1) * PERIOD);
  }
  free(longest);
}

void models_deep(stacks_t *stacks, size_t nr_frames, int is_recursion) {
  stacks_frame_t *frames = calloc(nr_frames, sizeof(*frames));
  uint32_t object, task;
  char name[32];
  size_t i;

  begin(stacks, "ns");
  task = add_task(stacks, 1, 1, "deep", "deep");
  object = add_object(stacks, "deep");
  for (i = 0; i < nr_frames; i++) {
    snprintf(name, sizeof(name), "level %zu", nr_frames - i);
    frames[i].function =
        add_function(stacks, is_recursion ? "again" : name, object);
  }
  stacks_add(stacks, task, frames, nr_frames, 1, PERIOD);
  free(frames);
}

static uint32_t next(uint32_t *seed, size_t below) {
  *seed = *seed * 1103515245u + 12345u;
  return (uint32_t)((*seed >> 8) % below);
}

static void add_functions(stacks_t *stacks, uint32_t *functions, size_t nr) {
  static const char *const words[] = {
      "parse", "expand", "tree", "insn", "alloc", "hash", "emit", "fold",
      "scan",  "token",  "walk", "copy", "find",  "page", "lock", "merge"};
  static const char *const names[] = {"cc1plus", "cc1plus", "cc1plus",
                                      "libc.so.6", "[kernel]"};
  uint32_t seed = 7;
  char name[128];
  size_t i;

  for (i = 0; i < nr; i++) {
    snprintf(name, sizeof(name),
             i % 3 == 0 ? "ns::%s_%s%zu<char, std::less<char> >::run(int)"
                        : "%s_%s%zu",
             words[next(&seed, 16)], words[next(&seed, 16)], i);
    functions[i] = add_function(stacks, name, add_object(stacks, names[i % 5]));
  }
}

void models_random(stacks_t *stacks, const char *unit, size_t nr_stacks,
                   size_t nr_functions) {
  uint32_t *functions = calloc(nr_functions, sizeof(*functions)), tasks[3];
  uint32_t path[MAX_FRAMES] = {0}, seed = 42;
  stacks_frame_t frames[MAX_FRAMES];
  size_t i, j, depth = 1, keep;
  uint64_t samples;

  begin(stacks, unit);
  add_functions(stacks, functions, nr_functions);
  tasks[0] = add_task(stacks, 100, 100, "cc1plus", "cc1plus");
  tasks[1] = add_task(stacks, 200, 200, "cc1plus", "cc1plus");
  tasks[2] = add_task(stacks, 300, 300, "make", "make");
  for (i = 0; i < nr_stacks; i++) {
    /* Each stack begins with outer frames of the stack before it. */
    keep = next(&seed, depth + 1);
    depth = keep + 1 + next(&seed, 8);
    depth = depth < MAX_FRAMES ? depth : MAX_FRAMES;
    for (j = keep; j < depth; j++)
      path[j] = (j > 0 ? path[j - 1] * 7 : 0) + next(&seed, 4) * next(&seed, 3);
    memset(frames, 0, sizeof(frames));
    for (j = 0; j < depth; j++) {
      path[j] %= (uint32_t)nr_functions;
      frames[depth - 1 - j].function = functions[path[j]];
      frames[depth - 1 - j].address = path[j] * 16 + next(&seed, 2);
      frames[depth - 1 - j].is_inlined = j > 0 && path[j] % 11 == 0;
    }
    samples = next(&seed, 10) == 0 ? 1 + next(&seed, 200) : 1;
    stacks_add(stacks, tasks[next(&seed, 3)], frames, depth, samples,
               strcmp(unit, "ns") == 0
                   ? samples * PERIOD
                   : samples * 1000000 + next(&seed, 900000));
  }
  free(functions);
}
