/* SPDX-License-Identifier: MIT */
/* The words for owners that are told of CPUs in a row of scripted_row.h. o0 is
 * the first one.
 *
 *   begin (make, start and run), make, start O, stop O, close O, closed O
 *   look                      checks the CPUs without a uevent, as the timer
 *   uevent ACTION CPU, lost   a uevent; one is lost
 *   from_process TEXT         a uevent that a process sends
 *   no_socket CODE            for uevents */
#ifndef UVPERF_TEST_SCRIPTED_HOTPLUG_ROWS_H
#define UVPERF_TEST_SCRIPTED_HOTPLUG_ROWS_H

#include "scripted_row.h"

extern const scripted_subject_t scripted_hotplugs;

#endif
