/* SPDX-License-Identifier: MIT */
#include "profile/symbols/question.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/sorted.h"
#include "common/text.h"
#include "profile/symbols/answer.h"
#include "profile/symbols/inlined.h"
#include "profile/symbols/open.h"

static void read_names(symbols_message_t *response, symbols_strings_t *strings,
                       size_t nr, symbols_place_t *place) {
  symbols_name_t names[SYMBOLS_MAX_INLINED];
  size_t i;
  int is_full = 0;

  memset(names, 0, nr * sizeof(*names));
  for (i = 0; i < nr; i++) {
    names[i].name = symbols_strings_add(strings, symbols_get_text(response));
    names[i].linked_name =
        symbols_strings_add(strings, symbols_get_text(response));
    names[i].file = symbols_strings_add(strings, symbols_get_text(response));
    names[i].line = (uint32_t)symbols_get_number(response);
    is_full |= names[i].name[0] == '\0';
  }
  if (!is_full && nr > 0)
    symbols_strings_names(strings, names, nr, place);
}

static void read_place(symbols_question_t *question, symbols_asker_t *asker) {
  symbols_message_t *response = &asker->response;
  symbols_result_t *result = &question->results[question->nr_results++];
  uint64_t nr;

  memset(result, 0, sizeof(*result));
  result->offset = symbols_get_number(response);
  result->place.address = symbols_get_number(response);
  result->first = symbols_get_number(response);
  result->end = symbols_get_number(response);
  nr = symbols_get_number(response);
  if (nr > SYMBOLS_MAX_INLINED) {
    response->is_damaged = 1;
    return;
  }
  if (result->offset < result->first || result->offset >= result->end)
    result->end = 0;
  result->place.first = result->end == 0 ? result->offset : result->first;
  result->place.is_outside = result->end == 0;
  read_names(response, &asker->strings, (size_t)nr, &result->place);
}

static void read_answer(symbols_question_t *question, symbols_asker_t *asker) {
  symbols_message_t *response = &asker->response;
  const void *build_id;
  uint64_t i, nr;

  common_text_clean(question->reason, sizeof(question->reason),
                    symbols_get_text(response));
  build_id = symbols_get_bytes(response, &question->build_id_bytes);
  if (question->build_id_bytes > sizeof(question->build_id))
    question->build_id_bytes = sizeof(question->build_id);
  memcpy(question->build_id, build_id, question->build_id_bytes);
  question->lacks_debug = symbols_get_number(response) != 0;
  nr = symbols_get_number(response);
  for (i = 0; i < nr && i < question->nr && !response->is_damaged; i++)
    read_place(question, asker);
  question->is_read = nr > 0;
  if (response->is_damaged) {
    question->nr_results = 0;
    question->is_read = 0;
    question->is_hopeless = 1;
    snprintf(question->reason, sizeof(question->reason), "damaged");
  }
  qsort(question->results, question->nr_results, sizeof(*question->results),
        common_sorted_compare);
}

static void write_request(const symbols_question_t *question,
                          symbols_asker_t *asker, int fd) {
  const symbols_mapping_t *mapping = &question->object->mapping;
  symbols_message_t *request = &asker->request;

  if (mapping->kind == SYMBOLS_JIT) {
    symbols_message_begin(request, SYMBOLS_REQUEST_JIT);
    symbols_put_number(request, question->object->is_complete != 0);
  } else {
    symbols_message_begin(request, SYMBOLS_REQUEST_NAMES);
    symbols_put_number(request, question->object->id);
    symbols_put_number(request, question->inlined != 0);
    symbols_put_text(request, mapping->path);
    symbols_put_text(request, asker->debug_path);
    symbols_put_bytes(request, mapping->build_id, mapping->build_id_bytes);
  }
  symbols_put_bytes(request, question->offsets,
                    question->nr * sizeof(uint64_t));
  request->fds[request->nr_fds++] = fd;
  if (question->object->debug >= 0)
    request->fds[request->nr_fds++] = question->object->debug;
}

static void clear_answer(symbols_question_t *question) {
  question->nr_results = 0;
  question->reason[0] = '\0';
  question->is_hopeless = question->is_late = question->is_canceled = 0;
  question->build_id_bytes = 0;
  question->lacks_debug = 0;
  question->changed = 0;
  question->is_changed = question->is_read = 0;
}

static uint64_t used_ms_of(const symbols_question_t *question) {
  return (uv_hrtime() - question->begin_ns) / 1000000;
}

/* Asks one of the workers, within the time that is left. */
static int ask_in_time(symbols_question_t *question, symbols_asker_t *asker,
                       symbols_worker_t *worker) {
  uint64_t used_ms = used_ms_of(question);
  uint64_t timeout_ms = worker->timeout_ms, left_ms = 1;
  int rc;

  if (used_ms < question->limit_ms)
    left_ms = question->limit_ms - used_ms;
  if (left_ms < timeout_ms)
    worker->timeout_ms = left_ms;
  rc = symbols_worker_ask(worker, &asker->request, &asker->response,
                          question->reason);
  worker->timeout_ms = timeout_ms;
  return rc;
}

/* Finds the debug file if the worker found none. Returns 1 if the object has
 * one now. Otherwise the answer stays as it is. */
static int find_debug_file(symbols_question_t *question) {
  symbols_object_t *object = question->object;

  if (!question->lacks_debug || question->build_id_bytes == 0 ||
      object->has_looked_for_debug)
    return 0;
  object->has_looked_for_debug = 1;
  object->debug = symbols_open_whole(object->fd, question->build_id,
                                     question->build_id_bytes);
  return object->debug >= 0;
}

/* Call it when the file is read: it may be changed until then. */
static void read_change(symbols_question_t *question, int fd) {
  const symbols_object_t *object = question->object;

  if (object->mapping.kind != SYMBOLS_VDSO)
    question->changed = symbols_open_change(fd, &question->inode);
  question->is_changed = question->changed != object->changed;
}

static void ask_worker(symbols_question_t *question, symbols_asker_t *asker,
                       symbols_worker_t *worker) {
  int fd = symbols_objects_file(&asker->objects, question->object), rc;

  clear_answer(question);
  if (fd < 0) {
    snprintf(question->reason, sizeof(question->reason), "%s",
             question->object->open_reason);
    return;
  }
  if (question->nr == 1 && question->offsets[0] == SYMBOLS_NO_OFFSET) {
    read_change(question, fd);
    question->is_canceled = 1;
    return;
  }
  write_request(question, asker, fd);
  rc = ask_in_time(question, asker, worker);
  read_change(question, fd);
  question->is_late = rc == -ETIMEDOUT;
  if (rc == 0)
    read_answer(question, asker);
  else if (rc == -ECANCELED)
    question->is_canceled = 1;
  else
    question->is_hopeless = 1;
}

/* -- the kernel ------------------------------------------------------------ */

static void name_kernel_place(symbols_question_t *question,
                              symbols_asker_t *asker, uint64_t offset) {
  symbols_result_t *result = &question->results[question->nr_results++];
  const symbols_kallsym_t *symbol;
  symbols_name_t name;

  memset(result, 0, sizeof(*result));
  result->offset = offset;
  result->place.address = offset + asker->kernel_shift;
  result->place.first = offset;
  symbol = symbols_kallsyms_find(&asker->kernel, result->place.address);
  if (symbol == NULL)
    return;
  result->first = symbol->address - asker->kernel_shift;
  result->place.first = result->first;
  result->end = symbol->end - asker->kernel_shift;
  memset(&name, 0, sizeof(name));
  name.name = name.linked_name = symbols_strings_add(
      &asker->strings, symbols_kallsyms_name(&asker->kernel, symbol));
  name.file = "";
  symbols_strings_names(&asker->strings, &name, 1, &result->place);
}

static void ask_kernel(symbols_question_t *question, symbols_asker_t *asker) {
  size_t i;

  if (question->kernel_changed)
    symbols_kallsyms_free(&asker->kernel);
  if ((!asker->has_kernel || question->kernel_changed) &&
      asker->kallsyms[0] != '\0')
    symbols_kallsyms_load(&asker->kernel, asker->kallsyms);
  asker->has_kernel = 1;
  snprintf(question->reason, sizeof(question->reason), "%s",
           asker->kernel.reason);
  qsort(question->offsets, question->nr, sizeof(*question->offsets),
        common_sorted_compare);
  for (i = 0; i < question->nr; i++)
    name_kernel_place(question, asker, question->offsets[i]);
}

/* Makes exactly one result for each offset. */
static void complete(symbols_question_t *question) {
  size_t i, k = 0, nr = question->nr_results;

  qsort(question->offsets, question->nr, sizeof(*question->offsets),
        common_sorted_compare);
  for (i = 0; i < question->nr; i++) {
    while (k < nr && question->results[k].offset < question->offsets[i])
      k++;
    if (k == nr || question->results[k].offset != question->offsets[i])
      question->results[question->nr_results++] =
          (symbols_result_t){.offset = question->offsets[i],
                             .place = {.address = question->offsets[i],
                                       .first = question->offsets[i]}};
  }
  qsort(question->results, question->nr_results, sizeof(*question->results),
        common_sorted_compare);
}

void symbols_question_ask(symbols_question_t *question, symbols_asker_t *asker,
                          symbols_worker_t *worker) {
  question->begin_ns = uv_hrtime();
  question->used_ms = 0;
  question->inlined = asker->inlined;
  clear_answer(question);
  if (question->object == NULL) {
    ask_kernel(question, asker);
    return;
  }
  question->inlined &= !question->object->has_bad_dwarf;
  ask_worker(question, asker, worker);
  if (find_debug_file(question))
    ask_worker(question, asker, worker);
  /* If the DWARF is damaged or too large, the symbol table still helps. */
  if (question->is_hopeless && question->inlined) {
    question->object->has_bad_dwarf = 1;
    question->inlined = 0;
    if (!question->is_late)
      ask_worker(question, asker, worker);
  }
  complete(question);
  question->used_ms = used_ms_of(question);
}
