/* SPDX-License-Identifier: MIT */
/* Lines have at most 80 columns. Only a very long name of a call makes a line
 * longer. */
#include "trace/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/put.h"
#include "common/name.h"

#define NAME_COLUMNS 17
#define TIME_BYTES   16
#define LINE_COLUMNS 78
/* On x86, calls of the x32 ABI have this bit in their numbers. */
#define X32_BIT (INT64_C(1) << 30)

/* -- names and times ------------------------------------------------------- */

/* Writes a time as three digits and a unit. */
static const char *in_words(char words[TIME_BYTES], double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;

  while (ns >= 999.5 && unit < 3) {
    ns /= 1000;
    unit++;
  }
  snprintf(words, TIME_BYTES, "%.*f%s",
           unit == 0 || ns >= 99.95 ? 0 : (ns >= 9.995 ? 1 : 2), ns,
           units[unit]);
  return words;
}

/* Returns the name, or "call" and the number if it has no name. */
static const char *name_of(char words[64], const trace_call_t *call) {
  const char *abi = "";
  int64_t nr = call->nr;

  if (call->name != NULL)
    return call->name;
  if (call->is_compat)
    abi = sizeof(long) == 8 ? "32-bit " : "64-bit ";
#ifdef __x86_64__
  if (!call->is_compat && nr >= X32_BIT) {
    abi = "x32 ";
    nr -= X32_BIT;
  }
#endif
  snprintf(words, 64, "%scall %" PRId64, abi, nr);
  return words;
}

/* -- text ------------------------------------------------------------------ */

static void put_title(common_buffer_t *buffer, const trace_calls_t *calls,
                      const trace_group_t *group) {
  char time[TIME_BYTES];

  if (group->nr_joined > 0)
    common_buffer_print(buffer, "%zu more that ended", group->nr_joined);
  else if (calls->by == TRACE_CALLS_BY_ALL)
    common_buffer_text(buffer, "all");
  else
    trace_put_task(buffer, group->comm, group->pid, group->tid);
  common_buffer_print(
      buffer, ": %" PRIu64 " call%s, %" PRIu64 " error%s, %s in them\n",
      group->sum.nr, group->sum.nr == 1 ? "" : "s", group->errors,
      group->errors == 1 ? "" : "s", in_words(time, (double)group->sum.total));
}

static void put_row(common_buffer_t *buffer, const trace_call_t *call) {
  const trace_latency_t *latency = &call->latency;
  char name[64], total[TIME_BYTES], min[TIME_BYTES], mean[TIME_BYTES],
      half[TIME_BYTES], most[TIME_BYTES], max[TIME_BYTES];

  in_words(total, (double)latency->total);
  in_words(min, (double)latency->min);
  in_words(mean, latency->mean);
  in_words(half, (double)trace_latency_percentile(latency, 50));
  in_words(most, (double)trace_latency_percentile(latency, 99));
  in_words(max, (double)latency->max);
  common_buffer_print(buffer, "  %-*s %9" PRIu64 " %7" PRIu64, NAME_COLUMNS,
                      name_of(name, call), latency->nr, call->errors);
  common_buffer_print(buffer, "%7s%7s%7s%7s%7s%7s\n", total, min, mean, half,
                      most, max);
}

/* The counters of a call for which the table has no column, and their names. */
static const struct {
  size_t offset;
  const char *words, *key;
} others[] = {
    {offsetof(trace_call_t, interrupted), "interrupted by a signal",
     "interrupted"},
    {offsetof(trace_call_t, running), "still running", "running"},
    {offsetof(trace_call_t, ended), "ended with the thread", "ended"},
    {offsetof(trace_call_t, no_begin), "begin not seen", "no_begin"},
    {offsetof(trace_call_t, no_end), "end not seen", "no_end"},
};

static uint64_t other_of(const trace_call_t *call, size_t i) {
  uint64_t nr;

  memcpy(&nr, (const char *)call + others[i].offset, sizeof(nr));
  return nr;
}

/* Threads and processes end with these calls, so these calls are not listed. */
static int is_exit(const trace_call_t *call) {
  return call->name != NULL && (strcmp(call->name, "exit") == 0 ||
                                strcmp(call->name, "exit_group") == 0);
}

static void put_others(common_buffer_t *buffer, const trace_call_t **sorted,
                       size_t nr, size_t other) {
  size_t i, column = 0, size;
  char words[64], text[128];

  for (i = 0; i < nr; i++) {
    if (other_of(sorted[i], other) == 0 || is_exit(sorted[i]))
      continue;
    size =
        (size_t)snprintf(text, sizeof(text), " %s (%" PRIu64 ")",
                         name_of(words, sorted[i]), other_of(sorted[i], other));
    if (column == 0) {
      common_buffer_print(buffer, "  %s:", others[other].words);
      column = strlen(others[other].words) + 3;
    } else if (column + 1 + size > LINE_COLUMNS) {
      common_buffer_text(buffer, ",\n   ");
      column = 3;
    } else {
      common_buffer_text(buffer, ",");
      column++;
    }
    common_buffer_add(buffer, text, size);
    column += size;
  }
  if (column > 0)
    common_buffer_text(buffer, "\n");
}

static void put_group(common_buffer_t *buffer, const trace_calls_t *calls,
                      const trace_group_t *group) {
  const trace_call_t **sorted = trace_calls_sorted(group);
  size_t i;

  put_title(buffer, calls, group);
  if (group->sum.nr > 0)
    common_buffer_print(buffer, "  %-*s %9s %7s%7s%7s%7s%7s%7s%7s\n",
                        NAME_COLUMNS, "system call", "calls", "errors", "total",
                        "min", "avg", "p50", "p99", "max");
  for (i = 0; i < group->calls.nr; i++) {
    if (sorted[i]->latency.nr > 0)
      put_row(buffer, sorted[i]);
  }
  for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    put_others(buffer, sorted, group->calls.nr, i);
  common_buffer_text(buffer, "\n");
  free(sorted);
}

void trace_table_text(common_buffer_t *buffer, const trace_calls_t *calls) {
  size_t i;

  for (i = 0; i < calls->nr; i++)
    put_group(buffer, calls, calls->groups[i]);
}

/* -- JSON ------------------------------------------------------------------ */

static void put_json_task(common_buffer_t *buffer, const trace_calls_t *calls,
                          const trace_group_t *group) {
  if (group->nr_joined > 0) {
    trace_put_json_number(buffer, "joined", group->nr_joined);
  } else if (calls->by != TRACE_CALLS_BY_ALL) {
    trace_put_json_id(buffer, "pid", group->pid);
    if (calls->by == TRACE_CALLS_BY_THREAD)
      trace_put_json_id(buffer, "tid", group->tid);
    if (group->comm[0] != '\0')
      common_name_json(buffer, "comm", group->comm);
  }
}

static void put_json_call(common_buffer_t *buffer, const trace_call_t *call) {
  const trace_latency_t *latency = &call->latency;
  char words[64];
  size_t i;

  common_name_json(buffer, "syscall", name_of(words, call));
  common_buffer_print(buffer, ",\"nr\":%" PRId64, call->nr);
  trace_put_json_number(buffer, "calls", latency->nr);
  trace_put_json_number(buffer, "errors", call->errors);
  for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    trace_put_json_number(buffer, others[i].key, other_of(call, i));
  if (latency->nr == 0)
    return;
  trace_put_json_number(buffer, "total_ns", latency->total);
  trace_put_json_number(buffer, "min_ns", latency->min);
  trace_put_json_number(buffer, "avg_ns", (uint64_t)latency->mean);
  trace_put_json_number(buffer, "max_ns", latency->max);
  trace_put_json_number(buffer, "stddev_ns",
                        (uint64_t)trace_latency_stddev(latency));
  trace_put_json_number(buffer, "p50_ns",
                        trace_latency_percentile(latency, 50));
  trace_put_json_number(buffer, "p99_ns",
                        trace_latency_percentile(latency, 99));
}

void trace_table_json(common_buffer_t *buffer, const trace_calls_t *calls,
                      uint64_t time) {
  const trace_call_t **sorted;
  size_t i, k;

  for (i = 0; i < calls->nr; i++) {
    sorted = trace_calls_sorted(calls->groups[i]);
    for (k = 0; k < calls->groups[i]->calls.nr; k++) {
      trace_put_json(buffer, time, "syscall");
      put_json_task(buffer, calls, calls->groups[i]);
      put_json_call(buffer, sorted[k]);
      common_buffer_text(buffer, "}\n");
    }
    free(sorted);
  }
}
