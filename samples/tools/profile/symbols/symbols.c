/* SPDX-License-Identifier: MIT */
/* The loop's side: collects offsets, asks about one object after the other, and
 * keeps the answers. It does not block and opens no file. */
#include "profile/symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/sorted.h"
#include "profile/symbols/answer.h"
#include "profile/symbols/budget.h"
#include "profile/symbols/jobs.h"
#include "profile/symbols/places.h"
#include "profile/symbols/question.h"

/* Offsets are collected for this time. Then one question is asked about
 * them. */
#define COLLECT_MS 10
#define DEFAULT_MS 10000
/* Places that are processed at once. */
#define INSTALL_NR 1024

#define MAP_CHANGED  "its /tmp/perf-PID.map was changed after it had ended"
#define FILE_CHANGED "the file was changed after it was mapped"

/* The id for mappings for which there is no room. */
#define NONE UINT32_MAX

/* Offsets of one function. */
typedef struct range_s {
  uint64_t first, end;
  uint64_t shift;             /* from an offset to its address */
  const symbols_name_t *name; /* NULL: it has none */
} range_t;

/* The state of an object, by its id. */
typedef struct state_s {
  uint64_t *wanted; /* offsets to ask for */
  size_t nr_wanted, wanted_capacity;
  uint64_t *unnamed; /* offsets without a name so far: may_be_named_later */
  size_t nr_unnamed, unnamed_capacity;
  range_t *ranges; /* by offset */
  size_t nr_ranges;
  symbols_object_t *object; /* NULL: the kernel */
  char reason[SYMBOLS_REASON_BYTES];
  int is_hopeless, is_queued;
  int strikes;           /* attempts that took too long */
  int is_late;           /* has no names, because of the time */
  uint64_t since, until; /* see symbols_set_time */
  uint64_t changed;      /* when the newest file with known names was changed */
  uint64_t inode;        /* see symbols_set_inode; or 0 */
  int is_void;           /* the names were given up */
  int is_read;
  unsigned char build_id[20];
  size_t build_id_bytes;
  struct state_s *next;
} state_t;

struct symbols_s {
  uv_timer_t timer;
  symbols_jobs_t jobs;
  symbols_job_t open_job, ask_job;
  int is_opening, is_asking, is_closing;
  symbols_asker_t asker; /* used on the pool while a job runs */
  symbols_question_t question;
  size_t installed; /* results that are processed */
  symbols_places_t places;
  symbols_place_t beyond; /* for places past the limit */
  state_t **states;       /* by id */
  size_t nr_states, state_capacity;
  state_t *first, *last; /* with offsets to ask for */
  size_t nr_waiting;     /* of these */
  range_t *gone; /* of the kernel, where nothing is looked up any more */
  size_t nr_gone, gone_capacity;
  int kernel_changed; /* kallsyms must be read again */
  symbols_budget_t budget;
  symbols_cb wait_cb, close_cb;
  void *wait_arg, *close_arg;
};

static void ask_next(symbols_t *symbols);
static void go_on(symbols_t *symbols);
static void on_install(uv_timer_t *timer);

static symbols_t *symbols_of(symbols_job_t *job, size_t offset) {
  return (symbols_t *)((char *)job - offset);
}

/* -- files ----------------------------------------------------------------- */

static void open_files(symbols_job_t *job, symbols_worker_t *worker) {
  symbols_t *symbols = symbols_of(job, offsetof(symbols_t, open_job));

  (void)worker;
  symbols_objects_open(&symbols->asker.objects);
}

static void files_opened(symbols_job_t *job);

static void start_opening(symbols_t *symbols) {
  if (symbols->is_opening || symbols->is_closing)
    return;
  symbols->is_opening = 1;
  symbols->open_job.run = open_files;
  symbols->open_job.done = files_opened;
  symbols_jobs_add(&symbols->jobs, &symbols->open_job);
}

static void files_opened(symbols_job_t *job) {
  symbols_t *symbols = symbols_of(job, offsetof(symbols_t, open_job));

  symbols->is_opening = 0;
  /* Another file may have been added after the job had checked. */
  if (symbols_objects_must_open(&symbols->asker.objects))
    start_opening(symbols);
}

/* While the pool waits for an answer, also opens files of new objects, because
 * their processes may not live long. */
static void on_tick(void *arg) {
  symbols_t *symbols = arg;

  symbols_objects_open(&symbols->asker.objects);
}

/* -- life-cycle ------------------------------------------------------------ */

static state_t *add_state(symbols_t *symbols, symbols_object_t *object) {
  state_t *state = common_calloc(1, sizeof(*state));

  *COMMON_ADD(symbols->states, symbols->nr_states, symbols->state_capacity) =
      state;
  state->object = object;
  return state;
}

symbols_t *symbols_new(uv_loop_t *loop, const symbols_options_t *options) {
  symbols_t *symbols = common_calloc(1, sizeof(*symbols));
  symbols_asker_t *asker = &symbols->asker;
  const char *kallsyms =
      options->kallsyms == NULL ? "/proc/kallsyms" : options->kallsyms;
  const char *debug_path =
      options->debug_path == NULL ? "" : options->debug_path;

  uv_timer_init(loop, &symbols->timer);
  symbols->timer.data = symbols;
  symbols_jobs_init(&symbols->jobs, loop);
  symbols_budget_init(&symbols->budget, options->timeout_ms != 0
                                            ? options->timeout_ms
                                            : DEFAULT_MS);
  symbols->jobs.worker.timeout_ms = UINT64_MAX;
  symbols->jobs.worker.tick = on_tick;
  symbols->jobs.worker.arg = symbols;
  symbols_objects_init(&asker->objects);
  symbols_strings_init(&asker->strings);
  symbols_places_init(&symbols->places);
  asker->inlined = options->inlined;
  asker->kallsyms = common_copy_text(kallsyms);
  asker->debug_path = common_copy_text(debug_path);
  asker->kernel_shift = options->kernel_shift;
  symbols->question.offsets =
      common_calloc(SYMBOLS_MAX_OFFSETS, sizeof(uint64_t));
  symbols->question.results =
      common_calloc(2 * SYMBOLS_MAX_OFFSETS, sizeof(symbols_result_t));
  add_state(symbols, NULL);
  return symbols;
}

static void on_closed(uv_handle_t *handle) {
  symbols_t *symbols = handle->data;
  symbols_cb cb = symbols->close_cb;

  if (cb != NULL)
    cb(symbols->close_arg);
}

static void on_jobs_end(void *arg) {
  symbols_t *symbols = arg;

  uv_close((uv_handle_t *)&symbols->timer, on_closed);
}

void symbols_close(symbols_t *symbols, symbols_cb cb, void *arg) {
  symbols->is_closing = 1;
  symbols->close_cb = cb;
  symbols->close_arg = arg;
  uv_timer_stop(&symbols->timer);
  symbols_jobs_end(&symbols->jobs, on_jobs_end, symbols);
}

void symbols_free(symbols_t *symbols) {
  symbols_asker_t *asker = &symbols->asker;
  size_t i;

  for (i = 0; i < symbols->nr_states; i++) {
    free(symbols->states[i]->wanted);
    free(symbols->states[i]->unnamed);
    free(symbols->states[i]->ranges);
    free(symbols->states[i]);
  }
  free(symbols->states);
  free(symbols->gone);
  symbols_places_free(&symbols->places);
  symbols_objects_free(&asker->objects);
  symbols_strings_free(&asker->strings);
  symbols_kallsyms_free(&asker->kernel);
  symbols_message_free(&asker->request);
  symbols_message_free(&asker->response);
  free(asker->kallsyms);
  free(asker->debug_path);
  free(symbols->question.offsets);
  free(symbols->question.results);
  free(symbols);
}

/* -- asking ---------------------------------------------------------------- */

static void call_back(symbols_t *symbols) {
  symbols_cb cb = symbols->wait_cb;

  symbols->wait_cb = NULL;
  if (cb != NULL)
    cb(symbols->wait_arg);
}

static void on_timer(uv_timer_t *timer) {
  symbols_t *symbols = timer->data;

  if (!symbols->is_asking)
    go_on(symbols);
}

static void queue(symbols_t *symbols, state_t *state) {
  if (!state->is_queued) {
    state->is_queued = 1;
    symbols->nr_waiting++;
    state->next = NULL;
    if (symbols->first == NULL)
      symbols->first = state;
    else
      symbols->last->next = state;
    symbols->last = state;
  }
  if (!symbols->is_asking && !symbols->is_closing &&
      !uv_is_active((uv_handle_t *)&symbols->timer))
    uv_timer_start(&symbols->timer, on_timer, COLLECT_MS, 0);
}

static void ask(symbols_job_t *job, symbols_worker_t *worker) {
  symbols_t *symbols = symbols_of(job, offsetof(symbols_t, ask_job));

  symbols_question_ask(&symbols->question, &symbols->asker, worker);
}

static uint32_t id_of(const state_t *state) {
  return state->object == NULL ? SYMBOLS_KERNEL : state->object->id;
}

static state_t *state_of(const symbols_t *symbols,
                         const symbols_object_t *object) {
  return symbols->states[object == NULL ? SYMBOLS_KERNEL : object->id];
}

static int is_jit(const state_t *state) {
  return state->object != NULL && state->object->mapping.kind == SYMBOLS_JIT;
}

/* Nothing may be looked up there: see symbols_kernel_gone. */
static int is_gone(const symbols_t *symbols, const state_t *state,
                   uint64_t offset) {
  size_t i;

  for (i = 0; state->object == NULL && i < symbols->nr_gone; i++) {
    if (offset >= symbols->gone[i].first && offset < symbols->gone[i].end)
      return 1;
  }
  return 0;
}

static void answer_unknown(symbols_entry_t *entry) {
  if (!entry->is_answered) {
    entry->place.address = entry->place.first = entry->offset;
    entry->is_answered = 1;
  }
}

/* Merges the functions of an answer with the known ones. */
static void add_ranges(state_t *state, const symbols_result_t *results,
                       size_t nr) {
  range_t *merged = common_calloc(state->nr_ranges + nr, sizeof(*merged));
  const symbols_result_t *result;
  size_t i, k = 0, count = 0;

  for (i = 0; i < nr; i++) {
    result = &results[i];
    if (result->end == 0 || result->place.nr > 1)
      continue;
    while (k < state->nr_ranges && state->ranges[k].first <= result->first)
      merged[count++] = state->ranges[k++];
    if (count > 0 && merged[count - 1].end > result->first)
      continue;
    if (k < state->nr_ranges && state->ranges[k].first < result->end)
      continue;
    merged[count].first = result->first;
    merged[count].end = result->end;
    merged[count].shift = result->place.address - result->offset;
    merged[count++].name = result->place.nr == 0 ? NULL : result->place.names;
  }
  while (k < state->nr_ranges)
    merged[count++] = state->ranges[k++];
  free(state->ranges);
  state->ranges = merged;
  state->nr_ranges = count;
}

static void go_on(symbols_t *symbols) {
  symbols->is_asking = 0;
  if (symbols->is_closing)
    return;
  while (!symbols->is_asking && symbols->first != NULL)
    ask_next(symbols);
  if (symbols->is_asking)
    return;
  symbols_budget_refill(&symbols->budget);
  call_back(symbols);
}

/* Gives up all names of an object, for good. */
static void give_up_names(symbols_t *symbols, state_t *state,
                          const char *reason) {
  symbols_entry_t *entry;
  size_t i;

  state->is_void = 1;
  state->is_read = 0;
  snprintf(state->reason, sizeof(state->reason), "%s", reason);
  state->nr_ranges = state->nr_unnamed = 0;
  for (i = 0; i < symbols->places.nr; i++) {
    entry = &symbols->places.entries[i];
    if (entry->object != id_of(state) || !entry->is_answered)
      continue;
    memset(&entry->place, 0, sizeof(entry->place));
    entry->is_answered = 0;
    answer_unknown(entry);
  }
}

/* Returns why the file that was read is not the one that was mapped, or NULL. A
 * build id is compared by the worker. */
static const char *find_change(const state_t *state,
                               const symbols_question_t *question) {
  if (question->changed == 0)
    return NULL;
  if (is_jit(state) && question->changed < state->since)
    return "its /tmp/perf-PID.map is older than the process";
  if (is_jit(state))
    return state->until != 0 && question->changed > state->until ? MAP_CHANGED
                                                                 : NULL;
  if (state->inode != 0 && question->inode != state->inode)
    return "another file had its path during the recording";
  if (state->object->mapping.build_id_bytes > 0)
    return NULL;
  if (state->until != 0 && question->changed > state->until)
    return FILE_CHANGED;
  return question->is_changed ? "the file was changed while it was measured"
                              : NULL;
}

static void check_change(symbols_t *symbols, state_t *state,
                         symbols_question_t *question) {
  const char *why = find_change(state, question);
  size_t i;

  if (why == NULL) {
    if (question->changed > state->changed)
      state->changed = question->changed;
    return;
  }
  if (!is_jit(state))
    give_up_names(symbols, state, why);
  snprintf(question->reason, sizeof(question->reason), "%s", why);
  for (i = 0; i < question->nr_results; i++)
    question->results[i].place.nr = 0;
}

/* Processes a part of the answer, so that other work of the loop can run in
 * between. */
static void install(symbols_t *symbols) {
  const symbols_question_t *question = &symbols->question;
  state_t *state = state_of(symbols, question->object);
  const symbols_result_t *result;
  symbols_entry_t *entry;
  size_t i;

  for (i = 0; (i < INSTALL_NR || symbols->is_closing) &&
              symbols->installed < question->nr_results;
       i++) {
    result = &question->results[symbols->installed++];
    entry = symbols_places_find(&symbols->places, id_of(state), result->offset);
    if (entry == NULL || entry->place.nr > 0)
      continue;
    if (state->is_void || is_gone(symbols, state, result->offset)) {
      answer_unknown(entry);
      continue;
    }
    entry->place = result->place;
    entry->is_answered = 1;
    /* Later, there may be names that are missing now: of a JIT compiler, or of
     * modules of the kernel. */
    if ((state->object == NULL || is_jit(state)) && entry->place.nr == 0)
      *COMMON_ADD(state->unnamed, state->nr_unnamed, state->unnamed_capacity) =
          entry->offset;
  }
  if (symbols->installed < question->nr_results) {
    uv_timer_start(&symbols->timer, on_install, 0, 0);
    return;
  }
  if (!symbols->asker.inlined && question->nr_results > 0 && !is_jit(state) &&
      !state->is_void)
    add_ranges(state, question->results, question->nr_results);
  go_on(symbols);
}

static void on_install(uv_timer_t *timer) {
  install(timer->data);
}

/* Asks for the same offsets again, after the objects that wait now. */
static void try_later(symbols_t *symbols, state_t *state) {
  const symbols_question_t *question = &symbols->question;
  size_t i;

  state->is_hopeless = 0;
  for (i = 0; i < question->nr; i++)
    *COMMON_ADD(state->wanted, state->nr_wanted, state->wanted_capacity) =
        question->offsets[i];
  queue(symbols, state);
}

static void answered(symbols_job_t *job) {
  symbols_t *symbols = symbols_of(job, offsetof(symbols_t, ask_job));
  symbols_question_t *question = &symbols->question;
  state_t *state = state_of(symbols, question->object);

  check_change(symbols, state, question);
  symbols_budget_use(&symbols->budget, question->used_ms);
  if (!question->is_canceled && !state->is_void) {
    state->is_read |= question->is_read;
    state->is_hopeless = question->is_hopeless;
    state->is_late = question->is_late;
    memcpy(state->reason, question->reason, sizeof(state->reason));
  }
  if (question->is_late && !state->is_void &&
      ++state->strikes < SYMBOLS_ATTEMPTS) {
    try_later(symbols, state);
    go_on(symbols);
    return;
  }
  if (question->build_id_bytes > 0) {
    memcpy(state->build_id, question->build_id, sizeof(state->build_id));
    state->build_id_bytes = question->build_id_bytes;
  }
  symbols->installed = 0;
  install(symbols);
}

static void give_up(symbols_t *symbols, state_t *state) {
  symbols_entry_t *entry;
  size_t i;

  if (!state->is_hopeless && state->wanted[0] != SYMBOLS_NO_OFFSET) {
    state->is_late = 1;
    snprintf(state->reason, sizeof(state->reason), "no time was left for it");
  }
  for (i = 0; i < state->nr_wanted; i++) {
    entry =
        symbols_places_find(&symbols->places, id_of(state), state->wanted[i]);
    if (entry != NULL)
      answer_unknown(entry);
  }
  state->nr_wanted = 0;
}

/* Objects take turns, each with as many offsets as fit into one question. */
static void ask_next(symbols_t *symbols) {
  symbols_question_t *question = &symbols->question;
  state_t *state = symbols->first;

  symbols->first = state->next;
  symbols->nr_waiting--;
  state->is_queued = 0;
  question->limit_ms = symbols_budget_share(&symbols->budget, state->strikes,
                                            symbols->nr_waiting);
  if (state->is_hopeless ||
      (state->object != NULL && question->limit_ms == 0)) {
    give_up(symbols, state);
    return;
  }
  question->object = state->object;
  question->kernel_changed = state->object == NULL && symbols->kernel_changed;
  if (question->kernel_changed)
    symbols->kernel_changed = 0;
  question->nr = state->nr_wanted < SYMBOLS_MAX_OFFSETS ? state->nr_wanted
                                                        : SYMBOLS_MAX_OFFSETS;
  state->nr_wanted -= question->nr;
  memcpy(question->offsets, state->wanted + state->nr_wanted,
         question->nr * sizeof(uint64_t));
  symbols->is_asking = 1;
  if (state->nr_wanted > 0)
    queue(symbols, state);
  symbols->ask_job.run = ask;
  symbols->ask_job.done = answered;
  symbols_jobs_add(&symbols->jobs, &symbols->ask_job);
}

/* -- for the owner --------------------------------------------------------- */

uint32_t symbols_object(symbols_t *symbols, const symbols_mapping_t *mapping) {
  symbols_object_t *object;
  int must_open = 0;

  object = symbols_objects_get(&symbols->asker.objects, mapping, &must_open);
  if (object == NULL)
    return NONE;
  if (object->id == symbols->nr_states)
    add_state(symbols, object);
  if (must_open)
    start_opening(symbols);
  return object->id;
}

static const range_t *find_range(const state_t *state, uint64_t offset) {
  const range_t *range = common_sorted_last(state->ranges, state->nr_ranges,
                                            sizeof(*range), offset);

  return range != NULL && offset < range->end ? range : NULL;
}

static void want_again(symbols_t *symbols, state_t *state, uint64_t offset) {
  *COMMON_ADD(state->wanted, state->nr_wanted, state->wanted_capacity) = offset;
  queue(symbols, state);
}

void symbols_want(symbols_t *symbols, uint32_t object, uint64_t offset) {
  const range_t *range;
  symbols_entry_t *entry;
  state_t *state;

  if (object >= symbols->nr_states ||
      symbols_places_find(&symbols->places, object, offset) != NULL)
    return;
  entry = symbols_places_add(&symbols->places, object, offset);
  if (entry == NULL)
    return;
  state = symbols->states[object];
  range = find_range(state, offset);
  if (is_gone(symbols, state, offset)) {
    answer_unknown(entry);
  } else if (range != NULL) {
    entry->place.address = offset + range->shift;
    entry->place.first = range->first;
    entry->place.nr = range->name != NULL;
    entry->place.names = range->name;
    entry->is_answered = 1;
  } else if (state->is_hopeless || state->is_void || symbols->is_closing) {
    answer_unknown(entry);
  } else {
    want_again(symbols, state, offset);
  }
}

const symbols_place_t *symbols_find(const symbols_t *symbols, uint32_t object,
                                    uint64_t offset) {
  const symbols_entry_t *entry =
      symbols_places_find(&symbols->places, object, offset);

  if (entry != NULL)
    return entry->is_answered ? &entry->place : NULL;
  return symbols->places.nr == SYMBOLS_MAX_PLACES ? &symbols->beyond : NULL;
}

const char *symbols_reason(const symbols_t *symbols, uint32_t object) {
  if (object == NONE)
    return "too many files";
  return object < symbols->nr_states ? symbols->states[object]->reason : "";
}

int symbols_is_read(const symbols_t *symbols, uint32_t object) {
  return object < symbols->nr_states && symbols->states[object]->is_read;
}

size_t symbols_nr_late(const symbols_t *symbols) {
  size_t i, nr = 0;

  for (i = 0; i < symbols->nr_states; i++)
    nr += symbols->states[i]->is_late != 0;
  return nr;
}

size_t symbols_build_id(const symbols_t *symbols, uint32_t object,
                        const unsigned char **build_id) {
  static const unsigned char none[1];

  *build_id = none;
  if (object >= symbols->nr_states)
    return 0;
  *build_id = symbols->states[object]->build_id;
  return symbols->states[object]->build_id_bytes;
}

void symbols_set_time(symbols_t *symbols, uint32_t object, uint64_t since,
                      uint64_t until) {
  state_t *state;

  if (object == SYMBOLS_KERNEL || object >= symbols->nr_states)
    return;
  state = symbols->states[object];
  state->since = since;
  state->until = until;
  if (until != 0 && state->changed > until && !state->is_void &&
      (is_jit(state) || state->object->mapping.build_id_bytes == 0))
    give_up_names(symbols, state, is_jit(state) ? MAP_CHANGED : FILE_CHANGED);
}

void symbols_set_inode(symbols_t *symbols, uint32_t object, uint64_t inode) {
  if (object < symbols->nr_states)
    symbols->states[object]->inode = inode;
}

void symbols_kernel_changed(symbols_t *symbols) {
  symbols->kernel_changed = 1;
  symbols_refresh(symbols, SYMBOLS_KERNEL);
}

void symbols_kernel_gone(symbols_t *symbols, uint64_t start, uint64_t end) {
  *COMMON_ADD(symbols->gone, symbols->nr_gone, symbols->gone_capacity) =
      (range_t){.first = start, .end = end};
}

void symbols_refresh(symbols_t *symbols, uint32_t object) {
  state_t *state;
  size_t i;

  if (object >= symbols->nr_states || symbols->is_closing)
    return;
  state = symbols->states[object];
  if (!is_jit(state) && state->object != NULL && state->changed != 0 &&
      !state->is_void)
    want_again(symbols, state, SYMBOLS_NO_OFFSET);
  for (i = 0; i < state->nr_unnamed; i++)
    want_again(symbols, state, state->unnamed[i]);
  state->nr_unnamed = 0;
}

void symbols_wait(symbols_t *symbols, symbols_cb cb, void *arg) {
  symbols->wait_cb = cb;
  symbols->wait_arg = arg;
  if (!symbols->is_asking)
    uv_timer_start(&symbols->timer, on_timer, 0, 0);
}

symbols_jobs_t *symbols_jobs(symbols_t *symbols) {
  return &symbols->jobs;
}
