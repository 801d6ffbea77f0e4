/* SPDX-License-Identifier: MIT */
/* What to measure: functions that fill a struct perf_event_attr, and fallbacks
 * for an attr that the kernel refuses. The struct is the kernel's, and belongs
 * to the caller. Needs no libuv.
 *
 * The caller's <linux/perf_event.h> may be older or newer than the library's.
 * attr.size is the number of bytes of the struct, as for the kernel. The
 * functions read and write nothing past these bytes. The constants below are
 * bits that an older header may lack. Functions that return int return 0 or a
 * negative errno, the same value as libuv's UV_E*. */
#ifndef UVPERF_ATTR_H
#define UVPERF_ATTR_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "uvperf/error.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- bits that <linux/perf_event.h> before Linux 6.19 may lack ------------ */
#define UVPERF_SAMPLE_DATA_PAGE_SIZE   (UINT64_C(1) << 22) /* Linux 5.11 */
#define UVPERF_SAMPLE_CODE_PAGE_SIZE   (UINT64_C(1) << 23) /* Linux 5.11 */
#define UVPERF_SAMPLE_WEIGHT_STRUCT    (UINT64_C(1) << 24) /* Linux 5.12 */
#define UVPERF_FORMAT_LOST             (UINT64_C(1) << 4)  /* Linux 6.0 */
#define UVPERF_SAMPLE_BRANCH_HW_INDEX  (UINT64_C(1) << 17) /* Linux 5.7 */
#define UVPERF_SAMPLE_BRANCH_PRIV_SAVE (UINT64_C(1) << 18) /* Linux 6.1 */
#define UVPERF_SAMPLE_BRANCH_COUNTERS  (UINT64_C(1) << 19) /* Linux 6.8 */

/* The fields and flag bits of struct perf_event_attr up to Linux 6.19, for
 * uvperf_attr_set and uvperf_attr_get. These functions also reach fields that
 * the caller's header does not have. Values 0 to 63 are a flag's position in
 * the 64-bit flag word. */
enum uvperf_attr_field {
  UVPERF_ATTR_DISABLED = 0,
  UVPERF_ATTR_INHERIT = 1,
  UVPERF_ATTR_PINNED = 2,
  UVPERF_ATTR_EXCLUSIVE = 3,
  UVPERF_ATTR_EXCLUDE_USER = 4,
  UVPERF_ATTR_EXCLUDE_KERNEL = 5,
  UVPERF_ATTR_EXCLUDE_HV = 6,
  UVPERF_ATTR_EXCLUDE_IDLE = 7,
  UVPERF_ATTR_MMAP = 8,
  UVPERF_ATTR_COMM = 9,
  UVPERF_ATTR_FREQ = 10,
  UVPERF_ATTR_INHERIT_STAT = 11,
  UVPERF_ATTR_ENABLE_ON_EXEC = 12,
  UVPERF_ATTR_TASK = 13,
  UVPERF_ATTR_WATERMARK = 14,
  UVPERF_ATTR_PRECISE_IP = 15, /* two bits wide: 0 to 3 */
  UVPERF_ATTR_MMAP_DATA = 17,
  UVPERF_ATTR_SAMPLE_ID_ALL = 18,
  UVPERF_ATTR_EXCLUDE_HOST = 19,
  UVPERF_ATTR_EXCLUDE_GUEST = 20,
  UVPERF_ATTR_EXCLUDE_CALLCHAIN_KERNEL = 21,
  UVPERF_ATTR_EXCLUDE_CALLCHAIN_USER = 22,
  UVPERF_ATTR_MMAP2 = 23,
  UVPERF_ATTR_COMM_EXEC = 24,
  UVPERF_ATTR_USE_CLOCKID = 25,
  UVPERF_ATTR_CONTEXT_SWITCH = 26,
  UVPERF_ATTR_WRITE_BACKWARD = 27,
  UVPERF_ATTR_NAMESPACES = 28,
  UVPERF_ATTR_KSYMBOL = 29,
  UVPERF_ATTR_BPF_EVENT = 30,
  UVPERF_ATTR_AUX_OUTPUT = 31,
  UVPERF_ATTR_CGROUP = 32,
  UVPERF_ATTR_TEXT_POKE = 33,
  UVPERF_ATTR_BUILD_ID = 34,        /* Linux 5.12 */
  UVPERF_ATTR_INHERIT_THREAD = 35,  /* Linux 5.13 */
  UVPERF_ATTR_REMOVE_ON_EXEC = 36,  /* Linux 5.13 */
  UVPERF_ATTR_SIGTRAP = 37,         /* Linux 5.13 */
  UVPERF_ATTR_DEFER_CALLCHAIN = 38, /* Linux 6.19 */
  UVPERF_ATTR_DEFER_OUTPUT = 39,    /* Linux 6.19 */

  UVPERF_ATTR_TYPE = 64,
  UVPERF_ATTR_SIZE = 65, /* only uvperf_attr_get */
  UVPERF_ATTR_CONFIG = 66,
  UVPERF_ATTR_SAMPLE_PERIOD = 67, /* or sample_freq, with freq set */
  UVPERF_ATTR_SAMPLE_TYPE = 68,
  UVPERF_ATTR_READ_FORMAT = 69,
  UVPERF_ATTR_WAKEUP_EVENTS = 70, /* or wakeup_watermark, with watermark set */
  UVPERF_ATTR_BP_TYPE = 71,
  UVPERF_ATTR_CONFIG1 = 72, /* bp_addr, kprobe_func, uprobe_path */
  UVPERF_ATTR_CONFIG2 = 73, /* bp_len, kprobe_addr, probe_offset */
  UVPERF_ATTR_BRANCH_SAMPLE_TYPE = 74,
  UVPERF_ATTR_SAMPLE_REGS_USER = 75,
  UVPERF_ATTR_SAMPLE_STACK_USER = 76,
  UVPERF_ATTR_CLOCKID = 77, /* signed: pass (uint64_t)(int64_t)clockid */
  UVPERF_ATTR_SAMPLE_REGS_INTR = 78,
  UVPERF_ATTR_AUX_WATERMARK = 79,
  UVPERF_ATTR_SAMPLE_MAX_STACK = 80,
  UVPERF_ATTR_AUX_SAMPLE_SIZE = 81,
  UVPERF_ATTR_AUX_ACTION = 82, /* Linux 6.13: start_paused, pause, resume */
  UVPERF_ATTR_SIG_DATA = 83,   /* Linux 5.13 */
  UVPERF_ATTR_CONFIG3 = 84,    /* Linux 6.3 */
  UVPERF_ATTR_CONFIG4 = 85     /* Linux 6.19 */
};

/** Zeroes a struct perf_event_attr of a given size and sets its size, type and
 *  config. Call uvperf_attr_init instead, which passes the caller's sizeof.
 *  @param attr    Caller's; `size` bytes are written.
 *  @param size    Bytes, at least PERF_ATTR_SIZE_VER0 (64).
 *  @param type    PERF_TYPE_* or the number in a PMU's `type` file.
 *  @param config  Which event of that type.
 *  Source: perf_event_open(2), "type", "size", "config". */
UVPERF_EXTERN void uvperf_attr_init_sized(struct perf_event_attr *attr,
                                          size_t size, uint32_t type,
                                          uint64_t config);

/** Zeroes a struct perf_event_attr and sets its size, type and config.
 *
 *  The other fields are 0, so the event does not sample, and measures the user
 *  and the kernel side. With perf_event_open(2) such an event is enabled at
 *  once. Handles always open events disabled.
 *  @param attr    Caller's.
 *  @param type    PERF_TYPE_* or the number in a PMU's `type` file.
 *  @param config  Which event of that type. */
static inline void uvperf_attr_init(struct perf_event_attr *attr, uint32_t type,
                                    uint64_t config) {
  uvperf_attr_init_sized(attr, sizeof(*attr), type, config);
}

/** Fills an attr for a generic hardware event.
 *  @param attr    Caller's.
 *  @param config  PERF_COUNT_HW_*. */
static inline void uvperf_attr_hardware(struct perf_event_attr *attr,
                                        uint64_t config) {
  uvperf_attr_init(attr, PERF_TYPE_HARDWARE, config);
}

/** Fills an attr for a software event. The two clocks always count the user and
 *  the kernel side; exclude_user and exclude_kernel affect only their samples.
 *  @param attr    Caller's.
 *  @param config  PERF_COUNT_SW_*. PERF_COUNT_SW_DUMMY counts nothing; use it
 *    for records such as COMM and MMAP2 alone. */
static inline void uvperf_attr_software(struct perf_event_attr *attr,
                                        uint64_t config) {
  uvperf_attr_init(attr, PERF_TYPE_SOFTWARE, config);
}

/** Fills an attr for a hardware cache event.
 *  @param attr    Caller's.
 *  @param cache   PERF_COUNT_HW_CACHE_*, such as PERF_COUNT_HW_CACHE_L1D.
 *  @param op      PERF_COUNT_HW_CACHE_OP_*.
 *  @param result  PERF_COUNT_HW_CACHE_RESULT_*. */
static inline void uvperf_attr_cache(struct perf_event_attr *attr,
                                     uint32_t cache, uint32_t op,
                                     uint32_t result) {
  uvperf_attr_init(attr, PERF_TYPE_HW_CACHE,
                   (uint64_t)cache | (uint64_t)op << 8 |
                       (uint64_t)result << 16);
}

/** Fills an attr for a raw event of the CPU's PMU.
 *  @param attr    Caller's.
 *  @param config  The event code in the CPU's own format. */
static inline void uvperf_attr_raw(struct perf_event_attr *attr,
                                   uint64_t config) {
  uvperf_attr_init(attr, PERF_TYPE_RAW, config);
}

/** Fills an attr for a tracepoint.
 *  @param attr  Caller's.
 *  @param id    The number in the tracepoint's `id` file in tracefs. */
static inline void uvperf_attr_tracepoint(struct perf_event_attr *attr,
                                          uint64_t id) {
  uvperf_attr_init(attr, PERF_TYPE_TRACEPOINT, id);
}

/** Fills an attr for a hardware breakpoint.
 *  @param attr     Caller's.
 *  @param bp_type  HW_BREAKPOINT_* of <linux/hw_breakpoint.h>. x86 has no
 *    read-only breakpoints.
 *  @param addr     Address in the measured task.
 *  @param len      Bytes: HW_BREAKPOINT_LEN_*. For execution it is the kernel's
 *    sizeof(long), which is 8 in a 32-bit program under a 64-bit kernel. */
static inline void uvperf_attr_breakpoint(struct perf_event_attr *attr,
                                          uint32_t bp_type, uint64_t addr,
                                          uint64_t len) {
  uvperf_attr_init(attr, PERF_TYPE_BREAKPOINT, 0);
  attr->bp_type = bp_type;
  attr->bp_addr = addr;
  attr->bp_len = len;
}

/** Sets a field or flag bit, even one that the caller's header does not have.
 *  @param attr   Caller's; attr->size must be set (0 counts as 64).
 *  @param field  enum uvperf_attr_field.
 *  @param value  The new value; 0 or 1 for a flag.
 *  @return 0, or, with the attr unchanged,
 *    -EINVAL  there is no such field, it is UVPERF_ATTR_SIZE, or the value does
 *      not fit;
 *    -E2BIG   the field is past attr->size, and value is not 0.
 *  Source: perf_event_open(2), struct perf_event_attr. */
UVPERF_EXTERN int uvperf_attr_set(struct perf_event_attr *attr,
                                  enum uvperf_attr_field field, uint64_t value);

/** Reads a field or flag bit, even one that the caller's header does not have.
 *  @param attr   Caller's; attr->size must be set (0 counts as 64).
 *  @param field  enum uvperf_attr_field.
 *  @param value  Receives the value, 0 for a field past attr->size.
 *    UVPERF_ATTR_CLOCKID is sign-extended.
 *  @return 0, or
 *    -EINVAL  there is no such field; *value is 0. */
UVPERF_EXTERN int uvperf_attr_get(const struct perf_event_attr *attr,
                                  enum uvperf_attr_field field,
                                  uint64_t *value);

/* @page events_names Names
 *
 * An event is named as for perf(1)'s option -e: the event itself, then optional
 * terms between slashes, then optional modifiers.
 *
 *    cycles                  CPU cycles
 *    cycles:u                CPU cycles of the user side
 *    cycles/period=100000/u  the same, with a sample after each 100000 cycles
 *    cycles,page-faults      two events
 *    {cycles,instructions}   a group: two events that count at the same time
 *    sched:sched_*           all tracepoints that match
 *
 * uvperf_attr_parse fills a struct perf_event_attr from the name of one event.
 * uvperf_event_list_parse reads lists, with groups, patterns and probes; sets
 * and the tools take such lists. uvperf-list(1) prints the names that this
 * machine has.
 *
 * Fields of the attr that a name does not set are 0, so an event without the
 * terms period and freq counts and does not sample. White space is allowed
 * around names and terms. Numbers are decimal, or hexadecimal after 0x. If a
 * name is wrong, the error has the column and often a suggestion. */

/* @page events_kinds Kinds of events
 *
 *    cycles                   a generic hardware event
 *    page-faults              a generic software event
 *    LLC-load-misses          a generic cache event
 *    r1a8                     a raw event: the code of the CPU's PMU, in hex
 *    sched:sched_switch       a tracepoint: its category and name in tracefs
 *    mem-loads                an event of a PMU, a file in events/ of sysfs
 *    cpu/mem-loads,ldlat=30/  the same event of the PMU cpu, with a term
 *    cpu/event=0x3c,umask=1/  an event of a PMU by its terms, in format/
 *    cpu_core/cycles/         a generic or raw event of the PMU cpu_core
 *    mem:0x1000/8:rw          a breakpoint: address, length, access
 *    kprobe/addr=0xffffffff81000000/
 *                             an address in the kernel's code
 *    1:2                      an event by its type and config
 *    type=9,config=0x1        the same, by the names of the attr's fields
 *
 * All of perf(1)'s spellings of generic events are valid. Upper and lower case
 * are the same for generic events and for events of sysfs. A cache event
 * without an operation means loads. Without a result it means accesses. A
 * breakpoint without a length has 4 bytes, or sizeof(long) for access x. The
 * access is one or more of r, w and x. The default is rw. An event in the form
 * type= can also set config1 to config4 and bp_type. */

/* @page events_terms Terms
 *
 * Terms are separated by commas: "cycles/period=1000,time/". After type= they
 * are written as further items: "type=1,config=0,period=1000". A term without a
 * value has the value 1, but an item after type= needs a value. If a term is
 * given twice, or repeats a term of an event in sysfs, the last one counts.
 * Every event has these terms. If a PMU has a term with the same name, the
 * PMU's term is used:
 *
 *    period=n           sample_period
 *    freq=n             freq, and sample_freq in Hz
 *    time, time=0       PERF_SAMPLE_TIME, or not
 *    inherit            inherit: children too; no-inherit is the reverse
 *    overwrite          write_backward; no-overwrite is the reverse
 *    aux-output         aux_output
 *    aux-sample-size=n  PERF_SAMPLE_AUX, and aux_sample_size in bytes
 *    config, config1    the field, up to config4; config1 of a probe is a
 *                       pointer, so this is refused
 *    name=mine          the event's label (only in a list) */

/* @page events_chains Call chains and branches
 *
 *    call-graph=fp      PERF_SAMPLE_CALLCHAIN
 *    call-graph=dwarf   CALLCHAIN with exclude_callchain_user, REGS_USER with
 *                       all registers, STACK_USER with 8192 bytes
 *    stack-size=n       with dwarf: the bytes of STACK_USER
 *    call-graph=lbr     CALLCHAIN, and BRANCH_STACK with CALL_STACK on the
 *                       user side
 *    call-graph=no      none of these
 *    max-stack=n        sample_max_stack; without call-graph= it also means
 *                       call-graph=fp
 *    branch_type=any    BRANCH_STACK with one filter of perf record -j;
 *                       branch_type=no means none
 *
 * call-graph=lbr and branch_type exclude each other. */

/* @page events_modifiers Modifiers
 *
 * Modifiers are letters after a colon, or after the second slash: "cycles:u",
 * "cycles/period=1000/u".
 *
 *    u, k, h     count the user, the kernel or the hypervisor side; the sides
 *                without their letter are excluded
 *    G, H        count guests or the host; the other one is excluded
 *    I           exclude_idle: not while the CPU is idle
 *    p, pp, ppp  precise_ip 1, 2 or 3: less skid of a sample's ip
 *    P           the highest precise_ip of the PMU; 3 if sysfs does not say it
 *    S           PERF_SAMPLE_READ: a sample has the count
 *    D           pinned: always on the PMU, or an error
 *    e           exclusive: alone on the PMU
 *    W           for groups only
 *
 * Without u, k and h all sides count. Without G and H guests and the host
 * count. */

/* @page events_labels Names of attrs
 *
 * uvperf_attr_label writes the name of an attr. It takes the first of these
 * forms that parses to the same event:
 *
 *    cpu-cycles                    generic events, in perf(1)'s first spelling
 *    cpu_core/cpu-cycles/          the same on the PMU in the upper half of
 *                                  config
 *    sched:sched_switch            tracepoints, if tracefs can be read
 *    mem:0x1000/8:rw               breakpoints
 *    uprobe/path="/x",offset=0x4/  probes: the string of config1
 *    msr/tsc/                      an event that the PMU has a name for
 *    cpu/event=0x3c,umask=0x1/     terms of the PMU's format
 *    r1a8                          raw events
 *    type=9,config=0x1             all other events; also tracepoints and
 *                                  events of PMUs, if tracefs or sysfs cannot
 *                                  be read
 *
 * The name has terms and modifiers for sample_period, freq, sample_max_stack,
 * inherit, write_backward, aux_output, precise_ip, exclude_idle, pinned and
 * exclusive. The name has modifiers for exclude_user, exclude_kernel and
 * exclude_hv, but not if all three are set. It has modifiers for exclude_host
 * and exclude_guest, but not if both are set. The name describes sample_type
 * and the fields that belong to its bits only if terms can express all of these
 * bits: TID, for example, has no term. Other fields are not in the name. */

/** Parses the name of one event into an attr of a given size. Call
 *  uvperf_attr_parse instead, which passes the caller's sizeof.
 *  @param attr   Caller's; `size` bytes are written on success, none on
 *    failure.
 *  @param size   Bytes, at least PERF_ATTR_SIZE_VER0 (64).
 *  @param name   As for uvperf_attr_parse.
 *  @param error  As for uvperf_attr_parse.
 *  @return as uvperf_attr_parse. */
UVPERF_EXTERN int uvperf_attr_parse_sized(struct perf_event_attr *attr,
                                          size_t size, const char *name,
                                          uvperf_error_t *error);

/** Parses the name of one event into an attr. uvperf-events(7) describes the
 *  names. Fields that the name does not set are 0.
 *  @param attr   Caller's; zeroed, sized and filled on success, unchanged on
 *    failure.
 *  @param name   Caller's; not kept.
 *  @param error  Receives why it failed: code, cause, the column in the name
 *    (bytes, from 1) and a suggestion; may be NULL.
 *  @return 0, or
 *    -ENOENT      this machine has no such event, PMU or term, or tracefs is
 *      not mounted (NO_EVENT);
 *    -EINVAL      the name is wrong on any machine; a number in it is greater
 *      than `limit`; the name means several events, or an event that needs
 *      memory (name=, path=, func=): use uvperf_event_list_parse (all
 *      ARGUMENT); or a file of the PMU in sysfs is not understood
 *      (NOT_SUPPORTED);
 *    -EACCES      this process may not read tracefs or sysfs (PERMISSION);
 *    -E2BIG       the event needs a field that the caller's struct does not
 *      have (ARGUMENT);
 *    -EOPNOTSUPP  call-graph=dwarf on a machine whose registers the library
 *      does not know (NOT_SUPPORTED);
 *    -EMFILE, -ENFILE, -ENOMEM  sysfs or tracefs cannot be opened now (FILES,
 *      MEMORY);
 *    another      the error of open(2) or read(2) on their files.
 *  Source: tools/perf/util/parse-events.{l,y,c} of Linux. */
static inline int uvperf_attr_parse(struct perf_event_attr *attr,
                                    const char *name, uvperf_error_t *error) {
  return uvperf_attr_parse_sized(attr, sizeof(*attr), name, error);
}

/** Writes the name of an attr's event, for display, logs and parsing. Section
 *  "Names of attrs" in uvperf-events(7) lists the forms. The function reads
 *  sysfs and tracefs. This takes some hundredths of a second for a tracepoint,
 *  and less for other events.
 *
 *  If the attr came from a name, the new name parses to the same attr. For any
 *  other attr it parses to the same event. A probe's name needs
 *  uvperf_event_list_parse. Only two kinds of probes have names that do not
 *  parse: probes with bits that are not terms of the PMU, and probes whose
 *  string has both kinds of quotation marks or some thousand bytes.
 *  @param attr   Caller's. In an event of the PMU uprobe or kprobe, config1
 *    must be 0 or point to a string of this process, as for the kernel. Set
 *    config1 to 0 in an attr from elsewhere, such as a file.
 *  @param label  Caller's; receives the terminated name. May be NULL if *size
 *    is 0.
 *  @param size   Bytes of `label`; receives the number of bytes needed,
 *    including the ending NUL.
 *  @return 0, or, with label and *size unchanged (except by -ENOBUFS),
 *    -ENOBUFS  label is too small: *size is the size it needs;
 *    -EINVAL   attr or size is NULL, or label is NULL and *size is not 0, or
 *      attr->size is not 0 and less than 64.
 *  Source: perf-list(1); tools/perf/util/evsel.c, evsel__name. */
UVPERF_EXTERN int uvperf_attr_label(const struct perf_event_attr *attr,
                                    char *label, size_t *size);

/** Sets a sampling period: the kernel writes a sample after each period_events
 *  events.
 *  @param attr           Caller's.
 *  @param period_events  Events, or nanoseconds for cpu-clock and task-clock. 0
 *    means no sampling. */
static inline void uvperf_attr_set_period(struct perf_event_attr *attr,
                                          uint64_t period_events) {
  attr->freq = 0;
  attr->sample_period = period_events;
}

/** Sets a sampling frequency: the kernel adapts the period to it.
 *  @param attr     Caller's.
 *  @param freq_hz  Samples per second. If the frequency is above
 *    perf_event_max_sample_rate, opening fails with EINVAL. */
static inline void uvperf_attr_set_frequency(struct perf_event_attr *attr,
                                             uint64_t freq_hz) {
  attr->freq = 1;
  attr->sample_freq = freq_hz;
}

/** Wakes the loop after a number of samples. Only PERF_RECORD_SAMPLE counts:
 *  records such as COMM, MMAP2 and FORK wake the loop only when the ring is
 *  half full. For these use uvperf_attr_set_wakeup_bytes.
 *  @param attr     Caller's.
 *  @param records  Samples; 0 wakes only when the ring is half full.
 *  Source: kernel/events/core.c, __perf_event_output and perf_output_begin. */
static inline void uvperf_attr_set_wakeup_events(struct perf_event_attr *attr,
                                                 uint32_t records) {
  attr->watermark = 0;
  attr->wakeup_events = records;
}

/** Wakes the loop when more than a number of bytes was written. Records of any
 *  type count.
 *  @param attr   Caller's.
 *  @param bytes  Bytes, less than the size of the ring. 1 wakes for every
 *    record. 0 wakes when the ring is half full. */
static inline void uvperf_attr_set_wakeup_bytes(struct perf_event_attr *attr,
                                                uint32_t bytes) {
  attr->watermark = 1;
  attr->wakeup_watermark = bytes;
}

/* -- fallbacks ------------------------------------------------------------ */

/* Changes of an attr that the kernel refuses. The caller allows each change by
 * a bit in the `fallbacks` of its options. By default no change is allowed. A
 * change is made only after a failure that it can repair. uvperf_changes
 * and uvperf_changes return the changes. */
enum uvperf_fallback {
  /* Cycles become a clock if no PMU has cycles (ENOENT, ENODEV, ENXIO), or if
   * no PMU can sample cycles (EOPNOTSUPP). This applies to
   * PERF_COUNT_HW_CPU_CYCLES of type PERF_TYPE_HARDWARE, with any PMU in the
   * upper half of config. The change does not apply to the same event under the
   * type of a PMU. The clock is PERF_COUNT_SW_TASK_CLOCK, or
   * PERF_COUNT_SW_CPU_CLOCK for a whole CPU or cgroup, and in a set that has no
   * target yet. The clock counts nanoseconds of the user and the kernel side.
   *
   * A frequency is kept. A period of cycles becomes the same number of
   * nanoseconds. So the rate is the same on a CPU of 1 GHz, and lower on a
   * faster CPU. The new period is at least 100,000, because each sample of a
   * clock is a timer interrupt. The new period is also at least the shortest
   * period that perf_event_max_sample_rate allows. precise_ip becomes 0.
   *
   * The event still fails if it needs hardware (branch stacks, AUX). This
   * change does not help against EINVAL, which means a mistake in the attr,
   * such as too high a frequency. The change does not help against EACCES
   * either, because the kernel refuses a clock of a whole CPU too. For a task
   * see UVPERF_FALLBACK_USER. */
  UVPERF_FALLBACK_CLOCK = 1,
  /* If perf_event_paranoid forbids the kernel side (EACCES, EPERM), only the
   * user side is measured (exclude_kernel, exclude_hv). This does not apply to
   * an attr with exclude_user or exclude_kernel. An event that happens only in
   * the kernel then opens, but counts 0. Such events are context switches, and
   * all tracepoints except tracepoints of system calls. */
  UVPERF_FALLBACK_USER = 2,
  /* precise_ip becomes the highest lower value that the PMU accepts, perhaps 0
   * (EOPNOTSUPP, EINVAL, ENOENT). */
  UVPERF_FALLBACK_PRECISE = 4,
  /* If this kernel does not know some flags, fields, or bits of sample_type,
   * read_format, branch_sample_type or aux_action (EINVAL, E2BIG), those become
   * 0. Then records and counts lack something, or more is measured. For
   * example, without inherit_thread child processes are measured too. Flags and
   * fields newer than enum uvperf_attr_field are not changed. */
  UVPERF_FALLBACK_KERNEL = 8,
  /* All changes that the caller can allow. */
  UVPERF_FALLBACK_ALL = 15,
  /* inherit becomes 0, so children are not measured. A set makes this change
   * for events of the PMUs uprobe and kprobe that name a file or a function,
   * and for the rest of their group. A set does so even if the caller does not
   * allow the change. In a task that inherits such an event, fork(2) and
   * pthread_create(3) would fail with EFAULT, because Linux reads the name at
   * config1 again, in the memory of that task. To measure children too, measure
   * CPUs. */
  UVPERF_FALLBACK_INHERIT = 16
};

/* One field of an attr that a fallback changed. */
typedef struct uvperf_change_s {
  /* enum uvperf_fallback: one bit. */
  uint32_t fallback;
  /* enum uvperf_attr_field. */
  uint32_t field;
  /* The field's values before and after the change, as uvperf_attr_get returns
   * them. */
  uint64_t from;
  uint64_t to;
  uint64_t reserved;
} uvperf_change_t;

/** Describes a change in words, such as "precise_ip 3 -> 1: the PMU can do no
 *  more".
 *  @param change  Caller's, or from uvperf_changes or uvperf_changes.
 *  @param text    Caller's; receives the terminated text. May be NULL if *size
 *    is 0.
 *  @param size    Bytes of text; receives the number of bytes needed, including
 *    the ending NUL. 128 are enough for any change.
 *  @return 0, or, with text and *size unchanged (except by -ENOBUFS),
 *    -ENOBUFS  text is too small: *size is the size it needs;
 *    -EINVAL   an argument is NULL. */
UVPERF_EXTERN int uvperf_change_describe(const uvperf_change_t *change,
                                         char *text, size_t *size);

typedef struct uvperf_handle_s uvperf_handle_t; /* handle.h */

/** Called once when a handle is open whose options have open_cb, on the loop's
 *  thread. The init then checks what it can without the kernel and returns 0,
 *  and threads of libuv's pool open the events. Until this call, the handle is
 *  active and keeps the loop alive, even if unref'd. Close cancels after the
 *  current system call. Only close, ref, unref, has_ref, is_active, is_closing,
 *  on_cpu, uvperf_set_on_end and uvperf_handle_attr work; other functions
 *  return UV_EBUSY, or 0, NULL or -1. More: uvperf-details(7).
 *
 *  An init with open_cb also returns UV_EAGAIN or UV_EPERM if the process may
 *  not create a thread (RLIMIT_NPROC, pids.max; a seccomp filter), and
 *  UV_ENOTSUP in a child of a bare clone(2), where the pool may not work.
 *  @param handle  It may be started or closed here.
 *  @param status
 *    0             the handle is open, as after an init without open_cb;
 *    UV_ECANCELED  the handle was closed meanwhile; close_cb follows;
 *    UV_ETIMEDOUT  options.open has not returned in time (cause argument);
 *    another       it could not be opened: a code of its init. It must be
 *      closed. Until then other functions return UV_EBADF.
 *  @param error   The failure, valid until the callback returns; NULL if status
 *    is 0. */
typedef void (*uvperf_open_cb)(uvperf_handle_t *handle, int status,
                               const uvperf_error_t *error);

/** Opens an event instead of perf_event_open(2). The options of events, sets
 *  and BPF readers have it as `open`. Then the handle never calls
 *  perf_event_open(2), so a seccomp filter may forbid that call: see
 *  uvperf-broker(7), samples/broker.c.
 *
 *  It is called for each attr, also for later CPUs and targets, for the calling
 *  thread if a set without targets chooses fallbacks, and for each ring of a
 *  set or reader, with a dummy event of this process. The loop's thread calls
 *  it. For asynchronous opening a thread of libuv's pool calls it, perhaps at
 *  the same time, and may wait for options.open_timeout_ms. It must not call
 *  functions of the handle.
 *  @param attr      attr->size bytes, valid during the call. config1 and
 *    config2 of a uprobe or kprobe by name point to a string of this process.
 *  @param pid       A thread's id in this process's PID namespace, never 0. -1
 *    means all tasks. With PERF_FLAG_PID_CGROUP, a cgroup directory's fd.
 *  @param cpu       A CPU's id, or -1 for any.
 *  @param group_fd  The fd of the group's leader, or -1.
 *  @param flags     PERF_FLAG_*.
 *  @param arg       options.open_arg.
 *  @return the fd of a perf event, or a negative errno. The handle then owns
 *    the fd and makes it close-on-exec. An event older than one that the
 *    handle, or a uvperf_event_t on the loop, has had is refused (UV_EEXIST),
 *    as is another kind of fd (UV_ENOTTY). A refused fd stays open. To refuse
 *    an event, return -EACCES or -EPERM; errnos are explained as the kernel's.
 *  Source: perf_event_open(2). */
typedef int (*uvperf_open_fn)(const struct perf_event_attr *attr, int32_t pid,
                              int32_t cpu, int group_fd, unsigned long flags,
                              void *arg);

/** Returns whether the running kernel knows a field of struct perf_event_attr,
 *  or bits of the field. A PMU need not support a bit that the kernel knows.
 *
 *  The function calls perf_event_open(2) for an event that does not exist. It
 *  never calls a uvperf_open_fn. The function opens nothing and needs no
 *  privileges. The process remembers each answer.
 *  @param field  enum uvperf_attr_field.
 *  @param bits   Bits of UVPERF_ATTR_SAMPLE_TYPE, READ_FORMAT,
 *    BRANCH_SAMPLE_TYPE or AUX_ACTION; for other fields any number except 0.
 *  @return 1 if the kernel knows all of the bits, 0 if it lacks one, or
 *    -EINVAL  there is no such field, bits is 0, or the field has no such bits;
 *    -EACCES, -EPERM, -ENOSYS  the kernel or a seccomp filter refuses every
 *      event of this process;
 *    -EMFILE, -ENFILE, -ENOMEM  too many open files, or out of memory;
 *    another  the kernel's error for every event.
 *  Source: perf_copy_attr() and perf_swevent_init() in kernel/events/core.c. */
UVPERF_EXTERN int uvperf_kernel_knows(enum uvperf_attr_field field,
                                      uint64_t bits);

#ifdef __cplusplus
}
#endif

#endif
