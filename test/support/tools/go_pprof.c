/* SPDX-License-Identifier: MIT */
/* Runs `go tool pprof`. Does not know what it should show. */
#include "go_pprof.h"

void go_pprof_need(const char *test) {
  if (system("go tool pprof -h >/dev/null 2>&1; test $? -le 2") != 0)
    support_skip(test, "go tool pprof");
}

void go_pprof_run(tool_run_t *run, const char *options, const char *path) {
  char command[512];

  snprintf(command, sizeof(command),
           "go tool pprof -nodefraction=0 -edgefraction=0 -nodecount=100000 "
           "%s %s",
           options, path);
  memset(run, 0, sizeof(*run));
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = command;
  tool_run(run);
  tool_run_expect_status(run, 0);
}
