/* SPDX-License-Identifier: MIT */
/* The words for the events of a map in a row of scripted_row.h: for each CPU an
 * event and the owner of its ring. CPUs 0 to 3 are online, and the map has 16
 * entries.
 *
 *   cpus ONLINE POSSIBLE      these are online and possible from now on
 *   attr FIELD=VALUE...       of a BPF_OUTPUT event with RAW
 *   options WORD...           from a ring of a page: wakeup_events=N,
 *                             wakeup_bytes=N, ring_bytes=N, cpus=LIST, path,
 *                             overwrite, fixed
 *   new, free, enable, disable, put, take, leave, come CPU, gone CPU
 *   status CPU..., rings (CPU, owner and number of writers), fields
 *   FIELD... (of the attr), lost CPU */
#ifndef UVPERF_TEST_SCRIPTED_ARRAY_H
#define UVPERF_TEST_SCRIPTED_ARRAY_H

#include "scripted_row.h"

extern const scripted_subject_t scripted_array;

#endif
