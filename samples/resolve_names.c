/* SPDX-License-Identifier: MIT */
/* Resolves names of events on a thread of libuv's pool while the loop goes on,
 * because patterns and symbols take milliseconds. A timer notes how long the
 * loop waited. Needs no privileges; names of tracepoints need a tracefs that
 * may be read. */
#include <stdio.h>
#include <string.h>
#include <uvperf.h>

/* The list and the error belong to the pool until on_resolved is called. */
typedef struct resolver_s {
  uv_work_t work;
  uv_timer_t timer;
  uint64_t last_ns;
  uint64_t longest_ns; /* between two ticks of a millisecond */
  const char *names;
  uvperf_event_list_t *events;
  uvperf_error_t error;
  int code;
} resolver_t;

static void on_tick(uv_timer_t *timer) {
  resolver_t *resolver = timer->data;
  uint64_t now = uv_hrtime();

  if (now - resolver->last_ns > resolver->longest_ns)
    resolver->longest_ns = now - resolver->last_ns;
  resolver->last_ns = now;
}

/* On the pool: no handle may be used here. */
static void resolve(uv_work_t *work) {
  resolver_t *resolver = work->data;

  resolver->code = uvperf_event_list_parse(&resolver->events, resolver->names,
                                           &resolver->error);
}

/* This runs on the loop again. Here the list could be used to open a set. */
static void on_resolved(uv_work_t *work, int status) {
  resolver_t *resolver = work->data;
  const uvperf_event_item_t *item;
  size_t i;

  on_tick(&resolver->timer);
  uv_close((uv_handle_t *)&resolver->timer, NULL);
  if (status != 0) /* UV_ECANCELED after uv_cancel */
    resolver->code = status;
  if (resolver->code != 0)
    return;
  for (i = 0; i < uvperf_event_list_count(resolver->events); i++) {
    item = uvperf_event_list_get(resolver->events, i);
    printf("%-40s type %u, config %#llx\n", item->label, item->attr->type,
           (unsigned long long)item->attr->config);
  }
  printf("%zu events; the loop waited %.1f ms at most between two ticks\n", i,
         (double)resolver->longest_ns / 1e6);
  uvperf_event_list_free(resolver->events);
}

int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  resolver_t resolver = {.names = "syscalls:sys_enter_*"};
  int rc;

  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    int is_help = argc == 2 && strcmp(argv[1], "--help") == 0;

    fprintf(is_help ? stdout : stderr,
            "usage: %s [NAMES]\n\n"
            "Resolves NAMES as perf stat -e takes them, \"cycles,sched:*\";\n"
            "syscalls:sys_enter_* without them. Tracepoints need a tracefs\n"
            "that this user may read: as a rule, root.\n",
            argv[0]);
    return is_help ? 0 : 2;
  }
  if (argc == 2)
    resolver.names = argv[1];
  resolver.work.data = resolver.timer.data = &resolver;
  resolver.last_ns = uv_hrtime();
  uv_timer_init(loop, &resolver.timer);
  uv_timer_start(&resolver.timer, on_tick, 0, 1);
  rc = uv_queue_work(loop, &resolver.work, resolve, on_resolved);
  if (rc != 0) {
    fprintf(stderr, "%s\n", uv_strerror(rc));
    return 1;
  }
  uv_run(loop, UV_RUN_DEFAULT);
  if (resolver.code != 0)
    fprintf(stderr, "%s\n", resolver.error.reason);
  rc = fflush(stdout) != 0 || ferror(stdout);
  if (rc != 0)
    perror("stdout");
  return resolver.code != 0 || rc != 0 || uv_loop_close(loop) != 0;
}
