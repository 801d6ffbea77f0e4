/* SPDX-License-Identifier: MIT */
/* The text of `uvperf-stat --help`. */
#include <stdio.h>

#include "stat/options.h"

static const char usage[] =
    "Usage: uvperf-stat [-e EVENTS] [-p PIDS | -t TIDS | -a | -C CPUS |\n"
    "                   -G CGROUPS] [-I ms | -r runs]\n"
    "                   [-A | --per-core | --per-thread ...] [--no-merge]\n"
    "                   [-x SEP | --json] [-o FILE] [[--] "
    "command...]\n"
    "\n"
    "Counts events while a command runs, or until Ctrl-C, as perf stat does.\n"
    "\n";

static const char targets[] =
    "Whom to count:\n"
    "\n"
    "  command...       the command, from its exec on, and what it starts.\n"
    "                   Beside another target it only tells how long to\n"
    "                   count that: uvperf-stat -a sleep 5\n"
    "  -p PID[,PID...]  running processes with their threads, and what they\n"
    "                   start from now on, until they are gone\n"
    "  -t TID[,TID...]  running threads alone, until they are gone\n"
    "  -a               every task on every CPU; needs root, CAP_PERFMON or\n"
    "                   kernel.perf_event_paranoid <= 0. What is counted if\n"
    "                   nothing is chosen.\n"
    "  -C CPUS          every task on some CPUs, 0-3,8 for example\n"
    "  -G CGROUP[,CGROUP...]\n"
    "                   every task in a cgroup and those below it, with -C\n"
    "                   on these CPUs alone: a path (/sys/fs/cgroup/x) or a\n"
    "                   name below where cgroups are mounted. Of several\n"
    "                   cgroups each has all events. Needs what -a needs.\n"
    "  -i, --no-inherit\n"
    "                   with a command or -p: not what they start\n"
    "\n";

static const char events[] =
    "What to count:\n"
    "\n"
    "  -e EVENTS        events by their names, as perf list and\n"
    "                   uvperf-list tell them, and groups:\n"
    "                   -e 'cycles:u,{branches,branch-misses}' -e msr/tsc/\n"
    "                   Without it: task-clock (cpu-clock on CPUs and in\n"
    "                   cgroups), context-switches, cpu-migrations,\n"
    "                   page-faults, cycles, instructions, branches,\n"
    "                   branch-misses.\n"
    "                   duration_time, user_time and system_time are times,\n"
    "                   in ns: of the measurement, and of the command on a\n"
    "                   CPU, in its own code and in the kernel. These two\n"
    "                   are not counted without a command, or with -I.\n"
    "  --filter F       of the events of the -e before it, which are\n"
    "                   tracepoints, only what fits: --filter 'count > 4096'\n"
    "  -n, --null       nothing: only the time elapsed\n"
    "  -d               caches as well: L1-dcache and LLC; -dd L1-icache and\n"
    "                   TLBs, -ddd prefetches\n"
    "\n"
    "Where the kernel's side is forbidden, the user side alone is counted of\n"
    "one's own tasks, and the event's name ends in u, as in cycles:u. What\n"
    "happens in the kernel alone, as context switches do, is 0 then.\n"
    "\n";

static const char when[] =
    "How long:\n"
    "\n"
    "  -I ms            print what was counted in each interval, and what is\n"
    "                   left at the end. If stat is held up, several\n"
    "                   intervals become one; nothing is lost.\n"
    "  --interval-count N\n"
    "                   end after so many intervals\n"
    "  --summary        with -I: all of it at the end; fields have the word\n"
    "                   summary in place of the time\n"
    "  --timeout ms     end after so long. A command that still runs then,\n"
    "                   or after the last interval, is terminated.\n"
    "  -D ms, --delay ms\n"
    "                   begin to count so long after the start; the time\n"
    "                   elapsed and --timeout begin then, too. -1: when\n"
    "                   --control says so.\n"
    "  --control fifo:CTL[,ACK], --control fd:CTL[,ACK]\n"
    "                   commands from another process, a line each: enable,\n"
    "                   disable, ping, evlist (names the events) and stop.\n"
    "                   After each, ack is written to ACK. The time elapsed\n"
    "                   is from the first enable on.\n"
    "  -r runs          run the command so often; print the means, and the\n"
    "                   standard deviation of each mean in percent of it.\n"
    "                   0: for ever, with a table for each run.\n"
    "\n"
    "Ctrl-C prints what there is. While a command runs Ctrl-C is for the\n"
    "command, which gets it from the terminal: its end is waited for, and no\n"
    "other run begins. SIGTERM and SIGHUP print what there is and terminate\n"
    "the command; SIGHUP not under nohup.\n"
    "\n"
    "What is counted is printed before the events are closed, which takes\n"
    "the kernel tens of milliseconds for each tracepoint.\n"
    "\n";

static const char output[] =
    "Output:\n"
    "\n"
    "  --per-cpu, -A    a line of each CPU, with -a, -C or -G\n"
    "  --per-core       a line of each core, with -a, -C or -G, and how many\n"
    "                   of its CPUs are counted: S0-D0-C1 is core 1 of die 0\n"
    "                   in socket 0\n"
    "  --per-die, --per-socket, --per-node\n"
    "                   the same of each die, socket or NUMA node\n"
    "  --per-thread     a line of each thread, with -p, -t or -a, which is\n"
    "                   the default and leaves out threads that did nothing.\n"
    "                   What a new thread does is added to the thread that\n"
    "                   made it. So this is not for a command: all of its\n"
    "                   threads but one are new.\n"
    "  --no-merge       where there are several kinds of cores, a line for\n"
    "                   each (cpu_core/cycles/), not their sum. Of a task\n"
    "                   such a count is not scaled: its percentage is the\n"
    "                   part of the time that the task was on these cores.\n"
    "  --metric-only    no counts, only what is derived of them, as insn per\n"
    "                   cycle: a row of each CPU, core or interval. As with\n"
    "                   perf stat, software events have nothing to show\n"
    "                   here. Not with -r or --per-thread.\n"
    "  -o FILE          write to a file; by default to stderr\n"
    "  --append         add to that file; else it is overwritten\n"
    "  --log-fd N       write to this file, which is open already: 3>file\n"
    "  -x SEP           fields, separated by SEP (\\t is a tab), in perf\n"
    "                   stat's order:\n"
    "                     [time,][CPU,]value,unit,event,[cgroup,]\n"
    "                     [deviation,]runtime,percent,metric,its unit\n"
    "                   with -I the time, with --per-cpu the CPU, with\n"
    "                   --per-core (die ...) the core and how many CPUs, with\n"
    "                   --per-thread the thread's name and id, with -G\n"
    "                   the cgroup, with -r the deviation. A field that has\n"
    "                   SEP or a quotation mark in it is put in quotation\n"
    "                   marks, and those in it are doubled; control\n"
    "                   characters become question marks. A value that lacks\n"
    "                   some of its counts has one field more, which says\n"
    "                   so. A second metric has a line on which the fields\n"
    "                   from value to percent are empty.\n"
    "  -j, --json       an object of JSON for each event, on a line of its\n"
    "                   own, with perf stat's keys; and state, what the\n"
    "                   value is worth, error, why there is none or not all\n"
    "                   of it, and counts and missing, of how many counts it\n"
    "                   is the sum and how many are missing\n"
    "  -B, --big-num    nothing: people's numbers always have separators,\n"
    "                   as their locale has them\n"
    "  -v               tell of each failure and change, when counting\n"
    "                   begins, and of each run\n"
    "  -h, --help       show this\n"
    "\n"
    "In the table:\n"
    "\n"
    "  <not supported>  the event could not be opened; why is said below\n"
    "  <not permitted>  privileges are missing; which, is said below\n"
    "  <not counted>    nothing ran that could be counted, or the event was\n"
    "                   never on a counter, as others had them all\n"
    "  (62.50%)         it was on a counter for this part of the time: the\n"
    "                   count is scaled up, an estimate\n"
    "  (1 of 8 missing) it could not be counted everywhere: the value is of\n"
    "                   the rest, and why is said below\n"
    "\n";

static const char absent[] =
    "Not here, of what perf stat has:\n"
    "\n"
    "  --all-user, --all-kernel: write :u or :k, as in -e cycles:u.\n"
    "  -M, --metrics, --topdown, --td-level: these need perf's tables of\n"
    "    events, one for each kind of CPU.\n"
    "  --pre, --post, -S, --sync: a script can do this between single runs,\n"
    "    whose tables --append collects.\n"
    "  --table: -r 0 prints a table for each run.\n"
    "  --interval-clear: intervals follow each other, in a file too.\n"
    "  -g, --group: write -e '{a,b}'.\n"
    "\n";

static const char status[] =
    "Exit status: that of the command if it ended by itself (128 and the\n"
    "number of a signal; of the last run with -r), else 0; 1 if nothing\n"
    "could be counted or the output not be written; 2 for a bad command\n"
    "line; 126 if the command could not be run, 127 if it was not found. A\n"
    "command runs also where no event can be opened. One beside -p, -t, -a,\n"
    "-C or -G does not if the privileges are missing: that is 1.\n";

void stat_options_help(void) {
  fputs(usage, stdout);
  fputs(targets, stdout);
  fputs(events, stdout);
  fputs(when, stdout);
  fputs(output, stdout);
  fputs(absent, stdout);
  fputs(status, stdout);
}

const char *stat_options_absent(void) {
  return absent;
}
