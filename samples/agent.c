/* SPDX-License-Identifier: MIT */
/* Joins several samples in one monitoring daemon. Its clients connect to a unix
 * socket and get lines of JSON. Each second the agent sends the counts of the
 * cgroups directly below a given one. Each minute, or every SECONDS, it sends
 * the functions in which the machine spent most time. SIGINT or SIGTERM ends
 * it. Needs root and elfutils' libelf: cc agent.c $(pkg-config --cflags --libs
 * uvperf libelf)
 *
 *   agent PATH DIRECTORY [SECONDS [EVENTS]]         nc -U PATH
 *
 * It includes the samples, and calls the part of each that is above "this
 * program". README.md says more under "Several in one program". */
#include <uvperf.h>

#define SERVE_LINES_PART
#include "serve_lines.c"
#define COUNTS_TO_JSON_PART
#include "counts_to_json.c"
#define COUNT_CGROUPS_PART
#include "count_cgroups.c"
#define TOP_FUNCTIONS_PART
#include "top_functions.c"

/* All handles of the loop except the clients. */
typedef struct agent_s {
  server_t server;
  uvperf_set_t counts;
  top_t top;
  uv_signal_t interrupt, terminate;
  int failures_are_known;
} agent_t;

static void send_counts(uvperf_set_t *set, int status,
                        const uvperf_reading_t *reading,
                        const uvperf_reading_t *delta) {
  line_t *line = status == 0 ? begin_line() : NULL;
  agent_t *agent = set->handle.data;
  const char *comma = "";
  uvperf_count_t count;
  group_t *group;

  (void)reading; /* the same since the beginning */
  if (line != NULL) {
    fprintf(line->out, "{\"time\":%.6f,\"seconds\":%.6f,\"cgroups\":[",
            (double)uvperf_reading_info(delta)->time /
                1e9, /* CLOCK_MONOTONIC */
            (double)uvperf_reading_info(delta)->interval / 1e9);
    for (group = groups; group != NULL; group = group->next) {
      /* UV_ENOENT: opened after the reading began. */
      if (group->state != OPEN ||
          uvperf_reading_get(delta, 0, group->target, UVPERF_ALL, &count) != 0)
        continue;
      fprintf(line->out, "%s{\"name\":", comma);
      put_string(line->out, group->name);
      fputs(",\"counts\":", line->out);
      put_counts(line->out, set, delta, &group->target);
      fputc('}', line->out);
      comma = ",";
    }
    fputs("]}\n", line->out);
    send_line(&agent->server, line);
  }
  if (*comma != '\0' && !agent->failures_are_known) {
    print_failures(set);
    agent->failures_are_known = 1;
  }
  scan_groups(set);
}

static void send_top(top_t *top) {
  line_t *line = begin_line();
  agent_t *agent = top->data;
  char name[1024];
  size_t i;

  if (line == NULL)
    return; /* out of memory */
  fprintf(line->out, "{\"time\":%.6f,\"samples\":%llu,\"lost\":%llu,\"top\":[",
          (double)uv_hrtime() / 1e9, (unsigned long long)top->nr_samples,
          (unsigned long long)top->nr_lost);
  for (i = 0; i < top->nr_rows && i < 10; i++) {
    print_place(top->rows[i], name, sizeof(name));
    fputs(i > 0 ? ",{\"name\":" : "{\"name\":", line->out);
    put_string(line->out, name);
    fprintf(line->out, ",\"samples\":%llu}",
            (unsigned long long)top->rows[i].symbol->nr);
  }
  fputs("]}\n", line->out);
  send_line(&agent->server, line);
}

/* Each part closes its own handles, so a handle's `data` may be anything. */
static void close_agent(uv_signal_t *signal, int number) {
  agent_t *agent = signal->data;

  (void)number;
  close_server(&agent->server);
  uvperf_close(&agent->counts.handle, NULL);
  close_top(&agent->top);
  uv_close((uv_handle_t *)&agent->interrupt, NULL);
  uv_close((uv_handle_t *)&agent->terminate, NULL);
}

int main(int argc, char **argv) {
  const char *names = "task-clock,instructions,context-switches,page-faults";
  uint64_t seconds = argc > 3 ? strtoul(argv[3], NULL, 10) : 60;
  uv_loop_t *loop = uv_default_loop();
  static agent_t agent;
  uvperf_error_t error;
  int rc;

  if (argc < 3 || argc > 5 || seconds < 1 || seconds > 86400) {
    fprintf(stderr, "usage: %s PATH DIRECTORY [SECONDS [EVENTS]]\n", argv[0]);
    return 2;
  }
  start_groups(loop, &agent.counts, argv[2], argc > 4 ? argv[4] : names,
               send_counts);
  if (start_top(loop, &agent.top, seconds, send_top, &error) != 0)
    fail("top functions", error.reason);
  rc = start_server(loop, &agent.server, argv[1]);
  if (rc != 0)
    fail(argv[1], uv_strerror(rc));
  agent.counts.handle.data = agent.top.data = &agent;
  uv_signal_init(loop, &agent.interrupt);
  uv_signal_init(loop, &agent.terminate);
  agent.interrupt.data = agent.terminate.data = &agent;
  uv_signal_start(&agent.interrupt, close_agent, SIGINT);
  uv_signal_start(&agent.terminate, close_agent, SIGTERM);
  fprintf(stderr, "%s: ready\n", argv[1]);
  uv_run(loop, UV_RUN_DEFAULT);
  free_groups(); /* callbacks of the closed sets used them until now */
  free_top(&agent.top);
  return uv_loop_close(loop) != 0;
}
