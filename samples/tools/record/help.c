/* SPDX-License-Identifier: MIT */
/* The text of `uvperf-record --help`. */
#include <stdio.h>

#include "record/options.h"

static const char usage[] =
    "Usage: uvperf-record [-e EVENTS [--filter F]]... [-F HZ | -c N]\n"
    "                     [-g | --call-graph MODE] [-b | -j KINDS] [-d]\n"
    "                     [-k CLOCK]\n"
    "                     [-a | -C CPUS | -p PIDS | -t TIDS]\n"
    "                     [-D MS] [--control fifo:CTL[,ACK]]\n"
    "                     [--duration S] [-m SIZE] [-o FILE]\n"
    "                     [--max-size SIZE] [--switch-output[=WHEN]]\n"
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
    "  --all-user, --all-kernel\n"
    "                   that side only, of each event\n"
    "  --exclude-perf   no samples of uvperf-record itself\n"
    "\n"
    "More fields of samples:\n"
    "\n"
    "  -b, --branch-any the last branches taken; needs a hardware PMU that\n"
    "                   records them: software events have none\n"
    "  -j, --branch-filter KINDS\n"
    "                   the same of some branches, as in any_call,u: any,\n"
    "                   any_call, any_ret, ind_call, ind_jmp, call, cond,\n"
    "                   stack, abort_tx, in_tx, no_tx; on the side u, k, hv;\n"
    "                   with save_type, priv, hw_index, counter; without\n"
    "                   no_flags, no_cycles\n"
    "  -d, --data       addresses of data, and all mappings; only page\n"
    "                   faults, breakpoints and some PMU events have them\n"
    "  --phys-data      physical addresses of data (CAP_PERFMON)\n"
    "  --data-page-size, --code-page-size\n"
    "                   the size of the page of the data, of the code\n"
    "  -W, --weight     how long an access took; 0 but for some PMU events\n"
    "\n"
    "Where the kernel's side is forbidden, the user side alone is recorded of\n"
    "one's own tasks, and the event's name ends in u, as in cycles:u.\n"
    "\n";

static const char how[] =
    "How:\n"
    "\n"
    "  -D, --delay MS   measure only after MS milliseconds; -1: not by "
    "itself.\n"
    "                   Or in ranges, as in 10-20,30-40, and end then.\n"
    "                   Names of tasks and mappings are recorded meanwhile.\n"
    "  --control fifo:CTL[,ACK], --control fd:CTL[,ACK]\n"
    "                   take commands, one a line, from a FIFO, or from an\n"
    "                   open pipe or socket: enable, disable (or one event:\n"
    "                   enable NAME), evlist (names only, to stderr),\n"
    "                   snapshot (as SIGUSR2, for --switch-output), ping,\n"
    "                   stop. ack is the answer to each. With -D -1 nothing\n"
    "                   is sampled before enable.\n"
    "  --duration S     end after so many seconds, or so many after -D. A\n"
    "                   command that still runs then is terminated.\n"
    "  -m SIZE          of each CPU's ring, 2M or a number of pages;\n"
    "                   by default 512K, or as much less as\n"
    "                   kernel.perf_event_mlock_kb allows\n"
    "  -k, --clockid CLOCK\n"
    "                   of the records' times: monotonic (the default),\n"
    "                   monotonic_raw, or for software events realtime,\n"
    "                   boottime or tai\n"
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

static const char files[] =
    "Files:\n"
    "\n"
    "  --overwrite      keep only the newest records, in rings of -m each.\n"
    "                   They are written at the end, or with --switch-output\n"
    "                   at each SIGUSR2 or TIME. Names of tasks and mappings\n"
    "                   are kept all the time.\n"
    "  --max-size SIZE  end when the file has this size: 100K, 20M, 1G\n"
    "  --switch-output[=signal|SIZE|TIME]\n"
    "                   goes on in a new file at SIGUSR2 (signal, if nothing\n"
    "                   is said), or after 100M or 30s (B, K, M, G; s, m, h,\n"
    "                   d). Finished files are FILE.YYYYMMDDhhmmssnn. Each\n"
    "                   can be read alone, and may have --max-size.\n"
    "  --switch-max-files N\n"
    "                   keep the newest N of them\n"
    "  --timestamp-filename\n"
    "                   the file is called so when it is finished\n"
    "\n";

static const char absent[] =
    "Not here, of what perf record has:\n"
    "\n"
    "  --switch-output-event: SIGUSR2 can come from any program.\n"
    "  --tail-synthesize, --synth: what runs is always written first.\n"
    "  --proc-map-timeout: /proc is read to its end.\n"
    "  -S, --snapshot, --aux-sample: AUX areas are not recorded.\n"
    "  -z, --compression-level, --aio, --threads, --affinity, --mmap-flush,\n"
    "    --no-buffering, -r, --realtime, --num-thread-synthesize: one loop\n"
    "    writes records as they come.\n"
    "  --per-thread: the ring of a CPU is for all threads.\n"
    "  --kcore, -B, --no-buildid, -N, --no-buildid-cache, --buildid-all,\n"
    "    --buildid-mmap, --debuginfod, --vmlinux: the file has the build ids\n"
    "    of mapped programs; perf reads the programs.\n"
    "  -P, --period, -T, --timestamp, --running-time, --sample-identifier,\n"
    "    --strict-freq, --timestamp-boundary: always so.\n"
    "  -R, --raw-samples: always so for tracepoints.\n"
    "  --no-bpf-event: BPF programs are always recorded, for their names.\n"
    "  -G, --cgroup: --all-cgroups records the cgroup of each sample.\n"
    "  -u, --uid: choose processes by -p.\n"
    "  -n, --no-samples, -s, --stat: uvperf-stat counts, also by thread.\n"
    "  -I, --intr-regs, --user-regs: --call-graph dwarf records the registers\n"
    "    of the user's side, others are not recorded.\n"
    "  --user-callchains, --kernel-callchains: chains have both sides; with\n"
    "    --all-user they have the user's.\n"
    "  --off-cpu: use uvperf-profile --off-cpu, or -e sched:sched_switch -g.\n"
    "  --transaction: transactions of the CPU (TSX) are not recorded.\n"
    "  --group: write -e '{a,b}'.\n"
    "  --dry-run: uvperf-doctor shows what can be recorded.\n"
    "  --clang-path, --clang-opt: BPF programs are not compiled here.\n"
    "\n";

static const char status[] =
    "Exit status: that of the command if it ended by itself (128 and the\n"
    "number of a signal), else 0; 1 if an event could not be opened or the\n"
    "file not be written; 2 for a bad command line; 126 if the command could\n"
    "not be run, 127 if it was not found.\n";

void record_options_help(void) {
  fputs(usage, stdout);
  fputs(targets, stdout);
  fputs(events, stdout);
  fputs(how, stdout);
  fputs(files, stdout);
  fputs(absent, stdout);
  fputs(status, stdout);
}

const char *record_options_absent(void) {
  return absent;
}
