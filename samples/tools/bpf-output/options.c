/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine. */
#include "bpf-output/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help_text[] =
    "Usage: uvperf-bpf-output [-d seconds] [-m size] [-n NAME] [-o FILE]\n"
    "                         [-p PID] [--json] [--wakeup N]\n"
    "                         [[--] command...]\n"
    "\n"
    "Prints each exec on the machine, live, from a BPF program in the kernel.\n"
    "It needs root, or CAP_BPF, CAP_PERFMON and a tracefs that you may read.\n"
    "\n"
    "Examples:\n"
    "\n"
    "  uvperf-bpf-output -d 10\n"
    "  uvperf-bpf-output -n ls\n"
    "  uvperf-bpf-output --json -o execs -- make\n"
    "\n"
    "Execs:\n"
    "\n"
    "  command...     run this command, and stop when it ends. Meanwhile all\n"
    "                 execs are printed, not only its own.\n"
    "  -n NAME        only processes with this name after the exec. The "
    "kernel\n"
    "                 keeps 15 bytes of a name, so only these are compared.\n"
    "  -p PID         only this process and its children\n"
    "  -d seconds, --duration seconds\n"
    "                 stop after this time, for example 0.5. Default: at\n"
    "                 Ctrl-C, or when the command ends. A command that still\n"
    "                 runs then is terminated.\n"
    "  -m size        the size of the buffer of each CPU, for example 256K or\n"
    "                 4M, or a number of pages. Default: 512K, or less if\n"
    "                 kernel.perf_event_mlock_kb does not allow that. Try "
    "more\n"
    "                 if execs are lost.\n"
    "  --wakeup N     read the buffer of a CPU only after N execs, or after "
    "100\n"
    "                 ms. This costs less than reading it after each exec\n"
    "                 (default: 1).\n"
    "\n"
    "Output:\n"
    "\n"
    "  -o FILE        write to FILE, and leave stdout to the command. "
    "Default:\n"
    "                 stdout.\n"
    "  --json         print one JSON object per line\n"
    "  -h, --help     print this help\n"
    "  --version      print the version\n"
    "\n"
    "A line has the time of CLOCK_MONOTONIC in seconds, the CPU, the process,\n"
    "its parent, its new name, and the file as it was passed to execve(2): a\n"
    "script, not its interpreter. The lines of a CPU are in the order of "
    "time.\n"
    "\n"
    "  TIME         CPU     PID    PPID COMM             FILENAME\n"
    "  4648.641763    1    2822    2801 ls               /usr/bin/ls\n"
    "\n"
    "Special bytes in a name become \\n, \\t, \\\\ or \\xNN. A filename that\n"
    "ends in \\... was cut.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\":\n"
    "  exec                 cpu, pid, ppid, comm, filename; cut: 1, if the\n"
    "                       filename was cut\n"
    "  lost                 cpu; lost: execs that did not fit into the buffer\n"
    "  end (the last line)  execs, lost\n"
    "\n"
    "A name that is not UTF-8 is repeated as hexadecimal bytes: comm_hex,\n"
    "filename_hex.\n"
    "\n"
    "Messages go to stderr.\n"
    "\n"
    "Exit status: the status of the command if it ended by itself (128 plus\n"
    "the number of a signal), otherwise 0. It is 1 if it failed, for example\n"
    "for lack of privileges; 2 for a wrong command line; 126 if the command\n"
    "could not be run, 127 if it was not found.\n";

static const struct option names[] = {
    {"json", no_argument, NULL, 'j'},
    {"wakeup", required_argument, NULL, 'w'},
    {"duration", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, COMMON_OPTION_VERSION},
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
  /* The + ends the options at the first word that is not an option. The rest of
   * the line is the command, with or without a -- before it. */
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
