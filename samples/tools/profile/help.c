/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "profile/options.h"

static const char help_text[] =
    "Usage: uvperf-profile [options] [-p PID | -a | -- command...]\n"
    "\n"
    "Shows where CPU time goes, by sampling: a table of functions on stdout.\n"
    "\n"
    "What to profile:\n"
    "  -- command...  run a command and profile it and its children\n"
    "  -p PID         a running process, its threads and their children\n"
    "  -a             the whole machine (needs root, CAP_PERFMON or\n"
    "                 kernel.perf_event_paranoid <= 0); the default\n"
    "  -F HZ          samples a second and CPU, 99 by default\n"
    "  -d SECONDS     stop after so long, 0.5 for example; by default with\n"
    "                 Ctrl-C or the end of the command or process. A command\n"
    "                 that still runs then is terminated.\n"
    "  --call-graph fp|none\n"
    "                 how callers are found: by frame pointers (the default;\n"
    "                 -g is the same), or not at all\n"
    "\n"
    "What to show:\n"
    "  --by function|thread|process|cgroup\n"
    "                 what a row of the table is; function by default\n"
    "  --inline       show inlined functions, from debug information\n"
    "  --debuginfod   ask the servers in DEBUGINFOD_URLS for debug files\n"
    "  --html FILE    write a page with a flame graph, for any browser\n"
    "  --pprof FILE   write a profile for 'go tool pprof'\n"
    "  --folded FILE  write stacks as text, a line each:\n"
    "                 process;outer;...;inner samples\n"
    "  -h, --help     show this\n"
    "\n"
    "In the table, self is the share of a function itself, total includes the\n"
    "functions that it called. User stacks are complete only in programs "
    "built\n"
    "with -fno-omit-frame-pointer. A function without a name is shown as its\n"
    "file and an offset: install the debug symbols, or do not strip it.\n"
    "Memory of JIT compilers is named by /tmp/perf-PID.map (node\n"
    "--perf-basic-prof, java with perf-map-agent).\n"
    "\n"
    "Without hardware cycles a process that lives for less than 1/HZ seconds "
    "is\n"
    "not seen unless with -a: raise -F for a script of many small commands.\n"
    "\n"
    "Exit status: 0; 1 if the profile failed; 2 for a bad command line; 127 "
    "if\n"
    "the command could not be run.\n";

void profile_options_help(void) {
  fputs(help_text, stdout);
}
