/* SPDX-License-Identifier: MIT */
/* Opens a set of events on threads of libuv's pool while the loop goes on, and
 * counts until Ctrl-C, which may come before the set is open. A timer notes how
 * long the loop waited. Needs no privileges, except for tracepoints:
 * open_on_pool 'syscalls:sys_enter_*' needs root. */
#include <stdio.h>
#include <uvperf.h>

typedef struct program_s {
  uv_timer_t timer;
  uv_signal_t signal;
  uvperf_set_t set;
  uint64_t last_ns;
  uint64_t longest_ns; /* between two ticks of a millisecond */
  int status;
} program_t;

static void on_tick(uv_timer_t *timer) {
  program_t *program = timer->data;
  uint64_t now = uv_hrtime();

  if (now - program->last_ns > program->longest_ns)
    program->longest_ns = now - program->last_ns;
  program->last_ns = now;
}

static void on_closed(uvperf_handle_t *handle) {
  program_t *program = handle->data;

  on_tick(&program->timer);
  printf("closed; the loop waited %.1f ms at most between two ticks\n",
         (double)program->longest_ns / 1e6);
  uv_close((uv_handle_t *)&program->timer, NULL);
}

/* A set may be closed at any moment, but only once. */
static void end(program_t *program) {
  if (uvperf_is_closing(&program->set.handle))
    return;
  uv_close((uv_handle_t *)&program->signal, NULL);
  uvperf_close(&program->set.handle, on_closed);
}

static void on_signal(uv_signal_t *signal, int number) {
  (void)number;
  end(signal->data);
}

static void on_reading(uvperf_set_t *set, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  uvperf_count_t count;
  size_t i;

  (void)reading; /* the same since the beginning */
  for (i = 0; status == 0 && i < uvperf_set_nr_attrs(set); i++) {
    if (uvperf_reading_total(delta, i, &count) == 0 && count.scaled > 0)
      printf("%16llu %s\n", (unsigned long long)count.scaled,
             uvperf_set_item(set, i)->label);
  }
}

/* Only from here on may the set be read or started. */
static void on_open(uvperf_handle_t *base, int status,
                    const uvperf_error_t *error) {
  uvperf_set_t *set = uvperf_handle_set(base);
  program_t *program = base->data;
  uvperf_error_t reading;

  if (status == 0) {
    status = uvperf_set_read_start(set, 1000, on_reading, &reading);
    error = &reading;
  }
  if (status == 0)
    printf("%zu events are open and count\n", uvperf_set_nr_open(set));
  if (status == 0 || status == UV_ECANCELED) /* end() came before */
    return;
  fprintf(stderr, "%s\n", error->reason);
  program->status = 1;
  end(program); /* close a set that failed to open, too */
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT; /* this thread */
  uv_loop_t *loop = uv_default_loop();
  static program_t program;
  uvperf_error_t error;

  setvbuf(stdout, NULL, _IOLBF, 0); /* each second, into a pipe too */
  options.names = argc > 1 ? argv[1] : "page-faults,cs,task-clock";
  options.targets = &self;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_ENABLED;       /* on the pool as well */
  options.fallbacks = UVPERF_FALLBACK_USER; /* without privileges */
  options.open_cb = on_open;
  if (uvperf_set_init(loop, &program.set, &options, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason); /* there is nothing to close */
    return 1;
  }
  program.set.handle.data = program.timer.data = program.signal.data = &program;
  program.last_ns = uv_hrtime();
  uv_timer_init(loop, &program.timer);
  uv_timer_start(&program.timer, on_tick, 0, 1);
  uv_signal_init(loop, &program.signal);
  uv_signal_start(&program.signal, on_signal, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return program.status != 0 || uv_loop_close(loop) != 0;
}
