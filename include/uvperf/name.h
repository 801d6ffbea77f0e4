/* SPDX-License-Identifier: MIT */
/* Events by their names: lists of events, and the names that this machine has.
 * uvperf-events(7) describes the names. Needs no libuv.
 *
 * Any thread may call these functions, and several threads at the same time.
 * Patterns of tracepoints and symbols of large files take milliseconds, so a
 * program with a loop should parse in uv_queue_work (samples/resolve_names.c).
 * Several threads may use one list at the same time, and any thread may free it
 * when no other thread uses it any more. */
#ifndef UVPERF_NAME_H
#define UVPERF_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* @page events_lists Lists and groups
 *
 *    cycles,page-faults            two events
 *    {cycles,instructions}         a group, whose leader is its first event
 *    mine{cycles,instructions}:Su  a group with a name and modifiers
 *
 * Modifiers of a group add to the modifiers of each member. D and e apply to
 * the leader alone. Two modifiers are about the group:
 *
 *    S   the leader samples the counts of all members: it gets
 *        PERF_SAMPLE_READ, and PERF_FORMAT_GROUP and ID in read_format; a
 *        member samples only if its own terms say so
 *    W   if the PMU cannot hold the group, the members may be opened without a
 *        group
 *
 * A value can be in quotation marks, as in name='a b' and name="a b". All other
 * characters between the quotation marks stand for themselves. */

/* @page events_patterns Patterns
 *
 * A pattern means all events that match, in the order of tracefs and sysfs:
 *
 *    sched:sched_*                 all tracepoints that match; *:* is all
 *    uncore_i?c_[0-3]/clockticks/  all PMUs that match and know the terms; *
 *                                  is also possible
 *    uncore_imc/clockticks/        uncore_imc_0, uncore_imc_1 and so on
 *    imc/clockticks/               the same: uncore_ can be omitted
 *    clockticks                    all PMUs that have this event */

/* @page events_probes Probes
 *
 * A uprobe is a place in a file. A kprobe is a place in the kernel:
 *
 *    kprobe/func=do_sys_openat2/  the beginning of a function
 *    kprobe/func=do_sys_openat2,offset=4/
 *                                 4 bytes after that beginning
 *    kprobe/addr=0xffffffff81000000/
 *                                 an address
 *    uprobe/path="/bin/x",symbol=main/
 *                                 the beginning of a function
 *    uprobe/path="/bin/x",symbol=main,offset=4/
 *                                 4 bytes after that beginning
 *    uprobe/path=/bin/x,offset=0x1234/
 *                                 an offset in the file, in bytes
 *
 * The term retprobe probes the return from the function. ref_ctr_offset is the
 * place of a semaphore in the file. A path without quotation marks ends at the
 * next comma, so it cannot be the last term. All forms except kprobe/addr= need
 * a list, which keeps the string that config1 points to.
 *
 * Without symbol= only the kernel uses the path, when the event is opened. A
 * relative path starts at the working directory at that time. */

/* @page events_symbols Symbols of files
 *
 * With symbol= the parser opens the file, which must be a regular file, and the
 * list keeps it open: config1 points to "/proc/thread-self/fd/N". So the probe
 * is in the file whose symbols were read, even if the path leads to another
 * file when the event is opened. Each such event needs /proc and an fd. In a
 * path such as "/proc/PID/root/usr/bin/x", links are followed inside the root
 * of that process (Linux 5.6 and later).
 *
 * The parser refuses files with more than 65536 sections, or with more than
 * 4194304 symbols in a table. The parser reads at most 512 MiB of a file, and
 * counts each read as at least 4096 bytes. Use offset= for larger files. */

/* @page events_cores Several kinds of cores
 *
 * Some machines have a PMU for each kind of cores: Intel's cpu_core and
 * cpu_atom, Arm's big.LITTLE. In a list some names then mean one event for each
 * of these PMUs, as with perf(1): generic hardware and cache events, raw
 * events, and events that several of these PMUs have. These events are parts of
 * one event.
 *
 * The first part has the index and the label of the event, and stands for the
 * whole event: see uvperf_reading_total. The other parts come after all events
 * of the text, so an event has the same index on every machine. A group with
 * such an event becomes one group for each PMU. The other members are in each
 * of these groups, as parts too.
 *
 * uvperf_attr_parse makes one attr, and the kernel chooses the PMU. For an
 * event on a CPU the kernel takes the PMU of that CPU. For an event of a task
 * the kernel takes one PMU, and the event counts only while the task runs on
 * that kind of cores. On Arm before Linux 6.6 an attr cannot choose the PMU of
 * a generic event, so the kernel chooses it for lists too. */

/* @page events_examples Examples
 *
 * In a shell, names with { } * ? [ ] or spaces need quotation marks:
 *
 *    uvperf-stat -e cycles,instructions,page-faults -- make
 *    uvperf-stat -e '{cycles,instructions}:u' -- make
 *    uvperf-record -e cpu-clock/freq=999,call-graph=fp/u -- make
 *    uvperf-trace -e 'syscalls:sys_enter_open*' -- ls
 *    uvperf-trace -e uprobe/path=./prog,symbol=main/ -- ./prog */

/* @page events_differences Differences from perf(1)
 *
 * - Guests are excluded only by modifiers; perf(1) also excludes them by
 *   default.
 * - No field is added to the attr. perf(1) adds, for example, a period of 1 and
 *   PERF_SAMPLE_RAW, TIME and CPU for tracepoints. A set with
 *   UVPERF_SET_RECORDS samples names as perf record does: see
 *   uvperf_set_options_t.
 * - A term after an event of sysfs replaces the term in the event. perf(1)
 *   joins the bits of both terms.
 * - perf(1)'s own tables of events and metrics (its JSON files) are unknown.
 *   Events that perf(1) measures itself, such as duration_time, are unknown
 *   too; uvperf-stat, however, has duration_time.
 * - Parts of the language that are for perf(1) itself are an error: the
 *   modifiers b, R and X, the terms nr, percore, metric-id, driver-config,
 *   ratio-to-prev and cpu, and terms for drivers (with an at sign in front).
 * - The term aux-action is an error: set the field by uvperf_attr_set.
 *
 * Source: perf-list(1), "EVENT MODIFIERS", "RAW HARDWARE EVENT DESCRIPTOR",
 *   "EVENT GROUPS" and "LEADER SAMPLING"; perf-record(1), "-e";
 *   tools/perf/util/parse-events.{l,y,c} of Linux. */

/* A list of events. Opaque; freed by uvperf_event_list_free. */
typedef struct uvperf_event_list_s uvperf_event_list_t;

/* In uvperf_event_item_t.flags: one count for each package is enough, because
 * the event counts for all CPUs of the package (EVENT.per-pkg in sysfs). */
#define UVPERF_ITEM_PER_PACKAGE 1u
/* A count is a present value and not a sum, so differences mean nothing
 * (EVENT.snapshot in sysfs). */
#define UVPERF_ITEM_SNAPSHOT 2u
/* Modifier P: precise_ip may be lowered until the event opens. */
#define UVPERF_ITEM_PRECISE_MAX 4u
/* Modifier W of the group: if the PMU cannot hold the group, the event may be
 * opened without the group. */
#define UVPERF_ITEM_WEAK 8u
/* The event must be opened for all tasks, on each CPU in cpus (the PMU's
 * cpumask), because its PMU cannot measure a task. Without this bit, cpus are
 * the CPUs that have the PMU (several kinds of cores). An event of a task
 * counts only on these CPUs. */
#define UVPERF_ITEM_CPU_WIDE 16u
/* The name has period=0 or freq=0: the event only counts, even in a set with
 * UVPERF_SET_RECORDS, which samples names without a period or frequency. */
#define UVPERF_ITEM_COUNT 32u
/* uvperf_event_list_add made the event from an attr. A set with
 * UVPERF_SET_RECORDS samples it as the attr's fields say, and not as perf
 * record samples names. */
#define UVPERF_ITEM_ATTR 64u

/* One event of a list. The item and everything it points to belong to the list,
 * and are valid until uvperf_event_list_free.
 *
 * A set opens the events of a list. A program that opens them itself must do so
 * in the order of the list, each event with its attr. The program opens a
 * member of a group with options.leader; the leader comes before its members.
 * The program opens an event with UVPERF_ITEM_CPU_WIDE for all tasks (pid -1)
 * on each of the event's CPUs. */
typedef struct uvperf_event_item_s {
  /* The attr, as from uvperf_attr_parse. attr->size is the size in the
   * library's <linux/perf_event.h>, or more if config3 or config4 is not 0. To
   * change the attr, copy attr->size bytes. The caller's struct can be smaller
   * than that. config1 of a probe points to a string of the list. The kernel
   * reads the string when the event is opened, and uvperf_attr_label reads it
   * too. */
  const struct perf_event_attr *attr;
  /* The value of name=, or the text as it was written, without white space
   * around it. If the text is a pattern or means several PMUs, the label is the
   * name of this event alone. */
  const char *label;
  /* A count is value * scale, in this unit. Both are from sysfs. If sysfs does
   * not have them, scale is 1, and unit is "ns" for the two clocks and "" for
   * other events. */
  double scale;
  const char *unit;
  /* The name of its group; "" without a name or a group. */
  const char *group_name;
  /* The CPUs of the event, ascending; NULL and 0 for any CPU. */
  const int *cpus;
  size_t nr_cpus;
  /* The number of its group, from 0; -1 without a group. */
  int group;
  /* UVPERF_ITEM_*. */
  uint32_t flags;
  /* The index of its group's leader. A leader, and an event without a group,
   * has its own index. */
  size_t leader;
  /* The index of the event's first part, which stands for the whole event on
   * several kinds of cores. A first part, and an event without parts, has its
   * own index. */
  size_t first;
  /* The name of this part, such as "cpu_core/cycles/"; NULL for an event
   * without parts. */
  const char *part;
  /* 0; for later versions. */
  uint64_t reserved[2];
} uvperf_event_item_t;

/** Parses a list of events. uvperf-events(7) describes the names.
 *  @param list   Receives the list, NULL on failure. Free it with
 *    uvperf_event_list_free.
 *  @param names  Caller's; not kept.
 *  @param error  Receives why it failed: code, cause, column in the text
 *    (bytes, from 1), attr_index (the event, from 0) and a suggestion; may be
 *    NULL.
 *  @return 0, a code of uvperf_attr_parse, or
 *    -ENOENT    nothing matches a pattern, or a probe's file or function does
 *      not exist (NO_EVENT);
 *    -EINVAL    an empty list or group, a group in a group, or a pinned or
 *      exclusive member that is not the leader (ARGUMENT);
 *    -EACCES    a probe's file may not be read (PERMISSION);
 *    -ENODATA   the file is stripped (NO_EVENT, as the next six);
 *    -ENOTUNIQ  several functions in the file have this name;
 *    -ENOEXEC   the file is not a program for this machine;
 *    -EBADMSG   the file is damaged;
 *    -EFBIG     the file is too large;
 *    -ENOTSUP   the function's code is elsewhere (an indirect function);
 *    -EILSEQ    the function is Thumb code, in which 32-bit ARM has no uprobes;
 *    -E2BIG     more than 65536 events (ARGUMENT, `limit`);
 *    -ENOMEM    out of memory (MEMORY);
 *    another    the error of open(2) or read(2). */
UVPERF_EXTERN int uvperf_event_list_parse(uvperf_event_list_t **list,
                                          const char *names,
                                          uvperf_error_t *error);

/** Adds an event that the caller's attr describes, for example to put attrs and
 *  names into one set, or to group and label attrs:
 *
 *    uvperf_event_list_t *list = NULL;
 *    int leader = uvperf_event_list_add(&list, &cycles, NULL, -1, &error);
 *    uvperf_event_list_add(&list, &own, "own", leader, &error);
 *
 *  @param list    A list, or a pointer to NULL, which receives a new one. No
 *    other thread may use the list during the call. Sets that were made from it
 *    do not change.
 *  @param attr    Caller's, copied. If config1 or config2 of a probe points to
 *    a string, the string must stay as long as sets of the list add targets.
 *  @param label   Caller's, copied. NULL means the name from uvperf_attr_label:
 *    for a tracepoint this takes milliseconds.
 *  @param leader  The index of its group's leader, which was parsed or added
 *    without a leader of its own; -1 without a group.
 *  @param error   May be NULL.
 *  @return its index, from 0, which later additions do not change. Parts of
 *    events other than the first move behind it. Or, with the list unchanged,
 *    -EINVAL  list or attr is NULL, attr->size is no size of the struct, or
 *      there is no such leader (ARGUMENT);
 *    -E2BIG   attr->size is more than a page, or more than 65536 events
 *      (ARGUMENT);
 *    -ENOMEM  out of memory (MEMORY). */
UVPERF_EXTERN int uvperf_event_list_add(uvperf_event_list_t **list,
                                        const struct perf_event_attr *attr,
                                        const char *label, int leader,
                                        uvperf_error_t *error);

/** Frees a list and everything its items point to.
 *  @param list  NULL is allowed. */
UVPERF_EXTERN void uvperf_event_list_free(uvperf_event_list_t *list);

/** Returns the number of events in a list. Each part of an event counts.
 *  @param list  A list.
 *  @return at least 1. */
UVPERF_EXTERN size_t uvperf_event_list_count(const uvperf_event_list_t *list);

/** Returns an event of a list.
 *  @param list   A list.
 *  @param index  From 0, in the order of the text. Events of a pattern are in
 *    the order of tracefs and sysfs. Parts of an event other than the first
 *    come at the end of the list. The parts of one event are in the order of
 *    the PMU's type.
 *  @return the event, or NULL if index is too large. The list owns it. */
UVPERF_EXTERN const uvperf_event_item_t *
uvperf_event_list_get(const uvperf_event_list_t *list, size_t index);

/* -- which names there are ------------------------------------------------ */

/* The kinds of names that uvperf_event_name_walk reports: generic events, which
 * every machine has, events of PMUs in sysfs, and tracepoints. */
enum uvperf_name_kind {
  UVPERF_NAME_HARDWARE = 1,   /* "cpu-cycles" */
  UVPERF_NAME_SOFTWARE = 2,   /* "context-switches" */
  UVPERF_NAME_CACHE = 4,      /* "LLC-load-misses" */
  UVPERF_NAME_PMU = 8,        /* "msr/tsc/" */
  UVPERF_NAME_TRACEPOINT = 16 /* "sched:sched_switch" */
};

/* One event that has a name. The struct and everything it points to are valid
 * until the callback returns. The fields from pmu on are for events of PMUs.
 * For other events they are NULL or 0, and scale is 1. */
typedef struct uvperf_event_name_s {
  /* One of enum uvperf_name_kind. */
  uint32_t kind;
  /* For attr.type: PERF_TYPE_*, or the number of the PMU. */
  uint32_t type;
  /* For attr.config. 0 for events of PMUs, whose terms can set several fields:
   * use uvperf_attr_parse. */
  uint64_t config;
  /* The name that uvperf_attr_parse accepts. */
  const char *name;
  /* The other name that perf(1) lists for the same event, such as "cycles"; or
   * NULL. uvperf_attr_parse accepts more spellings of cache events. */
  const char *alias;
  /* The PMU, such as "msr". */
  const char *pmu;
  /* The event's own name, such as "tsc". */
  const char *event;
  /* The event's terms, such as "event=0x00"; never empty. */
  const char *terms;
  /* The unit of the event's counts; "" for a plain count. */
  const char *unit;
  /* The event must be opened on each CPU of this list (see
   * uvperf_cpu_list_parse). NULL if any CPU will do. */
  const char *cpus;
  /* The value of one count in that unit; 1 for a plain count. */
  double scale;
  /* As in uvperf_pmu_event_t. */
  int is_per_package;
  int is_snapshot;
  /* 1 if the name has terms with the value ?, such as "hv_gpci/tb,core=?/".
   * Replace each ? by a number before parsing. */
  int needs_value;
  int reserved_int;
  const void *reserved[4];
} uvperf_event_name_t;

/* Receives the name of an event; returns 0 to continue. It may call any
 * function of the library. */
typedef int (*uvperf_event_name_cb)(const uvperf_event_name_t *name, void *arg);

/** Reports the names of events, each event once. First come all hardware,
 *  software and cache events by their numbers, even if this machine cannot
 *  count them. Then come this machine's events of PMUs and its tracepoints, in
 *  the arbitrary order of directories. The walk does not check whether this
 *  process may open an event. Some 2,300 tracepoints take about 20 ms.
 *
 *  Raw events, breakpoints, probes, terms and modifiers are not reported.
 *  Nothing is kept between calls.
 *  @param pattern  A pattern as for fnmatch(3) with FNM_NOESCAPE, byte for byte
 *    (*, ?, [a-z], [!a-z]). It must match the whole name, the alias, or the own
 *    name of a PMU's event. A pattern without *?[ is a name. NULL means all.
 *  @param kinds    UVPERF_NAME_*, or several joined by |. 0 means all.
 *  @param cb       Called for each name, before this function returns.
 *  @param arg      Caller's, for cb.
 *  @return 0, also if nothing matches. If cb returns another value, the walk
 *    ends and returns that value; a positive value is never an error. Otherwise
 *    the first error, after everything else was reported. Walk one kind at a
 *    time to learn which kind failed:
 *    -EACCES  this process may not read tracefs, or a match in it;
 *    -ENODEV  tracefs is not mounted, and pattern can match tracepoints;
 *    -ENOENT  sysfs is not mounted, or the kernel has no perf events;
 *    -EINVAL  cb is NULL, or kinds has an unknown bit; nothing is reported;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    another  the error of open(2).
 *  Source: perf-list(1); as uvperf_pmu_walk and uvperf_tracefs_walk. */
UVPERF_EXTERN int uvperf_event_name_walk(const char *pattern, uint32_t kinds,
                                         uvperf_event_name_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
