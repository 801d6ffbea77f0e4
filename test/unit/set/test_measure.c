/* SPDX-License-Identifier: MIT */
/* Scripted: how uvperf_measure_events opens its event, how it uses what the
 * kernel returns, that nothing of it is left whatever fails, and that a meter
 * opens and closes once. */
#include "fake_kernel.h"
#include "measure_run.h"
#include "other_kernel.h"

#include <errno.h>

/* -- a PMU ----------------------------------------------------------------- */

#define MEASURE_PMU_MOST 32

/* One event, or a group. Changes take effect with measure_pmu_publish. */
typedef struct measure_pmu_s {
  fake_event_t *events[MEASURE_PMU_MOST];
  size_t nr;
  uint64_t values[MEASURE_PMU_MOST];
  uint64_t enabled;
  uint64_t running;
  uint64_t words[3 + 3 * MEASURE_PMU_MOST]; /* what read returns */
} measure_pmu_t;

/* The read_format of all events of sets. */
static uint64_t format_of(const measure_pmu_t *pmu) {
  uint64_t format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                    PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;

  if (uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST) == 1)
    format |= UVPERF_FORMAT_LOST;
  return pmu->nr > 1 ? format | PERF_FORMAT_GROUP : format;
}

/* Makes reads return the current values and times, as perf_read_group() and
 * perf_read_one() write them. */
static void measure_pmu_publish(measure_pmu_t *pmu) {
  uint64_t format = format_of(pmu);
  uint64_t *word = pmu->words;
  size_t i;

  if (pmu->events[0]->opened)
    assert_true(pmu->events[0]->attr.read_format == format);
  if (pmu->nr > 1)
    *word++ = pmu->nr;
  else
    *word++ = pmu->values[0];
  *word++ = pmu->enabled;
  *word++ = pmu->running;
  for (i = 0; i < pmu->nr; i++) {
    if (pmu->nr > 1)
      *word++ = pmu->values[i];
    *word++ = pmu->events[i]->id;
    if (format & UVPERF_FORMAT_LOST)
      *word++ = 0;
  }
  pmu->events[0]->read_data = pmu->words;
  pmu->events[0]->read_size = (size_t)(word - pmu->words) * sizeof(*word);
}

/* Scripts the next `nr` opens: the events of a group, or one event; their ids
 * are id, id + 1 and so on. */
static void measure_pmu_add(measure_pmu_t *pmu, size_t nr, uint64_t id) {
  size_t i;

  assert_in_range(nr, 1, MEASURE_PMU_MOST);
  memset(pmu, 0, sizeof(*pmu));
  /* The library finds it out by an open, which must not be one of these. */
  uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST);
  pmu->nr = nr;
  for (i = 0; i < nr; i++)
    pmu->events[i] = fake_event_add(id + i);
  measure_pmu_publish(pmu);
}

/* A uvperf_measure_fn: the ith event counts 1000 + i, in 2 us, of which it was
 * on a counter for 1 us. */
static void measure_pmu_work(void *arg) {
  measure_pmu_t *pmu = arg;
  size_t i;

  for (i = 0; i < pmu->nr; i++)
    pmu->values[i] += 1000 + i;
  pmu->enabled += 2000;
  pmu->running += 1000;
  measure_pmu_publish(pmu);
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* -- opening -------------------------------------------------------------- */

static void measure_event_opens_one_event_of_the_calling_thread(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;
  fake_event_t *fake;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  fake = pmu.events[0];
  assert_int_equal(uvperf_measure_events("page-faults:u", measure_pmu_work,
                                         &pmu, &count, 1, NULL),
                   0);
  assert_int_equal(fake->pid, live_tid());
  assert_int_equal(fake->cpu, -1);
  assert_int_equal(fake->group_fd, -1);
  assert_int_equal(fake->flags, PERF_FLAG_FD_CLOEXEC);
  assert_int_equal(fake->attr.disabled, 1);
  assert_int_equal(fake->attr.inherit, 0);
  assert_int_equal(fake->attr.exclude_kernel, 1);
  assert_int_equal(fake->enabled, 0);
  fake_assert_clean();
}

/* Its name says which sides: nothing else is tried. */
static void measure_event_that_is_refused_is_not_made_less(void **state) {
  other_kernel_t *kernel = other_kernel();
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;

  (void)state;
  kernel->allows_user_only = 1;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(
      uvperf_measure_events("cycles", measure_note, &called, &count, 1, &error),
      UV_EACCES);
  assert_int_equal(error.code, UV_EACCES);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  assert_int_equal(called, 0);
  assert_int_equal(pmu.events[0]->opened, 0);
  assert_int_equal(uvperf_measure_events("cycles:u", measure_pmu_work, &pmu,
                                         &count, 1, &error),
                   0);
  assert_int_equal(count.value, 1000);
  fake_assert_clean();
}

static void measure_event_without_a_pmu_is_no_event(void **state) {
  other_kernel_t *kernel = other_kernel();
  uvperf_count_t count;
  uvperf_error_t error;
  int called = 0;

  (void)state;
  kernel->cycles = -ENOENT;
  assert_int_equal(uvperf_measure_events("cycles:u", measure_note, &called,
                                         &count, 1, &error),
                   UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_non_null(strstr(error.reason, "cycles"));
  assert_int_equal(called, 0);
  fake_assert_clean();
}

/* -- counts --------------------------------------------------------------- */

static void measure_event_of_a_shared_pmu_reports_the_ratio(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_events("page-faults:u", measure_pmu_work,
                                         &pmu, &count, 1, NULL),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 1000);
  assert_int_equal(count.scaled, 2000);
  assert_int_equal(count.time_enabled, 2000);
  assert_int_equal(count.time_running, 1000);
  assert_true(count.ratio == 0.5);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(count.nr_missing, 0);
  fake_assert_clean();
}

static void never_scheduled(void *arg) {
  measure_pmu_t *pmu = arg;

  pmu->enabled += 500;
  measure_pmu_publish(pmu);
}

static void measure_event_that_never_ran_is_no_count_of_0(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_events("page-faults:u", never_scheduled, &pmu,
                                         &count, 1, NULL),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(count.nr_missing, 1);
  fake_assert_clean();
}

/* __perf_read(): end-of-file is an event in error state. */
static void fails_on_the_pmu(void *arg) {
  measure_pmu_t *pmu = arg;

  pmu->events[0]->read_size = 0;
}

static void
measure_event_that_is_pinned_and_does_not_fit_is_ebadf(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_events("page-faults:uD", fails_on_the_pmu,
                                         &pmu, &count, 1, NULL),
                   0);
  assert_int_equal(pmu.events[0]->attr.pinned, 1);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, UV_EBADF);
  fake_assert_clean();
}

/* -- failures ------------------------------------------------------------- */

static void measure_event_that_cannot_be_enabled_does_not_call(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  memset(&error, 0, sizeof(error));
  fake_fail(FAKE_IOCTL, 1, -EIO);
  assert_int_equal(uvperf_measure_events("page-faults:u", measure_note, &called,
                                         &count, 1, &error),
                   UV_EIO);
  assert_int_equal(error.code, UV_EIO);
  assert_int_equal(called, 0);
  fake_assert_clean();
}

static void
measure_event_that_cannot_be_disabled_returns_its_count(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  memset(&error, 0, sizeof(error));
  fake_fail(FAKE_IOCTL, 2, -EIO);
  assert_int_equal(uvperf_measure_events("page-faults:u", measure_pmu_work,
                                         &pmu, &count, 1, &error),
                   UV_EIO);
  assert_int_equal(error.code, UV_EIO);
  assert_int_equal(count.value, 1000);
  fake_assert_clean();
}

static void measure_event_that_cannot_be_read_is_an_error_state(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  fake_fail_from(FAKE_READ, 1, -EIO);
  assert_int_equal(uvperf_measure_events("page-faults:u", measure_pmu_work,
                                         &pmu, &count, 1, NULL),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, UV_EIO);
  fake_assert_clean();
}

static void measure_event_without_fds_is_emfile(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  assert_int_equal(uvperf_measure_events("page-faults:u", measure_note, &called,
                                         &count, 1, &error),
                   UV_EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  assert_true(error.needed > 0);
  assert_int_equal(called, 0);
  fake_assert_clean();
}

/* Any shortage is noticed before the call. */
static void measure_event_without_memory_does_not_call(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;
  unsigned nth;
  int rc;

  (void)state;
  for (nth = 1;; nth++) {
    fake_kernel_reset();
    measure_pmu_add(&pmu, 1, 10);
    memset(&error, 0, sizeof(error));
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf_measure_events("page-faults:u", measure_note, &called, &count,
                               1, &error);
    fake_assert_clean();
    if (fake_failures() == 0)
      break;
    assert_int_equal(rc, UV_ENOMEM);
    assert_int_equal(error.code, UV_ENOMEM);
    assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    assert_int_equal(called, 0);
  }
  assert_true(nth > 5);
  assert_int_equal(rc, 0);
  assert_int_equal(called, 1);
}

/* -- a meter -------------------------------------------------------------- */

static void meter_opens_and_closes_once(void **state) {
  uvperf_count_t count;
  uvperf_meter_t *meter;
  measure_pmu_t pmu;
  int i;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  meter = measure_meter("page-faults:u", NULL);
  for (i = 0; i < 3; i++) {
    fake_log_clear();
    assert_int_equal(
        uvperf_meter_measure(meter, measure_pmu_work, &pmu, &count, 1, NULL),
        0);
    assert_int_equal(count.value, 1000);
    assert_int_equal(count.time_enabled, 2000);
    assert_null(strstr(fake_log(), "open"));
    assert_null(strstr(fake_log(), "close"));
    assert_non_null(strstr(fake_log(), "ENABLE"));
  }
  uvperf_meter_free(meter);
  assert_int_equal(pmu.events[0]->fd, -1);
  fake_assert_clean();
}

/* All events are disabled all the same, and the next call counts by itself. */
static void meter_goes_on_after_a_failure(void **state) {
  uvperf_count_t counts[2];
  uvperf_error_t error;
  uvperf_meter_t *meter;
  measure_pmu_t pmus[2];
  int called = 0;
  unsigned nth;

  (void)state;
  for (nth = 1; nth <= 2; nth++) {
    fake_kernel_reset();
    measure_pmu_add(&pmus[0], 1, 10);
    measure_pmu_add(&pmus[1], 1, 20);
    meter = measure_meter("page-faults:u,cs:u", NULL);
    fake_fail(FAKE_IOCTL, nth, -EIO);
    assert_int_equal(
        uvperf_meter_measure(meter, measure_note, &called, counts, 2, &error),
        UV_EIO);
    assert_int_equal(error.code, UV_EIO);
    assert_int_equal(called, 0);
    assert_int_equal(pmus[0].events[0]->enabled, 0);
    assert_int_equal(pmus[1].events[0]->enabled, 0);
    assert_int_equal(uvperf_meter_measure(meter, measure_pmu_work, &pmus[1],
                                          counts, 2, &error),
                     0);
    assert_int_equal(counts[1].value, 1000);
    uvperf_meter_free(meter);
    fake_assert_clean();
  }
}

/* The kernel's values and times only grow. */
static void meter_returns_what_each_call_added(void **state) {
  uvperf_count_t counts[3];
  uvperf_meter_t *meter;
  measure_pmu_t pmu;
  size_t attr;
  int i;

  (void)state;
  measure_pmu_add(&pmu, 3, 10);
  meter = measure_meter("{page-faults:u,cs:u,minor-faults:u}", NULL);
  for (i = 0; i < 5; i++) {
    assert_int_equal(
        uvperf_meter_measure(meter, measure_pmu_work, &pmu, counts, 3, NULL),
        0);
    for (attr = 0; attr < 3; attr++) {
      assert_int_equal(counts[attr].state, UVPERF_COUNT_COUNTING);
      assert_int_equal(counts[attr].value, 1000 + attr);
      assert_int_equal(counts[attr].scaled, 2 * (1000 + attr));
      assert_int_equal(counts[attr].time_enabled, 2000);
      assert_int_equal(counts[attr].time_running, 1000);
    }
    measure_pmu_work(&pmu); /* not measured */
  }
  assert_int_equal(
      uvperf_meter_measure(meter, never_scheduled, &pmu, counts, 3, NULL), 0);
  assert_int_equal(counts[0].state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(counts[0].nr_missing, 1);
  assert_int_equal(counts[0].time_enabled, 500);
  assert_int_equal(
      uvperf_meter_measure(meter, fails_on_the_pmu, &pmu, counts, 3, NULL), 0);
  assert_int_equal(counts[0].state, UVPERF_COUNT_ERROR);
  assert_int_equal(counts[0].code, UV_EBADF);
  uvperf_meter_free(meter);
  fake_assert_clean();
}

/* -- the order ------------------------------------------------------------ */

/* The calls before the function ran, and those after it. */
static char log_before[4096];

static void take_log(void *arg) {
  (void)arg;
  snprintf(log_before, sizeof(log_before), "%s", fake_log());
  fake_log_clear();
}

/* Nothing is between enabling and the call, nor between the call and disabling;
 * one ioctl is for all of a group. */
static void
meter_calls_right_after_enabling_and_before_disabling(void **state) {
  static const struct {
    const char *names;
    size_t nr_groups, nr;
    const char *before, *after;
  } cases[] = {
      {"page-faults:u", 1, 1, "read, ioctl ENABLE", "ioctl DISABLE, read"},
      {"{page-faults:u,cs:u,minor-faults:u,dummy:u,faults:u}", 1, 5,
       "read, ioctl ENABLE", "ioctl DISABLE, read"},
      {"page-faults:u,cs:u", 2, 1, "read, read, ioctl ENABLE, ioctl ENABLE",
       "ioctl DISABLE, ioctl DISABLE, read, read"},
  };
  uvperf_count_t counts[5];
  uvperf_meter_t *meter;
  measure_pmu_t pmus[2];
  size_t i, k, nr;

  (void)state;
  for (i = 0; i < COUNT_OF(cases); i++) {
    fake_kernel_reset();
    for (k = 0; k < cases[i].nr_groups; k++)
      measure_pmu_add(&pmus[k], cases[i].nr, 10 * (k + 1));
    nr = cases[i].nr_groups * cases[i].nr;
    meter = measure_meter(cases[i].names, NULL);
    assert_int_equal(
        uvperf_meter_measure(meter, measure_nothing, NULL, counts, nr, NULL),
        0);
    fake_log_clear();
    assert_int_equal(
        uvperf_meter_measure(meter, take_log, NULL, counts, nr, NULL), 0);
    assert_string_equal(log_before, cases[i].before);
    assert_string_equal(fake_log(), cases[i].after);
    uvperf_meter_free(meter);
    fake_assert_clean();
  }
}

/* -- several events ------------------------------------------------------- */

/* The scripted event is the second: the first cannot be had. */
static void meter_without_one_of_its_events_counts_the_others(void **state) {
  other_kernel_t *kernel = other_kernel();
  const uvperf_set_failure_t *failures;
  uvperf_count_t counts[2];
  uvperf_meter_t *meter;
  uvperf_error_t error;
  measure_pmu_t pmu;
  size_t nr;

  (void)state;
  kernel->cycles = -ENOENT;
  measure_pmu_add(&pmu, 1, 10);
  meter = measure_meter("cycles:u,page-faults:u", NULL);
  assert_null(uvperf_meter_item(meter, 2));
  assert_string_equal(uvperf_meter_item(meter, 0)->label, "cycles:u");
  failures = uvperf_meter_failures(meter, &nr);
  assert_int_equal(nr, 1);
  assert_int_equal(failures[0].error.attr_index, 0);
  assert_int_equal(failures[0].error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(
      uvperf_meter_measure(meter, measure_pmu_work, &pmu, counts, 2, &error),
      0);
  assert_int_equal(counts[0].state, UVPERF_COUNT_NOT_AVAILABLE);
  assert_int_equal(counts[0].code, UV_ENOENT);
  assert_int_equal(counts[1].value, 1000);
  uvperf_meter_free(meter);
  fake_assert_clean();
}

static void measure_events_without_one_says_which_and_why(void **state) {
  other_kernel_t *kernel = other_kernel();
  uvperf_count_t counts[2];
  uvperf_error_t error;
  measure_pmu_t pmu;

  (void)state;
  kernel->cycles = -ENOENT;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_events("page-faults:u,cycles:u",
                                         measure_pmu_work, &pmu, counts, 2,
                                         &error),
                   0);
  assert_int_equal(counts[0].value, 1000);
  assert_int_equal(counts[1].state, UVPERF_COUNT_NOT_AVAILABLE);
  assert_int_equal(error.code, UV_ENOENT);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(error.reason, "cycles"));
  fake_assert_clean();
}

static void meter_that_is_strict_needs_each_event(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  other_kernel_t *kernel = other_kernel();
  uvperf_meter_t *meter;
  uvperf_error_t error;
  measure_pmu_t pmu;

  (void)state;
  kernel->cycles = -ENOENT;
  measure_pmu_add(&pmu, 1, 10);
  options.names = "page-faults:u,cycles:u";
  options.flags = UVPERF_SET_STRICT;
  assert_int_equal(uvperf_meter_new(&meter, &options, &error), UV_ENOENT);
  assert_null(meter);
  assert_non_null(strstr(error.reason, "cycles"));
  fake_assert_clean();
}

static void meter_of_a_group_reads_it_at_once(void **state) {
  uvperf_count_t counts[3];
  uvperf_meter_t *meter;
  measure_pmu_t pmu;
  size_t i;

  (void)state;
  other_kernel();
  measure_pmu_add(&pmu, 3, 10);
  meter = measure_meter("{instructions:u,cycles:u,page-faults:u}", NULL);
  assert_int_equal(pmu.events[2]->group_fd, pmu.events[0]->fd);
  assert_int_equal(
      uvperf_meter_measure(meter, measure_pmu_work, &pmu, counts, 3, NULL), 0);
  for (i = 0; i < 3; i++) {
    assert_int_equal(counts[i].value, 1000 + i);
    assert_int_equal(counts[i].scaled, 2 * (1000 + i));
  }
  uvperf_meter_free(meter);
  fake_assert_clean();
}

/* -- several calls -------------------------------------------------------- */

/* On a counter in every second call only. */
static void work_every_second_time(void *arg) {
  measure_pmu_t *pmu = arg;

  if (pmu->enabled / 2000 % 2 == 0) {
    measure_pmu_work(pmu);
    return;
  }
  pmu->enabled += 2000;
  measure_pmu_publish(pmu);
}

static void repeat(uint64_t times, uvperf_measure_fn work,
                   uvperf_runs_t *runs) {
  uvperf_meter_t *meter;
  measure_pmu_t pmu;

  measure_pmu_add(&pmu, 1, 10);
  meter = measure_meter("page-faults:u", NULL);
  assert_int_equal(uvperf_meter_repeat(meter, times, work, &pmu, runs, 1, NULL),
                   0);
  uvperf_meter_free(meter);
  fake_assert_clean();
}

static void repeat_leaves_out_calls_that_were_not_counted(void **state) {
  uvperf_runs_t runs;

  (void)state;
  repeat(5, work_every_second_time, &runs);
  assert_int_equal(runs.nr, 3);
  assert_int_equal(runs.sum.nr_counts, 3);
  assert_int_equal(runs.sum.nr_missing, 2);
  assert_int_equal(runs.sum.value, 3000);
  assert_int_equal(runs.least, 2000);
  assert_true(runs.mean == 2000 && runs.deviation == 0);
}

/* Counts 10 in each call, and 11 in the fourth. */
static void work_of_almost_10(void *arg) {
  measure_pmu_t *pmu = arg;

  pmu->enabled += 1000;
  pmu->running += 1000;
  pmu->values[0] += pmu->enabled == 4000 ? 11 : 10;
  measure_pmu_publish(pmu);
}

static void repeat_of_close_counts_has_a_small_deviation(void **state) {
  uvperf_runs_t runs;

  (void)state;
  repeat(4, work_of_almost_10, &runs);
  assert_true(runs.mean == 10.25);
  assert_true(runs.deviation > 0.499 && runs.deviation < 0.501);
}

static void repeat_ends_with_the_first_failure(void **state) {
  uvperf_meter_t *meter;
  uvperf_runs_t runs;
  uvperf_error_t error;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  meter = measure_meter("page-faults:u", NULL);
  assert_int_equal(
      uvperf_meter_repeat(meter, 0, measure_pmu_work, &pmu, &runs, 1, &error),
      UV_EINVAL);
  assert_int_equal(
      uvperf_meter_repeat(meter, 3, measure_pmu_work, &pmu, &runs, 2, &error),
      UV_EINVAL);
  assert_non_null(strstr(error.reason, "the meter has 1 events, but nr is 2; "
                                       "pass one result per event"));
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(
      uvperf_meter_repeat(meter, 3, measure_pmu_work, &pmu, &runs, 1, &error),
      UV_ENOMEM);
  assert_int_equal(pmu.values[0], 0);
  fake_fail(FAKE_IOCTL, 5, -EIO); /* ENABLE and DISABLE of two calls */
  assert_int_equal(
      uvperf_meter_repeat(meter, 10, measure_pmu_work, &pmu, &runs, 1, &error),
      UV_EIO);
  assert_int_equal(pmu.values[0], 2000);
  assert_int_equal(runs.nr, 2);
  assert_true(runs.mean == 2000);
  uvperf_meter_free(meter);
  fake_assert_clean();
}

/* -- the cost of measuring ------------------------------------------------ */

static const uint64_t *costs; /* of one measurement each */

/* Enabling costs something. */
static int count_cost(fake_event_t *fake, unsigned long request,
                      uintptr_t argument) {
  measure_pmu_t *pmu = fake->data;

  (void)argument;
  if (request == PERF_EVENT_IOC_ENABLE) {
    pmu->values[0] += *costs++;
    pmu->enabled += 10;
    pmu->running += 10;
    measure_pmu_publish(pmu);
  }
  return 0;
}

static void repeat_of_nothing_has_the_cost_as_its_least(void **state) {
  static const uint64_t of_three[] = {10, 7, 9};
  uvperf_meter_t *meter;
  uvperf_runs_t runs;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  pmu.events[0]->on_ioctl = count_cost;
  pmu.events[0]->data = &pmu;
  meter = measure_meter("page-faults:u", NULL);
  costs = of_three;
  assert_int_equal(
      uvperf_meter_repeat(meter, 3, measure_nothing, NULL, &runs, 1, NULL), 0);
  assert_int_equal(runs.least, 7);
  assert_int_equal(runs.most, 10);
  assert_ptr_equal(costs, of_three + 3);
  uvperf_meter_free(meter);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      other_kernel_test(measure_event_opens_one_event_of_the_calling_thread),
      other_kernel_test(measure_event_that_is_refused_is_not_made_less),
      other_kernel_test(measure_event_without_a_pmu_is_no_event),
      other_kernel_test(measure_event_of_a_shared_pmu_reports_the_ratio),
      other_kernel_test(measure_event_that_never_ran_is_no_count_of_0),
      other_kernel_test(measure_event_that_is_pinned_and_does_not_fit_is_ebadf),
      other_kernel_test(measure_event_that_cannot_be_enabled_does_not_call),
      other_kernel_test(
          measure_event_that_cannot_be_disabled_returns_its_count),
      other_kernel_test(measure_event_that_cannot_be_read_is_an_error_state),
      other_kernel_test(measure_event_without_fds_is_emfile),
      other_kernel_test(measure_event_without_memory_does_not_call),
      other_kernel_test(meter_opens_and_closes_once),
      other_kernel_test(meter_goes_on_after_a_failure),
      other_kernel_test(meter_returns_what_each_call_added),
      other_kernel_test(meter_calls_right_after_enabling_and_before_disabling),
      other_kernel_test(meter_without_one_of_its_events_counts_the_others),
      other_kernel_test(measure_events_without_one_says_which_and_why),
      other_kernel_test(meter_that_is_strict_needs_each_event),
      other_kernel_test(meter_of_a_group_reads_it_at_once),
      other_kernel_test(repeat_leaves_out_calls_that_were_not_counted),
      other_kernel_test(repeat_of_close_counts_has_a_small_deviation),
      other_kernel_test(repeat_ends_with_the_first_failure),
      other_kernel_test(repeat_of_nothing_has_the_cost_as_its_least),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
