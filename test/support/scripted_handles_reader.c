/* SPDX-License-Identifier: MIT */
#include <sys/eventfd.h>

#include "fake_map.h"
#include "fake_pool.h"
#include "fake_ringbuf.h"
#include "scripted_handles_run.h"
#include "scripted_kernel.h"

static struct {
  uvperf_bpf_reader_options_t options;
  struct perf_event_attr attr;
  char cpus[64];
  fake_ringbuf_t ring; /* of "ringbuf"; map NULL: there is none */
  fake_map_t *counter; /* of "counter" */
  int counter_fd;
  uint64_t counted[64];
  uvperf_bpf_counter_t lost;
} reader_run;

void handles_reader_begin(void) {
  static const uvperf_bpf_reader_options_t init =
      UVPERF_BPF_READER_OPTIONS_INIT;

  memset(&reader_run, 0, sizeof(reader_run));
  reader_run.options = init;
}

void handles_reader_end(void) {
  if (reader_run.counter != NULL)
    fake_map_close(reader_run.counter_fd);
  if (reader_run.ring.map == NULL)
    return;
  fake_ringbuf_end(&reader_run.ring);
  fake_map_close(kernel_map_fd);
  kernel_map_fd = -1;
}

static uvperf_bpf_reader_t *reader_of(const step_t *step) {
  return &handles_run.handles[handles_nr(handles_of(step, 1))].reader;
}

/* An option with a number. Returns whether the word is one. */
static int set_number(const char *word) {
  uvperf_bpf_reader_options_t *options = &reader_run.options;

  if (strncmp(word, "ring_bytes=", 11) == 0)
    options->ring_bytes = (size_t)step_number(word + 11);
  else if (strncmp(word, "wakeup_events=", 14) == 0)
    options->wakeup_events = (uint32_t)step_number(word + 14);
  else if (strncmp(word, "wakeup_bytes=", 13) == 0)
    options->wakeup_bytes = (uint32_t)step_number(word + 13);
  else if (strncmp(word, "lost=", 5) == 0)
    reader_run.lost.offset = (uint32_t)step_number(word + 5);
  else
    return 0;
  if (*word == 'l')
    options->lost = &reader_run.lost;
  return 1;
}

/* A reader of the map. */
static void do_reader(const step_t *step) {
  uvperf_bpf_reader_options_t *options = &reader_run.options;
  size_t i;

  options->wakeup_events = 1;
  options->ring_bytes = reader_run.ring.map == NULL;
  for (i = 1; i < step->nr; i++)
    if (set_number(step->words[i]))
      continue;
    else if (step_is(step, i, "perf_clock"))
      options->flags |= UVPERF_BPF_READER_PERF_CLOCK;
    else if (step_is(step, i, "attr"))
      options->attr = &reader_run.attr;
    else if (step_is(step, i, "later")) {
      options->open_cb = handles_on_open;
      fake_pool_hold();
    } else if (step_is(step, i, "fixed"))
      options->flags |= UVPERF_BPF_READER_FIXED_CPUS;
    else if (step_is(step, i, "overwrite"))
      options->flags |= UVPERF_BPF_READER_OVERWRITE;
    else if (step_is(step, i, "program"))
      options->open = kernel_opener;
    else if (strncmp(step->words[i], "cpus=", 5) == 0)
      snprintf(reader_run.cpus, sizeof(reader_run.cpus), "%s",
               step->words[i] + 5);
    else
      step_fail(step->words[i], "is no option");
  if (reader_run.cpus[0] != '\0')
    options->cpus = reader_run.cpus;
  handles_opened(uvperf_bpf_reader_init(&kernel_loop, &handles_next()->reader,
                                        kernel_map_fd, options,
                                        handles_error()));
}

static void do_publish(const step_t *step) {
  row_returned(
      step_is(step, 0, "publish")
          ? uvperf_bpf_reader_publish(reader_of(step), handles_error())
          : uvperf_bpf_reader_unpublish(reader_of(step), handles_error()));
}

static void do_status(const step_t *step) {
  size_t i;

  for (i = 2; i < step->nr; i++) {
    say_next();
    say("%s", step_code_name(uvperf_bpf_reader_cpu_status(
                  reader_of(step), (int)step_value(step, i))));
  }
}

/* -- ring buffers ---------------------------------------------------------- */

static void do_ringbuf(const step_t *step) {
  fake_ringbuf_t *ring = &reader_run.ring;

  fake_ringbuf_begin(ring, (size_t)step_value(step, 1) * support_page_bytes());
  if (step->nr > 2)
    ring->map->info.map_flags = (uint32_t)step_value(step, 2);
  kernel_map_fd = fake_map_open_as(ring->map, step->nr > 3 ? O_RDONLY : O_RDWR);
}

/* The data are 1, 2, 3 and so on. */
static void do_submit(const step_t *step) {
  uint32_t bits = step_is(step, 0, "busy")      ? FAKE_RINGBUF_BUSY
                  : step_is(step, 0, "discard") ? FAKE_RINGBUF_DISCARD
                                                : 0;
  static uint8_t data[65536];
  size_t i;

  for (i = 0; i < sizeof(data); i++)
    data[i] = (uint8_t)(i + 1);
  for (i = 1; i < step->nr; i++)
    if (fake_ringbuf_put(&reader_run.ring, data, (uint32_t)step_value(step, i),
                         bits) == UINT64_MAX) {
      say_next();
      say("full");
    }
}

static void do_finish(const step_t *step) {
  uint32_t *word = fake_ringbuf_word(&reader_run.ring, step_value(step, 1));

  *word &= ~FAKE_RINGBUF_BUSY;
  if (step->nr > 2)
    *word |= FAKE_RINGBUF_DISCARD;
}

static void do_first_word(const step_t *step) {
  *fake_ringbuf_word(&reader_run.ring, step_value(step, 1)) =
      (uint32_t)step_value(step, 2);
}

static void do_position(const step_t *step) {
  uint64_t *position = step_is(step, 0, "producer") ? reader_run.ring.producer
                                                    : reader_run.ring.consumer;

  if (step->nr > 1)
    *position = step_value(step, 1);
  else
    say("%llu", (unsigned long long)*position);
}

/* As long as its fd is readable, epoll says so. */
static void do_readable(const step_t *step) {
  uvperf_ring_info_t ring;
  eventfd_t value;

  assert_int_equal(uvperf_ring(handles_of(step, 1), 0, &ring), 0);
  if (step_is(step, 0, "readable"))
    assert_int_equal(eventfd_write(ring.fd, 1), 0);
  else
    assert_int_equal(eventfd_read(ring.fd, &value), 0);
}

/* -- the counter of lost records ------------------------------------------- */

/* A map of this type, with values of so many bytes. */
static void do_counter(const step_t *step) {
  reader_run.counter = fake_map_add(1);
  reader_run.counter->info.type = (uint32_t)step_value(step, 1);
  reader_run.counter->info.value_size = (uint32_t)step_value(step, 2);
  reader_run.counter_fd = fake_map_open(reader_run.counter);
  reader_run.lost.map_fd = reader_run.counter_fd;
}

/* The 64-bit words that a look-up copies. */
static void do_counted(const step_t *step) {
  size_t i;

  for (i = 1; i < step->nr; i++)
    reader_run.counted[i - 1] = step_value(step, i);
  reader_run.counter->value = (const uint8_t *)reader_run.counted;
  reader_run.counter->value_bytes = (step->nr - 1) * sizeof(uint64_t);
}

const scripted_verb_t handles_reader_verbs[] = {{"reader", do_reader},
                                                {"ringbuf", do_ringbuf},
                                                {"submit", do_submit},
                                                {"discard", do_submit},
                                                {"busy", do_submit},
                                                {"finish", do_finish},
                                                {"first_word", do_first_word},
                                                {"producer", do_position},
                                                {"consumer", do_position},
                                                {"readable", do_readable},
                                                {"unreadable", do_readable},
                                                {"counter", do_counter},
                                                {"counted", do_counted},
                                                {"publish", do_publish},
                                                {"unpublish", do_publish},
                                                {"status", do_status},
                                                {NULL, NULL}};
