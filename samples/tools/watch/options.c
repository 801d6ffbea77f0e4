/* SPDX-License-Identifier: MIT */
/* Reads the command line and explains what is wrong with it. Does not look at
 * the machine: whether a target can be watched is found out by opening it. */
#include "watch/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help_text[] =
    "Usage: uvperf-watch [-d seconds] [-m bytes] [-o FILE] [--json]\n"
    "                    [--threads] [-p PID | -- command...]\n"
    "\n"
    "Tells what happens to processes: fork, exec, exit, executable mappings.\n"
    "Of all processes (needs root, CAP_PERFMON or kernel.perf_event_paranoid\n"
    "<= 0), or of one tree:\n"
    "\n"
    "  -p PID         a running process and its descendants, until they are "
    "gone\n"
    "  -- command...  run a command and watch it and its descendants\n"
    "  -d seconds     stop after so long, 0.5 for example; by default with\n"
    "                 Ctrl-C or the end of the command or tree. A command "
    "that\n"
    "                 still runs then is terminated.\n"
    "  -m bytes       size of the buffer of each CPU, 256K or 4M for example: "
    "more\n"
    "                 if records are lost\n"
    "  -o FILE        write to a file, and leave stdout to the command\n"
    "  --threads      tell of threads too\n"
    "  --json         one JSON object a line\n"
    "  -h, --help     show this\n"
    "\n"
    "Lines come in the order of time, which is that of CLOCK_MONOTONIC:\n"
    "\n"
    "  12.345678 fork   1234 -> 1240 sh          process 1234 made 1240\n"
    "  12.345901 exec   1240 ls /usr/bin/ls      new name, executable\n"
    "  12.346012 mmap   1240 /usr/bin/ls 0x55e8c0a3d000+0x15000\n"
    "  12.347001 comm   1240 worker              gave itself a new name\n"
    "  12.349002 exit   1240 ls                  its last thread ended\n"
    "  12.350000 lost   25 records on CPU 1\n"
    "  12.350010 thread 1234 -> 1234/1241 sh     with --threads: pid/tid\n"
    "  12.350020 thread_exit 1234/1241 sh\n"
    "\n"
    "What is not printable in a name comes as \\n, \\t, \\\\ or \\xNN.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\" (the second "
    "word\n"
    "above), and, where they are known:\n"
    "  fork, exec, exit, comm  pid, ppid, comm; exec also exe\n"
    "  mmap                    pid, ppid, comm, path, addr (hex, a string), "
    "len,\n"
    "                          pgoff\n"
    "  thread, thread_exit     pid, tid, comm\n"
    "  lost                    lost, cpu\n"
    "  end (the last line)     forks, execs, exits, maps, lost, late\n"
    "A name that is not UTF-8 has its bytes in hex as well: comm_hex, "
    "path_hex,\n"
    "exe_hex.\n"
    "\n"
    "Without privileges -p and a command need kernel.perf_event_paranoid <= "
    "2,\n"
    "and what a setuid program does is not seen.\n"
    "\n"
    "Counts, losses and errors go to stderr. Exit status: that of the command "
    "if\n"
    "it ended by itself (128 and the number of a signal), else 0; 1 if watch\n"
    "failed; 2 for a bad command line; 127 if the command could not be run.\n";

static const struct option names[] = {
    {"json", no_argument, NULL, 'j'},
    {"threads", no_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int parse_option(watch_options_t *options, int option, char **argv) {
  switch (option) {
    case 'd':
      return common_options_seconds("-d", optarg, &options->duration_ms);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case 'p':
      return common_options_pid(optarg, &options->pid);
    case 'o':
      options->file = optarg;
      return 0;
    case 'j':
      options->json = 1;
      return 0;
    case 't':
      options->threads = 1;
      return 0;
    case 'h':
      options->help = 1;
      return 0;
    default:
      return common_options_refused(option, names, argv);
  }
}

int watch_options_parse(watch_options_t *options, int argc, char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
  opterr = 0;
  /* The + ends the options with the first word that is none: all that follows
   * belongs to the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, "+:d:m:o:p:h", names, NULL)) != -1) {
    rc = parse_option(options, option, argv);
    if (rc != 0 || options->help)
      return rc;
  }
  rc = common_options_command(argc, argv, &options->command);
  if (rc == 0 && options->pid != 0 && options->command != NULL)
    rc = common_options_bad("choose one of -p and a command");
  return rc;
}

void watch_options_help(void) {
  fputs(help_text, stdout);
}
