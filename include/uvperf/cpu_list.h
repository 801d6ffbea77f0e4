/* SPDX-License-Identifier: MIT */
/* Which CPUs: lists such as "0,2-5", and those of this machine. The ids of CPUs
 * are never 0 to their number less 1: some may be offline. Needs no libuv. */
#ifndef UVPERF_CPU_LIST_H
#define UVPERF_CPU_LIST_H

#include <stddef.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Reads a list of CPUs as the kernel writes them and its users do. To learn
 *  how much room it needs, call it with *nr 0 first.
 *  @param list  Caller's, a string: ids of CPUs and ranges of them, separated
 *    by commas, in any order; white space may stand around the numbers. ""
 *    lists no CPU.
 *  @param cpus  Caller's; receives the ids, each once and ascending. May be
 *    NULL where *nr is 0.
 *  @param nr    Caller's: the ids that cpus has room for; receives how many
 *    there are.
 *  @return 0, or, with cpus and, but for -ENOBUFS, *nr left alone,
 *    -ENOBUFS  cpus has too little room; *nr is how many ids there are;
 *    -EINVAL   the text is no list, or has a CPU above 65535; or an argument is
 *      NULL.
 *  Source: Linux's Documentation/admin-guide/cputopology.rst. */
UVPERF_EXTERN int uvperf_cpu_list_parse(const char *list, int *cpus,
                                        size_t *nr);

/** Tells which CPUs are online now: an event can be opened on these.
 *  @param cpus  Caller's; receives the ids, ascending. May be NULL where *nr is
 *    0.
 *  @param nr    Caller's: the ids that cpus has room for; receives how many
 *    there are. More may be online at the next call.
 *  @return 0, or, with cpus and, but for -ENOBUFS, *nr left alone,
 *    -ENOBUFS  cpus has too little room; *nr is how many ids there are;
 *    -EINVAL   an argument is NULL, or the file holds no list;
 *    -ENOENT   sysfs is not mounted; or what else open(2) and read(2) say, such
 *      as -EMFILE.
 *  Source: /sys/devices/system/cpu/online. */
UVPERF_EXTERN int uvperf_cpus_online(int *cpus, size_t *nr);

/** Tells which CPUs this machine can ever have: the ids in records are among
 *  them.
 *  @param cpus  As for uvperf_cpus_online.
 *  @param nr    As for uvperf_cpus_online; it stays the same until the next
 *    boot.
 *  @return as uvperf_cpus_online.
 *  Source: /sys/devices/system/cpu/possible. */
UVPERF_EXTERN int uvperf_cpus_possible(int *cpus, size_t *nr);

#ifdef __cplusplus
}
#endif

#endif
