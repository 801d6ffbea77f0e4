/* SPDX-License-Identifier: MIT */
/* Lists of events of PMUs: CPUs, scale and unit; and patterns of PMUs and
 * tracepoints. */
#include "check_parse.h"
#include "make_host.h"

#include <ftw.h>
#include <unistd.h>

#include "name/list.h"

static void list_events_of_pmus_have_cpus_scale_and_unit(void **state) {
  uvperf_event_list_t *list =
      check_parse_list("uncore_imc_0/cas_read/,cpu_core/event=1/,cpu/event=1/");
  const uvperf_event_item_t *item = uvperf_event_list_get(list, 0);

  assert_string_equal(item->unit, "MiB");
  assert_true(item->scale == 6.103515625e-5);
  assert_int_equal(item->flags, UVPERF_ITEM_CPU_WIDE);
  assert_int_equal(item->nr_cpus, 2);
  assert_int_equal(item->cpus[0], 0);
  assert_int_equal(item->cpus[1], 2);
  item = uvperf_event_list_get(list, 1);
  assert_int_equal(item->flags, 0);
  assert_int_equal(item->nr_cpus, 4);
  assert_int_equal(item->cpus[3], 3);
  assert_null(uvperf_event_list_get(list, 2)->cpus);
  uvperf_event_list_free(list);
}

static void list_events_of_pmus_may_have_names(void **state) {
  static const char complex[] =
      "COMPLEX_CYCLES_NAME:orig=cycles,desc=chip-clock-ticks";
  uvperf_event_list_t *list =
      check_parse_list("cpu/config=1,name=krava/u,cpu/config=2/u,"
                       "cpu/name='COMPLEX_CYCLES_NAME:orig=cycles,"
                       "desc=chip-clock-ticks',period=0x1,event=0x2/ukp");
  const uvperf_event_item_t *item = uvperf_event_list_get(list, 2);

  assert_string_equal(uvperf_event_list_get(list, 0)->label, "krava");
  assert_int_equal(uvperf_event_list_get(list, 0)->attr->config, 1);
  assert_string_equal(uvperf_event_list_get(list, 1)->label, "cpu/config=2/u");
  assert_string_equal(item->label, complex);
  assert_int_equal(item->attr->sample_period, 1);
  assert_int_equal(item->attr->config, 2);
  assert_int_equal(item->attr->precise_ip, 1);
  uvperf_event_list_free(list);
}

static uvperf_error_t error;

static void
list_pmus_of_which_some_lack_an_event_keeps_the_others(void **state) {
  uvperf_event_list_t *list;

  make_host_write(CHECK_PARSE_PMUS "/uncore_imc_2/type", "17\n");
  make_host_write(CHECK_PARSE_PMUS "/uncore_imc_x/type", "18\n");
  list = check_parse_list("uncore_imc_[0-9x]/cas_read/");
  assert_int_equal(uvperf_event_list_count(list), 2);
  uvperf_event_list_free(list);
  list = check_parse_list("uncore_imc//");
  assert_int_equal(uvperf_event_list_count(list), 3);
  uvperf_event_list_free(list);
  assert_int_equal(uvperf_event_list_parse(&list, "cs,imc/cas_red/", &error),
                   -ENOENT);
  assert_int_equal(error.column, 8);
  assert_int_equal(error.attr_index, 1);
  assert_null(list);
}

static void list_of_bad_cpus_in_sysfs_is_an_error(void **state) {
  uvperf_event_list_t *list;

  make_host_write(CHECK_PARSE_PMUS "/split/cpumask", "0-\n");
  assert_int_equal(uvperf_event_list_parse(&list, "cs, split/deep/", &error),
                   -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_NOT_SUPPORTED);
  assert_int_equal(error.column, 5);
  make_host_write(CHECK_PARSE_PMUS "/split/cpumask", "\n");
  list = check_parse_list("split/deep/");
  assert_null(uvperf_event_list_get(list, 0)->cpus);
  uvperf_event_list_free(list);
}

static size_t nr_ids;

static int count_id(const char *path, const struct stat *status, int type,
                    struct FTW *ftw) {
  nr_ids +=
      type == FTW_F && ftw->level == 3 && strcmp(path + ftw->base, "id") == 0;
  return 0;
}

static void list_of_all_tracepoints_of_this_machine_is_complete(void **state) {
  uvperf_event_list_t *list;
  size_t i;

  support_need_tracefs(__func__, "sched:sched_switch");
  nr_ids = 0;
  assert_int_equal(nftw("/sys/kernel/tracing/events", count_id, 8, FTW_PHYS),
                   0);
  list = check_parse_list("*:*");
  assert_int_equal(uvperf_event_list_count(list), nr_ids);
  for (i = 0; i < uvperf_event_list_count(list); i++) {
    const uvperf_event_item_t *item = uvperf_event_list_get(list, i);

    assert_int_equal(item->attr->type, PERF_TYPE_TRACEPOINT);
    assert_true(item->attr->config > 0);
    assert_non_null(strchr(item->label, ':'));
  }
  uvperf_event_list_free(list);
}

static void list_returns_per_package_and_snapshot(void **state) {
  uvperf_event_list_t *list;

  make_host_write(CHECK_PARSE_PMUS "/split/events/deep.per-pkg", "1\n");
  make_host_write(CHECK_PARSE_PMUS "/split/events/deep.snapshot", "1\n");
  list = check_parse_list(
      "split/deep/,split/event=1/,{split/deep/,split/deep/P}:PW");
  assert_int_equal(uvperf_event_list_get(list, 0)->flags,
                   UVPERF_ITEM_PER_PACKAGE | UVPERF_ITEM_SNAPSHOT);
  assert_int_equal(uvperf_event_list_get(list, 1)->flags, 0);
  assert_int_equal(uvperf_event_list_get(list, 2)->flags,
                   UVPERF_ITEM_PER_PACKAGE | UVPERF_ITEM_SNAPSHOT |
                       UVPERF_ITEM_PRECISE_MAX | UVPERF_ITEM_WEAK);
  assert_int_equal(uvperf_event_list_get(list, 3)->flags,
                   UVPERF_ITEM_PER_PACKAGE | UVPERF_ITEM_SNAPSHOT |
                       UVPERF_ITEM_PRECISE_MAX | UVPERF_ITEM_WEAK);
  uvperf_event_list_free(list);
}

/* Finds an event by its label, as directories have no order. */
static const uvperf_event_item_t *find(const uvperf_event_list_t *list,
                                       const char *label) {
  size_t i;

  for (i = 0; i < uvperf_event_list_count(list); i++)
    if (strcmp(uvperf_event_list_get(list, i)->label, label) == 0)
      return uvperf_event_list_get(list, i);
  fail_msg("no %s", label);
  return NULL;
}

static void list_patterns_return_each_pmu_that_matches(void **state) {
  static const char *const texts[] = {
      "uncore_imc/clockticks/u", "imc/clockticks/u", "uncore_*/clockticks/u",
      "imc_[01]/clockticks/u",   "*/clockticks/u",
  };
  size_t i;

  for (i = 0; i < COUNT_OF(texts); i++) {
    uvperf_event_list_t *list = check_parse_list(texts[i]);
    const uvperf_event_item_t *item;

    assert_int_equal(uvperf_event_list_count(list), 2);
    item = find(list, "uncore_imc_0/clockticks/u");
    assert_int_equal(item->attr->type, 14);
    assert_int_equal(item->attr->config, 0);
    assert_int_equal(item->nr_cpus, 2);
    item = find(list, "uncore_imc_1/clockticks/u");
    assert_int_equal(item->attr->type, 15);
    assert_int_equal(item->attr->config, 1);
    assert_true(item->attr->exclude_kernel);
    uvperf_event_list_free(list);
  }
}

static void list_words_return_each_pmu_that_has_them(void **state) {
  uvperf_event_list_t *list = check_parse_list("{clockticks:u,mem-loads}:S");

  assert_int_equal(uvperf_event_list_count(list), 3);
  assert_int_equal(find(list, "uncore_imc_0/clockticks/:u")->attr->type, 14);
  assert_int_equal(find(list, "uncore_imc_1/clockticks/:u")->attr->type, 15);
  assert_int_equal(find(list, "mem-loads")->leader, 0);
  uvperf_event_list_free(list);
}

static void list_patterns_return_each_tracepoint_that_matches(void **state) {
  uvperf_event_list_t *list;

  make_host_write("/sys/kernel/tracing/events/sched/sched_a/id", "1\n");
  make_host_write("/sys/kernel/tracing/events/sched/sched_b/id", "2\n");
  make_host_write("/sys/kernel/tracing/events/sched/other/id", "3\n");
  make_host_write("/sys/kernel/tracing/events/irq/enter/id", "4\n");
  list = check_parse_list("cs,sched:sched_*:u,*:*");
  assert_int_equal(uvperf_event_list_count(list), 1 + 2 + 4);
  assert_int_equal(find(list, "sched:sched_a:u")->attr->config, 1);
  assert_true(find(list, "sched:sched_a:u")->attr->exclude_kernel);
  assert_int_equal(find(list, "sched:sched_b:u")->attr->config, 2);
  assert_false(find(list, "sched:sched_b")->attr->exclude_kernel);
  assert_int_equal(find(list, "irq:enter")->attr->config, 4);
  uvperf_event_list_free(list);
  list = check_parse_list("{sched:*/period=1/}");
  assert_int_equal(uvperf_event_list_count(list), 3);
  assert_int_equal(find(list, "sched:other/period=1/")->attr->sample_period, 1);
  assert_int_equal(find(list, "sched:other/period=1/")->group, 0);
  uvperf_event_list_free(list);
}

/* -- out of fds ------------------------------------------------------------ */

static int is_whole(const uvperf_event_list_t *list,
                    const uvperf_event_list_t *whole) {
  size_t i, nr = uvperf_event_list_count(whole);

  if (uvperf_event_list_count(list) != nr)
    return 0;
  for (i = 0; i < nr; i++) {
    const uvperf_event_item_t *item = uvperf_event_list_get(list, i);
    const uvperf_event_item_t *other = uvperf_event_list_get(whole, i);

    if (strcmp(item->label, other->label) != 0 ||
        strcmp(item->unit, other->unit) != 0 ||
        item->nr_cpus != other->nr_cpus || item->flags != other->flags ||
        item->attr->type != other->attr->type ||
        item->attr->config != other->attr->config ||
        item->attr->config2 != other->attr->config2)
      return 0;
  }
  return 1;
}

typedef struct scarce_s {
  const char *names;
  unsigned fds; /* how many more may be opened */
} scarce_t;

/* In a child because of the limit. 0: refused for lack of fds; 100: the same
 * result as without a limit. */
static int parse_with_few_fds(void *arg) {
  const scarce_t *scarce = arg;
  uvperf_event_list_t *list, *whole = check_parse_list(scarce->names);
  int rc;

  if (support_limit_fds(scarce->fds) == 0)
    return 1;
  rc = uvperf_event_list_parse(&list, scarce->names, &error);
  if (rc == 0)
    rc = is_whole(list, whole) ? 100 : 2;
  else
    rc = rc == -EMFILE && error.cause == UVPERF_CAUSE_FILES && list == NULL ? 0
                                                                            : 3;
  uvperf_event_list_free(whole);
  if (rc == 100)
    uvperf_event_list_free(list);
  return rc;
}

/* What could not be read must not be taken for missing. */
static void list_is_whole_or_refused_when_fds_run_out(void **state) {
  static const char *const texts[] = {
      "uncore_imc_0/cas_read/",
      "uncore_imc/cas_read/",
      "*/clockticks/",
      "clockticks",
      "mem-loads",
      "cpu_core/event=1/",
      "sched:sched_a",
      "sched:*",
      "*:*",
      "uprobe/path=\"/proc/self/exe\",symbol=main/",
  };
  scarce_t scarce = {NULL, 0};
  size_t i;

  make_host_write(CHECK_PARSE_PMUS "/uprobe/type", "8\n");
  make_host_write("/sys/kernel/tracing/events/sched/sched_a/id", "1\n");
  make_host_write("/sys/kernel/tracing/events/sched/sched_b/id", "2\n");
  for (i = 0; i < COUNT_OF(texts); i++) {
    int rc = 0;

    scarce.names = texts[i];
    for (scarce.fds = 0; rc == 0; scarce.fds++) {
      rc = support_wait(support_fork(parse_with_few_fds, &scarce));
      if (rc != 0 && (rc != 100 || scarce.fds == 0))
        fail_msg("%s with %d fds: %d", texts[i], (int)scarce.fds, rc);
    }
  }
}

/* Names of sysfs and labels may have any byte but '/'. */
static void list_reasons_have_no_bytes_that_terminals_heed(void **state) {
  static const char *const names[] = {"pmux[31m//",
                                      "{cs,cs/name='\033[31m'/D}"};
  uvperf_event_list_t *list;
  size_t i;

  make_host_write(CHECK_PARSE_PMUS "/pmu\033[31m/type", "77\n");
  for (i = 0; i < COUNT_OF(names); i++) {
    assert_true(uvperf_event_list_parse(&list, names[i], &error) < 0);
    assert_non_null(strstr(error.reason, "?[31m'"));
    assert_null(strchr(error.reason, '\033'));
  }
}

#define WITH_PMUS(f)                                                           \
  cmocka_unit_test_setup_teardown(f, check_parse_pmus_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_PMUS(list_events_of_pmus_have_cpus_scale_and_unit),
      WITH_PMUS(list_events_of_pmus_may_have_names),
      WITH_PMUS(list_pmus_of_which_some_lack_an_event_keeps_the_others),
      WITH_PMUS(list_of_bad_cpus_in_sysfs_is_an_error),
      cmocka_unit_test(list_of_all_tracepoints_of_this_machine_is_complete),
      WITH_PMUS(list_returns_per_package_and_snapshot),
      WITH_PMUS(list_reasons_have_no_bytes_that_terminals_heed),
      WITH_PMUS(list_patterns_return_each_pmu_that_matches),
      WITH_PMUS(list_words_return_each_pmu_that_has_them),
      MAKE_HOST_TEST(list_patterns_return_each_tracepoint_that_matches),
      WITH_PMUS(list_is_whole_or_refused_when_fds_run_out),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
