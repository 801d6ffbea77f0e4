/* SPDX-License-Identifier: MIT */
/* The words for handles of events and BPF readers in a row of scripted_row.h.
 * h0 is the handle that was opened first, e0 the event that the kernel opened
 * first.
 *
 * What is opened
 *   attr KIND FIELD=VALUE...  comm, recorder (overwritable), write (a
 *                             breakpoint), cycles, instructions, task_clock,
 *                             cpu_clock, page_faults, tracepoint
 *   options WORD...           from the defaults: identify, no_ring, cpu, cgroup
 *                             and pidfd are flags, and there are cpu=N, pid=N,
 *                             cgroup=N, flags=N, ring_bytes=N, leader=H;
 *                             "later": the pool opens it; "program":
 *                             options.open
 *   more_options WORD...      besides these; "now": not by the pool
 *   give_fd                   the next handle gets the fd of an open event. It
 *                             must not, if init fails. "take_back": nor if the
 *                             pool fails
 *   fallbacks WORD...         all, clock, user, kernel, precise
 *   init
 *   reader WORD...            of the map: cpus=LIST, fixed, overwrite, program,
 *                             later, attr, perf_clock, ring_bytes=N,
 *                             wakeup_events=N, wakeup_bytes=N; lost=OFFSET of
 *                             the counter
 *   ringbuf PAGES [FLAGS [read]]  the map is a BPF ring buffer; the fd is for
 *                             reading only
 *   submit N..., discard N..., busy N...  a program writes records with N bytes
 *                             of data; "full": there is no room
 *   finish POSITION [discard] a busy record
 *   first_word POSITION N, producer [N], consumer [N]  sets or prints a
 *                             position
 *   readable H, unreadable H  its fd, until then
 *   counter TYPE BYTES        a map whose values have so many bytes; "counted
 *                             N...": the 64-bit words that a look-up finds
 * The calls
 *   enable, disable or reset H [all], refresh H N, pause H, resume H, period H
 *   N, filter H TEXT, program H FD, query H ROOM, modify H FIELD=VALUE...,
 *   output H H, output H none
 *   start H [no_enable] [slice_end] [timer] [callback (although it has no
 *   ring)], stop
 *   H, flush H, snapshot H [no_wait | all |
 *   oldest_first] [later], next H, close H
 *   in_hand H (the record of next again), source FIELD... (of its attr)
 *   own_id H, cloexec H, read H, group H..., measure H N, work E V N R (in each
 *   call of the measured function: value and times)
 *   publish H, unpublish H, follow H (uvperf_on_cpu)
 *   no_error STEP             with NULL for the error
 * What there is
 *   fields H FIELD..., changes H, ring H (its bytes), rings H, active H,
 *   has_record H, stats H FIELD..., status H CPU...
 *
 * A record is its type, " 7" its misc or the losses it reports, and " of h1" if
 * another event than the ring's has written it, " of closed e1" if that was
 * closed. "slice" is the end of a slice. */
#ifndef UVPERF_TEST_SCRIPTED_HANDLES_H
#define UVPERF_TEST_SCRIPTED_HANDLES_H

#include "scripted_row.h"

extern const scripted_subject_t scripted_handles;

#endif
