/* SPDX-License-Identifier: MIT */
/* What `uvperf-record --help` says. */
#include <stdio.h>

#include "record/options.h"

static const char usage[] =
    "Usage: uvperf-record [-e EVENTS [--filter F]]... [-F HZ | -c N]\n"
    "                     [-g | --call-graph MODE]\n"
    "                     [-a | -C CPUS | -p PIDS | -t TIDS]\n"
    "                     [--duration S] [-m SIZE] [-o FILE]\n"
    "                     [[--] command...]\n"
    "\n"
    "Samples events while a command runs, or until Ctrl-C, into a perf.data\n"
    "file, as perf record does: perf report, perf script and perf annotate\n"
    "read it.\n"
    "\n";

static const char targets[] =
    "Whom to record:\n"
    "\n"
    "  command...       the command, from its exec on, and what it starts.\n"
    "                   Beside another target it only tells how long to\n"
    "                   record that: uvperf-record -a sleep 5\n"
    "  -p PID[,PID...]  running processes with their threads, and what they\n"
    "                   start from now on, until they are gone\n"
    "  -t TID[,TID...]  running threads, and what they start\n"
    "  -a               every task on every CPU; needs root, CAP_PERFMON or\n"
    "                   kernel.perf_event_paranoid <= 0. What is recorded if\n"
    "                   nothing is chosen. CPUs that come online are\n"
    "                   recorded from then on.\n"
    "  -C, --cpu CPUS   every task on some CPUs, 0-3,8 for example\n"
    "  -i, --no-inherit with a command, -p or -t: not what they start\n"
    "\n";

static const char events[] =
    "What to record:\n"
    "\n"
    "  -e EVENTS        events by their names, as perf list and\n"
    "                   uvperf-list tell them, and groups:\n"
    "                   -e 'cycles:u,sched:sched_switch' -e '{cs,faults}:S'\n"
    "                   Without it: cycles, or where there are none the\n"
    "                   clock of the task or CPU.\n"
    "  --filter F       of the events of the -e before it only those records\n"
    "                   whose fields are so: 'prev_pid != 0 && prev_prio<99'\n"
    "  -F HZ            samples a second, or max; 4000 by default, or as many\n"
    "                   as kernel.perf_event_max_sample_rate allows. Of\n"
    "                   tracepoints and breakpoints every one.\n"
    "  -c N             a sample of every Nth event\n"
    "  -g               with call chains, by frame pointers\n"
    "  --call-graph MODE\n"
    "                   fp is -g; dwarf[,SIZE] takes registers and SIZE\n"
    "                   (8192) bytes of the user's stack with each sample,\n"
    "                   from which perf makes the chain: larger files\n"
    "  --max-stack N    chains of up to N frames\n"
    "                   (kernel.perf_event_max_stack)\n"
    "  --sample-cpu     with the CPU; always so with -a, -C and tracepoints\n"
    "  --switch-events  a record of each context switch\n"
    "  --namespaces     a record of each change of namespaces (CAP_PERFMON)\n"
    "  --all-cgroups    samples with their cgroup, and a record of each new\n"
    "                   one\n"
    "\n"
    "Where the kernel's side is forbidden, the user side alone is recorded of\n"
    "one's own tasks, and the event's name ends in u, as in cycles:u.\n"
    "\n";

static const char how[] =
    "How:\n"
    "\n"
    "  --duration S     end after so many seconds. A command that still runs\n"
    "                   then is terminated.\n"
    "  -m SIZE          of each CPU's ring, in bytes or as in 2M; by default\n"
    "                   512K, or as much less as\n"
    "                   kernel.perf_event_mlock_kb allows\n"
    "  -o FILE          perf.data by default; one that is there becomes\n"
    "                   FILE.old\n"
    "  -q               tell of errors only\n"
    "  -v               tell of each failure and change\n"
    "  -h, --help       show this\n"
    "\n"
    "Ctrl-C, SIGTERM and SIGHUP end the recording and terminate the command;\n"
    "SIGHUP not under nohup. perf can read the file while it grows, and if\n"
    "record is killed, but for the last second; not with tracepoints, whose\n"
    "formats come at the end.\n"
    "\n"
    "What the kernel could not write into a full ring is lost: it is told by\n"
    "records in the file, and counted in the last line. Try a larger -m, or\n"
    "fewer samples.\n"
    "\n";

static const char status[] =
    "Exit status: that of the command if it ended by itself (128 and the\n"
    "number of a signal), else 0; 1 if an event could not be opened or the\n"
    "file not be written; 2 for a bad command line; 127 if the command could\n"
    "not be run.\n";

void record_options_help(void) {
  fputs(usage, stdout);
  fputs(targets, stdout);
  fputs(events, stdout);
  fputs(how, stdout);
  fputs(status, stdout);
}
