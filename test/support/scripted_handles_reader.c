/* SPDX-License-Identifier: MIT */
#include "fake_map.h"
#include "fake_pool.h"
#include "scripted_handles_run.h"
#include "scripted_kernel.h"

static struct {
  uvperf_bpf_reader_options_t options;
  struct perf_event_attr attr;
  char cpus[64];
} reader_run;

void handles_reader_begin(void) {
  static const uvperf_bpf_reader_options_t init =
      UVPERF_BPF_READER_OPTIONS_INIT;

  memset(&reader_run, 0, sizeof(reader_run));
  reader_run.options = init;
}

static uvperf_bpf_reader_t *reader_of(const step_t *step) {
  return &handles_run.handles[handles_nr(handles_of(step, 1))].reader;
}

/* A reader of the map. */
static void do_reader(const step_t *step) {
  uvperf_bpf_reader_options_t *options = &reader_run.options;
  size_t i;

  options->wakeup_events = 1;
  options->ring_bytes = 1;
  for (i = 1; i < step->nr; i++)
    if (step_is(step, i, "fixed"))
      options->flags |= UVPERF_BPF_READER_FIXED_CPUS;
    else if (step_is(step, i, "overwrite"))
      options->flags |= UVPERF_BPF_READER_OVERWRITE;
    else if (step_is(step, i, "program"))
      options->open = kernel_opener;
    else if (strncmp(step->words[i], "cpus=", 5) == 0)
      snprintf(reader_run.cpus, sizeof(reader_run.cpus), "%s",
               step->words[i] + 5);
    else
      step_fail(step->words[i], "is no option");
  if (reader_run.cpus[0] != '\0')
    options->cpus = reader_run.cpus;
  handles_opened(uvperf_bpf_reader_init(&kernel_loop, &handles_next()->reader,
                                        kernel_map_fd, options,
                                        handles_error()));
}

static void do_publish(const step_t *step) {
  row_returned(
      step_is(step, 0, "publish")
          ? uvperf_bpf_reader_publish(reader_of(step), handles_error())
          : uvperf_bpf_reader_unpublish(reader_of(step), handles_error()));
}

static void do_status(const step_t *step) {
  size_t i;

  for (i = 2; i < step->nr; i++) {
    say_next();
    say("%s", step_code_name(uvperf_bpf_reader_cpu_status(
                  reader_of(step), (int)step_value(step, i))));
  }
}

const scripted_verb_t handles_reader_verbs[] = {{"reader", do_reader},
                                                {"publish", do_publish},
                                                {"unpublish", do_publish},
                                                {"status", do_status},
                                                {NULL, NULL}};
