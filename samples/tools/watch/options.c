/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine: opening a target shows whether it can be watched. */
#include "watch/options.h"

#include <string.h>

static const char help_text[] =
    "Usage: uvperf-watch [-k kinds] [-d seconds] [-m size] [-o FILE]\n"
    "                    [--json] [--threads] [-a | -p PID]\n"
    "                    [[--] command...]\n"
    "\n"
    "Prints what happens to processes, live: fork, exec, new name and exit.\n"
    "Each event is a line.\n"
    "\n"
    "Examples:\n"
    "\n"
    "  uvperf-watch -- make\n"
    "  uvperf-watch -a -d 10 -k exec,exit\n"
    "  uvperf-watch -p 1234 --threads\n"
    "  uvperf-watch --json -o processes.json -- make\n"
    "\n"
    "Targets:\n"
    "\n"
    "  command...     run this command, and watch it and its descendants\n"
    "  -p PID         a running process and its descendants, until all of "
    "them\n"
    "                 have ended\n"
    "  -a             all processes, also while a command runs. This is the\n"
    "                 default if no target is given. It needs root,\n"
    "                 CAP_PERFMON or kernel.perf_event_paranoid <= 0.\n"
    "\n"
    "Without privileges, a command or -p needs kernel.perf_event_paranoid <=\n"
    "2, and the actions of a setuid program are not seen.\n"
    "\n"
    "Events and duration:\n"
    "\n"
    "  -k kinds       the lines to print: fork, exec, exit, comm, mmap, "
    "thread\n"
    "                 or all. Default: fork,exec,exit,comm. mmap means\n"
    "                 executable mappings, which are most of all events.\n"
    "                 Losses are always printed.\n"
    "  --threads      print threads too: adds thread to the kinds\n"
    "  -d seconds, --duration seconds\n"
    "                 stop after this time, for example 0.5. Default: at\n"
    "                 Ctrl-C, or when the command or all watched processes\n"
    "                 have ended. A command that still runs then is "
    "terminated.\n"
    "  -m size        the size of the buffer of each CPU, for example 256K or\n"
    "                 4M, or a number of pages. Default: 512K, or less if\n"
    "                 kernel.perf_event_mlock_kb does not allow that. Try "
    "more\n"
    "                 if records are lost.\n"
    "\n"
    "Output:\n"
    "\n"
    "  -o FILE        write to FILE, and leave stdout to the command. "
    "Default:\n"
    "                 stdout.\n"
    "  --json         print one JSON object per line\n"
    "  -h, --help     print this help\n"
    "  --version      print the version\n"
    "\n";

static const char output_text[] =
    "Lines:\n"
    "\n"
    "  12.345678 fork   1234 -> 1240 sh          process 1234 started 1240\n"
    "  12.345901 exec   1240 ls /usr/bin/ls -l   new name, executable, "
    "arguments\n"
    "  12.347001 comm   1240 worker              it changed its name\n"
    "  12.349002 exit   1240 ls status 2         its last thread ended\n"
    "  12.349002 exit   1241 cc1 killed by SIGSEGV, core dumped\n"
    "  12.350000 lost   25 records on CPU 1\n"
    "  12.350010 thread 1234 -> 1234/1241 sh     with -k thread: pid/tid\n"
    "  12.350020 thread_exit 1234/1241 sh\n"
    "  12.350030 mmap   1240 /usr/bin/ls 0x55e8c0a3d000+0x15000   with -k "
    "mmap\n"
    "\n"
    "Lines are in the order of time, in seconds of CLOCK_MONOTONIC.\n"
    "\n"
    "Arguments are read from /proc after the exec. They are missing if the\n"
    "process has already ended, and are cut after 1024 bytes, with three dots\n"
    "at the end.\n"
    "\n"
    "The status of an exit (0 to 255, or a signal) comes from the kernel's\n"
    "proc connector. It is available on the host, not in containers, and\n"
    "before Linux 6.6 it needs CAP_NET_ADMIN. Without it exits have no "
    "status,\n"
    "and fewer execs have arguments.\n"
    "\n"
    "Special bytes in a name become \\n, \\t, \\\\ or \\xNN.\n"
    "\n"
    "With --json each line has \"time\" (seconds) and \"type\" (the second "
    "word\n"
    "above), and these members if they are known:\n"
    "\n"
    "  fork, exec, exit, comm  pid, ppid, comm\n"
    "  exec                    exe, args (an array), args_cut (true if cut)\n"
    "  exit                    status; or signal (SIGKILL) and core (dumped)\n"
    "  mmap                    pid, ppid, comm, path, addr (hex, a string), "
    "len,\n"
    "                          pgoff\n"
    "  thread, thread_exit     pid, tid, comm\n"
    "  lost                    lost, cpu\n"
    "  end (the last line)     forks, execs, exits, maps, lost, late\n"
    "\n"
    "A name that is not UTF-8 is repeated as hexadecimal bytes: comm_hex,\n"
    "path_hex, exe_hex, args_hex (with 00 after each argument).\n"
    "\n"
    "Messages go to stderr.\n"
    "\n"
    "Exit status: the status of the command if it ended by itself (128 plus\n"
    "the number of a signal), otherwise 0. It is 1 if watch failed; 2 for a\n"
    "wrong command line; 126 if the command could not be run, 127 if it was\n"
    "not found.\n";

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

static int parse_kinds(void *arg, const char *text) {
  watch_options_t *options = arg;
  const char *word = text;
  uint32_t added;
  size_t size;

  for (;;) {
    size = strcspn(word, ",");
    added = kinds_of(word, size);
    if (added == 0)
      return common_options_bad("-k wants kinds such as fork,exec,exit, "
                                "not '%s'",
                                text);
    options->kinds |= added;
    if (word[size] == '\0')
      return 0;
    word += size + 1;
  }
}

static int parse_pid(void *arg, const char *text) {
  watch_options_t *options = arg;

  return common_options_pid(text, &options->pid);
}

#define AT(field) offsetof(watch_options_t, field)

static const common_option_t list[] = {
    {'a', NULL, COMMON_FLAG, AT(all), NULL},
    {'d', "duration", COMMON_SECONDS, AT(duration_ms), NULL},
    {0, "json", COMMON_FLAG, AT(json), NULL},
    {'k', NULL, COMMON_CALL, 0, parse_kinds},
    {'m', NULL, COMMON_RING, AT(ring_bytes), NULL},
    {'o', NULL, COMMON_FILE, AT(file), NULL},
    {'p', NULL, COMMON_CALL, 0, parse_pid},
    {0, "threads", COMMON_FLAG, AT(with_threads), NULL},
};

int watch_options_parse(watch_options_t *options, int argc, char **argv) {
  static const char *const help[] = {help_text, output_text, NULL};
  static const common_options_t of = {list, sizeof(list) / sizeof(*list), help,
                                      NULL, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  rc = common_options_parse(&of, options, argc, argv, &options->command);
  if (options->kinds == 0)
    options->kinds = USUAL_KINDS;
  if (options->with_threads)
    options->kinds |= THREAD_KINDS;
  options->kinds |= WATCH_BIT(WATCH_LOST);
  if (rc == 0 && options->pid != 0 && options->command != NULL)
    rc = common_options_bad("choose one of -p and a command");
  if (rc == 0 && options->pid != 0 && options->all)
    rc = common_options_bad("choose one of -a and -p");
  if (options->pid == 0 && options->command == NULL)
    options->all = 1;
  return rc;
}
