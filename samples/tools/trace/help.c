/* SPDX-License-Identifier: MIT */
/* What `uvperf-trace --help` says. */
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
    "Prints each hit of tracepoints with its fields, in the order of time "
    "over\n"
    "all CPUs; or counts and latencies of system calls.\n"
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
    "(The last one is of a program that is not stripped.)\n"
    "\n";

static const char events[] =
    "What to trace:\n"
    "\n"
    "  -e EVENTS        tracepoints by their names and patterns of these, as\n"
    "                   uvperf-list and perf list show them; openat means\n"
    "                   syscalls:sys_enter_openat and sys_exit_openat. "
    "Probes,\n"
    "                   breakpoints (mem:ADDRESS:w) and software events come\n"
    "                   with their address\n"
    "  --filter EXPR    of the tracepoints of the -e before it only those\n"
    "                   hits whose fields are so; the kernel looks at them:\n"
    "                   'prev_pid == 0 && next_comm ~ \"ssh*\"' for example\n"
    "  -s, --summary    no hits, but for each process a table of its system\n"
    "                   calls, as perf trace -s prints it; -e chooses calls\n"
    "  --summary-mode MODE\n"
    "                   a table for each process, thread, or one of the total\n"
    "  -i, --input FILE the tracepoints of a file that uvperf-record or perf\n"
    "                   record wrote, - for stdin: not live. With -s it needs\n"
    "                   raw_syscalls:sys_enter and sys_exit, or those of "
    "single\n"
    "                   calls. Fields are read by the formats in the file.\n"
    "  --histogram      under each call how many took how long, in powers of\n"
    "                   two. This and --summary-mode mean -s, too.\n"
    "\n";

static const char targets[] =
    "Whom to trace:\n"
    "\n"
    "  command...       the command, from its exec on, and what it starts,\n"
    "                   until it ends. Beside -a or -p it only tells how long\n"
    "                   to trace those: uvperf-trace -a -e ... sleep 5\n"
    "  -p PID[,PID...]  running processes with their threads, and what they\n"
    "                   start from now on, until they are gone\n"
    "  -t TID[,TID...]  running threads alone, as for perf record\n"
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
    "  -D ms, --delay ms\n"
    "                   begin so long after the start; -d counts from there\n"
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
    "  -m size          of the buffer of each CPU, 256K or 4M for example,\n"
    "                   or a number of pages: more if hits are lost\n"
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
    "  syscall  (with -s, at the end) pid, tid, comm, syscall, nr, calls,\n"
    "        errors, interrupted, running, ended, no_begin, no_end; total_ns,\n"
    "        min_ns, avg_ns, max_ns, stddev_ns, p50_ns, p99_ns, and "
    "histogram:\n"
    "        the calls by the power of two nanoseconds that they took at "
    "least\n"
    "A string that is not UTF-8 has its bytes in hex as well: comm_hex.\n"
    "\n"
    "With -s only calls are counted whose begin and end were both seen; under\n"
    "each table are those that were still running, that ended with their\n"
    "thread, or of which one end was not seen. An error is a result from "
    "-4095\n"
    "to -1. Calls that a signal interrupted count, but not as errors: they "
    "are\n"
    "restarted or return EINTR. p50 and p99 are up to a quarter too high, and\n"
    "never above max. Of tasks with another size of long than this program, "
    "as\n"
    "32-bit ones, calls have numbers and no names; in a file that holds only "
    "if\n"
    "it was recorded with --user-regs.\n"
    "\n"
    "Counts, losses and errors go to stderr; the last line is the sum:\n"
    "  uvperf-trace: 12345 hits in 3.2 s, 3858/s, 0 lost\n"
    "\n";

static const char absent[] =
    "Not here, of what perf trace has:\n"
    "\n"
    "  -u, --uid, -G, --cgroup: choose processes by -p.\n"
    "  -S, --with-summary: save a file by uvperf-record, and read it twice,\n"
    "    by -i with and without -s.\n"
    "  --duration, for slow calls only: here it is -d, when to stop.\n"
    "    -s --histogram counts slow calls.\n"
    "  --call-graph, --max-stack, --min-stack: uvperf-record -g records\n"
    "    stacks, and perf script prints them.\n"
    "  -F, --pf: write -e page-faults.\n"
    "  --failure: write --filter 'ret < 0' after an -e syscalls:sys_exit_*.\n"
    "  --max-events: write -l.\n"
    "\n"
    "What arguments point to, as paths, tracepoints do not have.\n"
    "\n";

static const char status[] =
    "Without privileges the system calls of a command or process of one's own\n"
    "can be traced, up to kernel.perf_event_paranoid 2 (with -s: up to 1), if\n"
    "tracefs can be read:\n"
    "as root, mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing.\n"
    "\n"
    "Exit status: that of the command if it ended by itself (128 and the\n"
    "number of a signal), else 0; 1 if trace failed; 2 for a bad command\n"
    "line; 126 if the command could not be run, 127 if it was not found.\n";

void trace_options_help(void) {
  fputs(usage, stdout);
  fputs(events, stdout);
  fputs(targets, stdout);
  fputs(when, stdout);
  fputs(output, stdout);
  fputs(absent, stdout);
  fputs(status, stdout);
}

const char *trace_options_absent(void) {
  return absent;
}
