/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine: opening the events shows whether it can be recorded. */
#include "flight-recorder/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum {
  OPTION_NEW = 256,
};

static const char help_text[] =
    "Usage: uvperf-flight-recorder [-C CPUS] [-d seconds] [-m size] [-n]\n"
    "                              [-o FILE] [-s seconds] [--new] [--json]\n"
    "                              [[--] command...]\n"
    "\n"
    "Keeps the last context switches of the machine in memory, and prints\n"
    "them at SIGUSR1. Recording continues afterwards, and each signal prints\n"
    "a new dump.\n"
    "\n"
    "Examples:\n"
    "\n"
    "  uvperf-flight-recorder -o switches &\n"
    "  kill -USR1 $!\n"
    "  uvperf-flight-recorder -s 0.1 --json -o switches.json &\n"
    "  uvperf-flight-recorder -o switches -- make\n"
    "\n"
    "Recording:\n"
    "\n"
    "  command...       run a command, and end with a dump when it ends. The\n"
    "                   whole machine is recorded all the same. Without\n"
    "                   privileges, only the tasks of the command are.\n"
    "  -C CPUS          record only these CPUs, for example 0-3,8. Default:\n"
    "                   all, and those that come online later.\n"
    "  -m size          the memory for each CPU, for example 4M, or a number\n"
    "                   of pages. Default: 1M, or less if the limits of\n"
    "                   locked memory do not allow that. A switch takes 96\n"
    "                   bytes. Each dump shows how many seconds it covers.\n"
    "  -d seconds, --duration seconds\n"
    "                   stop after this time, for example 0.5. Default: at\n"
    "                   Ctrl-C, or when the command ends. A command that\n"
    "                   still runs then is terminated.\n"
    "\n"
    "Output:\n"
    "\n"
    "  -s seconds       print only this many seconds before the signal.\n"
    "                   Default: everything in memory.\n"
    "  --new            leave out switches that an earlier dump has\n"
    "  -n, --dump-at-exit\n"
    "                   print a dump at the end, too, as with a command\n"
    "  -o FILE          write all dumps to FILE, one after the other.\n"
    "                   Default: stdout.\n"
    "  --json           print one JSON object per line\n"
    "  -h, --help       print this help\n"
    "  --version        print the version\n"
    "\n";

static const char output_text[] =
    "Dumps:\n"
    "\n"
    "  # dump 1 at 4648.650000, 2026-01-31T12:00:00.123Z\n"
    "  # 3 switches; all CPUs from 4646.120000 on, 2.530000 s; records lost: "
    "0, cut: 1\n"
    "  # CPU 0: 3 switches from 4646.120000 on\n"
    "  4646.120001 [000] sh 2822 => ls 2837 preempted\n"
    "  4648.644289 [000] ls 2837 => swapper 0\n"
    "  4648.645774 [000] swapper 0 => node 77/81\n"
    "  # end of dump 1\n"
    "\n"
    "Lines are in the order of time, in seconds of CLOCK_MONOTONIC. A thread\n"
    "has the name that it had at that time, the id of its process and, if it\n"
    "is not the first thread, its own id. swapper is the idle task of a CPU. "
    "A\n"
    "preempted thread was able to run; others wait or have ended. An unknown\n"
    "name is ?. A thread that has ended and lost its id has the id -1. "
    "Special\n"
    "bytes in a name become \\n, \\t, \\\\ or \\xNN.\n"
    "\n"
    "Each CPU has its own memory, so a busy CPU has a shorter history: \"all\n"
    "CPUs from\" is the time from which on nothing is missing. \"lost\" "
    "counts\n"
    "records that came while a dump was taken, \"cut\" records that were\n"
    "overwritten in part.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\":\n"
    "  dump    dump, date, from, switches, lost, cut\n"
    "  cpu     cpu, from, switches\n"
    "  switch  cpu, from_pid, from_tid, from_comm, to_pid, to_tid, to_comm,\n"
    "          preempted (1 or 0), if they are known\n"
    "  lost    cpu, lost\n"
    "  end     dump\n"
    "\n"
    "A name that is not UTF-8 is repeated as hexadecimal bytes, for example\n"
    "from_comm_hex.\n"
    "\n"
    "Recording the machine needs root, CAP_PERFMON or\n"
    "kernel.perf_event_paranoid <= 0. For a command of your own, <= 2 is\n"
    "enough; then lines have only one thread: '- => ls 2837'.\n"
    "\n"
    "The kernel merges signals that arrive while one is pending. Messages go\n"
    "to stderr. Recording has begun after \"recording: kill -USR1 PID "
    "dumps\".\n"
    "\n"
    "Exit status: the status of the command if it ended by itself (128 plus\n"
    "the number of a signal), otherwise 0. It is 1 if flight-recorder failed;\n"
    "2 for a wrong command line; 126 if the command could not be run, 127 if\n"
    "it was not found.\n";

static const char letters[] = "+:C:d:hm:no:s:";

static const struct option names[] = {
    {"dump-at-exit", no_argument, NULL, 'n'},
    {"duration", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, 'j'},
    {"new", no_argument, NULL, OPTION_NEW},
    {"version", no_argument, NULL, COMMON_OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int parse_cpus(flight_options_t *options, const char *text) {
  options->cpus = text;
  return common_options_cpus("-C", text);
}

static int parse_file(flight_options_t *options, const char *text) {
  options->file = text;
  return text[0] != '\0' ? 0
                         : common_options_bad("-o wants the name of a file");
}

/* Parses the options with a value; the others are flags. */
static int parse_value(flight_options_t *options, int option, char **argv) {
  switch (option) {
    case 'C':
      return parse_cpus(options, optarg);
    case 'd':
      return common_options_seconds("-d", optarg, &options->duration_ms);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case 'o':
      return parse_file(options, optarg);
    case 's':
      return common_options_seconds("-s", optarg, &options->last_ms);
    default:
      return common_options_refused(option, names, argv);
  }
}

static int parse_option(flight_options_t *options, int option, char **argv) {
  switch (option) {
    case 'j':
      options->json = 1;
      return 0;
    case 'n':
      options->dump_at_exit = 1;
      return 0;
    case OPTION_NEW:
      options->only_new = 1;
      return 0;
    case 'h':
      options->help = 1;
      return 0;
    default:
      return parse_value(options, option, argv);
  }
}

int flight_options_parse(flight_options_t *options, int argc, char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
  opterr = 0;
  /* The + ends the options at the first word that is not an option. The rest of
   * the line is the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, letters, names, NULL)) != -1) {
    rc = parse_option(options, option, argv);
    if (rc != 0 || options->help)
      return rc;
  }
  return common_options_command(argc, argv, &options->command);
}

void flight_options_help(void) {
  fputs(help_text, stdout);
  fputs(output_text, stdout);
}
