/* SPDX-License-Identifier: MIT */
/* The text of `uvperf-trace --help`. */
#include <stdio.h>

#include "trace/options.h"

static const char usage[] =
    "Usage: uvperf-trace -e EVENTS [--filter EXPR] [-e ...]\n"
    "                    [-a | -p PIDS | -t TIDS] [-C CPUS] [-d seconds]\n"
    "                    [-D ms] [-l hits] [-m size] [-o FILE] [--json]\n"
    "                    [--print-fmt] [--self] [[--] command...]\n"
    "       uvperf-trace -s [--summary-mode MODE] [--histogram]\n"
    "                    [-e CALLS] [-a | -p PIDS | -t TIDS] [-d seconds]\n"
    "                    [-D ms] [-m size] [-o FILE] [--json] [--self]\n"
    "                    [[--] command...]\n"
    "       uvperf-trace -i FILE [-s ...] [-l hits] [-o FILE] [--json]\n"
    "\n"
    "Prints the hits of tracepoints, or a summary of system calls. Each hit\n"
    "is a line with its fields. The lines of all CPUs are in the order of\n"
    "time.\n"
    "\n"
    "Examples:\n"
    "\n"
    "  uvperf-trace -s -- ls /\n"
    "  uvperf-trace -s -a -d 1\n"
    "  uvperf-trace -e openat,read -- ls /\n"
    "  uvperf-trace -e 'syscalls:sys_exit_open*' --filter 'ret < 0' cat /none\n"
    "  uvperf-trace -a -e sched:sched_switch --filter 'prev_pid > 0' sleep 1\n"
    "  uvperf-trace -e page-faults -l 10 -- ls /\n"
    "  uvperf-trace -s -i perf.data\n"
    "  uvperf-trace -e uprobe/path=./prog,symbol=main/ -- ./prog\n"
    "\n"
    "The program in the last example must not be stripped.\n"
    "\n";

static const char events[] =
    "Events:\n"
    "\n"
    "  -e EVENTS        the names of tracepoints, or patterns of names, as\n"
    "                   uvperf-list and perf list print them. openat means\n"
    "                   syscalls:sys_enter_openat and sys_exit_openat.\n"
    "                   Probes, breakpoints (mem:ADDRESS:w) and software\n"
    "                   events print addresses instead of fields.\n"
    "  --filter EXPR    applies to the tracepoints of the -e before it: print\n"
    "                   only hits whose fields match, for example\n"
    "                   'prev_pid == 0 && next_comm ~ \"ssh*\"'. The kernel\n"
    "                   evaluates the expression.\n"
    "  -s, --summary    instead of hits, print a table of system calls for\n"
    "                   each process, as perf trace -s does. -e chooses\n"
    "                   calls; default: all.\n"
    "  --summary-mode process|thread|total\n"
    "                   print a table for each process (default) or thread,\n"
    "                   or one for all; implies -s\n"
    "  --histogram      under each call, print how many calls took how long,\n"
    "                   in powers of two; implies -s\n"
    "  -i, --input FILE\n"
    "                   read tracepoints from a file of uvperf-record or perf\n"
    "                   record, or from stdin with -. With -s the file needs\n"
    "                   raw_syscalls:sys_enter and sys_exit, or the two\n"
    "                   tracepoints of single calls. The formats in the file\n"
    "                   define the fields.\n"
    "\n";

static const char targets[] =
    "Targets:\n"
    "\n"
    "  command...       the command, from its exec on, and what it starts,\n"
    "                   until it ends. With another target, the command only\n"
    "                   determines how long to trace that target:\n"
    "                   uvperf-trace -a -e ... sleep 5\n"
    "  -p PID[,PID...]  running processes with their threads, and what they\n"
    "                   start from now on, until they end\n"
    "  -t TID[,TID...]  only these running threads, as in perf record\n"
    "  -a               every task on every CPU. This is the default if no\n"
    "                   target is given. It needs root, CAP_PERFMON or\n"
    "                   kernel.perf_event_paranoid < 0.\n"
    "  -C CPUS          only what happens on these CPUs, for example 0-3,8\n"
    "  --self           also print hits of uvperf-trace itself\n"
    "\n"
    "CPUs that come online are traced from then on.\n"
    "\n";

static const char when[] =
    "Duration:\n"
    "\n"
    "  -d seconds, --duration seconds\n"
    "                   stop after this time, for example 0.5. Default: at\n"
    "                   Ctrl-C, or when the target ends. A command that still\n"
    "                   runs then is terminated.\n"
    "  -D ms, --delay ms\n"
    "                   begin this many milliseconds after the start; -d\n"
    "                   counts from there\n"
    "  -l hits          stop after this many hits\n"
    "\n"
    "After all output is written, the kernel removes the tracepoints, which\n"
    "takes tens of milliseconds for each: about 20 seconds for syscalls:*. A\n"
    "second Ctrl-C ends trace then, but only after the kernel has removed\n"
    "them.\n"
    "\n";

static const char output[] =
    "Output:\n"
    "\n"
    "  -o FILE          write to FILE, and leave stdout to the command.\n"
    "                   Default: stdout.\n"
    "  -m size          the size of the buffer of each CPU, for example 256K\n"
    "                   or 4M, or a number of pages. Default: 512K, with -s\n"
    "                   8M, or less if kernel.perf_event_mlock_kb does not\n"
    "                   allow that. Try more if hits are lost.\n"
    "  --print-fmt      print fields in the words of the kernel's own \"print\n"
    "                   fmt\", or as without this option if only the kernel\n"
    "                   can evaluate it\n"
    "  --json           print one JSON object per line\n"
    "  -h, --help       print this help\n"
    "  --version        print the version\n"
    "\n"
    "A line has the time of CLOCK_MONOTONIC in seconds, the CPU, the name of\n"
    "the thread, the ids of its process and, if it is not the first thread,\n"
    "of the thread, the event, and its fields:\n"
    "\n"
    "  7421.053318 [001] sh 912 sched:sched_process_fork parent_comm=\"sh\" "
    "...\n"
    "  7421.053402 [000] node 77/81 syscalls:sys_enter_write fd=9 buf=0x7f...\n"
    "\n"
    "Numbers are decimal, pointers hexadecimal, strings quoted. Special bytes\n"
    "in a string become \\n, \\t, \\\\, \\\" or \\xNN. Other data is printed "
    "as\n"
    "hexadecimal digits. A thread that has ended and lost its id has the id\n"
    "-1.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\":\n"
    "  hit      cpu, pid, tid, comm, event, and fields, an object in which\n"
    "           pointers are strings such as \"0x7f\". Instead of fields:\n"
    "           print, a string, with --print-fmt; ip and addr, if the event\n"
    "           is not a tracepoint.\n"
    "  lost     lost, cpu\n"
    "  end      (the last line) hits, lost, late\n"
    "  syscall  (with -s, at the end) pid, tid, comm, syscall, nr, calls,\n"
    "           errors, interrupted, running, ended, no_begin, no_end;\n"
    "           total_ns, min_ns, avg_ns, max_ns, stddev_ns, p50_ns, p99_ns;\n"
    "           histogram: the number of calls for each power of two\n"
    "           nanoseconds that they took at least\n"
    "\n"
    "A string that is not UTF-8 is repeated as hexadecimal bytes, for example\n"
    "comm_hex.\n"
    "\n";

static const char summary[] =
    "With -s, the table has only calls whose begin and end were both seen.\n"
    "Lines under it list calls that were still running, calls that ended with\n"
    "their thread, and calls whose begin or end was not seen. An error is a\n"
    "result from -4095 to -1. Calls that a signal interrupted are counted,\n"
    "but not as errors: they are restarted or return EINTR. p50 and p99 are\n"
    "at most a quarter too high, and never above max.\n"
    "\n"
    "If the long of a task has another size than in this program, as in\n"
    "32-bit tasks, its calls have numbers and no names. For a file this works\n"
    "only if it was recorded with --user-regs.\n"
    "\n"
    "Messages go to stderr. The last one is a summary:\n"
    "  uvperf-trace: 12345 hits in 3.2 s, 3858/s, 0 lost\n"
    "\n";

static const char absent[] =
    "Not here, but in perf trace:\n"
    "\n"
    "  -u, --uid, -G, --cgroup: choose processes with -p.\n"
    "  -S, --with-summary: record a file with uvperf-record, and read it with\n"
    "    -i twice: with and without -s.\n"
    "  --duration: here it is the time to trace. -s --histogram counts\n"
    "    slow calls.\n"
    "  --call-graph, --max-stack, --min-stack: uvperf-record -g records\n"
    "    stacks, and perf script prints them.\n"
    "  -F, --pf: write -e page-faults.\n"
    "  --failure, --errno-summary: write --filter 'ret < 0' after an\n"
    "    -e syscalls:sys_exit_*.\n"
    "  --max-events: write -l.\n"
    "  --expr: write -e.\n"
    "  --filter-pids: write --filter 'common_pid != PID' after an -e.\n"
    "  --libtraceevent_print: write --print-fmt.\n"
    "  --sched: write -e sched:sched_stat_runtime.\n"
    "  --no-inherit: -t leaves out what a thread starts.\n"
    "  --switch-on, --switch-off, --show-on-off-events: -D and -d choose the\n"
    "    time.\n"
    "  -T, --time, --comm, --syscalls, --sort-events: always on.\n"
    "  -f, --force: the owner of a file does not matter.\n"
    "  --kernel-syscall-graph, --print-sample, --map-dump, --tool_stats, -v,\n"
    "    --verbose, --proc-map-timeout: for other ways of tracing.\n"
    "\n"
    "Tracepoints do not contain the data that arguments point to, for example\n"
    "paths.\n"
    "\n";

static const char status[] =
    "Without privileges, you can trace the system calls of your own commands\n"
    "and processes if kernel.perf_event_paranoid is at most 2 (with -s: at\n"
    "most 1) and you may read tracefs. Root can permit a group to read it:\n"
    "\n"
    "  mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing\n"
    "\n"
    "Exit status: the status of the command if it ended by itself (128 plus\n"
    "the number of a signal), otherwise 0. It is 1 if trace failed; 2 for a\n"
    "wrong command line; 126 if the command could not be run, 127 if it was\n"
    "not found.\n";

void trace_options_help(void) {
  fputs(usage, stdout);
  fputs(events, stdout);
  fputs(targets, stdout);
  fputs(when, stdout);
  fputs(output, stdout);
  fputs(summary, stdout);
  fputs(absent, stdout);
  fputs(status, stdout);
}

const char *trace_options_absent(void) {
  return absent;
}
