/* SPDX-License-Identifier: MIT */
/* Events by their names: lists, groups, patterns, names that need memory of
 * their own; and which names this machine has. Needs no libuv.
 *
 * Any thread may parse, several at once: a pattern of tracepoints and a symbol
 * of a large file take milliseconds, so a loop leaves them to uv_queue_work
 * (samples/resolve_names.c). Several threads may use one list at once, and any
 * thread may free it when no other uses it any more.
 *
 * The language is that of uvperf_attr_parse in attr.h, and more, as with the
 * option -e of perf(1):
 *
 *    cycles,page-faults                  several events; white space may be
 *                                        around the commas
 *    {cycles,instructions}               a group, of which the first is leader
 *    name{cycles,instructions}:Su        a group's name, and modifiers that add
 *                                        to what its members have of their own
 *    sched:sched_*, *:*                  all tracepoints that fit
 *    uncore_i?c_[0-3]/clockticks/        all PMUs that fit and know the terms;
 *                                        * may be there as well
 *    uncore_imc/clockticks/              the same for uncore_imc_0, _1 and so
 *    imc/clockticks/                     on; uncore_ may be left out
 *    clockticks                          all PMUs that have such an event
 *    cycles/name=mine/, name='a b'       the event's label
 *    uprobe/path=/bin/x,offset=0x1234/   a place in a file, in bytes of it
 *    uprobe/path="/bin/x",symbol=main/   the beginning of a function, by the
 *                                        symbol tables of the file
 *    uprobe/path="/x",symbol=f,offset=4/ so many bytes behind that
 *    kprobe/func=do_sys_openat2/         a function of the kernel, also with
 *                                        offset=; or addr=0xffff… alone
 *
 * Of probes, the term retprobe means the return from there, and ref_ctr_offset
 * where a semaphore of the file is. A path without quotation marks ends at the
 * next comma, so it cannot be the last term. Between quotation marks, "" or '',
 * all but the mark itself stands for itself.
 *
 * With symbol= the parser opens the file, which must be a regular file, and the
 * list keeps it open: config1 points to "/proc/thread-self/fd/N". So the probe
 * is in the file whose symbols were read, even if another file has its path by
 * then.
 * This needs an fd for each such event, and /proc. In a path such as
 * "/proc/PID/root/usr/bin/x", links are followed inside that root (from Linux
 * 5.6 on). The parser refuses files with more than 65536 sections or more than
 * 4194304 symbols in a table. It reads 512 MiB of a file at most, and counts
 * each read as at least 4096 bytes. For larger files use offset= instead.
 *
 * Without symbol= only the kernel uses the path, when the event is opened. A
 * relative path starts at the working directory of that moment.
 *
 * Groups: modifier S makes the leader sample all values, by PERF_SAMPLE_READ
 * and PERF_FORMAT_GROUP and ID in its read_format; members sample only by terms
 * of their own. W allows to open the members without their group where the PMU
 * cannot hold it. D and e are for leaders alone.
 *
 * Several kinds of cores (Intel's cpu_core and cpu_atom, Arm's big.LITTLE) have
 * a PMU each. There a generic hardware or cache event, a raw one (r1a8), and an
 * event that several of these PMUs have, is one event of each PMU, as with
 * perf(1): its parts. The first part has the place of the event in the list and
 * its label, and stands for the whole (see uvperf_reading_total). The others
 * come after all events of the text, so that an event has the same index on
 * every machine. A group with such an event is one group for each PMU, and each
 * other member is in all of these, as parts too. With one kind of cores nothing
 * of this happens; nor for generic events on Arm before Linux 6.6, which has no
 * attrs for it: there an event of a task counts on one kind of cores only.
 *
 * Each event is opened with its attr, in the order of the list: a member of a
 * group with options.leader, as its leader comes before it; one with
 * UVPERF_ITEM_CPU_WIDE for all tasks (pid -1) on each of its CPUs. */
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

/* The events that a text names. */
typedef struct uvperf_event_list_s uvperf_event_list_t;

/* Bits of uvperf_event_item_t.flags. */
/* One count a package is enough: the event is not of a CPU but of all of its
 * package (EVENT.per-pkg in sysfs). */
#define UVPERF_ITEM_PER_PACKAGE 1u
/* A count is a value and no sum: differences mean nothing (EVENT.snapshot). */
#define UVPERF_ITEM_SNAPSHOT 2u
/* Modifier P: precise_ip may be made smaller until the event opens. */
#define UVPERF_ITEM_PRECISE_MAX 4u
/* Modifier W of the group: it may be broken up where it cannot be opened. */
#define UVPERF_ITEM_WEAK 8u
/* cpus are those on which to open the event for all tasks (the PMU's cpumask):
 * no event of this PMU is of a task. Without the bit cpus are those that the
 * PMU is of (hybrid machines): its events of a task count there alone. */
#define UVPERF_ITEM_CPU_WIDE 16u
/* The name says period=0 (or freq=0): the event counts only, also in a set with
 * UVPERF_SET_RECORDS, where names that say nothing of it sample. */
#define UVPERF_ITEM_COUNT 32u

/* One event of a list. It and all it points to are the list's, and valid until
 * uvperf_event_list_free. */
typedef struct uvperf_event_item_s {
  /* As uvperf_attr_parse fills it. attr->size is that of the library's
   * <linux/perf_event.h>, or more where config3 or config4 are not 0. A copy,
   * to be changed, has attr->size bytes, which may be more than the struct of
   * the caller's header. config1 of a probe points to a string of the list,
   * which the kernel reads when the event is opened, and uvperf_attr_label. */
  const struct perf_event_attr *attr;
  /* name=, or the text as written, without white space around it; of patterns
   * and of names that mean several PMUs, what stands for this event. */
  const char *label;
  /* What one count is worth, by sysfs: value * scale, in this unit. Where sysfs
   * does not say 1, and "ns" for the two clocks, else "". */
  double scale;
  const char *unit;
  /* The name of its group, "" for none. */
  const char *group_name;
  /* The CPUs of the event, ascending; NULL and 0 for any. */
  const int *cpus;
  size_t nr_cpus;
  /* Which group it is in, counted from 0; -1 for none. */
  int group;
  /* UVPERF_ITEM_*. */
  uint32_t flags;
  /* The index of its group's leader; its own for a leader, and where there is
   * no group. */
  size_t leader;
  /* One event of several kinds of cores has a part for each: the index of its
   * first part, which stands for the whole; its own for that, and for an event
   * without parts. */
  size_t first;
  /* What stands for this part alone, "cpu_core/cycles/"; NULL for an event
   * without parts. */
  const char *part;
  /* 0; of later versions. */
  uint64_t reserved[2];
} uvperf_event_item_t;

/** Parses a list of events.
 *  @param list   Receives the list, to be freed by uvperf_event_list_free; NULL
 *    on failure.
 *  @param names  Caller's; not kept.
 *  @param error  Receives why it failed: code, cause, column in the text
 *    (bytes, counted from 1), attr_index (which event, counted from 0) and what
 *    was probably meant; may be NULL.
 *  @return 0, or what uvperf_attr_parse returns, and
 *    -EINVAL  an empty list or group, a group in a group, or a member that is
 *      not leader and pinned or exclusive (ARGUMENT);
 *    -ENOENT  a pattern that nothing fits, a file or a function of it that is
 *      not there (NO_EVENT);
 *    -EACCES  the file may not be read (PERMISSION);
 *    -ENOEXEC, -EBADMSG, -ENODATA, -ENOTUNIQ, -ENOTSUP, -EILSEQ, -EFBIG  the
 *      symbol cannot be found or probed, because the file is not a program for
 *      this machine, is damaged, or is stripped; because there are several
 *      functions of that name; because its code is elsewhere (an indirect
 *      function), or is Thumb code, in which 32-bit ARM has no uprobes; or
 *      because the file is too large (all NO_EVENT). Or a code of open(2) or
 *      read(2);
 *    -E2BIG   more than 65536 events (ARGUMENT, `limit`);
 *    -ENOMEM  memory ran out (MEMORY).
 *  Source: perf-list(1), "EVENT GROUPS" and "LEADER SAMPLING"; perf-record(1),
 *    "-e"; tools/perf/util/parse-events.{l,y,c} of Linux. */
UVPERF_EXTERN int uvperf_event_list_parse(uvperf_event_list_t **list,
                                          const char *names,
                                          uvperf_error_t *error);

/** Frees a list and all that its items point to.
 *  @param list  NULL is allowed. */
UVPERF_EXTERN void uvperf_event_list_free(uvperf_event_list_t *list);

/** Tells how many events a list has, with all parts of each.
 *  @param list  A list.
 *  @return at least 1. */
UVPERF_EXTERN size_t uvperf_event_list_count(const uvperf_event_list_t *list);

/** Gives an event of a list.
 *  @param list   A list.
 *  @param index  From 0, in the order of the text; what a pattern means is in
 *    the order of tracefs and sysfs. Further parts of events follow,
 *    ordered by the type of the PMU for each event.
 *  @return the event, the list's; NULL where there is none. */
UVPERF_EXTERN const uvperf_event_item_t *
uvperf_event_list_get(const uvperf_event_list_t *list, size_t index);

/* -- which names there are ------------------------------------------------ */

/* For uvperf_attr_parse: those of every machine, those that PMUs have in sysfs,
 * and tracepoints. Nothing is kept between calls. */

/* The kinds of names, of which a walk may want several. */
enum uvperf_name_kind {
  UVPERF_NAME_HARDWARE = 1,   /* "cpu-cycles" */
  UVPERF_NAME_SOFTWARE = 2,   /* "context-switches" */
  UVPERF_NAME_CACHE = 4,      /* "LLC-load-misses" */
  UVPERF_NAME_PMU = 8,        /* "msr/tsc/" */
  UVPERF_NAME_TRACEPOINT = 16 /* "sched:sched_switch" */
};

/* One event that has a name. It and what it points to are valid during the
 * callback. What is only of PMUs' events is NULL or 0 for the others. */
typedef struct uvperf_event_name_s {
  /* One of enum uvperf_name_kind. */
  uint32_t kind;
  /* For attr.type: PERF_TYPE_*, or the number of the PMU. */
  uint32_t type;
  /* For attr.config. 0 for events of PMUs, whose terms may be of several
   * fields: uvperf_attr_parse tells them. */
  uint64_t config;
  /* The name as it is to be parsed. */
  const char *name;
  /* The other name of the same event that perf(1) lists, "cycles"; or NULL.
   * uvperf_attr_parse takes more spellings of cache events. */
  const char *alias;
  /* Of PMUs' events: the PMU, "msr"; the event's own name, "tsc"; its terms,
   * "event=0x00", never empty; in which unit it counts, "" for a plain count;
   * and the list of CPUs on each of which it has to be opened, for
   * uvperf_cpu_list_parse, NULL if it can be opened on any. */
  const char *pmu;
  const char *event;
  const char *terms;
  const char *unit;
  const char *cpus;
  /* What one count is in that unit; 1 for a plain count, and for all that are
   * not of PMUs. */
  double scale;
  /* As in uvperf_pmu_event_t. */
  int is_per_package;
  int is_snapshot;
  /* 1: the name has terms with a value of ?, "hv_gpci/tb,core=?/", which must
   * be given a number before it can be parsed. */
  int needs_value;
  int reserved_int;
  const void *reserved[4];
} uvperf_event_name_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_event_name_cb)(const uvperf_event_name_t *name, void *arg);

/** Tells the names of events that uvperf_attr_parse takes on this machine, each
 *  event once: hardware, software and cache events in the order of their
 *  numbers, whether or not this machine can count them; then events of PMUs and
 *  tracepoints in the order of the kernel's directories, which is none. Opening
 *  an event tells whether this process may measure it.
 *
 *  Only names are told, not all that can be written with them or without: raw
 *  events, breakpoints, probes, further terms and modifiers; see
 *  uvperf_attr_parse. All of some 2,300 tracepoints take about 20 ms.
 *  @param pattern  Which: a pattern as fnmatch(3) has it with FNM_NOESCAPE,
 *    byte for byte (*, ?, [a-z], [!a-z]), of the whole name, the alias, or the
 *    own name of a PMU's event. One without *, ? and [ fits only itself. NULL:
 *    all.
 *  @param kinds    Which kinds: UVPERF_NAME_*, or several joined by |. 0: all.
 *  @param cb       Called for each, before the function returns.
 *  @param arg      Caller's, for cb.
 *  @return 0 after the last one, also if nothing fits; what cb returned other
 *    than 0, which ends the walk (a positive value is told from these errors);
 *    or
 *    -EINVAL  cb is NULL, or kinds has a bit that is no kind;
 *    or, after all that could be read was told, the first that could not:
 *    -ENOENT  of PMUs: sysfs is not mounted, or the kernel has no perf events;
 *    -ENODEV  of tracepoints: tracefs is not mounted;
 *    -EACCES  of tracepoints: tracefs, or some of what fits, is not for this
 *             process (by default it is for root alone);
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    or what else open(2) says. A pattern that is no tracepoint's does not need
 *    tracefs. To know which kind it is of, ask for one kind at a time.
 *  Source: perf-list(1); as uvperf_pmu_walk and uvperf_tracefs_walk. */
UVPERF_EXTERN int uvperf_event_name_walk(const char *pattern, uint32_t kinds,
                                         uvperf_event_name_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
