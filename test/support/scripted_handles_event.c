/* SPDX-License-Identifier: MIT */
#include <fcntl.h>

#include "fake_pool.h"
#include "live.h"
#include "scripted_event.h"
#include "scripted_handles_run.h"
#include "scripted_kernel.h"
#include "sys/sys.h"

static struct {
  struct perf_event_attr attr;
  uvperf_event_options_t options;
  int is_given; /* an fd, by "give_fd" */
  /* Of "work": what the event counts in each call. */
  fake_event_t *worker;
  uint64_t work[3];
} event_run;

void handles_event_begin(void) {
  static const uvperf_event_options_t init = UVPERF_EVENT_OPTIONS_INIT;

  memset(&event_run, 0, sizeof(event_run));
  event_run.options = init;
}

static void do_attr(const step_t *step) {
  static const step_name_t kinds[] = {
      {"cycles", PERF_COUNT_HW_CPU_CYCLES},
      {"instructions", PERF_COUNT_HW_INSTRUCTIONS}};
  static const step_name_t software[] = {
      {"task_clock", PERF_COUNT_SW_TASK_CLOCK},
      {"cpu_clock", PERF_COUNT_SW_CPU_CLOCK},
      {"page_faults", PERF_COUNT_SW_PAGE_FAULTS}};
  struct perf_event_attr *attr = &event_run.attr;
  const char *kind = step_word(step, 1);

  if (strcmp(kind, "comm") == 0 || strcmp(kind, "recorder") == 0)
    scripted_event_attr(attr);
  else if (strcmp(kind, "write") == 0)
    live_write_attr(attr, PERF_SAMPLE_IP);
  else if (strcmp(kind, "tracepoint") == 0)
    uvperf_attr_tracepoint(attr, 1);
  else if (strcmp(kind, "cycles") == 0 || strcmp(kind, "instructions") == 0)
    uvperf_attr_hardware(attr, (enum perf_hw_id)step_meaning(kinds, 2, kind));
  else
    uvperf_attr_software(attr,
                         (enum perf_sw_ids)step_meaning(software, 3, kind));
  if (strcmp(kind, "recorder") == 0) {
    attr->watermark = 0;
    attr->wakeup_watermark = 0;
    attr->write_backward = 1;
  }
  step_set_fields(step, 2, attr);
}

static void set_option(char *word) {
  static const step_name_t flags[] = {{"identify", UVPERF_EVENT_IDENTIFY},
                                      {"no_ring", UVPERF_EVENT_NO_RING},
                                      {"cpu", UVPERF_EVENT_CPU},
                                      {"cgroup", UVPERF_EVENT_CGROUP},
                                      {"pidfd", UVPERF_EVENT_PIDFD}};
  uvperf_event_options_t *options = &event_run.options;
  uint64_t value;

  if (strchr(word, '=') == NULL) {
    options->flags |= (uint32_t)step_meaning(flags, COUNT_OF(flags), word);
    return;
  }
  if (strncmp(word, "leader=h", 8) == 0) {
    options->leader =
        &handles_run.handles[step_number(word + 8) % HANDLES_MOST].event;
    return;
  }
  value = step_split_value(word);
  if (strcmp(word, "cpu") == 0)
    options->cpu = (int32_t)value;
  else if (strcmp(word, "pid") == 0)
    options->pid = (int32_t)value;
  else if (strcmp(word, "cgroup") == 0)
    options->cgroup = (int32_t)value;
  else if (strcmp(word, "flags") == 0)
    options->flags = (uint32_t)value;
  else if (strcmp(word, "ring_bytes") == 0)
    options->ring_bytes = (size_t)value;
  else
    step_fail(word, "is no option");
}

static void do_options(const step_t *step) {
  static const uvperf_event_options_t init = UVPERF_EVENT_OPTIONS_INIT;
  size_t i;

  if (!step_is(step, 0, "more_options"))
    event_run.options = init;
  for (i = 1; i < step->nr; i++)
    if (step_is(step, i, "later"))
      event_run.options.open_cb = handles_on_open;
    else if (step_is(step, i, "now"))
      event_run.options.open_cb = NULL;
    else if (step_is(step, i, "program"))
      event_run.options.open = kernel_opener;
    else
      set_option(step->words[i]);
  if (event_run.options.open_cb != NULL)
    fake_pool_hold();
}

/* An open event whose fd the next handle gets. */
static void do_give_fd(const step_t *step) {
  uvperf_event_options_t *options = &event_run.options;

  event_run.is_given = 1;
  options->flags |= UVPERF_EVENT_FD;
  options->fd = uvperf__sys_open(&event_run.attr, 0, -1, -1, 0);
  assert_true(options->fd >= 0);
  assert_int_equal(fcntl(options->fd, F_SETFD, 0), 0);
}

/* The fd is the caller's again: open and not mapped. */
static void take_back(void) {
  size_t nr = kernel_nr_of_fd(event_run.options.fd);

  assert_true(nr < KERNEL_EVENTS);
  assert_null(kernel_events[nr]->page);
  assert_int_equal(uvperf__sys_close(event_run.options.fd), 0);
  event_run.is_given = 0;
}

static void do_take_back(const step_t *step) {
  if (handles_run.closed[0] ||
      uvperf_event_fd(&handles_run.handles[0].event) != event_run.options.fd)
    take_back();
}

void handles_event_end(void) {
  if (event_run.is_given && handles_run.nr == 0)
    take_back();
}

static void do_fallbacks(const step_t *step) {
  event_run.options.fallbacks = step_fallbacks(step);
}

static void do_init(const step_t *step) {
  handles_opened(uvperf_event_init(&kernel_loop, &handles_next()->event,
                                   &event_run.attr, &event_run.options,
                                   handles_error()));
}

static void do_refresh(const step_t *step) {
  row_returned(uvperf_event_refresh(
      handles_event(step, 1), (uint32_t)step_value(step, 2), handles_error()));
}

static void do_pause(const step_t *step) {
  row_returned(uvperf_event_pause(handles_event(step, 1),
                                  step_is(step, 0, "pause"), handles_error()));
}

static void do_modify(const step_t *step) {
  uvperf_event_t *event = handles_event(step, 1);
  struct perf_event_attr attr = *uvperf_handle_attr(&event->handle, 0);

  step_set_fields(step, 2, &attr);
  row_returned(uvperf_event_modify(event, &attr, handles_error()));
}

static void do_output(const step_t *step) {
  row_returned(uvperf_event_set_output(
      handles_event(step, 1),
      step_is(step, 2, "none") ? NULL : handles_event(step, 2),
      handles_error()));
}

static void say_count_and_id(const uvperf_count_t *count) {
  say_count(count);
  if (count->id != 0)
    say(", id %llu", (unsigned long long)count->id);
}

static void do_cloexec(const step_t *step) {
  say("%d",
      fcntl(uvperf_event_fd(handles_event(step, 1)), F_GETFD) == FD_CLOEXEC);
}

static void do_own_id(const step_t *step) {
  uint64_t id;

  assert_int_equal(uvperf_event_id(handles_event(step, 1), &id), 0);
  say("%llu", (unsigned long long)id);
}

static void do_read(const step_t *step) {
  uvperf_count_t count;

  row_returned(
      uvperf_event_read(handles_event(step, 1), &count, handles_error()));
  if (row_result.code == 0)
    say_count_and_id(&count);
}

static void do_group(const step_t *step) {
  uvperf_event_t *events[HANDLES_MOST];
  uvperf_count_t counts[HANDLES_MOST];
  size_t nr = step->nr - 1, i;

  for (i = 0; i < nr; i++)
    events[i] = handles_event(step, i + 1);
  row_returned(uvperf_event_read_group(events, nr, counts, handles_error()));
  for (i = 0; i < nr && row_result.code == 0; i++)
    say_count_and_id(&counts[i]);
}

static void do_work(const step_t *step) {
  size_t i;

  event_run.worker = kernel_event(step_word(step, 1));
  for (i = 0; i < COUNT_OF(event_run.work); i++)
    event_run.work[i] = step_value(step, i + 2);
}

/* The measured function: the event has counted more. */
static void work(void *arg) {
  uint64_t *words = (uint64_t *)(uintptr_t)event_run.worker->read_data;
  size_t i;

  say_next();
  say("called");
  for (i = 0; i < COUNT_OF(event_run.work); i++)
    words[i] += event_run.work[i];
}

/* A failure changes no count. */
static void do_measure(const step_t *step) {
  uvperf_count_t counts[HANDLES_MOST], before[HANDLES_MOST];
  size_t nr = step_nth(step, 2), i;

  memset(counts, 0xa5, sizeof(counts));
  memcpy(before, counts, sizeof(counts));
  row_returned(uvperf_event_measure(handles_event(step, 1), work, NULL, counts,
                                    nr, handles_error()));
  if (row_result.code != 0)
    assert_memory_equal(counts, before, sizeof(counts));
  for (i = 0; i < nr && row_result.code == 0; i++)
    say_count(&counts[i]);
}

const scripted_verb_t handles_event_verbs[] = {{"attr", do_attr},
                                               {"options", do_options},
                                               {"more_options", do_options},
                                               {"fallbacks", do_fallbacks},
                                               {"give_fd", do_give_fd},
                                               {"take_back", do_take_back},
                                               {"init", do_init},
                                               {"refresh", do_refresh},
                                               {"pause", do_pause},
                                               {"resume", do_pause},
                                               {"modify", do_modify},
                                               {"output", do_output},
                                               {"own_id", do_own_id},
                                               {"cloexec", do_cloexec},
                                               {"read", do_read},
                                               {"group", do_group},
                                               {"work", do_work},
                                               {"measure", do_measure},
                                               {NULL, NULL}};
