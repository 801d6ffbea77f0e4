/* SPDX-License-Identifier: MIT */
/* How record reads its command line, and which attrs it makes from it. */
#include "support.h"

#include <getopt.h>
#include <time.h>

#include "record/attrs.h"
#include "record/ids.h"
#include "record/options.h"

#define MAX_ARGS 12

typedef struct fixture_s {
  record_options_t options;
  record_attrs_t attrs;
} fixture_t;

static fixture_t f; /* of the last command line */

/* Parses words, which are separated by spaces. */
static void parse(const char *words) {
  static char text[512];
  char *argv[MAX_ARGS] = {0}, *save = NULL, *word;
  int argc = 0;

  snprintf(text, sizeof(text), "record %s", words);
  for (word = strtok_r(text, " ", &save); word != NULL;
       word = strtok_r(NULL, " ", &save)) {
    assert_true(argc < MAX_ARGS - 1);
    argv[argc++] = word;
  }
  record_attrs_free(&f.attrs);
  record_options_free(&f.options);
  memset(&f, 0, sizeof(f));
  optind = 0; /* getopt(3): start again */
  assert_int_equal(record_options_parse(&f.options, argc, argv), 0);
}

static void make(const char *words) {
  parse(words);
  assert_int_equal(record_attrs_make(&f.attrs, &f.options), 0);
}

/* -- the command line ------------------------------------------------------ */

static void command_line_without_anything_means_the_machine(void **state) {
  parse("");
  assert_true(f.options.all);
  assert_string_equal(f.options.file, "perf.data");
  assert_false(record_options_is_command(&f.options));
}

static void command_is_recorded_unless_there_is_another_target(void **state) {
  parse("-g true -x");
  assert_true(record_options_is_command(&f.options));
  assert_string_equal(f.options.command[1], "-x");
  parse("-a true");
  assert_false(record_options_is_command(&f.options));
  assert_true(f.options.all);
  parse("-p 7,8,7 true");
  assert_false(record_options_is_command(&f.options));
  assert_int_equal(f.options.pids.nr, 2);
}

static void sizes_of_stacks_are_rounded_up_to_words(void **state) {
  static const struct {
    const char *words;
    uint32_t bytes;
  } cases[] = {{"--call-graph dwarf", 8192},
               {"--call-graph dwarf,1", 8},
               {"--call-graph dwarf,4097", 4104},
               {"--call-graph dwarf,65528", 65528}};
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    parse(cases[i].words);
    assert_int_equal(f.options.stack, RECORD_STACK_DWARF);
    assert_int_equal(f.options.stack_bytes, cases[i].bytes);
  }
}

static void filter_is_of_the_events_of_one_option(void **state) {
  parse("-e cs,faults -e migrations --filter a -e cs --filter b");
  assert_string_equal(f.options.events.names, "cs,faults,migrations,cs");
  assert_int_equal(f.options.events.nr, 2);
  assert_int_equal(f.options.events.list[0].begin, strlen("cs,faults,"));
  assert_int_equal(f.options.events.list[0].end,
                   strlen("cs,faults,migrations"));
  assert_int_equal(f.options.events.list[1].begin,
                   strlen("cs,faults,migrations,"));
  assert_string_equal(f.options.events.list[1].text, "b");
}

/* -- attrs ----------------------------------------------------------------- */

#define USUAL (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static void attr_of_a_command_begins_with_its_exec(void **state) {
  const struct perf_event_attr *attr;

  make("-e page-faults -F 100 true");
  attr = f.attrs.attrs[0];
  assert_int_equal(attr->sample_type, USUAL | PERF_SAMPLE_PERIOD);
  assert_true(attr->freq && attr->disabled && attr->enable_on_exec);
  assert_true(attr->inherit);
  assert_int_equal(attr->sample_freq, 100);
}

static void attr_of_cpus_tells_the_cpu(void **state) {
  const struct perf_event_attr *attr;

  make("-a -e page-faults -c 7");
  attr = f.attrs.attrs[0];
  assert_int_equal(attr->sample_type, USUAL | PERF_SAMPLE_CPU);
  assert_false(attr->freq || attr->enable_on_exec || attr->inherit);
  assert_int_equal(attr->sample_period, 7);
}

static void attr_with_its_own_terms_keeps_them(void **state) {
  make("-c 7 -e cpu-clock/period=99999/,cpu-clock/freq=50/ true");
  assert_int_equal(f.attrs.attrs[0]->sample_period, 99999);
  assert_false(f.attrs.attrs[0]->freq);
  assert_true(f.attrs.attrs[1]->freq);
  assert_int_equal(f.attrs.attrs[1]->sample_freq, 50);
}

static void attr_of_a_breakpoint_samples_each_hit(void **state) {
  make("-e mem:0x1000/8:w true");
  assert_int_equal(f.attrs.attrs[0]->sample_period, 1);
  assert_int_equal(f.attrs.attrs[0]->sample_type, USUAL | PERF_SAMPLE_ADDR);
}

static void attr_of_a_tracepoint_has_its_fields(void **state) {
  support_need_tracepoint(__func__, "sched:sched_switch");
  make("-e sched:sched_switch true");
  assert_int_equal(f.attrs.attrs[0]->sample_period, 1);
  assert_int_equal(f.attrs.attrs[0]->sample_type, USUAL | PERF_SAMPLE_CPU |
                                                      PERF_SAMPLE_PERIOD |
                                                      PERF_SAMPLE_RAW);
}

static void frames_are_of_the_kernel_or_of_registers_and_stack(void **state) {
  const struct perf_event_attr *attr;

  make("-g --max-stack 9 -e page-faults true");
  attr = f.attrs.attrs[0];
  assert_int_equal(attr->sample_type,
                   USUAL | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN);
  assert_int_equal(attr->sample_max_stack, 9);
  make("--call-graph dwarf,4096 -e page-faults true");
  attr = f.attrs.attrs[0];
  assert_int_equal(attr->sample_type,
                   USUAL | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
  assert_int_equal(attr->sample_stack_user, 4096);
  assert_true(attr->exclude_callchain_user);
  assert_int_not_equal(attr->sample_regs_user, 0);
}

/* Each member of a group samples for itself. With :S the leader samples for all
 * members, and does not follow the children of its tasks. */
static void leader_samples_for_a_group_that_is_read(void **state) {
  make("-F 100 -e {page-faults,context-switches} true");
  assert_int_equal(f.attrs.attrs[1]->sample_freq, 100);
  assert_true(f.attrs.attrs[1]->inherit);
  assert_int_equal(uvperf_event_list_get(f.attrs.events, 1)->leader, 0);
  make("-F 100 -e {page-faults,context-switches}:S true");
  assert_true(f.attrs.reads_groups);
  assert_int_equal(f.attrs.attrs[0]->sample_type,
                   USUAL | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ);
  assert_int_equal(f.attrs.attrs[1]->sample_type,
                   f.attrs.attrs[0]->sample_type);
  assert_int_equal(f.attrs.attrs[1]->sample_period, 0);
  assert_false(f.attrs.attrs[0]->inherit);
  assert_false(f.attrs.attrs[1]->disabled || f.attrs.attrs[1]->enable_on_exec);
}

static void branches_are_kinds_on_sides(void **state) {
  static const struct {
    const char *words;
    uint64_t bits;
  } cases[] = {
      {"-b true", PERF_SAMPLE_BRANCH_ANY},
      {"-j any_call,ind_call,u true", PERF_SAMPLE_BRANCH_ANY_CALL |
                                          PERF_SAMPLE_BRANCH_IND_CALL |
                                          PERF_SAMPLE_BRANCH_USER},
      {"-j k,hv true", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL |
                           PERF_SAMPLE_BRANCH_HV},
      {"--branch-filter any,save_type,priv true",
       PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE |
           UVPERF_SAMPLE_BRANCH_PRIV_SAVE},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    make(cases[i].words);
    assert_int_equal(f.attrs.attrs[0]->branch_sample_type, cases[i].bits);
    assert_true(f.attrs.attrs[0]->sample_type & PERF_SAMPLE_BRANCH_STACK);
  }
}

static void clock_is_named_or_a_number(void **state) {
  static const struct {
    const char *words;
    int clock;
  } cases[] = {{"true", CLOCK_MONOTONIC},
               {"-k realtime true", CLOCK_REALTIME},
               {"--clockid CLOCK_TAI true", CLOCK_TAI},
               {"-k boot true", CLOCK_BOOTTIME},
               {"-k Raw true", CLOCK_MONOTONIC_RAW},
               {"-k 0 true", CLOCK_REALTIME},
               {"-k 4 true", CLOCK_MONOTONIC_RAW}};
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    make(cases[i].words);
    assert_true(f.attrs.attrs[0]->use_clockid);
    assert_int_equal(f.attrs.attrs[0]->clockid, cases[i].clock);
  }
}

static void side_band_is_what_options_ask_for(void **state) {
  uint32_t usual = UVPERF_SIDE_BAND_TASKS | UVPERF_SIDE_BAND_MMAP |
                   UVPERF_SIDE_BAND_KSYMBOL | UVPERF_SIDE_BAND_BPF_EVENT;

  parse("-g true");
  assert_int_equal(record_attrs_side_band(&f.options), usual);
  parse("--call-graph dwarf --switch-events --namespaces --all-cgroups x");
  assert_int_equal(record_attrs_side_band(&f.options),
                   usual | UVPERF_SIDE_BAND_MMAP_DATA |
                       UVPERF_SIDE_BAND_SWITCH | UVPERF_SIDE_BAND_NAMESPACES |
                       UVPERF_SIDE_BAND_CGROUP);
  parse("-d true");
  assert_int_equal(record_attrs_side_band(&f.options),
                   usual | UVPERF_SIDE_BAND_MMAP_DATA);
}

/* -- losses ---------------------------------------------------------------- */

/* The record is like perf record's, and the decoder reads its trailer like the
 * kernel's. */
static void losses_of_an_event_are_a_record_of_its_own(void **state) {
  static const uint64_t ids[] = {4711};
  uvperf_place_t place = {.pid = 12, .cpu = 3};
  uvperf_source_t source = {.size = sizeof(source), .ids = ids, .nr_ids = 1};
  const uvperf_source_t *sources = &source;
  uint64_t words[RECORD_LOST_WORDS];
  const uvperf_record_t *record;
  struct perf_event_attr attr;
  uvperf_decoder_t *decoder;
  size_t size;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_id_all = 1;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  source.attr = &attr;
  assert_int_equal(uvperf_decoder_new(&decoder, &sources, 1), 0);
  size = record_lost_fill(words, &attr, &place, ids[0], 99);
  assert_int_equal(uvperf_decode(decoder, words, size, &record), 0);
  assert_int_equal(record->type, PERF_RECORD_LOST_SAMPLES);
  assert_int_equal(record->size, size);
  assert_int_equal(record->lost_samples.lost, 99);
  assert_int_equal(record->tid, 12);
  assert_int_equal(record->cpu, 3);
  assert_int_equal(record->id, ids[0]);
  uvperf_decoder_free(decoder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(command_line_without_anything_means_the_machine),
      cmocka_unit_test(command_is_recorded_unless_there_is_another_target),
      cmocka_unit_test(sizes_of_stacks_are_rounded_up_to_words),
      cmocka_unit_test(filter_is_of_the_events_of_one_option),
      cmocka_unit_test(attr_of_a_command_begins_with_its_exec),
      cmocka_unit_test(attr_of_cpus_tells_the_cpu),
      cmocka_unit_test(attr_with_its_own_terms_keeps_them),
      cmocka_unit_test(attr_of_a_breakpoint_samples_each_hit),
      cmocka_unit_test(attr_of_a_tracepoint_has_its_fields),
      cmocka_unit_test(frames_are_of_the_kernel_or_of_registers_and_stack),
      cmocka_unit_test(leader_samples_for_a_group_that_is_read),
      cmocka_unit_test(branches_are_kinds_on_sides),
      cmocka_unit_test(clock_is_named_or_a_number),
      cmocka_unit_test(side_band_is_what_options_ask_for),
      cmocka_unit_test(losses_of_an_event_are_a_record_of_its_own),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
