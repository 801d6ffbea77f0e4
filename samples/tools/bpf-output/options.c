/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine. */
#include "bpf-output/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help_text[] =
    "Usage: uvperf-bpf-output [-d seconds] [-m size] [-n NAME] [-o FILE]\n"
    "                         [-p PID] [--json] [--wakeup N] [-- command...]\n"
    "\n"
    "Tells each exec on the machine while it happens, as a BPF program in the\n"
    "kernel hands it out. Needs root, or CAP_BPF, CAP_PERFMON and a tracefs "
    "that\n"
    "may be read.\n"
    "\n"
    "  -d seconds     stop after so long, 0.5 for example; by default with\n"
    "                 Ctrl-C\n"
    "  -n NAME        only processes that are called so then; of a longer "
    "name\n"
    "                 15 bytes count, as the kernel keeps no more\n"
    "  -p PID         only this process and those whose parent it is\n"
    "  -m size        of the buffer of each CPU, 256K or 4M for example: "
    "more\n"
    "                 if execs are lost\n"
    "  -o FILE        write to a file, and leave stdout to the command\n"
    "  --wakeup N     look only when a CPU has had N execs, or after 100 ms: "
    "costs\n"
    "                 less than to look at each, which is the default\n"
    "  --json         one JSON object a line\n"
    "  -- command...  stop when this command has ended. All processes are "
    "told\n"
    "                 meanwhile, not its own alone. One that still runs in "
    "the\n"
    "                 end is terminated.\n"
    "  -h, --help     show this\n"
    "\n"
    "Each line has the time of CLOCK_MONOTONIC, the CPU, the process, its "
    "parent,\n"
    "its new name, and the file as it was asked for: a script, not its\n"
    "interpreter. The lines of a CPU are in the order of time.\n"
    "\n"
    "    TIME         CPU     PID    PPID COMM             FILENAME\n"
    "    4648.641763    1    2822    2801 ls               /usr/bin/ls\n"
    "\n"
    "What is not printable in a name comes as \\n, \\t, \\\\ or \\xNN; \\... "
    "at\n"
    "the end of a filename says that it is longer.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\", which is one "
    "of\n"
    "  exec                 cpu, pid, ppid, comm, filename; cut: 1, if that "
    "is\n"
    "                       longer\n"
    "  lost                 cpu; lost: execs that it had no room for\n"
    "  end (the last line)  execs, lost\n"
    "A name that is not UTF-8 has its bytes in hex as well: comm_hex,\n"
    "filename_hex.\n"
    "\n"
    "Counts, losses and errors go to stderr. Exit status: that of the command "
    "if\n"
    "it ended by itself (128 and the number of a signal), else 0; 1 if it\n"
    "failed, also for want of privileges; 2 for a bad command line; 126 if "
    "the\n"
    "command could not be run, 127 if it was not found.\n";

static const struct option names[] = {
    {"json", no_argument, NULL, 'j'},
    {"wakeup", required_argument, NULL, 'w'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int parse_wakeup(bpf_output_options_t *options) {
  uint64_t number;

  if (common_options_number(optarg, UINT32_MAX, &number) != 0)
    return common_options_bad("--wakeup wants a number of execs, not '%s'",
                              optarg);
  options->wakeup = (uint32_t)number;
  return 0;
}

static int parse_name(bpf_output_options_t *options) {
  if (optarg[0] == '\0')
    return common_options_bad("-n wants a name");
  options->comm = optarg;
  return 0;
}

static int parse_option(bpf_output_options_t *options, int option,
                        char **argv) {
  switch (option) {
    case 'd':
      return common_options_seconds("-d", optarg, &options->duration_ms);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case 'n':
      return parse_name(options);
    case 'p':
      return common_options_pid(optarg, &options->pid);
    case 'w':
      return parse_wakeup(options);
    case 'o':
      options->file = optarg;
      return 0;
    case 'j':
      options->json = 1;
      return 0;
    case 'h':
      options->help = 1;
      return 0;
    default:
      return common_options_refused(option, names, argv);
  }
}

int bpf_output_options_parse(bpf_output_options_t *options, int argc,
                             char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
  options->wakeup = 1;
  opterr = 0;
  /* The + ends the options at the first word that is not one. The rest belongs
   * to the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, "+:d:m:n:o:p:h", names, NULL)) !=
         -1) {
    rc = parse_option(options, option, argv);
    if (rc != 0 || options->help)
      return rc;
  }
  return common_options_command(argc, argv, &options->command);
}

void bpf_output_options_help(void) {
  fputs(help_text, stdout);
}
