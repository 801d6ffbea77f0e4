/* SPDX-License-Identifier: MIT */
/* The worker's side of unwind_queue.c: remembers the files and the mappings of
 * processes, and unwinds their samples. */
#include "profile/symbols/unwind_serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/symbols/unwind.h"

/* When a limit is reached, the worker forgets everything. The program then
 * sends again what it needs. */
#define MAX_FILES     8192
#define MAX_PROCESSES 256
#define MAX_MAPPINGS  65536
#define MAX_REGS      64

typedef struct process_s {
  uint64_t key, version;
  unwind_process_t *process; /* NULL: none */
} process_t;

typedef struct file_s {
  int is_known;
  unwind_file_t *file; /* NULL: it cannot be read */
} file_t;

static process_t processes[MAX_PROCESSES];
static file_t files[MAX_FILES];

static void forget_all(void) {
  size_t i;

  for (i = 0; i < MAX_PROCESSES; i++)
    unwind_process_free(processes[i].process);
  memset(processes, 0, sizeof(processes));
  for (i = 0; i < MAX_FILES; i++)
    unwind_file_free(files[i].file);
  memset(files, 0, sizeof(files));
}

/* Returns the process of a key, or NULL. */
static process_t *find(uint64_t key) {
  size_t i;

  for (i = 0; i < MAX_PROCESSES; i++) {
    if (processes[i].process != NULL && processes[i].key == key)
      return &processes[i];
  }
  return NULL;
}

/* Returns the process of a key, and adds it if it is new. */
static process_t *find_or_add(uint64_t key, int machine) {
  process_t *process = find(key);
  size_t i;

  for (i = 0; process == NULL && i < MAX_PROCESSES; i++) {
    if (processes[i].process == NULL)
      process = &processes[i];
  }
  if (process != NULL && process->process == NULL) {
    process->key = key;
    process->version = 0;
    process->process = unwind_process_new(machine);
  }
  return process != NULL && process->process != NULL ? process : NULL;
}

/* Reads the mappings of a request. Returns an array of *nr mappings; free it
 * with free(). Adds the missing files to the response. */
static unwind_mapping_t *take_mappings(symbols_message_t *request,
                                       symbols_message_t *response,
                                       size_t *nr) {
  unwind_mapping_t *mappings;
  uint64_t file;
  size_t i;

  *nr = (size_t)symbols_get_number(request);
  if (*nr > MAX_MAPPINGS)
    *nr = 0;
  mappings = calloc(*nr + 1, sizeof(*mappings));
  for (i = 0; mappings != NULL && i < *nr; i++) {
    mappings[i].start = symbols_get_number(request);
    mappings[i].end = symbols_get_number(request);
    mappings[i].pgoff = symbols_get_number(request);
    file = symbols_get_number(request);
    if (file >= MAX_FILES)
      continue;
    if (!files[file].is_known)
      symbols_put_number(response, file);
    mappings[i].file = files[file].file;
  }
  return mappings;
}

void symbols_serve_unwind_map(symbols_message_t *request,
                              symbols_message_t *response) {
  uint64_t key = symbols_get_number(request);
  uint64_t version = symbols_get_number(request);
  int machine = (int)symbols_get_number(request);
  process_t *process = find_or_add(key, machine);
  unwind_mapping_t *mappings;
  size_t nr;

  if (process == NULL) {
    forget_all();
    process = find_or_add(key, machine);
  }
  mappings = take_mappings(request, response, &nr);
  if (process != NULL && mappings != NULL && response->body.used == 0 &&
      unwind_process_map(process->process, mappings, nr) == 0)
    process->version = version;
  free(mappings);
}

void symbols_serve_unwind_files(symbols_message_t *request,
                                symbols_message_t *response) {
  int machine = (int)symbols_get_number(request), fd;
  const void *build_id;
  uint64_t number, has_fd;
  size_t left, size;

  (void)response;
  for (left = (size_t)symbols_get_number(request);
       left > 0 && !request->is_damaged; left--) {
    number = symbols_get_number(request);
    has_fd = symbols_get_number(request);
    build_id = symbols_get_bytes(request, &size);
    fd = has_fd ? symbols_get_fd(request) : -1;
    if (number < MAX_FILES && !files[number].is_known) {
      files[number].is_known = 1;
      files[number].file =
          fd < 0 ? NULL : unwind_file_new(fd, machine, build_id, size);
      if (files[number].file != NULL)
        fd = -1;
    }
    if (fd >= 0)
      close(fd);
  }
}

static void unwind_one(const process_t *process, symbols_message_t *request,
                       symbols_message_t *response) {
  uint64_t values[MAX_REGS];
  uvperf_regs_t regs = {.regs = values};
  unwind_stack_t stack;
  const void *bytes, *copy;
  size_t size;
  int is_full;

  regs.abi = symbols_get_number(request);
  regs.mask = symbols_get_number(request);
  bytes = symbols_get_bytes(request, &size);
  regs.nr = size / sizeof(*values);
  if (regs.nr > MAX_REGS)
    regs.nr = MAX_REGS;
  memcpy(values, bytes, (size_t)regs.nr * sizeof(*values));
  copy = symbols_get_bytes(request, &size);
  is_full = symbols_get_number(request) != 0;
  unwind_stack(process->process, &regs, copy, size, is_full, &stack);
  symbols_put_number(response, stack.end);
  symbols_put_number(response, stack.is_without_file != 0);
  symbols_put_bytes(response, stack.ips, stack.nr * sizeof(*stack.ips));
  symbols_put_bytes(response, stack.is_return, stack.nr);
}

void symbols_serve_unwind(symbols_message_t *request,
                          symbols_message_t *response) {
  uint64_t key = symbols_get_number(request);
  uint64_t version = symbols_get_number(request);
  const process_t *process = find(key);
  uint64_t left = symbols_get_number(request);

  if (process == NULL || process->version != version)
    return;
  while (left-- > 0 && !request->is_damaged)
    unwind_one(process, request, response);
}
