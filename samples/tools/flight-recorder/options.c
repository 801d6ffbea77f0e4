/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine: whether it can be recorded is found out by opening it. */
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
    "Keeps the last context switches of the machine in memory, and writes "
    "them\n"
    "down when SIGUSR1 comes, each time; recording goes on meanwhile:\n"
    "\n"
    "  uvperf-flight-recorder -o switches &\n"
    "  kill -USR1 $!\n"
    "\n"
    "What is recorded:\n"
    "\n"
    "  -C CPUS          only these CPUs, 0-3,8 for example; else all, and "
    "those\n"
    "                   that come online\n"
    "  -m size          memory of each CPU, 1M by default; 96 bytes hold a\n"
    "                   switch. A dump tells how many seconds that was.\n"
    "  command...       run a command, and end with a dump when it ends. The\n"
    "                   whole machine is recorded all the same; without\n"
    "                   privileges the tasks of the command.\n"
    "  -d seconds       stop after so long, 0.5 for example; else with Ctrl-C\n"
    "                   or when the command ends. A command that still runs\n"
    "                   then is terminated.\n"
    "\n"
    "What is written:\n"
    "\n"
    "  -s seconds       only the last so many seconds before the signal\n"
    "  --new            only what no dump before had; else all that there is\n"
    "  -n, --dump-at-exit\n"
    "                   a dump at the end too, as with a command\n"
    "  -o FILE          write to a file, one dump behind the other; else to\n"
    "                   stdout\n"
    "  --json           one JSON object a line\n"
    "  -h, --help       show this\n"
    "\n";

static const char output_text[] =
    "A dump is in the order of time, which is that of CLOCK_MONOTONIC:\n"
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
    "A thread is called as it was then. It has the id of its process and, "
    "where\n"
    "it is not the first thread, its own; swapper is a CPU's idle task. Who "
    "was\n"
    "preempted could have gone on, others wait or have ended. Names that are\n"
    "not known are ?, ids of threads so dead that they have none any more -1.\n"
    "What is not printable in a name comes as \\n, \\t, \\\\ or \\xNN. Each "
    "CPU\n"
    "has memory of its own, so that a busy one goes back less far: \"all CPUs\n"
    "from\" is since when nothing is missing. Lost are records that came\n"
    "while a dump was taken; cut is one that was overwritten in part.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\":\n"
    "  dump    dump, date, from, switches, lost, cut\n"
    "  cpu     cpu, from, switches\n"
    "  switch  cpu, from_pid, from_tid, from_comm, to_pid, to_tid, to_comm,\n"
    "          preempted (1 or 0), those that are known\n"
    "  lost    cpu, lost\n"
    "  end     dump\n"
    "A name that is not UTF-8 has its bytes in hex as well: from_comm_hex.\n"
    "\n"
    "To record the machine be root, have CAP_PERFMON or set\n"
    "kernel.perf_event_paranoid to 0 or less; for a command of your own 2 or\n"
    "less will do, and lines have one side only: '- => ls 2837'.\n"
    "\n"
    "Signals that come while one waits are one signal to the kernel. "
    "Messages go\n"
    "to stderr; \"recording: kill -USR1 PID dumps\" is when it has begun. "
    "Exit\n"
    "status: that of the command if it ended by itself (128 and the number of "
    "a\n"
    "signal), else 0; 1 if flight-recorder failed; 2 for a bad command\n"
    "line; 126 if the command could not be run, 127 if it was not found.\n";

static const char letters[] = "+:C:d:hm:no:s:";

static const struct option names[] = {
    {"dump-at-exit", no_argument, NULL, 'n'},
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, 'j'},
    {"new", no_argument, NULL, OPTION_NEW},
    {NULL, 0, NULL, 0},
};

static int parse_cpus(flight_options_t *options, const char *text) {
  options->cpus = text;
  return common_options_cpus("-C", text);
}

static int parse_file(flight_options_t *options, const char *text) {
  options->file = text;
  return text[0] != '\0' ? 0 : common_options_bad("-o wants a file's name");
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
  /* The + ends the options at the first word that is not one. The rest belongs
   * to the command, with or without a -- before it. */
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
