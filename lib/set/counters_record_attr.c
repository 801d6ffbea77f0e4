/* SPDX-License-Identifier: MIT */
/* What records take of the attrs of a set: that each record tells whose it is,
 * and when it was written by which clock; and the attr that tells of tasks and
 * mappings. Opens nothing. */
#include "set/counters_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attr/attr.h"
#include "util/error.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* -- options -------------------------------------------------------------- */

static int bad(uvperf_error_t *error, const char *what) {
  return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "%s", what);
}

static int check_without_records(const uvperf_set_options_t *options,
                                 uvperf_error_t *error) {
  if (options->flags & UVPERF_SET_TIME_ORDER)
    return bad(error, "UVPERF_SET_TIME_ORDER is of records: options.flags must "
                      "have UVPERF_SET_RECORDS too");
  if (options->flags & UVPERF_SET_OVERWRITE)
    return bad(error, "UVPERF_SET_OVERWRITE is of rings: options.flags must "
                      "have UVPERF_SET_RECORDS too");
  if (options->side_band != 0)
    return bad(error, "options.side_band is of records: options.flags must "
                      "have UVPERF_SET_RECORDS");
  if (options->wakeup_bytes != 0)
    return bad(error, "options.wakeup_bytes is of rings: options.flags must "
                      "have UVPERF_SET_RECORDS");
  if (options->ring_bytes != 0)
    return bad(error, "options.ring_bytes is of rings: options.flags must have "
                      "UVPERF_SET_RECORDS");
  return 0;
}

#define SIDE_BAND_ALL                                                          \
  (UVPERF_SIDE_BAND_TASKS | UVPERF_SIDE_BAND_MMAP |                            \
   UVPERF_SIDE_BAND_MMAP_DATA | UVPERF_SIDE_BAND_BUILD_ID |                    \
   UVPERF_SIDE_BAND_SWITCH | UVPERF_SIDE_BAND_NAMESPACES |                     \
   UVPERF_SIDE_BAND_KSYMBOL | UVPERF_SIDE_BAND_BPF_EVENT |                     \
   UVPERF_SIDE_BAND_CGROUP | UVPERF_SIDE_BAND_TEXT_POKE)

static int check_side_band(uint32_t bits, uvperf_error_t *error) {
  if (bits & ~SIDE_BAND_ALL)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "options.side_band 0x%x has unknown bits", bits);
  if ((bits & UVPERF_SIDE_BAND_BUILD_ID) &&
      !(bits & (UVPERF_SIDE_BAND_MMAP | UVPERF_SIDE_BAND_MMAP_DATA)))
    return bad(error, "UVPERF_SIDE_BAND_BUILD_ID is of mappings: "
                      "options.side_band must have UVPERF_SIDE_BAND_MMAP too");
  return 0;
}

/* Nobody is woken for an overwritable ring (a wakeup is told to who polls, and
 * what is there stays), and in a snapshot nothing waits for its time. */
static int check_overwrite(const uvperf_set_options_t *options,
                           uvperf_error_t *error) {
  if (!(options->flags & UVPERF_SET_OVERWRITE))
    return 0;
  if (options->wakeup_bytes != 0)
    return bad(error, "options.wakeup_bytes must be 0 with "
                      "UVPERF_SET_OVERWRITE: nobody is woken for a ring that "
                      "can be overwritten");
  if (options->slack_us != 0)
    return bad(error, "options.slack_us must be 0 with UVPERF_SET_OVERWRITE: "
                      "nothing in a snapshot waits for its time");
  return 0;
}

int uvperf__counters_check_records(const uvperf_set_options_t *options,
                                   uvperf_error_t *error) {
  const uvperf__cpu_rings_options_t rings = {
      NULL, options->ring_bytes, options->wakeup_bytes, -1, 0, 0};
  int rc;

  if (options->reserved != 0)
    return uvperf__error_set(error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                             "options.reserved is not 0: this version knows no "
                             "such field");
  if (options->slack_us != 0 && !(options->flags & UVPERF_SET_TIME_ORDER))
    return bad(error, "options.slack_us is of the order of time: "
                      "options.flags must have UVPERF_SET_TIME_ORDER");
  if (!(options->flags & UVPERF_SET_RECORDS))
    return check_without_records(options, error);
  rc = check_side_band(options->side_band, error);
  if (rc == 0)
    rc = check_overwrite(options, error);
  return rc != 0 ? rc : uvperf__cpu_rings_check(&rings, error);
}

/* -- side-band ------------------------------------------------------------ */

/* The exclusions change nothing of what comes (perf_iterate_sb in
 * kernel/events/core.c looks at none), and make it an event that takes no
 * privileges of one's own tasks. Of a CPU the kernel tells no cgroups and
 * namespaces to an event that has no other bit (is_sb_event): comm_exec alone
 * writes nothing. */
void uvperf__counters_side_band(uint32_t bits, struct perf_event_attr *attr) {
  static const struct {
    uint32_t bit;
    enum uvperf_attr_field field;
  } fields[] = {
      {UVPERF_SIDE_BAND_TASKS, UVPERF_ATTR_TASK},
      {UVPERF_SIDE_BAND_TASKS, UVPERF_ATTR_COMM},
      {UVPERF_SIDE_BAND_MMAP, UVPERF_ATTR_MMAP},
      {UVPERF_SIDE_BAND_MMAP, UVPERF_ATTR_MMAP2},
      {UVPERF_SIDE_BAND_MMAP_DATA, UVPERF_ATTR_MMAP_DATA},
      {UVPERF_SIDE_BAND_MMAP_DATA, UVPERF_ATTR_MMAP2},
      {UVPERF_SIDE_BAND_BUILD_ID, UVPERF_ATTR_BUILD_ID},
      {UVPERF_SIDE_BAND_SWITCH, UVPERF_ATTR_CONTEXT_SWITCH},
      {UVPERF_SIDE_BAND_NAMESPACES, UVPERF_ATTR_NAMESPACES},
      {UVPERF_SIDE_BAND_KSYMBOL, UVPERF_ATTR_KSYMBOL},
      {UVPERF_SIDE_BAND_BPF_EVENT, UVPERF_ATTR_BPF_EVENT},
      {UVPERF_SIDE_BAND_CGROUP, UVPERF_ATTR_CGROUP},
      {UVPERF_SIDE_BAND_TEXT_POKE, UVPERF_ATTR_TEXT_POKE},
  };
  size_t i;

  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  attr->comm_exec = 1;
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  for (i = 0; i < COUNT_OF(fields); i++)
    if (bits & fields[i].bit)
      uvperf_attr_set(attr, fields[i].field, 1);
}

/* -- clocks --------------------------------------------------------------- */

/* The clock that times are told by, -1 for the kernel's own. */
static int clock_of(const struct perf_event_attr *attr) {
  if (uvperf__attr_value(attr, UVPERF_ATTR_USE_CLOCKID) == 0)
    return -1;
  return (int)uvperf__attr_value(attr, UVPERF_ATTR_CLOCKID);
}

static void name_clock(char *text, size_t size, int clock) {
  if (clock == -1)
    snprintf(text, size, "the kernel's own");
  else
    snprintf(text, size, "clockid %d", clock);
}

static int refuse_clocks(const uvperf__counters_t *counters, size_t first,
                         size_t other, uvperf_error_t *error) {
  char clocks[2][24];

  name_clock(clocks[0], sizeof(clocks[0]),
             clock_of(counters->attrs[first].asked));
  name_clock(clocks[1], sizeof(clocks[1]),
             clock_of(counters->attrs[other].asked));
  uvperf__error_set(
      error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
      "attrs %zu and %zu write into one ring, which has one clock, "
      "and that of the first is %s, of the other %s",
      first, other, clocks[0], clocks[1]);
  if (error != NULL)
    error->attr_index = (uint32_t)other;
  return -EINVAL;
}

/* An attr of the first versions has no room for a clock. The copy has, and each
 * kernel that has a clock knows that size. */
static void set_clock(struct perf_event_attr *attr, int clock) {
  if (attr->size < PERF_ATTR_SIZE_VER3)
    attr->size = PERF_ATTR_SIZE_VER3;
  attr->use_clockid = 1;
  attr->clockid = clock;
}

/* Of those that write: the kernel redirects no event into the ring of one with
 * another clock (perf_event_set_output in kernel/events/core.c). The last is
 * that of the side-band, which has the others' clock, if there are any. */
static int choose_clock(uvperf__counters_t *counters, size_t nr_given,
                        uvperf_error_t *error) {
  const struct perf_event_attr *attr;
  size_t first = nr_given;
  size_t i;

  counters->clockid = -1;
  for (i = 0; i < nr_given; i++) {
    attr = counters->attrs[i].asked;
    if (!uvperf__attr_writes_records(attr))
      continue;
    if (first == nr_given) {
      first = i;
      counters->clockid = clock_of(attr);
    } else if (clock_of(attr) != counters->clockid) {
      return refuse_clocks(counters, first, i, error);
    }
  }
  if (counters->clockid == -1 && (counters->flags & UVPERF_SET_TIME_ORDER))
    counters->clockid = CLOCK_MONOTONIC;
  return 0;
}

/* -- attrs ---------------------------------------------------------------- */

/* The READ record of a child is written where that ends (sync_child_event in
 * kernel/events/core.c asks for no CPU), while the CPU that the ring is of may
 * be writing, and no lock is there for two: records are lost untold, headers
 * are torn, and the head may never move again. */
static int check_attr(const uvperf__counters_t *counters, size_t index,
                      uvperf_error_t *error) {
  const struct perf_event_attr *attr = counters->attrs[index].asked;
  const char *why = uvperf__attr_fault(attr);

  if (attr->write_backward && !(counters->flags & UVPERF_SET_OVERWRITE))
    why = "write_backward: options.flags must have UVPERF_SET_OVERWRITE for "
          "it, which makes all rings of the set overwritable";
  else if (attr->inherit_stat)
    why = "inherit_stat: the kernel writes such records on whatever CPU a "
          "child ends on, and spoils the ring, which is of one CPU";
  if (why == NULL)
    return 0;
  uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "attr %zu has %s",
                    index, why);
  if (error != NULL)
    error->attr_index = (uint32_t)index;
  return -EINVAL;
}

/* The kernel redirects no event that writes forward into a ring that is written
 * backward (perf_event_set_output in kernel/events/core.c). The bit lies in the
 * first version of the attr. A wakeup for each record would only cost the
 * interrupt that wakes nobody. */
static void overwrite(struct perf_event_attr *attr) {
  attr->write_backward = 1;
  attr->watermark = 0;
  attr->wakeup_events = 0;
}

static void shape_attr(const uvperf__counters_t *counters,
                       counter_attr_t *attr) {
  struct perf_event_attr *asked = attr->asked;

  asked->sample_type |= PERF_SAMPLE_IDENTIFIER;
  asked->sample_id_all = 1;
  if ((counters->flags & UVPERF_SET_TIME_ORDER) &&
      uvperf__attr_writes_records(asked))
    asked->sample_type |= PERF_SAMPLE_TIME;
  if ((counters->flags & UVPERF_SET_OVERWRITE) &&
      uvperf__attr_writes_records(asked))
    overwrite(asked);
  /* Of those that only count as well: a group has one clock (perf_event_open()
   * in kernel/events/core.c). */
  if (counters->clockid >= 0)
    set_clock(asked, counters->clockid);
  uvperf__counter_attr_restore(attr);
}

/* -- attrs of one software event ------------------------------------------ */

/* What decides how samples look, and is not told by their bytes. */
typedef struct look_s {
  uint64_t sample_type;
  uint64_t read_format;
  uint64_t regs_user;
  uint64_t regs_intr;
  uint32_t stack_user; /* bytes */
} look_t;

/* PERF_COUNT_SW_MAX of any kernel is below it. */
#define NR_SOFTWARE 64

/* Clocks are samples of timers, each its own, and the outputs of a program are
 * for one event. */
static int is_shared(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE && attr->sample_period != 0 &&
         attr->config < NR_SOFTWARE &&
         attr->config != PERF_COUNT_SW_CPU_CLOCK &&
         attr->config != PERF_COUNT_SW_TASK_CLOCK &&
         attr->config != PERF_COUNT_SW_BPF_OUTPUT;
}

static void take_look(look_t *look, const struct perf_event_attr *attr) {
  uint32_t stack = uvperf__attr_stack(attr);

  look->sample_type |= attr->sample_type;
  look->read_format |= attr->read_format;
  look->regs_user |= uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_USER);
  look->regs_intr |= uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_INTR);
  if (look->stack_user < stack)
    look->stack_user = stack;
}

/* The copy has room for all that some other attr has. Of a stack all have the
 * size of the largest: perf_output_sample_ustack in kernel/events/core.c
 * writes that of the first event into the records of all. */
static void give_look(const look_t *look, struct perf_event_attr *attr) {
  attr->sample_type = look->sample_type;
  attr->read_format = look->read_format;
  if ((look->regs_user != 0 || look->stack_user != 0) &&
      attr->size < PERF_ATTR_SIZE_VER3)
    attr->size = PERF_ATTR_SIZE_VER3;
  if (look->regs_intr != 0 && attr->size < PERF_ATTR_SIZE_VER4)
    attr->size = PERF_ATTR_SIZE_VER4;
  if (look->regs_user != 0)
    attr->sample_regs_user = look->regs_user;
  if (look->regs_intr != 0)
    attr->sample_regs_intr = look->regs_intr;
  if (look->stack_user != 0)
    attr->sample_stack_user = look->stack_user;
}

/* Where events sample the same software event, do_perf_sw_event in
 * kernel/events/core.c fills one perf_sample_data for all of them, and the id
 * is that of the first. So they get each other's fields: whichever of them a
 * sample is taken for, it is read as it was written. */
void uvperf__counters_unify_software(uvperf__counters_t *counters) {
  look_t looks[NR_SOFTWARE];
  struct perf_event_attr *asked;
  size_t i;

  memset(looks, 0, sizeof(looks));
  for (i = 0; i < counters->nr_attrs; i++)
    if (is_shared(counters->attrs[i].asked))
      take_look(&looks[counters->attrs[i].asked->config],
                counters->attrs[i].asked);
  for (i = 0; i < counters->nr_attrs; i++) {
    asked = counters->attrs[i].asked;
    if (!is_shared(asked))
      continue;
    give_look(&looks[asked->config], asked);
    uvperf__counter_attr_restore(&counters->attrs[i]);
  }
}

/* A set adds fields, and one attr gets those of another. */
int uvperf__counters_check_looks(const uvperf__counters_t *counters,
                                 uvperf_error_t *error) {
  const char *why;
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++) {
    why = uvperf__attr_fault(counters->attrs[i].asked);
    if (why == NULL)
      continue;
    uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "attr %zu gets %s",
                      i, why);
    if (error != NULL)
      error->attr_index = (uint32_t)i;
    return -EINVAL;
  }
  return 0;
}

/* -- stacks --------------------------------------------------------------- */

size_t uvperf__counters_largest_stack(const uvperf__counters_t *counters,
                                      size_t *index) {
  size_t largest = 0;
  size_t stack;
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++) {
    stack = uvperf__attr_stack(counters->attrs[i].asked);
    if (stack <= largest ||
        !uvperf__attr_writes_records(counters->attrs[i].asked))
      continue;
    largest = stack;
    *index = i;
  }
  return largest;
}

int uvperf__counters_shape_records(uvperf__counters_t *counters,
                                   uvperf_error_t *error) {
  size_t i;
  int rc;

  for (i = 0; i < counters->nr_attrs; i++) {
    rc = check_attr(counters, i, error);
    if (rc != 0)
      return rc;
  }
  rc = choose_clock(counters, counters->nr_attrs - counters->has_side_band,
                    error);
  if (rc != 0)
    return rc;
  for (i = 0; i < counters->nr_attrs; i++)
    shape_attr(counters, &counters->attrs[i]);
  return 0;
}
