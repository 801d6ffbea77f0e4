/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine: whether a target can be watched is found out by opening it. */
#include "watch/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help_text[] =
    "Usage: uvperf-watch [-k kinds] [-d seconds] [-m size] [-o FILE]\n"
    "                    [--json] [-a | -p PID] [-- command...]\n"
    "\n"
    "Tells what happens to processes: fork, exec, new name, exit. Of all\n"
    "processes (needs root, CAP_PERFMON or kernel.perf_event_paranoid <= 0), "
    "or\n"
    "of one tree:\n"
    "\n"
    "  -a             all processes, also while a command runs\n"
    "  -p PID         a running process and its descendants, until they are "
    "gone\n"
    "  -- command...  run a command and watch it and its descendants\n"
    "  -k kinds       the lines to print: fork, exec, exit, comm, mmap, "
    "thread, "
    "or\n"
    "                 all; by default fork,exec,exit,comm. mmap, executable\n"
    "                 mappings, is most of what happens. Losses always come.\n"
    "  -d seconds     stop after so long, 0.5 for example; by default with\n"
    "                 Ctrl-C or the end of the command or tree. A command "
    "that\n"
    "                 still runs then is terminated.\n"
    "  -m size        of the buffer of each CPU, 256K or 4M for example: "
    "more\n"
    "                 if records are lost\n"
    "  -o FILE        write to a file, and leave stdout to the command\n"
    "  --threads      tell of threads too: adds thread to the kinds\n"
    "  --json         one JSON object a line\n"
    "  -h, --help     show this\n"
    "\n"
    "Lines come in the order of time, which is that of CLOCK_MONOTONIC:\n"
    "\n"
    "  12.345678 fork   1234 -> 1240 sh          process 1234 made 1240\n"
    "  12.345901 exec   1240 ls /usr/bin/ls -l   new name, executable, "
    "arguments\n"
    "  12.347001 comm   1240 worker              gave itself a new name\n"
    "  12.349002 exit   1240 ls status 2         its last thread ended\n"
    "  12.349002 exit   1241 cc1 killed by SIGSEGV, core dumped\n"
    "  12.350000 lost   25 records on CPU 1\n"
    "  12.350010 thread 1234 -> 1234/1241 sh     with -k thread: pid/tid\n"
    "  12.350020 thread_exit 1234/1241 sh\n"
    "  12.350030 mmap   1240 /usr/bin/ls 0x55e8c0a3d000+0x15000   -k mmap\n"
    "\n"
    "Arguments are read from /proc when the exec is seen: those of a process "
    "that\n"
    "is gone by then are missing. 1024 bytes of them are shown, then three "
    "dots.\n"
    "The status of an exit, 0 to 255 or a signal, comes from the kernel's "
    "proc\n"
    "connector. That is for the host, not for containers, and before Linux 6.6 "
    "it\n"
    "wants CAP_NET_ADMIN; without it exits have no status, and fewer execs "
    "have\n"
    "arguments.\n"
    "\n"
    "What is not printable in a name comes as \\n, \\t, \\\\ or \\xNN.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\" (the second "
    "word\n"
    "above), and, where they are known:\n"
    "  fork, exec, exit, comm  pid, ppid, comm\n"
    "  exec                    exe, args (an array), args_cut (true if cut)\n"
    "  exit                    status; or signal (SIGKILL) and core (dumped)\n"
    "  mmap                    pid, ppid, comm, path, addr (hex, a string), "
    "len,\n"
    "                          pgoff\n"
    "  thread, thread_exit     pid, tid, comm\n"
    "  lost                    lost, cpu\n"
    "  end (the last line)     forks, execs, exits, maps, lost, late\n"
    "A name that is not UTF-8 has its bytes in hex as well: comm_hex, "
    "path_hex,\n"
    "exe_hex, args_hex (with a 00 after each).\n"
    "\n"
    "Without privileges -p and a command need kernel.perf_event_paranoid <= "
    "2,\n"
    "and what a setuid program does is not seen.\n"
    "\n"
    "Counts, losses and errors go to stderr. Exit status: that of the command "
    "if\n"
    "it ended by itself (128 and the number of a signal), else 0; 1 if watch\n"
    "failed; 2 for a bad command line; 126 if the command could not be run,\n"
    "127 if it was not found.\n";

static const struct option names[] = {
    {"json", no_argument, NULL, 'j'},
    {"threads", no_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

#define USUAL_KINDS                                                            \
  (WATCH_BIT(WATCH_FORK) | WATCH_BIT(WATCH_EXEC) | WATCH_BIT(WATCH_EXIT) |     \
   WATCH_BIT(WATCH_COMM))
#define THREAD_KINDS (WATCH_BIT(WATCH_THREAD) | WATCH_BIT(WATCH_THREAD_EXIT))

/* Returns 0 if the word is not a kind. */
static uint32_t kinds_of(const char *word, size_t size) {
  static const struct {
    const char *word;
    uint32_t kinds;
  } words[] = {
      {"fork", WATCH_BIT(WATCH_FORK)},
      {"exec", WATCH_BIT(WATCH_EXEC)},
      {"exit", WATCH_BIT(WATCH_EXIT)},
      {"comm", WATCH_BIT(WATCH_COMM)},
      {"mmap", WATCH_BIT(WATCH_MMAP)},
      {"thread", THREAD_KINDS},
      {"all", ~0u},
  };
  size_t i;

  for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    if (strlen(words[i].word) == size &&
        strncmp(words[i].word, word, size) == 0)
      return words[i].kinds;
  return 0;
}

static int parse_kinds(const char *text, uint32_t *kinds) {
  const char *word = text;
  uint32_t added;
  size_t size;

  for (;;) {
    size = strcspn(word, ",");
    added = kinds_of(word, size);
    if (added == 0)
      return common_options_bad("-k wants kinds, fork,exec,exit for example, "
                                "not '%s'",
                                text);
    *kinds |= added;
    if (word[size] == '\0')
      return 0;
    word += size + 1;
  }
}

static int parse_option(watch_options_t *options, int option, char **argv,
                        int *with_threads) {
  switch (option) {
    case 'a':
      options->all = 1;
      return 0;
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
    case 'k':
      return parse_kinds(optarg, &options->kinds);
    case 't':
      *with_threads = 1;
      return 0;
    case 'h':
      options->help = 1;
      return 0;
    default:
      return common_options_refused(option, names, argv);
  }
}

int watch_options_parse(watch_options_t *options, int argc, char **argv) {
  int option, rc, with_threads = 0;

  memset(options, 0, sizeof(*options));
  opterr = 0;
  /* The + ends the options at the first word that is not one. The rest belongs
   * to the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, "+:ad:k:m:o:p:h", names, NULL)) !=
         -1) {
    rc = parse_option(options, option, argv, &with_threads);
    if (rc != 0 || options->help)
      return rc;
  }
  if (options->kinds == 0)
    options->kinds = USUAL_KINDS;
  if (with_threads)
    options->kinds |= THREAD_KINDS;
  options->kinds |= WATCH_BIT(WATCH_LOST);
  rc = common_options_command(argc, argv, &options->command);
  if (rc == 0 && options->pid != 0 && options->command != NULL)
    rc = common_options_bad("choose one of -p and a command");
  if (rc == 0 && options->pid != 0 && options->all)
    rc = common_options_bad("choose one of -a and -p");
  if (options->pid == 0 && options->command == NULL)
    options->all = 1;
  return rc;
}

void watch_options_help(void) {
  fputs(help_text, stdout);
}
