/* SPDX-License-Identifier: MIT */
/* Prints every five seconds, or SECONDS, the ten functions in which the machine
 * spent most time. Needs root, or CAP_PERFMON and CAP_SYS_PTRACE.
 * (CAP_SYS_PTRACE is for the mappings of other users' processes.) Needs
 * elfutils' libelf too, and includes name_addresses.c: cc top_functions.c
 * $(pkg-config --cflags --libs uvperf libelf)
 *
 *   top_functions [SECONDS]
 *
 * A sample is named at once, because its process may end soon. A thread of
 * libuv's pool does that, and the loop goes on. All functions of a file without
 * symbols are one row, and so is all code that a JIT compiler made. */
#include <signal.h>
#include <uvperf.h>

#define NAME_ADDRESSES_PART
#include "name_addresses.c"

#define MOST_HITS 65536 /* that wait for the thread */

typedef struct hit_s {
  enum {
    SAMPLE,
    ENDED
  } what; /* a sample; a process that is to be forgotten */
  uint32_t pid;
  uint64_t ip, time;
} hit_t;

typedef struct hits_s {
  hit_t *hits;
  size_t nr;
} hits_t;

typedef struct top_s {
  /* The thread uses it while is_counting, otherwise the loop. */
  hits_t counting;
  names_t names;
  place_t *rows; /* their symbols have nr samples */
  size_t nr_rows;
  uint64_t nr_samples;
  /* The loop's. */
  int is_counting, table_is_due;
  hits_t waiting;
  uint64_t nr_lost;
  void (*on_table)(struct top_s *top);
  void *data; /* for on_table */
  uv_work_t work;
  uv_timer_t timer;
  uvperf_set_t set;
} top_t;

/* -- in the thread --------------------------------------------------------- */

static void count_hits(uv_work_t *work) {
  top_t *top = work->data;
  const hit_t *hit = top->counting.hits;
  place_t place;

  for (; top->counting.nr > 0; top->counting.nr--, hit++) {
    if (hit->what == ENDED) {
      forget_process(&top->names, hit->pid);
      continue;
    }
    place = find_place(&top->names, hit->pid, hit->ip, hit->time);
    if (place.symbol->nr++ == 0) {
      top->rows = grow(top->rows, top->nr_rows, sizeof(place));
      top->rows[top->nr_rows++] = place;
    }
    top->nr_samples++;
  }
}

/* -- in the loop ----------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
  const place_t *one = a, *other = b;

  return (one->symbol->nr < other->symbol->nr) -
         (one->symbol->nr > other->symbol->nr);
}

static void make_table(top_t *top) {
  top->table_is_due = 0;
  if (top->nr_rows > 0)
    qsort(top->rows, top->nr_rows, sizeof(place_t), by_number);
  top->on_table(top);
  while (top->nr_rows > 0)
    top->rows[--top->nr_rows].symbol->nr = 0;
  top->nr_samples = top->nr_lost = 0;
  forget_names(&top->names);
}

static void start_counting(top_t *top);

static void on_counted(uv_work_t *work, int status) {
  top_t *top = work->data;

  (void)status;
  top->is_counting = 0;
  if (top->table_is_due)
    make_table(top);
  if (!uvperf_is_closing(&top->set.handle))
    start_counting(top);
}

/* Hands the waiting hits to the thread if the thread is idle. */
static void start_counting(top_t *top) {
  hits_t empty = top->counting;

  if (top->is_counting || top->waiting.nr == 0)
    return;
  top->counting = top->waiting;
  top->waiting = empty;
  top->is_counting = 1;
  uv_queue_work(top->set.handle.loop, &top->work, count_hits, on_counted);
}

static void on_tick(uv_timer_t *timer) {
  top_t *top = timer->data;

  top->table_is_due = 1;
  if (!top->is_counting)
    make_table(top);
}

static void on_sample(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  hit_t hit = {SAMPLE, 0, 0, 0};
  top_t *top = handle->data;

  if (status != 0) {
    fprintf(stderr, "%s\n", uv_err_name(status));
    return;
  }
  if (record->type == PERF_RECORD_SAMPLE) {
    hit = (hit_t){SAMPLE, record->pid, record->ip, record->time};
  } else if (uvperf_record_is_exec(record)) {
    hit = (hit_t){ENDED, record->comm.pid, 0, 0};
  } else if (record->type == PERF_RECORD_EXIT &&
             record->task.pid == record->task.tid) {
    hit = (hit_t){ENDED, record->task.pid, 0, 0};
  } else {
    if (record->type == PERF_RECORD_LOST)
      top->nr_lost += record->lost.lost;
    return;
  }
  if (top->waiting.nr == MOST_HITS) {
    top->nr_lost += hit.what == SAMPLE;
    return;
  }
  top->waiting.hits = grow(top->waiting.hits, top->waiting.nr, sizeof(hit));
  top->waiting.hits[top->waiting.nr++] = hit;
  start_counting(top);
}

/* Calls `cb` at this interval. When it calls, top->rows are sorted, most
 * samples first. Returns 0 or a UV_E* code. After a failure the program must
 * end. */
static int start_top(uv_loop_t *loop, top_t *top, uint64_t seconds,
                     void (*cb)(top_t *top), uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  int rc;

  memset(top, 0, sizeof(*top));
  top->on_table = cb;
  top->set.handle.data = top->timer.data = top->work.data = top;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_frequency(&attr, 99);
  uvperf_attr_set_wakeup_events(&attr, 1); /* at once */
  attr.exclude_idle = 1;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  cpus.type = UVPERF_TARGET_CPUS;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS;
  options.fallbacks = UVPERF_FALLBACK_CLOCK; /* in a virtual machine */
  options.side_band = UVPERF_SIDE_BAND_TASKS;
  rc = uvperf_set_init(loop, &top->set, &options, error);
  if (rc != 0)
    return rc;
  init_names(&top->names);
  uv_timer_init(loop, &top->timer);
  uv_timer_start(&top->timer, on_tick, seconds * 1000, seconds * 1000);
  return uvperf_start(&top->set.handle, NULL, on_sample, error);
}

static void close_top(top_t *top) {
  uvperf_close(&top->set.handle, NULL);
  uv_close((uv_handle_t *)&top->timer, NULL);
}

/* Call it when the loop has ended: until then the thread may count. */
static void free_top(top_t *top) {
  free_names(&top->names);
  free(top->rows);
  free(top->counting.hits);
  free(top->waiting.hits);
}

/* -- this program ---------------------------------------------------------- */

#ifndef TOP_FUNCTIONS_PART /* agent.c takes the part above only */

static void print_table(top_t *top) {
  char text[1024];
  size_t i;

  printf("%llu samples, %llu lost\n", (unsigned long long)top->nr_samples,
         (unsigned long long)top->nr_lost);
  for (i = 0; i < top->nr_rows && i < 10; i++) {
    print_place(top->rows[i], text, sizeof(text));
    printf("%6.1f %%  %s\n",
           100.0 * (double)top->rows[i].symbol->nr / (double)top->nr_samples,
           text);
  }
  if (fflush(stdout) != 0) {
    perror("stdout");
    exit(1);
  }
}

static void on_top_interrupt(uv_signal_t *interrupt, int number) {
  top_t *top = interrupt->data;

  (void)number;
  on_tick(&top->timer); /* the last table */
  close_top(top);
  uv_close((uv_handle_t *)interrupt, NULL);
}

int main(int argc, char **argv) {
  uint64_t seconds = argc == 2 ? strtoul(argv[1], NULL, 10) : 5;
  uv_loop_t *loop = uv_default_loop();
  uvperf_error_t error;
  uv_signal_t interrupt;
  top_t top;

  if (argc > 2 || seconds < 1 || seconds > 86400) {
    fprintf(stderr, "usage: %s [SECONDS]\n", argv[0]);
    return 2;
  }
  if (start_top(loop, &top, seconds, print_table, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  interrupt.data = &top;
  uv_signal_init(loop, &interrupt);
  uv_signal_start(&interrupt, on_top_interrupt, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  free_top(&top);
  return uv_loop_close(loop) != 0;
}

#endif
