/* SPDX-License-Identifier: MIT */
/* Decides which fallback fits a failure of perf_event_open(2), changes the
 * attr, records the changes, and describes them in words. It opens nothing: the
 * caller asks for one fallback after the other, until the event opens or no
 * fallback is left. */
#include "explain/fallback.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "uvperf/attr.h"

#include "attr/attr.h"
#include "attr/kernel_knows.h"
#include "host/system.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/line.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* If timer interrupts are more frequent, a CPU has little time left for the
 * measured program. The kernel's own bound is 10 us
 * (perf_swevent_start_hrtimer). */
#define LEAST_CLOCK_NS 100000

#define NS_PER_SECOND 1000000000

/* Changes a field. If the fallback has changed the field before, the same entry
 * is updated, so that it covers all steps. */
static void fallback_change(uvperf__fallback_t *fallback,
                            struct perf_event_attr *attr,
                            enum uvperf_attr_field field, uint64_t to) {
  uint64_t from = uvperf__attr_value(attr, field);
  uvperf_change_t *entry;
  size_t i;

  if (from == to)
    return;
  uvperf_attr_set(attr, field, to);
  for (i = 0; i < fallback->nr; i++)
    if (fallback->changes[i].field == (uint32_t)field &&
        fallback->changes[i].fallback == fallback->tried)
      break;
  if (i == UVPERF__CHANGES_MOST)
    return;
  entry = &fallback->changes[i];
  if (i == fallback->nr) {
    fallback->nr++;
    memset(entry, 0, sizeof(*entry));
    entry->fallback = fallback->tried;
    entry->field = field;
    entry->from = from;
  }
  entry->to = to;
}

/* -- UVPERF_FALLBACK_KERNEL ----------------------------------------------- */

/* After E2BIG the attr has the kernel's size, and the fields past that size
 * must become 0. Bytes after the last field with a name cannot be reported as a
 * change, so they must be 0 already. */
static int cut_to_size(uvperf__fallback_t *fallback,
                       struct perf_event_attr *attr) {
  uint32_t asked_size = fallback->asked_size;
  uint32_t named = uvperf__attr_end(UVPERF_ATTR_CONFIG4);
  uint32_t known = attr->size;
  uint32_t from = known > named ? known : named;
  unsigned int field;

  if (known < PERF_ATTR_SIZE_VER0 || known >= asked_size)
    return 0;
  attr->size = asked_size;
  if (from < asked_size &&
      !uvperf__is_zero((const char *)attr + from, asked_size - from)) {
    attr->size = known;
    return 0;
  }
  for (field = UVPERF_ATTR_TYPE; field <= UVPERF_ATTR_CONFIG4; field++)
    if (uvperf__attr_end((enum uvperf_attr_field)field) > known)
      fallback_change(fallback, attr, (enum uvperf_attr_field)field, 0);
  attr->size = known;
  return 1;
}

static int clear_flags(uvperf__fallback_t *fallback,
                       struct perf_event_attr *attr) {
  uint64_t flags = uvperf__attr_flags(attr) & UVPERF__ATTR_NAMED_FLAGS;
  uint64_t unknown;
  unsigned int flag;

  uvperf__kernel_unknown(UVPERF__WORD_FLAGS, flags, &unknown);
  for (flag = 0; flag < 64; flag++)
    if (unknown >> flag & 1)
      fallback_change(fallback, attr, (enum uvperf_attr_field)flag, 0);
  return unknown != 0;
}

/* Clears all unknown bits at once, because EINVAL does not show which bit is
 * wrong. Without PERF_SAMPLE_BRANCH_STACK the kernel does not check
 * branch_sample_type. */
static int clear_unknown(uvperf__fallback_t *fallback,
                         struct perf_event_attr *attr) {
  int cleared = clear_flags(fallback, attr);
  uint64_t bits, unknown;
  unsigned int word;

  for (word = UVPERF__WORD_FLAGS + 1; word < UVPERF__WORD_FIELDS; word++) {
    if (word == UVPERF__WORD_BRANCH_SAMPLE_TYPE &&
        !(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
      continue;
    bits = uvperf__attr_value(attr, uvperf__word_fields[word]);
    uvperf__kernel_unknown((enum uvperf__word)word, bits, &unknown);
    fallback_change(fallback, attr, uvperf__word_fields[word], bits & ~unknown);
    cleared |= unknown != 0;
  }
  return cleared;
}

static int try_kernel(uvperf__fallback_t *fallback,
                      struct perf_event_attr *attr,
                      const uvperf_error_t *failed) {
  if (fallback->is_by_program)
    return 0;
  if (failed->code == -E2BIG)
    return cut_to_size(fallback, attr);
  return failed->code == -EINVAL && clear_unknown(fallback, attr);
}

/* -- UVPERF_FALLBACK_USER ------------------------------------------------- */

/* Excludes the hypervisor too, as perf(1) does. */
static int try_user(uvperf__fallback_t *fallback, struct perf_event_attr *attr,
                    const uvperf_error_t *failed) {
  if (failed->cause != UVPERF_CAUSE_PERMISSION || attr->exclude_kernel ||
      attr->exclude_user)
    return 0;
  fallback_change(fallback, attr, UVPERF_ATTR_EXCLUDE_KERNEL, 1);
  fallback_change(fallback, attr, UVPERF_ATTR_EXCLUDE_HV, 1);
  return 1;
}

/* -- UVPERF_FALLBACK_PRECISE ---------------------------------------------- */

/* PMUs return EOPNOTSUPP (x86_pmu_hw_config) or EINVAL. ENOENT comes from AMD's
 * core PMU, which passes the event on to an IBS PMU that does not exist. */
static int try_precise(uvperf__fallback_t *fallback,
                       struct perf_event_attr *attr,
                       const uvperf_error_t *failed) {
  int fits = failed->code == -EOPNOTSUPP || failed->code == -EINVAL ||
             failed->code == -ENOENT;

  if (!fits || attr->precise_ip == 0)
    return 0;
  fallback_change(fallback, attr, UVPERF_ATTR_PRECISE_IP,
                  attr->precise_ip - 1u);
  return 1;
}

/* -- UVPERF_FALLBACK_CLOCK ------------------------------------------------ */

static uint64_t clock_period(uint64_t cycles) {
  uint64_t least = LEAST_CLOCK_NS;
  int64_t hz;

  if (uvperf__system_number(UVPERF__MAX_SAMPLE_RATE, &hz) == 0 && hz > 0 &&
      least < (NS_PER_SECOND + (uint64_t)hz - 1) / (uint64_t)hz)
    least = (NS_PER_SECOND + (uint64_t)hz - 1) / (uint64_t)hz;
  return cycles < least ? least : cycles;
}

static int has_no_cycles(const uvperf_error_t *failed) {
  return (failed->code == -ENODEV && failed->cause != UVPERF_CAUSE_NO_CPU) ||
         failed->code == -ENOENT || failed->code == -ENXIO ||
         failed->code == -EOPNOTSUPP;
}

static int try_clock(uvperf__fallback_t *fallback, struct perf_event_attr *attr,
                     const uvperf_error_t *failed) {
  /* On hybrid machines the upper half of config is the type of a PMU. */
  if (!has_no_cycles(failed) || attr->type != PERF_TYPE_HARDWARE ||
      (uint32_t)attr->config != PERF_COUNT_HW_CPU_CYCLES)
    return 0;
  fallback_change(fallback, attr, UVPERF_ATTR_TYPE, PERF_TYPE_SOFTWARE);
  fallback_change(fallback, attr, UVPERF_ATTR_CONFIG,
                  fallback->is_of_cpu ? PERF_COUNT_SW_CPU_CLOCK
                                      : PERF_COUNT_SW_TASK_CLOCK);
  if (!attr->freq && attr->sample_period != 0)
    fallback_change(fallback, attr, UVPERF_ATTR_SAMPLE_PERIOD,
                    clock_period(attr->sample_period));
  fallback_change(fallback, attr, UVPERF_ATTR_PRECISE_IP, 0);
  return 1;
}

/* The fallbacks in the order in which they are tried. Unknown bits come first,
 * because the kernel finds them first. A clock comes last, because it is not
 * the requested event. */
static const struct {
  uint32_t fallback;
  const char *name;
  int (*try_it)(uvperf__fallback_t *fallback, struct perf_event_attr *attr,
                const uvperf_error_t *failed);
} fallbacks[] = {
    {UVPERF_FALLBACK_KERNEL, "fewer bits", try_kernel},
    {UVPERF_FALLBACK_USER, "user side only", try_user},
    {UVPERF_FALLBACK_PRECISE, "lower precise_ip", try_precise},
    {UVPERF_FALLBACK_CLOCK, "a clock", try_clock},
};

int uvperf__fallback_next(uvperf__fallback_t *fallback,
                          struct perf_event_attr *attr, uint32_t asked_size,
                          const uvperf_error_t *failed) {
  size_t i;

  fallback->asked_size = asked_size;
  for (i = 0; i < COUNT_OF(fallbacks); i++) {
    fallback->tried = fallbacks[i].fallback;
    if ((fallback->allowed & fallback->tried) &&
        fallbacks[i].try_it(fallback, attr, failed))
      return 1;
  }
  return 0;
}

static int was_applied(const uvperf__fallback_t *fallback, uint32_t which) {
  size_t i;

  for (i = 0; i < fallback->nr; i++)
    if (fallback->changes[i].fallback == which)
      return 1;
  return 0;
}

static void add_applied(const uvperf__fallback_t *fallback,
                        uvperf_error_t *error) {
  const char *before = "; these fallbacks did not help: ";
  uvperf__line_t line;
  char text[128];
  size_t i;

  uvperf__line_begin(&line, text, sizeof(text));
  for (i = 0; i < COUNT_OF(fallbacks); i++)
    if (was_applied(fallback, fallbacks[i].fallback)) {
      uvperf__line_put(&line, "%s%s", before, fallbacks[i].name);
      before = ", ";
    }
  uvperf__error_add(error, text);
}

/* The last error replaces the first in two cases. In the first case fds or
 * memory ran out, so it is unknown whether the change would have helped. In the
 * second case the first try lacked privileges, but the user side alone is not
 * available either, so privileges would not help. */
void uvperf__fallback_report(const uvperf__fallback_t *fallback,
                             const uvperf_error_t *last,
                             uvperf_error_t *error) {
  if (uvperf__error_is_shortage(last) ||
      (error->cause == UVPERF_CAUSE_PERMISSION &&
       (last->cause == UVPERF_CAUSE_NO_EVENT ||
        last->cause == UVPERF_CAUSE_NOT_SUPPORTED) &&
       !was_applied(fallback, UVPERF_FALLBACK_CLOCK)))
    *error = *last;
  else
    add_applied(fallback, error);
}

/* -- in words -------------------------------------------------------------- */

/* If a fallback has replaced the event, returns the name for the old or new
 * number in the change. Returns NULL for a plain number. */
static const char *event_name(const uvperf_change_t *change, int is_after) {
  if (change->fallback != UVPERF_FALLBACK_CLOCK)
    return NULL;
  if (change->field == UVPERF_ATTR_TYPE)
    return is_after ? "software" : "hardware";
  if (change->field != UVPERF_ATTR_CONFIG)
    return NULL;
  if (!is_after)
    return "cpu-cycles";
  return change->to == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock" : "task-clock";
}

static void describe_value(char *text, size_t size,
                           const uvperf_change_t *change, int is_after) {
  unsigned long long value = is_after ? change->to : change->from;
  const char *name = event_name(change, is_after);

  if (name != NULL)
    snprintf(text, size, "%s", name);
  else if (change->field == UVPERF_ATTR_SAMPLE_TYPE ||
           change->field == UVPERF_ATTR_READ_FORMAT ||
           change->field == UVPERF_ATTR_BRANCH_SAMPLE_TYPE)
    snprintf(text, size, "%#llx", value);
  else
    snprintf(text, size, "%llu", value);
}

static const char *reason_of(const uvperf_change_t *change) {
  switch (change->fallback) {
    case UVPERF_FALLBACK_CLOCK:
      return change->field == UVPERF_ATTR_SAMPLE_PERIOD
                 ? "a clock's period is in ns, and this is the shortest here"
             : change->field == UVPERF_ATTR_PRECISE_IP
                 ? "a clock has no precise_ip"
                 : "no PMU here counts cycles, so a clock does";
    case UVPERF_FALLBACK_USER:
      return "the kernel side is not allowed";
    case UVPERF_FALLBACK_PRECISE:
      return "the PMU supports no higher one";
    case UVPERF_FALLBACK_KERNEL:
      return change->to == 0 ? "this kernel does not know it"
                             : "this kernel does not know the other bits";
    default:
      return "?";
  }
}

/* UVPERF_FALLBACK_INHERIT is applied without a request, so its text does not
 * name fields of the attr. */
static void describe_whole(char *text, size_t size,
                           const uvperf_change_t *change) {
  char from[32], to[32];

  if (change->fallback == UVPERF_FALLBACK_INHERIT) {
    snprintf(text, size,
             "children are not measured: fork(2) would fail in a task that "
             "inherits this probe");
    return;
  }
  describe_value(from, sizeof(from), change, 0);
  describe_value(to, sizeof(to), change, 1);
  snprintf(text, size, "%s %s -> %s: %s",
           uvperf__attr_field_name(change->field), from, to, reason_of(change));
}

int uvperf_change_describe(const uvperf_change_t *change, char *text,
                           size_t *size) {
  char whole[128];

  if (change == NULL || size == NULL || (text == NULL && *size != 0))
    return -EINVAL;
  describe_whole(whole, sizeof(whole), change);
  return uvperf__line_give(whole, text, size);
}

int uvperf__fallback_keep(const uvperf__fallback_t *fallback,
                          uvperf_change_t **changes, size_t *nr,
                          uvperf_error_t *error) {
  if (fallback->nr == 0)
    return 0;
  *changes = uvperf__calloc(fallback->nr, sizeof(**changes));
  if (*changes == NULL)
    return uvperf__error_shortage(error, -ENOMEM,
                                  "cannot save what the fallbacks changed");
  memcpy(*changes, fallback->changes, fallback->nr * sizeof(**changes));
  *nr = fallback->nr;
  return 0;
}
