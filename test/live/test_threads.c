/* SPDX-License-Identifier: MIT */
/* Live: several threads look up names, lists and facts of the machine at once,
 * and each finds the same as one thread alone. So the library keeps no state
 * that threads could damage. To check that no two threads access the same
 * memory without order, build with -DUVPERF_SANITIZE=thread. And each reads the
 * records of its own loop. */
#include "live.h"

#include <stdatomic.h>
#include <unistd.h>

#include "attr/kernel_knows.h"

#define THREADS 4
#define ROUNDS  2
#define EVENTS  "{page-faults,context-switches}:Su,task-clock:u"

/* -- what is found -------------------------------------------------------- */

/* A sum of all texts and numbers, in their order (FNV-1a). */
typedef struct found_s {
  uv_loop_t *loop; /* the thread's */
  uint64_t sum;
  uint64_t nr;
} found_t;

static void add_bytes(found_t *found, const void *bytes, size_t size) {
  const unsigned char *at = bytes;

  for (found->nr += 1; size > 0; size--)
    found->sum = (found->sum ^ *at++) * UINT64_C(0x100000001b3);
}

static void add_text(found_t *found, const char *text) {
  if (text != NULL)
    add_bytes(found, text, strlen(text) + 1);
}

static void add_number(found_t *found, uint64_t number) {
  add_bytes(found, &number, sizeof(number));
}

/* -- lists of events ------------------------------------------------------ */

static void add_list(found_t *found, const uvperf_event_list_t *list) {
  const uvperf_event_item_t *item;
  char label[1024] = "";
  size_t size, i;

  for (i = 0; i < uvperf_event_list_count(list); i++) {
    item = uvperf_event_list_get(list, i);
    add_text(found, item->label);
    add_text(found, item->group_name);
    add_number(found, item->attr->type);
    add_number(found, item->attr->config);
    add_number(found, item->attr->config2);
    add_number(found, item->nr_cpus);
    add_number(found, item->flags);
  }
  /* A label names the file of a uprobe by an fd, which others may have. */
  item = uvperf_event_list_get(list, 0);
  size = sizeof(label);
  if (item->attr->config1 == 0)
    add_number(found, (uint64_t)uvperf_attr_label(item->attr, label, &size));
  add_text(found, label);
}

static void find_list(found_t *found, const char *names) {
  uvperf_event_list_t *list;
  uvperf_error_t error = {0};
  int rc = uvperf_event_list_parse(&list, names, &error);

  add_number(found, (uint64_t)rc);
  add_text(found, error.reason);
  if (rc == 0)
    add_list(found, list);
  uvperf_event_list_free(list);
}

/* Also names that are wrong: the nearest one is suggested. */
static void find_lists(found_t *found) {
  static const char *const names[] = {
      EVENTS,
      "syscalls:sys_enter_*",
      "sched:sched_switch/name=a/",
      "LLC-load-misses:u",
      "msr/tsc/",
      "power/energy-*/",
      "cycels",
      "shced:sched_switch",
      "sched:shed_switch",
      "no/such/",
      "nothing:*",
      "{cycles",
  };
  size_t i;

  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    find_list(found, names[i]);
}

static void find_functions(found_t *found) {
  static const char *const functions[] = {"live_called", "main", "live_caled"};
  char path[512] = "", names[600];
  size_t i;

  add_number(found, readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
  for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    snprintf(names, sizeof(names), "uprobe/path=\"%s\",symbol=%s/", path,
             functions[i]);
    find_list(found, names);
  }
}

/* -- names ---------------------------------------------------------------- */

static int on_name(const uvperf_event_name_t *name, void *arg) {
  add_text(arg, name->name);
  add_text(arg, name->alias);
  add_text(arg, name->terms);
  add_number(arg, name->config);
  return 0;
}

static void find_names(found_t *found) {
  add_number(found, (uint64_t)uvperf_event_name_walk(NULL, 0, on_name, found));
}

/* -- sysfs, tracefs and /proc --------------------------------------------- */

static int on_format(const uvperf_pmu_format_t *format, void *arg) {
  add_text(arg, format->name);
  add_number(arg, format->mask);
  return 0;
}

static int on_pmu_event(const uvperf_pmu_event_t *event, void *arg) {
  add_text(arg, event->name);
  add_bytes(arg, &event->scale, sizeof(event->scale));
  return 0;
}

static int on_pmu(const uvperf_pmu_t *pmu, void *arg) {
  add_text(arg, pmu->name);
  add_text(arg, pmu->cpus);
  uvperf_pmu_walk_formats(pmu->name, on_format, arg);
  uvperf_pmu_walk_events(pmu->name, on_pmu_event, arg);
  return 0;
}

static void find_pmus(found_t *found) {
  add_number(found, (uint64_t)uvperf_pmu_walk(on_pmu, found));
}

static int on_tracepoint(const char *category, const char *name, uint64_t id,
                         void *arg) {
  add_text(arg, category);
  add_text(arg, name);
  add_number(arg, id);
  return 0;
}

static int on_tracer(const char *tracer, void *arg) {
  add_text(arg, tracer);
  return 0;
}

static void find_tracefs(found_t *found) {
  char path[512] = "";
  size_t size = sizeof(path);
  uint64_t id;

  add_number(found, (uint64_t)uvperf_tracefs_path(path, &size));
  add_text(found, path);
  add_number(found, (uint64_t)uvperf_tracefs_id("sched", "sched_switch", &id));
  add_number(found, id);
  add_number(found, (uint64_t)uvperf_tracefs_walk("s*", "s*_s*", on_tracepoint,
                                                  found));
  add_number(found, (uint64_t)uvperf_tracefs_walk_tracers(on_tracer, found));
}

static void find_machine(found_t *found) {
  uvperf_limits_t limits;
  int cpus[1024];
  size_t nr = 1024;
  unsigned int i;

  if (uvperf_cpus(UVPERF_CPUS_POSSIBLE, cpus, &nr) == 0)
    add_bytes(found, cpus, nr * sizeof(cpus[0]));
  add_number(found, (uint64_t)uvperf_system_limits(&limits));
  add_number(found, (uint64_t)limits.cap_perfmon);
  add_number(found, (uint64_t)limits.kernel_major);
  for (i = 0; i <= UVPERF_ATTR_AUX_ACTION; i++)
    add_number(found, (uint64_t)uvperf_kernel_knows(i, 1));
}

/* -- handles, each on a loop of its thread --------------------------------- */

static void add_error(found_t *found, int code, const uvperf_error_t *error) {
  add_number(found, (uint64_t)code);
  add_text(found, code != 0 ? error->reason : "opened");
}

static void find_refused(found_t *found) {
  static const uint32_t types[] = {PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT,
                                   PERF_TYPE_BREAKPOINT, 0x7fffffff};
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  size_t i;
  int rc;

  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    uvperf_attr_init(&attr, types[i], 0x7fffff00);
    rc = uvperf_event_init(found->loop, &event, &attr, NULL, &error);
    add_error(found, rc, &error);
    if (rc == 0)
      uvperf_close(&event.handle, NULL);
  }
}

/* The list that all threads have in common. */
static uvperf_event_list_t *common;

static void do_nothing(void *arg) {
}

static void find_handles(found_t *found) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_count_t count;
  uvperf_error_t error;
  uvperf_set_t set;
  int rc;

  rc = uvperf_measure_events("page-faults:u", do_nothing, NULL, &count, 1,
                             &error);
  add_error(found, rc, &error);
  find_refused(found);
  self.type = UVPERF_TARGET_SELF;
  options.events = common;
  options.targets = &self;
  options.nr_targets = 1;
  rc = uvperf_set_init(found->loop, &set, &options, &error);
  add_error(found, rc, &error);
  if (rc == 0)
    uvperf_close(&set.handle, NULL);
  add_number(found, (uint64_t)uv_run(found->loop, UV_RUN_DEFAULT));
}

/* -- several threads at once ---------------------------------------------- */

static const struct {
  const char *name;
  void (*find)(found_t *found);
} steps[] = {
    {"lists", find_lists},     {"functions", find_functions},
    {"names", find_names},     {"PMUs", find_pmus},
    {"tracefs", find_tracefs}, {"the machine", find_machine},
    {"handles", find_handles},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

typedef struct seeker_s {
  uv_thread_t thread;
  uv_loop_t loop;
  uv_barrier_t *barrier;
  size_t first; /* step, so that different ones meet */
  found_t found[ROUNDS][STEPS];
} seeker_t;

static void find_step(found_t *found, size_t step, uv_loop_t *loop) {
  *found = (found_t){loop, UINT64_C(0xcbf29ce484222325), 0};
  steps[step].find(found);
}

static void seek(void *arg) {
  seeker_t *seeker = arg;
  size_t round, i, step;

  uv_barrier_wait(seeker->barrier);
  for (round = 0; round < ROUNDS; round++)
    for (i = 0; i < STEPS; i++) {
      /* In the first round all take the same steps. */
      step = (i + round * seeker->first) % STEPS;
      find_step(&seeker->found[round][step], step, &seeker->loop);
    }
}

static void compare(const seeker_t *seeker, const found_t *alone) {
  size_t round, step;

  for (round = 0; round < ROUNDS; round++)
    for (step = 0; step < STEPS; step++) {
      if (seeker->found[round][step].nr != alone[step].nr ||
          seeker->found[round][step].sum != alone[step].sum)
        fail_msg("%s: a thread beside others finds %llu, alone %llu",
                 steps[step].name,
                 (unsigned long long)seeker->found[round][step].nr,
                 (unsigned long long)alone[step].nr);
    }
}

static void threads_at_once_find_the_same_as_one(void **state) {
  static seeker_t seekers[THREADS];
  found_t alone[STEPS];
  uv_barrier_t barrier;
  size_t i, word;

  assert_int_equal(uvperf_event_list_parse(&common, EVENTS, NULL), 0);
  for (i = 0; i < STEPS; i++) {
    find_step(&alone[i], i, *state);
    assert_true(alone[i].nr > 3);
  }
  /* All threads ask again what the kernel knows. */
  for (word = 0; word < UVPERF__WORDS; word++) {
    atomic_store(&uvperf__known[word].yes, 0);
    atomic_store(&uvperf__known[word].no, 0);
  }
  assert_int_equal(uv_barrier_init(&barrier, THREADS), 0);
  for (i = 0; i < THREADS; i++) {
    seekers[i].barrier = &barrier;
    seekers[i].first = i;
    assert_int_equal(uv_loop_init(&seekers[i].loop), 0);
    assert_int_equal(uv_thread_create(&seekers[i].thread, seek, &seekers[i]),
                     0);
  }
  /* Loops end here: libuv closes fds past ThreadSanitizer, to which the next
   * thread that got the same fd would seem to race. */
  for (i = 0; i < THREADS; i++) {
    uv_thread_join(&seekers[i].thread);
    assert_int_equal(uv_loop_close(&seekers[i].loop), 0);
  }
  uv_barrier_destroy(&barrier);
  for (i = 0; i < THREADS; i++)
    compare(&seekers[i], alone);
  uvperf_event_list_free(common);
}

/* -- records in several loops ---------------------------------------------- */

#define TRIPS 20

typedef struct traveller_s {
  uv_thread_t thread;
  uv_barrier_t *barrier;
  uint64_t tracepoint;
  uint64_t trips;
  int failed;
} traveller_t;

static void on_trip(uvperf_handle_t *handle, int status,
                    const uvperf_record_t *record) {
  traveller_t *traveller = handle->data;

  traveller->failed |= status != 0 || record->tid != live_tid();
  traveller->trips++;
}

/* Without its wakeup, a trip is the last. */
static void travel(void *arg) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  traveller_t *traveller = arg;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uv_loop_t loop;
  uint64_t i;

  live_syscall_attr(&attr, traveller->tracepoint, PERF_SAMPLE_TID);
  uvperf_attr_set_wakeup_events(&attr, 1);
  options.flush_ms = -1;
  event.handle.data = traveller;
  if (uv_loop_init(&loop) != 0 ||
      uvperf_event_init(&loop, &event, &attr, NULL, NULL) != 0 ||
      uvperf_start(&event.handle, &options, on_trip, NULL) != 0)
    abort();
  uv_barrier_wait(traveller->barrier);
  for (i = 1; i <= TRIPS && traveller->trips == i - 1; i++) {
    live_syscall(1);
    live_run_until(&loop, &traveller->trips, i);
  }
  uvperf_close(&event.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  traveller->failed |= uv_loop_close(&loop);
}

static void loops_of_several_threads_see_each_round_trip(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  traveller_t travellers[THREADS];
  uv_barrier_t barrier;
  size_t i;

  memset(travellers, 0, sizeof(travellers));
  assert_int_equal(uv_barrier_init(&barrier, THREADS), 0);
  for (i = 0; i < THREADS; i++) {
    travellers[i].barrier = &barrier;
    travellers[i].tracepoint = tracepoint;
    assert_int_equal(
        uv_thread_create(&travellers[i].thread, travel, &travellers[i]), 0);
  }
  for (i = 0; i < THREADS; i++) {
    uv_thread_join(&travellers[i].thread);
    assert_int_equal(travellers[i].trips, TRIPS);
    assert_int_equal(travellers[i].failed, 0);
  }
  uv_barrier_destroy(&barrier);
}

/* -- a list of one thread, used and freed by another ----------------------- */

static void parse_in_thread(void *arg) {
  if (uvperf_event_list_parse(arg, EVENTS ",syscalls:sys_enter_getp*", NULL) !=
          0 &&
      uvperf_event_list_parse(arg, EVENTS, NULL) != 0)
    abort();
}

static void list_of_a_thread_that_has_ended_opens_elsewhere(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_event_list_t *list;
  uv_thread_t thread;
  uvperf_set_t set;

  support_need_own_events(__func__);
  assert_int_equal(uv_thread_create(&thread, parse_in_thread, &list), 0);
  uv_thread_join(&thread);
  self.type = UVPERF_TARGET_SELF;
  options.events = list;
  options.targets = &self;
  options.nr_targets = 1;
  assert_int_equal(uvperf_set_init(*state, &set, &options, NULL), 0);
  assert_int_equal(uvperf_set_nr_attrs(&set), uvperf_event_list_count(list));
  uvperf_event_list_free(list);
  uvperf_close(&set.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(threads_at_once_find_the_same_as_one),
      cmocka_unit_test(loops_of_several_threads_see_each_round_trip),
      support_loop_test(list_of_a_thread_that_has_ended_opens_elsewhere),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
