/* SPDX-License-Identifier: MIT */
/* What to measure: helpers that fill a struct perf_event_attr, which stays the
 * kernel's and the caller's own, and what an event may fall back to. Needs no
 * libuv.
 *
 * The caller's <linux/perf_event.h> may be older or newer than the library's:
 * attr.size says how many bytes the struct has, as with the kernel, and nothing
 * is read or written past it. Functions that return int return 0 or a negative
 * errno, the same value as libuv's UV_E*. */
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

/* Bits that headers older than Linux 6.19 lack, with the kernel's values. */
#define UVPERF_SAMPLE_DATA_PAGE_SIZE   (UINT64_C(1) << 22) /* 5.11 */
#define UVPERF_SAMPLE_CODE_PAGE_SIZE   (UINT64_C(1) << 23) /* 5.11 */
#define UVPERF_SAMPLE_WEIGHT_STRUCT    (UINT64_C(1) << 24) /* 5.12 */
#define UVPERF_FORMAT_LOST             (UINT64_C(1) << 4)  /* 6.0 */
#define UVPERF_SAMPLE_BRANCH_HW_INDEX  (UINT64_C(1) << 17) /* 5.7 */
#define UVPERF_SAMPLE_BRANCH_PRIV_SAVE (UINT64_C(1) << 18) /* 6.1 */
#define UVPERF_SAMPLE_BRANCH_COUNTERS  (UINT64_C(1) << 19) /* 6.8 */

/* Names every field and flag bit of struct perf_event_attr up to Linux 6.19,
 * so that those newer than the caller's header can be reached, by
 * uvperf_attr_set and uvperf_attr_get. Values 0 to 63 are the position of a
 * flag in the 64-bit flag word. */
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

/** Zeroes a struct perf_event_attr of a given size and sets size, type and
 *  config. Call uvperf_attr_init, which passes the caller's own sizeof.
 *  @param attr    Caller's; `size` bytes are written.
 *  @param size    Bytes, at least PERF_ATTR_SIZE_VER0 (64).
 *  @param type    PERF_TYPE_* or the number in a PMU's `type` file.
 *  @param config  Which event of that type.
 *  Source: perf_event_open(2), "type", "size", "config". */
UVPERF_EXTERN void uvperf_attr_init_sized(struct perf_event_attr *attr,
                                          size_t size, uint32_t type,
                                          uint64_t config);

/** Zeroes a struct perf_event_attr and sets size, type and config; everything
 *  else stays as the kernel's zero: enabled at once when opened by hand
 *  (handles open disabled whatever it says), no sampling, user and kernel.
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

/** Fills an attr for a software event. The clocks count user and kernel side
 *  alike, whatever exclude_user and exclude_kernel say; samples heed them.
 *  @param attr    Caller's.
 *  @param config  PERF_COUNT_SW_*; PERF_COUNT_SW_DUMMY counts nothing, for
 *    records such as COMM and MMAP2 alone. */
static inline void uvperf_attr_software(struct perf_event_attr *attr,
                                        uint64_t config) {
  uvperf_attr_init(attr, PERF_TYPE_SOFTWARE, config);
}

/** Fills an attr for a hardware cache event.
 *  @param attr    Caller's.
 *  @param cache   PERF_COUNT_HW_CACHE_L1D and its like.
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
 *  @param bp_type  HW_BREAKPOINT_* of <linux/hw_breakpoint.h>; x86 has no
 *    read-only ones.
 *  @param addr     Address in the measured task.
 *  @param len      Bytes: HW_BREAKPOINT_LEN_*; for execution the kernel's
 *    sizeof(long), which is 8 in a 32-bit program under a 64-bit kernel. */
static inline void uvperf_attr_breakpoint(struct perf_event_attr *attr,
                                          uint32_t bp_type, uint64_t addr,
                                          uint64_t len) {
  uvperf_attr_init(attr, PERF_TYPE_BREAKPOINT, 0);
  attr->bp_type = bp_type;
  attr->bp_addr = addr;
  attr->bp_len = len;
}

/** Sets any field or flag bit, those newer than the caller's header too.
 *  @param attr   Caller's; attr->size must be set (0 counts as 64).
 *  @param field  enum uvperf_attr_field.
 *  @param value  The new value; 0 or 1 for a flag.
 *  @return 0, or
 *    -E2BIG   the field lies past attr->size and value is not 0;
 *    -EINVAL  no such field, UVPERF_ATTR_SIZE, or the value does not fit. On
 *      any error the attr is unchanged.
 *  Source: perf_event_open(2), struct perf_event_attr. */
UVPERF_EXTERN int uvperf_attr_set(struct perf_event_attr *attr,
                                  enum uvperf_attr_field field, uint64_t value);

/** Gets any field or flag bit, those newer than the caller's header too.
 *  @param attr   Caller's; attr->size must be set (0 counts as 64).
 *  @param field  enum uvperf_attr_field.
 *  @param value  Receives the value; 0 for a field past attr->size, as the
 *    kernel reads it. UVPERF_ATTR_CLOCKID comes sign-extended.
 *  @return 0, or
 *    -EINVAL  no such field; *value is 0. */
UVPERF_EXTERN int uvperf_attr_get(const struct perf_event_attr *attr,
                                  enum uvperf_attr_field field,
                                  uint64_t *value);

/** Parses the name of one event into an attr of a given size. Call
 *  uvperf_attr_parse, which passes the caller's own sizeof.
 *  @param attr   Caller's; `size` bytes are written on success, else none.
 *  @param size   Bytes, at least PERF_ATTR_SIZE_VER0 (64).
 *  @param name   As of uvperf_attr_parse.
 *  @param error  As of uvperf_attr_parse.
 *  @return as uvperf_attr_parse. */
UVPERF_EXTERN int uvperf_attr_parse_sized(struct perf_event_attr *attr,
                                          size_t size, const char *name,
                                          uvperf_error_t *error);

/** Parses the name of one event, in perf(1)'s language, into an attr:
 *
 *    cycles, page-faults, LLC-load-misses    the kernel's generic events, by
 *                                            all of perf(1)'s spellings, in any
 *                                            case
 *    r1a8                                    a raw event of the CPU's PMU
 *    1:2                                     type and config as numbers
 *    type=9,config=0x1,config1=…             the same by the names of the
 *      …,config4=…,bp_type=…                 attr's fields
 *    cpu/event=0x3c,umask=1/                 an event of a PMU, by the terms
 *    cpu/mem-loads,ldlat=30/                 in its format/ and events/ of
 *    mem-loads                               sysfs; one of its events alone;
 *                                            events in any case
 *    cpu_core/cycles/, cpu_core/r1a8/        a generic or raw event of the PMU
 *    sched:sched_switch                      a tracepoint, by tracefs
 *    kprobe/addr=0xffffffff81000000/         a place in the kernel's code
 *    mem:0x1000[/8][:rwx]                    a breakpoint: its address, length
 *                                            (default 4; sizeof(long) for x)
 *                                            and access (default rw)
 *
 *  Terms may follow between slashes, "cycles/period=1000/", and belong to
 *  type=… as further items. A number is decimal or has 0x in front; a term
 *  without value is 1; of a term that comes twice, or that an event of sysfs
 *  stands for already, the last one counts. A PMU's own terms win over these of
 *  any event:
 *
 *    config, config1 to config4        the field; config1 of a probe, being a
 *                                      pointer, is -EINVAL
 *    period, freq                      sample_period, or sample_freq and freq
 *    time[=0]                          PERF_SAMPLE_TIME in sample_type
 *    call-graph=fp                     PERF_SAMPLE_CALLCHAIN
 *    call-graph=dwarf[,stack-size=n]   that, REGS_USER with all registers and
 *                                      STACK_USER with n bytes (8192), and
 *                                      exclude_callchain_user
 *    call-graph=lbr                    CALLCHAIN, and BRANCH_STACK with the
 *                                      user side's CALL_STACK
 *    call-graph=no                     none of these
 *    max-stack=n                       sample_max_stack, and call-graph=fp if
 *                                      no other is said
 *    branch_type=any (and so on)       BRANCH_STACK, and branch_sample_type
 *    inherit, no-inherit               inherit
 *    overwrite, no-overwrite           write_backward
 *    aux-output, aux-sample-size=n     aux_output; aux_sample_size and
 *                                      PERF_SAMPLE_AUX
 *
 *  Modifiers follow behind ':' or the second slash: u, k, h count the user, the
 *  kernel and the hypervisor side, G and H guests and the host, the others
 *  being excluded (and nothing where none is named: perf(1) excludes guests);
 *  I excludes idle; p, pp, ppp are precise_ip 1 to 3 and P is the most that the
 *  PMU has (3 where sysfs does not say); S is PERF_SAMPLE_READ, D pinned, e
 *  exclusive. White space may be around the name and its terms.
 *
 *  With several kinds of cores (Intel's cpu_core and cpu_atom, big.LITTLE)
 *  "cycles" is the same attr as on other machines, and the kernel chooses the
 *  PMU. On a CPU it takes the CPU's. For a task it takes one PMU, and the event
 *  counts only while the task is on its cores. Sets and meters by name
 *  (uvperf_event_list_parse) count on all cores.
 *
 *  Everything that is not said is the kernel's zero, so the event counts and
 *  does not sample unless period or freq is there.
 *  @param attr   Caller's; zeroed, sized and filled on success, untouched on
 *    failure.
 *  @param name   Caller's; not kept.
 *  @param error  Receives why it failed: code, cause, the column in the name
 *    (bytes, counted from 1) and what was probably meant; may be NULL.
 *  @return 0, or
 *    -EINVAL      the name cannot be right on any machine, or means several
 *      events or one that needs memory of its own (name=, uprobes): see
 *      uvperf_event_list_parse (ARGUMENT); `limit` has the most of a number
 *      that is too large; or sysfs has a file of the PMU that is not understood
 *      (NOT_SUPPORTED);
 *    -ENOENT      no such event, PMU or term here, or tracefs is not mounted
 *      (NO_EVENT);
 *    -EACCES      tracefs or sysfs may not be read by this process
 *      (PERMISSION);
 *    -E2BIG       the event needs a field that lies behind the struct of the
 *      caller's header (ARGUMENT);
 *    -EOPNOTSUPP  call-graph=dwarf on a machine whose registers are not known
 *      (NOT_SUPPORTED);
 *    -EMFILE, -ENFILE, -ENOMEM  files of sysfs or tracefs cannot be opened now
 *      (FILES, MEMORY); or what else open(2) and read(2) say of them.
 *  Source: perf-list(1), "EVENT MODIFIERS" and "RAW HARDWARE EVENT DESCRIPTOR";
 *    perf-record(1), "-e"; tools/perf/util/parse-events.{l,y,c} of Linux. */
static inline int uvperf_attr_parse(struct perf_event_attr *attr,
                                    const char *name, uvperf_error_t *error) {
  return uvperf_attr_parse_sized(attr, sizeof(*attr), name, error);
}

/** Names an event, as uvperf_attr_parse reads it: the reverse. Short, for
 *  display and logs too. The first of these that parses to the same event:
 *
 *    cpu-cycles, page-faults, LLC-loads  generic events, by perf(1)'s first
 *    cpu_core/cpu-cycles/                spelling; on the PMU in the upper half
 *                                        of config
 *    sched:sched_switch                  tracepoints, where tracefs can be read
 *    mem:0x1000/8:rw                     breakpoints
 *    uprobe/path="/x",offset=0x4/        probes: what config1 points to
 *    msr/tsc/                            an event that the PMU has a name for
 *    cpu/event=0x3c,umask=0x1/           terms of the PMU's format
 *    r1a8                                raw events
 *    type=9,config=0x1,config1=0x2       all others, and where sysfs or tracefs
 *                                        cannot be read
 *
 *  The label says of the attr: type, config to config4, bp_type; sample_period
 *  and freq, sample_max_stack, inherit, write_backward, aux_output; precise_ip,
 *  exclude_idle, pinned, exclusive; exclude_user, _kernel and _hv unless all
 *  three are set, which no modifiers say, and likewise exclude_host and _guest;
 *  and sample_type, with the fields of its bits, if terms can say all of it:
 *  PERF_SAMPLE_TIME, READ, CALLCHAIN and so on, see uvperf_attr_parse. Of a
 *  sample_type with other bits, such as TID, and of all other fields nothing is
 *  said. So the label of an attr that was parsed parses to the same attr, and
 *  that of any other attr to the same event; only that of a probe does not
 *  parse whose string no label can hold (both kinds of quotation marks are in
 *  it, or it has some thousand bytes), or that has bits which are no terms of
 *  its PMU.
 *
 *  Reads sysfs and tracefs. To name a tracepoint takes some hundredths of a
 *  second, others less than one.
 *  @param attr   Caller's. The config1 of an event of the PMU uprobe or kprobe
 *    must be 0 or point to a string of this process, as the kernel has it: set
 *    it to 0 in an attr that comes from elsewhere, such as a file.
 *  @param label  Caller's; receives the label and its end. NULL if *size is 0.
 *  @param size   Room in bytes; receives what the label needs with its end.
 *  @return 0, or, with label and, but for -ENOBUFS, *size left alone,
 *    -ENOBUFS  there is too little room: *size is what is needed;
 *    -EINVAL   attr or size is NULL, or label is and *size is not 0, or
 *      attr->size is neither 0 nor at least 64.
 *  Source: perf-list(1); tools/perf/util/evsel.c, evsel__name. */
UVPERF_EXTERN int uvperf_attr_label(const struct perf_event_attr *attr,
                                    char *label, size_t *size);

/** Samples every so many events.
 *  @param attr           Caller's.
 *  @param period_events  Events between samples; nanoseconds for cpu-clock and
 *    task-clock; 0 counts only. */
UVPERF_EXTERN void uvperf_attr_set_period(struct perf_event_attr *attr,
                                          uint64_t period_events);

/** Samples so many times a second, the kernel adapting the period.
 *  @param attr     Caller's.
 *  @param freq_hz  Samples a second; above perf_event_max_sample_rate opening
 *    fails with EINVAL. */
UVPERF_EXTERN void uvperf_attr_set_frequency(struct perf_event_attr *attr,
                                             uint64_t freq_hz);

/** Wakes the loop after so many samples. Only PERF_RECORD_SAMPLE counts: COMM,
 *  MMAP2, FORK and their like wake nobody before the ring is half full, so with
 *  them use uvperf_attr_set_wakeup_bytes.
 *  @param attr     Caller's.
 *  @param records  Samples; 0 wakes only when the ring is half full.
 *  Source: kernel/events/core.c, __perf_event_output and perf_output_begin. */
UVPERF_EXTERN void uvperf_attr_set_wakeup_events(struct perf_event_attr *attr,
                                                 uint32_t records);

/** Wakes the loop when more than so many bytes of any record were written.
 *  @param attr   Caller's.
 *  @param bytes  1 wakes for every record; must be smaller than the ring; 0
 *    wakes when the ring is half full. */
UVPERF_EXTERN void uvperf_attr_set_wakeup_bytes(struct perf_event_attr *attr,
                                                uint32_t bytes);

/* -- fallbacks ------------------------------------------------------------ */

/* What an event may fall back to where the kernel refuses it as it was asked
 * for, and what was changed then. Fallbacks are offered, not imposed: the
 * caller allows each by uvperf_event_options_t.fallbacks, and is told of every
 * change by uvperf_event_changes. */

/* What may be changed of an attr, each only for the failure that it helps
 * against. Bits; none is the default. */
enum uvperf_fallback {
  /* cycles (PERF_COUNT_HW_CPU_CYCLES of type PERF_TYPE_HARDWARE, of whichever
   * PMU its upper half names; not the same event under the type of a PMU) ->
   * PERF_COUNT_SW_TASK_CLOCK, or PERF_COUNT_SW_CPU_CLOCK for a whole CPU or
   * cgroup, where there is no PMU that has it (ENOENT, ENODEV, ENXIO) or none
   * that can sample it (EOPNOTSUPP). Both count nanoseconds, of user and
   * kernel side alike.
   *
   * A frequency is kept. A period of cycles becomes as many nanoseconds, so
   * that a CPU of 1 GHz would sample as often as before and others less often;
   * but at least 100,000, as a clock is a timer interrupt each time, and no
   * less than perf_event_max_sample_rate allows. precise_ip becomes 0. What
   * only hardware does (branch stacks, AUX) is not dropped: it still fails.
   * So do EINVAL, which is a mistake of the attr such as too high a frequency,
   * and EACCES, which a clock of a whole CPU would get too; for a task see
   * UVPERF_FALLBACK_USER. */
  UVPERF_FALLBACK_CLOCK = 1,
  /* User and kernel side -> the user side alone (exclude_kernel, exclude_hv),
   * where perf_event_paranoid forbids the kernel side (EACCES, EPERM). Not for
   * an attr that excludes the user side or the kernel side itself. Of what
   * happens in the kernel alone, as context switches do and tracepoints other
   * than those of system calls, nothing is left: such an event opens, and
   * counts 0. */
  UVPERF_FALLBACK_USER = 2,
  /* precise_ip -> the highest below it that the PMU can do, 0 at last
   * (EOPNOTSUPP, EINVAL, ENOENT). */
  UVPERF_FALLBACK_PRECISE = 4,
  /* Flags, fields and bits of sample_type, read_format, branch_sample_type and
   * aux_action that this kernel does not know -> 0 (EINVAL, E2BIG). What the
   * records and counts lack then, and what is measured more (a cleared
   * inherit_thread measures child processes too), the changes tell. Flags and
   * fields newer than enum uvperf_attr_field are left alone. */
  UVPERF_FALLBACK_KERNEL = 8,
  /* All that the caller can allow. */
  UVPERF_FALLBACK_ALL = 15,
  /* inherit -> 0, so that children are not measured. A set does this by itself,
   * whatever is allowed, for events of the PMUs uprobe and kprobe that name a
   * file or a function, and for the rest of their group: fork(2) and
   * pthread_create(3) would fail with EFAULT in a task that inherits such an
   * event, because Linux reads the name again, at config1, in the memory of
   * that task. To measure what a task starts too, measure CPUs. */
  UVPERF_FALLBACK_INHERIT = 16
};

/* One field of an attr that a fallback changed. */
typedef struct uvperf_change_s {
  /* enum uvperf_fallback: which of them, one bit. */
  uint32_t fallback;
  /* enum uvperf_attr_field. */
  uint32_t field;
  /* Its values before and after, as by uvperf_attr_get. */
  uint64_t from;
  uint64_t to;
  uint64_t reserved;
} uvperf_change_t;

/** Describes a change in words, as in "precise_ip 3 -> 1: the PMU can do no
 *  more".
 *  @param change  Caller's, or of uvperf_event_changes.
 *  @param text    Caller's; receives the text, terminated. May be NULL if *size
 *    is 0.
 *  @param size    Bytes of text; receives the bytes needed, with the ending
 *    NUL. 128 are enough for any change.
 *  @return 0, or, with text and, but for -ENOBUFS, *size left alone,
 *    -ENOBUFS  text is too small: *size is what it needs;
 *    -EINVAL   an argument is NULL. */
UVPERF_EXTERN int uvperf_change_describe(const uvperf_change_t *change,
                                         char *text, size_t *size);

/** Opens an event in place of perf_event_open(2): `open` in the options of
 *  events, sets and BPF readers. With it the handle never calls
 *  perf_event_open(2), so a seccomp filter may forbid that call. The handle
 *  calls this for each event: those of the attrs, the dummy events that own the
 *  rings of a set or reader (PERF_COUNT_SW_DUMMY of this process), and later
 *  those of CPUs and targets that come. See "Events that others open" in
 *  README.md and samples/broker.c.
 *
 *  The loop's thread calls it, and the loop waits for it. For
 *  uvperf_event_open, uvperf_set_open, uvperf_set_open_target and
 *  uvperf_bpf_reader_open a thread of libuv's pool does. Each loop has at most
 *  one such call in the pool, but the loop's thread may call it at the same
 *  time. It must not call functions of the handle.
 *  @param attr      attr->size bytes, valid during the call. Only config1 and
 *    config2 of a uprobe or kprobe by name point to something: a string of this
 *    process.
 *  @param pid       A thread's id, of this process's PID namespace, or -1 for
 *    all tasks. It is never 0: the calling thread is given by its id. With
 *    PERF_FLAG_PID_CGROUP it is the fd of a cgroup's directory.
 *  @param cpu       A CPU's id, or -1 for any.
 *  @param group_fd  The fd of the group's leader, or -1.
 *  @param flags     PERF_FLAG_*.
 *  @param arg       options.open_arg.
 *  @return An fd, which the handle owns from then on and makes close-on-exec;
 *    or a negative errno, which is explained as the kernel's would be: -EACCES
 *    or -EPERM if the event is refused. -E2BIG cannot say how many bytes the
 *    kernel knows. The handle fails with UV_ENOTTY if the fd is not of an open
 *    perf event.
 *  Source: perf_event_open(2). */
typedef int (*uvperf_open_fn)(const struct perf_event_attr *attr, int32_t pid,
                              int32_t cpu, int group_fd, unsigned long flags,
                              void *arg);

/** Tells whether the running kernel knows a field of struct perf_event_attr, or
 *  bits of one. It asks the kernel for an event that there is none of, which is
 *  refused for that only if all else is known; nothing is opened, and no
 *  privileges are needed. It calls perf_event_open(2), never a
 *  uvperf_open_fn. An answer is remembered for as long as the process
 *  lives.
 *  @param field  enum uvperf_attr_field.
 *  @param bits   Of UVPERF_ATTR_SAMPLE_TYPE, READ_FORMAT, BRANCH_SAMPLE_TYPE
 *    and AUX_ACTION: the bits to ask for. Of other fields any but 0.
 *  @return 1 if it knows all of them, 0 if it lacks one, or
 *    -EINVAL  no such field, bits is 0, or the field has no such bits;
 *    another  this process gets no answer: what the kernel, or a seccomp
 *      filter, says to each and every event (-EACCES, -EPERM, -ENOSYS), or that
 *      there are no fds (-EMFILE, -ENFILE) or no memory (-ENOMEM) left.
 *  That a kernel knows a bit does not mean that a PMU can do it.
 *  Source: perf_copy_attr() and perf_swevent_init() in kernel/events/core.c. */
UVPERF_EXTERN int uvperf_kernel_knows(enum uvperf_attr_field field,
                                      uint64_t bits);

#ifdef __cplusplus
}
#endif

#endif
