/* SPDX-License-Identifier: MIT */
/* Scripted: labels of attrs without names, why tracepoints cannot be opened,
 * and how often tracefs is read for both. Every file that the library opens is
 * counted. */
#include "make_evlist.h"
#include "make_host.h"
#include "make_tree.h"

#include <errno.h>

#include "name/list.h"
#include "evlist/internal.h"
#include "util/file.h"
#include "uvperf/attr.h"

#define EVENTS "/sys/kernel/tracing/events"
#define PMUS   "/sys/bus/event_source/devices"

#define CATEGORIES 4
#define NAMES      10
#define IDS        (CATEGORIES * NAMES)
#define ATTRS      8

typedef struct tracepoints_s {
  fake_event_t *events[ATTRS + 1];
  evlist_make_t make;
  uvperf__evlist_t *evlist;
} tracepoints_t;

static struct {
  size_t ids; /* files of ids that were opened */
  int code;   /* result of opening one; 0: the real one */
} files;

static int count_ids(const char *path) {
  size_t length = strlen(path);

  if (length < 3 || strcmp(path + length - 3, "/id") != 0)
    return 0;
  files.ids++;
  return files.code;
}

/* The ids are 100, 101…; ATTRS attrs have every fifth of them. */
static int setup(void **state) {
  static tracepoints_t tracepoints;
  char path[128], text[16];
  int i;

  if (make_host_setup(state) != 0)
    return -1;
  memset(&tracepoints, 0, sizeof(tracepoints));
  memset(&files, 0, sizeof(files));
  fake_host_opens = count_ids;
  for (i = 0; i < IDS; i++) {
    snprintf(path, sizeof(path), EVENTS "/c%d/n%d/id", i / NAMES, i % NAMES);
    snprintf(text, sizeof(text), "%d\n", 100 + i);
    make_host_write(path, text);
  }
  evlist_make_setup(NULL);
  counters_script(tracepoints.events, ATTRS + 1);
  evlist_make(&tracepoints.make, ATTRS);
  evlist_add_cpus(&tracepoints.make, "0");
  for (i = 0; i < ATTRS; i++)
    uvperf_attr_init(&tracepoints.make.attrs[i], PERF_TYPE_TRACEPOINT,
                     (uint64_t)(100 + 5 * i));
  *state = &tracepoints;
  return 0;
}

static int teardown(void **state) {
  tracepoints_t *tracepoints = *state;

  fake_host_opens = NULL;
  uvperf__evlist_free(tracepoints->evlist);
  return make_host_teardown(state);
}

static void open_all(tracepoints_t *tracepoints) {
  tracepoints->evlist = evlist_open(&tracepoints->make);
}

static const char *label(const tracepoints_t *tracepoints, size_t attr) {
  return uvperf__evlist_item(tracepoints->evlist, attr)->label;
}

static void check_names(const tracepoints_t *tracepoints) {
  char name[16];
  size_t i;

  for (i = 0; i < ATTRS; i++) {
    snprintf(name, sizeof(name), "c%zu:n%zu", 5 * i / NAMES, 5 * i % NAMES);
    assert_string_equal(label(tracepoints, i), name);
  }
}

static void open_of_tracepoints_reads_no_ids(void **state) {
  tracepoints_t *tracepoints = *state;

  open_all(tracepoints);
  assert_int_equal(files.ids, 0);
}

/* Each label is also parsed, which reads the one id. */
static void labels_of_many_tracepoints_take_one_walk(void **state) {
  tracepoints_t *tracepoints = *state;

  open_all(tracepoints);
  check_names(tracepoints);
  assert_in_range(files.ids, 1, IDS + ATTRS);
  files.ids = 0;
  check_names(tracepoints);
  assert_int_equal(files.ids, 0);
}

static void labels_of_one_tracepoint_twice_are_the_same(void **state) {
  tracepoints_t *tracepoints = *state;

  tracepoints->make.attrs[1].config = 100;
  tracepoints->make.attrs[2].config = 100;
  tracepoints->make.attrs[2].exclude_user = 1;
  open_all(tracepoints);
  assert_string_equal(label(tracepoints, 0), "c0:n0");
  assert_string_equal(label(tracepoints, 1), "c0:n0");
  assert_string_equal(label(tracepoints, 2), "c0:n0:kh");
}

static void labels_of_other_ids_are_numbers(void **state) {
  tracepoints_t *tracepoints = *state;

  tracepoints->make.attrs[3].config = 99;
  tracepoints->make.attrs[4].type = PERF_TYPE_SOFTWARE;
  tracepoints->make.attrs[4].config = PERF_COUNT_SW_DUMMY;
  open_all(tracepoints);
  assert_string_equal(label(tracepoints, 4), "dummy");
  assert_string_equal(label(tracepoints, 3), "type=2,config=0x63");
  assert_in_range(files.ids, 1, IDS + ATTRS);
}

static void label_of_the_side_band_of_a_list_is_made_too(void **state) {
  tracepoints_t *tracepoints = *state;
  uvperf_set_options_t *options = &tracepoints->make.options;
  uvperf_event_list_t *list;

  assert_int_equal(uvperf_event_list_parse(&list, "c1:n2", NULL), 0);
  options->attrs = NULL;
  options->nr_attrs = 0;
  options->events = list;
  options->flags = UVPERF_SET_RECORDS;
  options->side_band = UVPERF_SIDE_BAND_TASKS;
  files.ids = 0;
  open_all(tracepoints);
  uvperf_event_list_free(list);
  assert_string_equal(label(tracepoints, 0), "c1:n2");
  assert_memory_equal(label(tracepoints, 1), "dummy", 5);
  assert_int_equal(files.ids, 0);
}

/* A record's source has its label before anybody asks for it. */
static void labels_of_records_are_made_with_the_set(void **state) {
  tracepoints_t *tracepoints = *state;
  uvperf_error_t error;
  char name[16];
  size_t i;

  tracepoints->make.options.flags = UVPERF_SET_RECORDS;
  files.code = -EMFILE;
  assert_int_equal(uvperf__evlist_make(0, &tracepoints->evlist,
                                       &tracepoints->make.options, &error),
                   -EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  fake_assert_clean();
  files.code = 0;
  open_all(tracepoints);
  files.ids = 0;
  for (i = 0; i < ATTRS; i++) {
    snprintf(name, sizeof(name), "c%zu:n%zu", 5 * i / NAMES, 5 * i % NAMES);
    assert_string_equal(
        evlist_source(tracepoints->evlist, tracepoints->events[i]->id)
            ->item->label,
        name);
  }
  check_names(tracepoints);
  assert_int_equal(files.ids, 0);
}

static void label_without_fds_is_brief_until_there_are_some(void **state) {
  tracepoints_t *tracepoints = *state;
  const char *brief;

  open_all(tracepoints);
  files.code = -EMFILE;
  brief = label(tracepoints, 1);
  assert_string_equal(brief, "type=2,config=0x69");
  files.code = 0;
  check_names(tracepoints);
  assert_string_equal(brief, "type=2,config=0x69");
}

static void label_without_memory_is_brief_until_there_is_some(void **state) {
  tracepoints_t *tracepoints = *state;
  const char *text;
  unsigned nth;

  for (nth = 1; nth < 100; nth++) {
    evlist_make_setup(NULL);
    counters_script(tracepoints->events, ATTRS);
    open_all(tracepoints);
    fake_fail(FAKE_CALLOC, nth, 0);
    text = label(tracepoints, 7);
    if (fake_failures() == 0)
      break;
    if (strcmp(text, "c3:n5") != 0) /* found before */
      assert_string_equal(text, "type=2,config=0x87");
    check_names(tracepoints);
    uvperf__evlist_free(tracepoints->evlist);
    tracepoints->evlist = NULL;
    fake_assert_clean();
  }
  assert_int_equal(nth, ATTRS + 2);
}

/* The user's string need not outlive init. */
static void label_of_a_probe_is_made_while_its_string_is_there(void **state) {
  tracepoints_t *tracepoints = *state;
  char path[] = "/bin/true";

  make_host_write(PMUS "/uprobe/type", "7\n");
  tracepoints->make.attrs[0].type = 7;
  tracepoints->make.attrs[0].config = 0;
  tracepoints->make.attrs[0].config1 = (uintptr_t)path;
  tracepoints->make.attrs[0].config2 = 16;
  open_all(tracepoints);
  memset(path, 'x', sizeof(path) - 1);
  assert_string_equal(label(tracepoints, 0),
                      "uprobe/path=\"/bin/true\",offset=0x10/");
}

/* -- tracepoints that cannot be opened ------------------------------------- */

/* Events with odd ids are refused, and those without an id. */
static int refuse_odd(struct perf_event_attr *attr) {
  return attr->config % 2 == 1 || attr->config >= 100 + IDS ? -EINVAL : 0;
}

static void setup_refused(tracepoints_t *tracepoints) {
  size_t i;

  evlist_add_cpus(&tracepoints->make, "1");
  for (i = 3; i < ATTRS; i++)
    tracepoints->make.attrs[i].config = 5000 + i;
  fake_on_open(refuse_odd);
}

static void check_reason(const tracepoints_t *tracepoints, size_t failure,
                         const char *piece) {
  const char *reason =
      evlist_failure(tracepoints->evlist, failure)->error.reason;

  if (strstr(reason, piece) == NULL)
    fail_msg("not \"%s\": %s", piece, reason);
}

/* At each CPU one that exists is refused, and five that do not. */
static void check_failures(const tracepoints_t *tracepoints, size_t nr_places) {
  size_t i;

  assert_int_equal(evlist_nr_failures(tracepoints->evlist),
                   nr_places * (ATTRS - 2));
  for (i = 0; i < nr_places * (ATTRS - 2); i++)
    check_reason(tracepoints, i,
                 i % (ATTRS - 2) == 0 ? "rejects this combination"
                                      : "no tracepoint has this id");
}

static void failures_of_many_ids_at_many_places_take_one_walk(void **state) {
  tracepoints_t *tracepoints = *state;

  setup_refused(tracepoints);
  open_all(tracepoints);
  check_failures(tracepoints, 2);
  assert_int_equal(files.ids, IDS);
}

static void failures_of_a_later_call_take_a_walk_of_their_own(void **state) {
  tracepoints_t *tracepoints = *state;
  uvperf_error_t error;

  setup_refused(tracepoints);
  open_all(tracepoints);
  make_host_write(EVENTS "/c9/late/id", "5003\n");
  files.ids = 0;
  assert_int_equal(uvperf__evlist_add_target(tracepoints->evlist,
                                             tracepoints->make.targets, NULL,
                                             &error),
                   0);
  assert_int_equal(files.ids, IDS + 1);
  check_reason(tracepoints, 2 * (ATTRS - 2) + 1, "rejects this combination");
  check_reason(tracepoints, 2 * (ATTRS - 2) + 2, "no tracepoint has this id");
}

static void failures_at_a_cpu_that_comes_take_one_walk(void **state) {
  tracepoints_t *tracepoints = *state;
  uvperf_error_t error;

  setup_refused(tracepoints);
  open_all(tracepoints);
  files.ids = 0;
  uvperf__evlist_cpu_gone(tracepoints->evlist, 1);
  assert_int_equal(uvperf__evlist_cpu_come(tracepoints->evlist, 1, &error),
                   -EINVAL);
  check_failures(tracepoints, 2);
  assert_int_equal(files.ids, IDS);
}

/* A walk that is cut short is not tried again by the same call. */
static void failures_without_fds_for_a_walk_are_not_sure(void **state) {
  tracepoints_t *tracepoints = *state;
  size_t i;

  setup_refused(tracepoints);
  files.code = -EMFILE;
  open_all(tracepoints);
  assert_int_equal(files.ids, 1);
  for (i = 0; i < 2 * (ATTRS - 2); i++)
    check_reason(tracepoints, i, "probably no tracepoint has this id");
}

/* Reads the tracefs of the machine, if there is one: each fallback that does
 * not help is a failure too. */
static void failures_of_an_event_and_its_fallbacks_take_one_walk(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uv_loop_t loop;
  size_t alone;

  assert_int_equal(uv_loop_init(&loop), 0);
  fake_on_open(refuse_odd);
  uvperf_attr_init(&attr, PERF_TYPE_TRACEPOINT, 99999);
  options.fallbacks = UVPERF_FALLBACK_PRECISE;
  assert_int_equal(uvperf_event_init(&loop, &event, &attr, &options, NULL),
                   -EINVAL);
  alone = files.ids;
  attr.precise_ip = 3;
  assert_int_equal(uvperf_event_init(&loop, &event, &attr, &options, NULL),
                   -EINVAL);
  assert_in_range(files.ids - alone, 0, 2 * alone); /* they come and go */
  assert_int_equal(uv_loop_close(&loop), 0);
}

#define WITH_EVENTS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_EVENTS(open_of_tracepoints_reads_no_ids),
      WITH_EVENTS(labels_of_many_tracepoints_take_one_walk),
      WITH_EVENTS(labels_of_one_tracepoint_twice_are_the_same),
      WITH_EVENTS(labels_of_other_ids_are_numbers),
      WITH_EVENTS(label_of_the_side_band_of_a_list_is_made_too),
      WITH_EVENTS(labels_of_records_are_made_with_the_set),
      WITH_EVENTS(label_without_fds_is_brief_until_there_are_some),
      WITH_EVENTS(label_without_memory_is_brief_until_there_is_some),
      WITH_EVENTS(label_of_a_probe_is_made_while_its_string_is_there),
      WITH_EVENTS(failures_of_many_ids_at_many_places_take_one_walk),
      WITH_EVENTS(failures_of_a_later_call_take_a_walk_of_their_own),
      WITH_EVENTS(failures_at_a_cpu_that_comes_take_one_walk),
      WITH_EVENTS(failures_without_fds_for_a_walk_are_not_sure),
      WITH_EVENTS(failures_of_an_event_and_its_fallbacks_take_one_walk),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
