/* SPDX-License-Identifier: MIT */
#include "profile/symbols/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/proc.h"
#include "common/sorted.h"
#include "profile/symbols/answer.h"
#include "profile/symbols/elf_file.h"
#include "profile/symbols/functions.h"
#include "profile/symbols/gopclntab.h"
#include "profile/symbols/inlined.h"
#include "profile/symbols/plt.h"
#include "profile/symbols/unnamed.h"

/* Files stay open for later questions, if they use little memory. */
#define MAX_OPEN     8
#define MAX_OPEN_KIB ((uint64_t)256 << 10)
/* The response must not become too large, so places that do not fit get no
 * names. */
#define MAX_BODY (SYMBOLS_WIRE_BYTES / 2)

typedef struct question_s {
  uint64_t key, want_inlined;
  const char *path, *debug_path;
  const unsigned char *build_id;
  size_t build_id_bytes;
  const char *offsets;
  size_t nr;
} question_t;

/* Places that are in the file, in the order of their addresses. */
typedef struct places_s {
  uint64_t *addresses;
  uint64_t *offsets;
  size_t nr;
} places_t;

static symbols_elf_file_t open_files[MAX_OPEN];
static uint64_t clock_of_use;

/* Returns the open file of a key. If there is none, returns the file to close
 * for it. */
static symbols_elf_file_t *find_open(uint64_t key) {
  symbols_elf_file_t *oldest = &open_files[0];
  size_t i;

  for (i = 0; i < MAX_OPEN; i++) {
    if (open_files[i].key == key)
      return &open_files[i];
    if (open_files[i].used < oldest->used)
      oldest = &open_files[i];
  }
  return oldest;
}

static void close_if_large(void) {
  size_t i;

  if (common_proc_memory((int32_t)getpid()) <= MAX_OPEN_KIB)
    return;
  for (i = 0; i < MAX_OPEN; i++)
    symbols_elf_close(&open_files[i]);
}

/* Takes the fds of the request. A file is opened again with its debug file. */
static symbols_elf_file_t *open_file(const question_t *question,
                                     symbols_message_t *request, char *reason,
                                     size_t size) {
  symbols_elf_file_t *file = find_open(question->key);
  int fd, debug_fd;

  if (file->key != question->key || (request->nr_fds > 1 && !file->had_debug)) {
    symbols_elf_close(file);
    fd = symbols_get_fd(request);
    debug_fd = symbols_get_fd(request);
    if (symbols_elf_open(file, fd, debug_fd, question->path,
                         question->debug_path, reason, size) != 0)
      return NULL;
    file->key = question->key;
  }
  file->used = ++clock_of_use;
  return file;
}

/* The outermost name is the function's symbol, not its DWARF name. So the name
 * is the same with and without inlined functions. */
static void answer_names(symbols_message_t *response,
                         const symbols_function_t *function,
                         const symbols_frames_t *frames) {
  const symbols_frame_t *frame;
  const char *name;
  size_t i;

  for (i = 0; i < frames->nr; i++) {
    frame = &frames->frames[i];
    name = frame->name == NULL ? "[inlined]" : frame->name;
    if (i == frames->nr - 1 && function->name != NULL)
      name = function->name;
    symbols_answer_name(response, name, "",
                        frame->file == NULL ? "" : frame->file, frame->line);
  }
  if (frames->nr == 0)
    symbols_answer_name(response, function->name,
                        function->is_plt ? "@plt" : "", "", 0);
}

static void answer_place(symbols_message_t *response, uint64_t offset,
                         uint64_t address, const symbols_function_t *function,
                         const symbols_frames_t *frames) {
  size_t is_named = function->name != NULL || frames->nr > 0;
  uint64_t first = offset - (address - function->start);
  uint64_t end = offset + (function->end - address);

  if (response->body.used > MAX_BODY) {
    symbols_answer_place(response, offset, address, 0, 0, 0);
    return;
  }
  symbols_answer_place(response, offset, address, first,
                       function->end == 0 ? 0 : end,
                       frames->nr > 0 ? frames->nr : is_named);
  if (is_named)
    answer_names(response, function, frames);
}

typedef struct pair_s {
  uint64_t address, offset;
} pair_t;

static void find_places(const symbols_elf_file_t *file,
                        const question_t *question, places_t *places) {
  pair_t *pairs = common_calloc(question->nr + 1, sizeof(*pairs));
  size_t i;

  places->addresses = common_calloc(question->nr + 1, sizeof(uint64_t));
  places->offsets = common_calloc(question->nr + 1, sizeof(uint64_t));
  places->nr = 0;
  for (i = 0; i < question->nr; i++) {
    pair_t *pair = &pairs[places->nr];

    memcpy(&pair->offset, question->offsets + i * sizeof(uint64_t),
           sizeof(uint64_t));
    if (symbols_elf_address(file, pair->offset, &pair->address) == 0)
      places->nr++;
  }
  qsort(pairs, places->nr, sizeof(*pairs), common_sorted_compare);
  for (i = 0; i < places->nr; i++) {
    places->addresses[i] = pairs[i].address;
    places->offsets[i] = pairs[i].offset;
  }
  free(pairs);
}

/* Says why functions have no names. A stripped file still has symbols of the
 * functions that it exports. */
static const char *reason_of(const symbols_elf_file_t *file, size_t nr_found) {
  if (nr_found == 0 && file->nr_ranges == 0)
    return "stripped: it has no symbols";
  if (file->has_unnamed && file->lacks_debug && !file->has_symtab)
    return "stripped: only some of its functions have symbols";
  return "";
}

/* Finds what no symbol holds, and moves the address to it. */
static void find_unheld(symbols_elf_file_t *file, uint64_t *address,
                        symbols_function_t *function) {
  if (symbols_elf_is_before_sigreturn(file, *address)) {
    (*address)++;
    symbols_functions_find(file, address, 1, function);
  } else {
    symbols_plt_find(file, *address, function);
  }
}

static void answer_all(symbols_elf_file_t *file, const question_t *question,
                       places_t *places, symbols_message_t *response) {
  size_t i, nr = places->nr, found;
  symbols_function_t *functions = common_calloc(nr + 1, sizeof(*functions));
  symbols_frames_t *frames = common_calloc(nr + 1, sizeof(*frames));
  const unsigned char *build_id;
  GElf_Addr where;
  int bytes;

  found = symbols_functions_find(file, places->addresses, nr, functions);
  for (i = 0; i < nr; i++) {
    if (functions[i].name == NULL)
      find_unheld(file, &places->addresses[i], &functions[i]);
  }
  found += symbols_gopclntab_find(file, places->addresses, nr, functions);
  symbols_unnamed_find(file, places->addresses, nr, functions);
  if (question->want_inlined != 0)
    symbols_inlined_find(file, places->addresses, nr, frames);
  bytes = dwfl_module_build_id(file->module, &build_id, &where);
  for (i = 0; i < nr; i++)
    file->has_unnamed |= functions[i].name == NULL && frames[i].nr == 0;
  symbols_answer_begin(response, reason_of(file, found), build_id,
                       bytes > 0 ? (size_t)bytes : 0, file->lacks_debug, nr);
  for (i = 0; i < nr; i++)
    answer_place(response, places->offsets[i], places->addresses[i],
                 &functions[i], &frames[i]);
  symbols_inlined_free(frames, nr);
  free(frames);
  free(functions);
}

static int has_build_id(const symbols_elf_file_t *file,
                        const question_t *question) {
  const unsigned char *build_id;
  GElf_Addr where;
  int nr = dwfl_module_build_id(file->module, &build_id, &where);

  return question->build_id_bytes == 0 ||
         (nr > 0 && (size_t)nr >= question->build_id_bytes &&
          memcmp(build_id, question->build_id, question->build_id_bytes) == 0);
}

static void read_question(symbols_message_t *request, question_t *question) {
  size_t size;

  question->key = symbols_get_number(request);
  question->want_inlined = symbols_get_number(request);
  question->path = symbols_get_text(request);
  question->debug_path = symbols_get_text(request);
  question->build_id = symbols_get_bytes(request, &question->build_id_bytes);
  question->offsets = symbols_get_bytes(request, &size);
  question->nr = size / sizeof(uint64_t);
}

void symbols_names_answer(symbols_message_t *request,
                          symbols_message_t *response) {
  question_t question = {0};
  symbols_elf_file_t *file;
  char reason[128] = "";
  places_t places;

  read_question(request, &question);
  file = open_file(&question, request, reason, sizeof(reason));
  if (file == NULL) {
    symbols_answer_begin(response, reason, NULL, 0, 0, 0);
  } else if (!has_build_id(file, &question)) {
    symbols_answer_begin(
        response, "the file was replaced: its build id differs", NULL, 0, 0, 0);
  } else {
    find_places(file, &question, &places);
    answer_all(file, &question, &places, response);
    free(places.addresses);
    free(places.offsets);
  }
  close_if_large();
}
