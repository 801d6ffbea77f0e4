/* SPDX-License-Identifier: MIT */
#include "scripted_array.h"

#include "attr/kernel_knows.h"
#include "bpf/attr.h"
#include "decode/decoder.h"
#include "make_cpus.h"
#include "make_host.h"
#include "scripted_kernel.h"

static struct {
  struct perf_event_attr attr;
  uvperf_bpf_reader_options_t options;
  int map_fd; /* -1 with options.path */
  char cpus[300];
  uvperf__evlist_t *evlist;
} run;

static uvperf__cpu_rings_t *rings(void) {
  return uvperf__evlist_rings(run.evlist);
}

static const struct perf_event_attr *attr(void) {
  return uvperf__evlist_decoder(run.evlist)->only.source->attr;
}

/* -- what is opened -------------------------------------------------------- */

static void set_cpus(const char *online, const char *possible) {
  make_host_write("/sys/devices/system/cpu/online", online);
  make_host_write("/sys/devices/system/cpu/possible", possible);
}

static void do_cpus(const step_t *step) {
  set_cpus(step_word(step, 1), step_word(step, 2));
}

static void do_attr(const step_t *step) {
  uvperf_attr_init(&run.attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  run.attr.sample_type = PERF_SAMPLE_RAW;
  step_set_fields(step, 1, &run.attr);
  run.options.attr = &run.attr;
}

static void set_option(char *word) {
  uvperf_bpf_reader_options_t *options = &run.options;
  uint64_t value;

  if (strcmp(word, "overwrite") == 0) {
    options->flags |= UVPERF_BPF_READER_OVERWRITE;
  } else if (strcmp(word, "fixed") == 0) {
    options->flags |= UVPERF_BPF_READER_FIXED_CPUS;
  } else if (strcmp(word, "path") == 0) {
    options->path = "/bpf/events";
    run.map_fd = -1;
  } else if (strncmp(word, "cpus=", 5) == 0) {
    snprintf(run.cpus, sizeof(run.cpus), "%s", word + 5);
    options->cpus = run.cpus;
  } else {
    value = step_split_value(word);
    if (strcmp(word, "wakeup_events") == 0)
      options->wakeup_events = (uint32_t)value;
    else if (strcmp(word, "wakeup_bytes") == 0)
      options->wakeup_bytes = (uint32_t)value;
    else if (strcmp(word, "ring_bytes") == 0)
      options->ring_bytes = (size_t)value;
    else
      step_fail(word, "is no option");
  }
}

static void do_options(const step_t *step) {
  size_t i;

  run.options = (uvperf_bpf_reader_options_t){
      .attr = run.options.attr, .ring_bytes = support_page_bytes()};
  run.map_fd = kernel_map_fd;
  for (i = 1; i < step->nr; i++)
    set_option(step->words[i]);
}

/* -- calls ----------------------------------------------------------------- */

/* A failure leaves nothing. */
static void do_new(const step_t *step) {
  size_t fds = support_count_fds(), blocks = fake_live_allocations();
  uvperf__adding_t adding;
  uvperf__bpf_map_t map;
  int rc = uvperf__bpf_map_open(&map, run.map_fd, run.options.path, 0,
                                &row_result.error);

  if (rc == 0)
    rc = uvperf__bpf_evlist_new(&run.evlist, &map, &run.options, &adding,
                                &row_result.error);
  uvperf__bpf_map_close(&map);
  if (rc == 0)
    rc = uvperf__adding_run(&adding, &row_result.error);
  row_returned(rc);
  if (rc == 0)
    return;
  uvperf__evlist_free(run.evlist);
  run.evlist = NULL;
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(fake_live_allocations(), blocks);
}

static void do_free(const step_t *step) {
  uvperf__evlist_leave_maps(run.evlist);
  uvperf__evlist_free(run.evlist);
  run.evlist = NULL;
}

static void do_enable(const step_t *step) {
  row_returned(uvperf__evlist_enable(run.evlist, &row_result.error));
}

static void do_disable(const step_t *step) {
  uvperf__evlist_disable(run.evlist, NULL);
}

static void do_put(const step_t *step) {
  row_returned(uvperf__evlist_put(run.evlist, step_is(step, 0, "put"),
                                  &row_result.error));
}

static void do_leave(const step_t *step) {
  uvperf__evlist_leave_maps(run.evlist);
}

static void do_come(const step_t *step) {
  row_returned(uvperf__evlist_cpu_come(run.evlist, (int)step_value(step, 1),
                                       &row_result.error));
}

static void do_gone(const step_t *step) {
  uvperf__evlist_cpu_gone(run.evlist, (int)step_value(step, 1));
}

/* -- what there is --------------------------------------------------------- */

static void do_status(const step_t *step) {
  size_t i;

  for (i = 1; i < step->nr; i++) {
    say_next();
    say("%s", step_code_name(uvperf__evlist_cpu_status(
                  run.evlist, (int)step_value(step, i))));
  }
}

static void do_rings(const step_t *step) {
  const uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < uvperf__cpu_rings_nr(rings()); i++) {
    ring = uvperf__cpu_rings_at(rings(), i);
    say_next();
    say("cpu%d e%zu of %zu", ring->cpu, kernel_nr_of_fd(ring->fd),
        (size_t)ring->nr_events);
    if (ring->ring.overwrite)
      say(" overwritable");
    if (ring->ring.size != support_page_bytes())
      say(" %zu KiB", ring->ring.size / 1024);
  }
}

static void do_fields(const step_t *step) {
  say_fields(attr(), step, 1);
}

static void do_attr_size(const step_t *step) {
  assert_int_equal(attr()->size, sizeof(struct perf_event_attr));
}

static void do_lost(const step_t *step) {
  say_number(uvperf__cpu_rings_find(rings(), (int)step_value(step, 1))->lost);
}

static const scripted_verb_t array_verbs[] = {
    {"cpus", do_cpus},       {"attr", do_attr},     {"options", do_options},
    {"new", do_new},         {"free", do_free},     {"enable", do_enable},
    {"disable", do_disable}, {"put", do_put},       {"take", do_put},
    {"leave", do_leave},     {"come", do_come},     {"gone", do_gone},
    {"status", do_status},

    {"rings", do_rings},     {"fields", do_fields}, {"attr_size", do_attr_size},
    {"lost", do_lost},       {NULL, NULL}};

/* -- rows ------------------------------------------------------------------ */

static void begin(void) {
  memset(&run, 0, sizeof(run));
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = 0;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = UVPERF_FORMAT_LOST;
  make_cpus_bring_up(3);
  set_cpus("0-3", "0-3");
  row_step("map 16");
  row_step("options");
}

static int is_open(void) {
  return run.evlist != NULL;
}

static void close_array(void) {
  uvperf__evlist_free(run.evlist);
}

static void end(void) {
}

const scripted_subject_t scripted_array = {
    {array_verbs, NULL}, NULL, begin, NULL, is_open, close_array, end};
