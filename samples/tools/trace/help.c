/* SPDX-License-Identifier: MIT */
/* What `uvperf-trace --help` says. */
#include <stdio.h>

#include "trace/options.h"

static const char usage[] =
    "Usage: uvperf-trace -e EVENTS [--filter EXPR] [-e ...]\n"
    "                    [-a | -p PIDS] [-C CPUS] [-d seconds] [-l hits]\n"
    "                    [-m bytes] [-o FILE] [--json] [--print-fmt] [--self]\n"
    "                    [[--] command...]\n"
    "\n"
    "Tells each hit of tracepoints with its fields, in the order of time over\n"
    "all CPUs.\n"
    "\n";

static const char events[] =
    "What to trace:\n"
    "\n"
    "  -e EVENTS        tracepoints by their names and patterns of these, as\n"
    "                   uvperf-list and perf list tell them:\n"
    "                   -e sched:sched_switch,'syscalls:sys_*_open*'\n"
    "                   Also probes, breakpoints and software events, with\n"
    "                   their address: -e uprobe/path=/bin/sh,symbol=main/,\n"
    "                   -e mem:0x601040:w, -e page-faults\n"
    "  --filter EXPR    of the tracepoints of the -e before it only those\n"
    "                   hits whose fields are so; the kernel looks at them:\n"
    "                   --filter 'prev_pid == 0 && next_comm ~ \"ssh*\"'\n"
    "\n";

static const char targets[] =
    "Whom to trace:\n"
    "\n"
    "  command...       the command, from its exec on, and what it starts,\n"
    "                   until it ends. Beside -a or -p it only tells how long\n"
    "                   to trace those: uvperf-trace -a -e ... sleep 5\n"
    "  -p PID[,PID...]  running processes with their threads, and what they\n"
    "                   start from now on, until they are gone\n"
    "  -a               every task on every CPU; needs root, CAP_PERFMON or\n"
    "                   kernel.perf_event_paranoid < 0. What is traced if\n"
    "                   nothing is chosen.\n"
    "  -C CPUS          only what happens on these CPUs, 0-3,8 for example\n"
    "  --self           what trace itself does too\n"
    "\n"
    "CPUs that come online are traced from then on.\n"
    "\n";

static const char when[] =
    "How long:\n"
    "\n"
    "  -d seconds       stop after so long, 0.5 for example; else with Ctrl-C\n"
    "                   or when the target ends. A command that still runs\n"
    "                   then is terminated.\n"
    "  -l hits          stop after so many lines\n"
    "\n"
    "When all is written the kernel removes the tracepoints, which takes\n"
    "tens of milliseconds for each: all of syscalls:* some 20 seconds.\n"
    "Another Ctrl-C ends trace then, but the kernel removes them first.\n"
    "\n";

static const char output[] =
    "Output:\n"
    "\n"
    "  -o FILE          write to a file, and leave stdout to the command\n"
    "  -m bytes         size of the buffer of each CPU, 256K or 4M for\n"
    "                   example: more if hits are lost\n"
    "  --print-fmt      fields in the words of the kernel's own \"print "
    "fmt\",\n"
    "                   as perf script prints them\n"
    "  --json           one JSON object a line\n"
    "  -h, --help       show this\n"
    "\n"
    "A line is the time by CLOCK_MONOTONIC, the CPU, the name of the thread,\n"
    "its process and, where it is not the first thread, its id, the event and\n"
    "its fields:\n"
    "\n"
    "  7421.053318 [001] sh 912 sched:sched_process_fork parent_comm=\"sh\" "
    "...\n"
    "  7421.053402 [000] node 77/81 syscalls:sys_enter_write fd=9 buf=0x7f...\n"
    "\n"
    "Numbers are decimal, pointers hexadecimal, strings quoted; what is no\n"
    "text in them comes as \\n, \\t, \\\\, \\\" or \\xNN. Bytes that are none "
    "of\n"
    "this are hexadecimal digits. Threads so dead that they have no id any\n"
    "more have the id -1.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\":\n"
    "  hit   cpu, pid, tid, comm, event, fields (an object; pointers are\n"
    "        strings, as in \"0x7f\"; with --print-fmt: print, a string);\n"
    "        of what is no tracepoint: ip, addr\n"
    "  lost  lost, cpu\n"
    "  end   (the last line) hits, lost, late\n"
    "A string that is not UTF-8 has its bytes in hex as well: comm_hex.\n"
    "\n"
    "Counts, losses and errors go to stderr; the last line is the sum:\n"
    "  uvperf-trace: 12345 hits in 3.2 s, 3858/s, 0 lost\n"
    "\n";

static const char status[] =
    "Without privileges the system calls of a command or process of one's own\n"
    "can be traced, up to kernel.perf_event_paranoid 2, if tracefs can be\n"
    "read: as root, mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing.\n"
    "\n"
    "Exit status: that of the command if it ended by itself (128 and the\n"
    "number of a signal), else 0; 1 if trace failed; 2 for a bad command\n"
    "line; 127 if the command could not be run.\n";

void trace_options_help(void) {
  fputs(usage, stdout);
  fputs(events, stdout);
  fputs(targets, stdout);
  fputs(when, stdout);
  fputs(output, stdout);
  fputs(status, stdout);
}
