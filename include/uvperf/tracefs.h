/* SPDX-License-Identifier: MIT */
/* What tracefs says: which tracepoints this kernel has and what their ids are,
 * and which tracers. Needs no libuv.
 *
 * tracefs is looked for at each call: at /sys/kernel/tracing, then at
 * /sys/kernel/debug/tracing, then where the mounts in /proc say. A place counts
 * only if its directory events/ is there. By default only root may read it, and
 * after `mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing` a group.
 * Functions that return int return 0 or a negative errno, the same value as
 * libuv's UV_E*. They take no memory, and leave no file open. Any thread may
 * call them, several at once. */
#ifndef UVPERF_TRACEFS_H
#define UVPERF_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tells where tracefs is mounted.
 *  @param path  Caller's; receives for example "/sys/kernel/tracing". May be
 *    NULL if *size is 0.
 *  @param size  Bytes of `path`; receives the bytes needed, with the ending
 *    NUL.
 *  @return 0, or, with `path` and, but for -ENOBUFS, *size left alone,
 *    -EINVAL   an argument is NULL;
 *    -ENOBUFS  `path` is too small: *size is what it needs;
 *    -ENODEV   tracefs is not mounted: `mount -t tracefs tracefs
 *              /sys/kernel/tracing` as root does it;
 *    -EACCES   it is there, but this process may not read it;
 *    or what open(2) says (-EMFILE, -ENFILE, -ENOMEM).
 *  Source: the kernel's Documentation/trace/ftrace.rst, "The File System". */
UVPERF_EXTERN int uvperf_tracefs_path(char *path, size_t *size);

/** Tells the id of a tracepoint: config of an attr of PERF_TYPE_TRACEPOINT.
 *  @param category  For example "sched".
 *  @param name      For example "sched_switch".
 *  @param id        Receives the id; 0 on error. Ids hold until reboot, those
 *    of probes and modules until these are removed.
 *  @return 0, or
 *    -EINVAL  an argument is NULL, or a name that no directory can have (empty,
 *             ".", "..", with a slash);
 *    -ENOENT  this kernel has no such tracepoint, or none for perf events: some
 *             of ftrace's own events have no id;
 *    -ENODEV, -EACCES and others as uvperf_tracefs_path.
 *  Source: the kernel's Documentation/trace/events.rst; event_create_dir in
 *  kernel/trace/trace_events.c. */
UVPERF_EXTERN int uvperf_tracefs_id(const char *category, const char *name,
                                    uint64_t *id);

/** What uvperf_tracefs_walk calls.
 *  @param category  Valid during the call, as is
 *  @param name      its name.
 *  @param id        Its id, see uvperf_tracefs_id.
 *  @param arg       What was given to the walk.
 *  @return 0 to go on; else the walk ends and returns this. */
typedef int (*uvperf_tracefs_event_cb)(const char *category, const char *name,
                                       uint64_t id, void *arg);

/** Tells each tracepoint that perf events can be opened of, so each that has an
 *  id, in the order of tracefs' directories, which is not that of the alphabet.
 *  (Some are refused nevertheless: ftrace:function at times even to root, and
 *  irq_vectors:irq_work_exit may be counted and not sampled.) The time is spent
 *  in reading the ids of those that fit, a few microseconds each: all of some
 *  2,300 take about 15 ms, one takes 0.05.
 *  @param category  Which categories: a pattern as fnmatch(3) has it with
 *    FNM_NOESCAPE, byte for byte (*, ?, [a-z], [!a-z]). NULL: all.
 *  @param name      Which names, likewise.
 *  @param cb        Called with each; may call any function but must not jump
 *    out.
 *  @param arg       For `cb`.
 *  @return what `cb` returned other than 0; else 0, also if nothing fits; or
 *    -EINVAL  `cb` is NULL;
 *    -EACCES  tracefs is not for this process; or, after the walk, some of what
 *             fits is not;
 *    -ENODEV and others as uvperf_tracefs_path.
 *  Source: as uvperf_tracefs_id; perf_trace_init in
 *  kernel/trace/trace_event_perf.c. */
UVPERF_EXTERN int uvperf_tracefs_walk(const char *category, const char *name,
                                      uvperf_tracefs_event_cb cb, void *arg);

/** Tells which tracer of ftrace runs. A tracer other than "nop" costs time that
 *  a measurement sees; perf events neither need nor change it.
 *  @param tracer  Caller's; receives its name. May be NULL if *size is 0.
 *  @param size    Bytes of `tracer`; receives the bytes needed, with the ending
 *    NUL.
 *  @return as uvperf_tracefs_path; -ENOENT where the kernel has no tracers.
 *  Source: Documentation/trace/ftrace.rst, "current_tracer". */
UVPERF_EXTERN int uvperf_tracefs_current_tracer(char *tracer, size_t *size);

/** What uvperf_tracefs_walk_tracers calls.
 *  @param tracer  For example "function_graph"; valid during the call.
 *  @param arg     What was given to the walk.
 *  @return 0 to go on; else the walk ends and returns this. */
typedef int (*uvperf_tracefs_tracer_cb)(const char *tracer, void *arg);

/** Tells each tracer that this kernel has, in the kernel's order.
 *  @param cb   Called with each.
 *  @param arg  For `cb`.
 *  @return what `cb` returned other than 0; else 0; or
 *    -EINVAL  `cb` is NULL;
 *    -ENOENT  the kernel has no tracers;
 *    -ENODEV, -EACCES and others as uvperf_tracefs_path.
 *  Source: Documentation/trace/ftrace.rst, "available_tracers". */
UVPERF_EXTERN int uvperf_tracefs_walk_tracers(uvperf_tracefs_tracer_cb cb,
                                              void *arg);

#ifdef __cplusplus
}
#endif

#endif
