/* SPDX-License-Identifier: MIT */
/* Counts events of a command and its children, from its execve(2) on, and ends
 * with the command's status:
 *
 *   count_command EVENT,... COMMAND [ARG...]
 *
 * uv_spawn returns when its child has called execve(2). So the child is a shell
 * that waits until the events are open. Needs no privileges up to
 * perf_event_paranoid 2. If the kernel side may not be measured, only the user
 * side is counted. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uvperf.h>

static uvperf_set_t set;
static int status;

static void on_command_exit(uv_process_t *process, int64_t exit_status,
                            int number) {
  uvperf_error_t error = {.reason = "out of memory"};
  uvperf_reading_t *reading;
  uvperf_count_t count;
  char line[128];
  size_t nr = uvperf_set_nr_attrs(&set);
  size_t i;

  status = number != 0 ? 128 + number : (int)exit_status;
  if (uvperf_reading_new(&reading) != 0 ||
      uvperf_set_read(&set, reading, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    status = 1;
    nr = 0;
  }
  for (i = 0; i < nr; i++) {
    uvperf_reading_total(reading, i, &count);
    uvperf_count_format(&count, uvperf_set_item(&set, i), line, sizeof(line));
    fprintf(stderr, "%s\n", line);
  }
  uvperf_reading_free(reading);
  uvperf_close(&set.handle, NULL);
  uv_close((uv_handle_t *)process, NULL);
}

static int spawn(uv_process_t *process, uv_pipe_t *go, char **command, int nr) {
  char **args = calloc((size_t)nr + 5, sizeof(*args));
  uv_stdio_container_t stdio[4];
  uv_process_options_t options = {0};
  int i, rc;

  if (args == NULL)
    return UV_ENOMEM;
  args[0] = "sh";
  args[1] = "-c";
  args[2] = "read go <&3 && exec 3<&- \"$@\"";
  args[3] = "sh";
  memcpy(args + 4, command, (size_t)nr * sizeof(*args));
  for (i = 0; i < 3; i++) {
    stdio[i].flags = UV_INHERIT_FD;
    stdio[i].data.fd = i;
  }
  stdio[3].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
  stdio[3].data.stream = (uv_stream_t *)go;
  options.file = args[0];
  options.args = args;
  options.stdio = stdio;
  options.stdio_count = 4;
  options.exit_cb = on_command_exit;
  rc = uv_spawn(uv_default_loop(), process, &options);
  free(args);
  return rc;
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t command = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  uv_buf_t newline = uv_buf_init("\n", 1);
  uvperf_error_t error;
  uv_process_t process;
  uv_pipe_t go;
  int rc;

  if (argc < 3) {
    fprintf(stderr, "usage: %s EVENT,... COMMAND [ARG...]\n", argv[0]);
    return 2;
  }
  signal(SIGINT, SIG_IGN); /* Ctrl-C ends the command: libuv resets it there */
  uv_pipe_init(loop, &go, 0);
  rc = spawn(&process, &go, argv + 2, argc - 2);
  if (rc != 0) {
    fprintf(stderr, "sh: %s\n", uv_strerror(rc));
    return 1;
  }
  command.type = UVPERF_TARGET_COMMAND;
  command.pid = process.pid;
  options.names = argv[1];
  options.targets = &command;
  options.nr_targets = 1;
  options.fallbacks = UVPERF_FALLBACK_USER; /* without privileges */
  if (uvperf_set_init(loop, &set, &options, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1; /* then `read` fails, and the command does not run */
  }
  rc = uv_try_write((uv_stream_t *)&go, &newline, 1);
  if (rc != 1) {
    fprintf(stderr, "sh: %s\n", uv_strerror(rc));
    return 1;
  }
  uv_close((uv_handle_t *)&go, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) == 0 ? status : 1;
}
