/* SPDX-License-Identifier: MIT */
/* What `stat --help` says. */
#include <stdio.h>

#include "stat_options.h"

static const char usage[] =
    "Usage: stat [-e EVENTS] [-p PIDS | -t TIDS | -a | -C CPUS | -G CGROUPS]\n"
    "            [-I ms | -r runs] [--per-cpu] [-x SEP | --json] [-o FILE]\n"
    "            [[--] command...]\n"
    "\n"
    "Counts events while a command runs, or until Ctrl-C, as perf stat does.\n"
    "\n";

static const char targets[] =
    "Whom to count:\n"
    "\n"
    "  command...       the command, from its exec on, and what it starts.\n"
    "                   Together with one of those below these are counted "
    "for\n"
    "                   as long as the command runs: stat -a sleep 5\n"
    "  -p PID[,PID...]  running processes with their threads, and what they\n"
    "                   start from now on, until they are gone\n"
    "  -t TID[,TID...]  running threads alone, until they are gone\n"
    "  -a               every task on every CPU (needs root, CAP_PERFMON or\n"
    "                   kernel.perf_event_paranoid <= 0); what is counted if\n"
    "                   nothing is chosen\n"
    "  -C CPUS          every task on some CPUs, 0-3,8 for example\n"
    "  -G CGROUP[,CGROUP...]\n"
    "                   every task in a cgroup and those below it, with -C on\n"
    "                   these CPUs alone: a path (/sys/fs/cgroup/x), or a "
    "name\n"
    "                   below where cgroups are mounted. All events are "
    "counted\n"
    "                   in each of several cgroups. Needs what -a needs.\n"
    "  -i, --no-inherit\n"
    "                   with a command or -p: without what they start\n"
    "\n";

static const char events[] =
    "What to count:\n"
    "\n"
    "  -e EVENTS        events as perf list and samples/list name them, and\n"
    "                   groups: -e 'cycles:u,{branches,branch-misses}' -e "
    "msr/tsc/\n"
    "                   Without it: task-clock (cpu-clock of CPUs and "
    "cgroups),\n"
    "                   context-switches, cpu-migrations, page-faults, "
    "cycles,\n"
    "                   instructions, branches, branch-misses.\n"
    "  -d               caches too: L1-dcache and LLC; -dd L1-icache and the "
    "TLBs,\n"
    "                   -ddd prefetches as well\n"
    "\n"
    "Where the kernel's side is forbidden the user side alone is counted, and "
    "the\n"
    "event's name ends in u, cycles:u. What happens in the kernel alone, as "
    "context\n"
    "switches do, is 0 then.\n"
    "\n";

static const char when[] =
    "When:\n"
    "\n"
    "  -I ms            print what was counted in each interval. A loop that "
    "is\n"
    "                   late makes one longer interval of several.\n"
    "  --interval-count N\n"
    "                   end after so many intervals\n"
    "  --timeout ms     end after so long. A command that still runs then, or\n"
    "                   after the last interval, is terminated.\n"
    "  -r runs          run the command so often; print means, and the "
    "standard\n"
    "                   deviation of each mean in percent of it. 0: for ever,\n"
    "                   with a table for each run.\n"
    "\n"
    "Ctrl-C prints what there is. While a command runs it is for the command,\n"
    "which it reaches by itself: its end is waited for, and after it no other\n"
    "run begins. SIGTERM and SIGHUP print what there is and terminate the\n"
    "command.\n"
    "\n";

static const char output[] =
    "Output:\n"
    "\n"
    "  --per-cpu, -A    a line of each CPU, with -a, -C or -G\n"
    "  -o FILE          write to a file; by default to stderr\n"
    "  -x SEP           a line of fields for each event, as perf stat -x has\n"
    "                   them:\n"
    "                     [time,][CPU,]value,unit,event,[deviation,]runtime,\n"
    "                     percent,metric,unit of the metric\n"
    "                   time with -I, CPU with --per-cpu, deviation with -r. "
    "A\n"
    "                   field that has the separator, a quotation mark or an "
    "end\n"
    "                   of line in it is put in quotation marks, and those in "
    "it\n"
    "                   are doubled. \\t is a tab.\n"
    "  -j, --json       an object of JSON for each event, on a line of its "
    "own,\n"
    "                   with the keys of perf stat -j, the state of the "
    "count,\n"
    "                   and the error where there is one\n"
    "  -v               tell each failure and change, and which run begins\n"
    "  -h, --help       show this\n"
    "\n"
    "<not supported>  the event could not be opened; why is said below\n"
    "<not counted>    nothing ran that could be counted, or the event was "
    "never\n"
    "                 on a counter as others had them all\n"
    "(62.50%)         it was on a counter for this part of the time alone: "
    "the\n"
    "                 count is scaled, an estimate\n"
    "(2 of 8 missing) it could not be counted everywhere: the count is of the\n"
    "                 rest\n"
    "\n";

static const char status[] =
    "Exit status: that of the command if it ended by itself (128 and the "
    "number of\n"
    "a signal), of the last run with -r; else 0; 1 if nothing could be "
    "counted, or\n"
    "the output not be written; 2 for a bad command line; 127 if the command "
    "could\n"
    "not be run.\n";

void stat_options_help(void) {
  fputs(usage, stdout);
  fputs(targets, stdout);
  fputs(events, stdout);
  fputs(when, stdout);
  fputs(output, stdout);
  fputs(status, stdout);
}
