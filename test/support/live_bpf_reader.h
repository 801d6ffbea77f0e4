/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the BPF reader's handle: a reader that notes its
 * callbacks, with a map of its own, and a program that sends numbered
 * payloads. */
#ifndef UVPERF_TEST_LIVE_BPF_READER_H
#define UVPERF_TEST_LIVE_BPF_READER_H

#include "live.h"
#include "live_bpf_array.h"

#define LIVE_BPF_READER_CPUS 256

typedef struct live_bpf_reader_s live_bpf_reader_t;
struct live_bpf_reader_s {
  uvperf_bpf_reader_t reader; /* `data` is the address of this struct */
  int array;                  /* -1: no map, or closed */
  live_bpf_output_t output;
  int has_output;
  uint64_t sent; /* successfully; the next number */

  /* What was received. */
  uint64_t records; /* of any type */
  uint64_t samples; /* with data that live_bpf_reader_send has sent */
  uint64_t by_cpu[LIVE_BPF_READER_CPUS]; /* samples of each CPU */
  uint64_t last[LIVE_BPF_READER_CPUS];   /* number + 1 of the last sample */
  uint64_t strange; /* samples with other data, of another CPU, out of order */
  uint64_t others;  /* records that are no samples */
  uint64_t lost;
  uint64_t corrupt;              /* UV_EPROTO with a record */
  uint64_t faults;               /* a status without a record */
  int fault;                     /* the last of them */
  uvperf_ring_info_t fault_ring; /* and its ring */
  uint64_t slice_ends;
  uint64_t remaining; /* of the last record */
  int closed;
  /* The callbacks of uvperf_on_cpu, such as "1 ENODEV, 1 0", and
   * their number. */
  char cpu_events[256];
  uint64_t nr_cpu_events;
  uvperf_error_t error;
  /* Called at the end of each callback; may be NULL. */
  void (*on_sample)(live_bpf_reader_t *live, int status,
                    const uvperf_record_t *sample);
  void (*on_cpu)(live_bpf_reader_t *live, int cpu, int status);
  void *hook_data;
};

/* The usual options: each sample wakes, rings of 64 KiB. */
uvperf_bpf_reader_options_t live_bpf_reader_options(void);
/* Options without a flush timer, and with slices that time does not end. */
extern const uvperf_stream_options_t live_bpf_reader_plain;

/* Makes the map (entries as for live_bpf_array_make) and the program. Skips the
 * test as that function does. */
void live_bpf_reader_make(const char *test, live_bpf_reader_t *live,
                          uint32_t entries);
/* Opens the reader of its map; fails the test on error. NULL means the usual
 * options. */
void live_bpf_reader_open(uv_loop_t *loop, live_bpf_reader_t *live,
                          const uvperf_bpf_reader_options_t *options);
/* Starts it; NULL means live_bpf_reader_plain. */
void live_bpf_reader_start(live_bpf_reader_t *live,
                           const uvperf_stream_options_t *options);
/* Makes, opens and starts it. */
void live_bpf_reader_begin(const char *test, uv_loop_t *loop,
                           live_bpf_reader_t *live);
void live_bpf_reader_begin_with(const char *test, uv_loop_t *loop,
                                live_bpf_reader_t *live,
                                const uvperf_bpf_reader_options_t *options);

/* Sends a payload of `size` bytes (16 to 60,000) on a CPU. Returns what
 * bpf_perf_event_output() returned. The payload uses up a number only if it was
 * accepted. */
int live_bpf_reader_send(live_bpf_reader_t *live, int cpu, size_t size);
/* Makes the same payload for a ring that is written by hand, and uses up its
 * number. */
void live_bpf_reader_write(live_bpf_reader_t *live, int cpu, void *payload,
                           size_t size);
/* Sends nr payloads of 24 bytes, each of which must be accepted. */
void live_bpf_reader_send_all(live_bpf_reader_t *live, int cpu, uint64_t nr);
/* The size that the kernel makes of a payload's size. */
size_t live_bpf_reader_padded(size_t size);

/* Closes the reader and waits until it is closed. */
void live_bpf_reader_close(live_bpf_reader_t *live);
/* The same after uvperf_close was called with
 * live_bpf_reader_on_close. */
void live_bpf_reader_wait_closed(live_bpf_reader_t *live);
/* Closes map and program. */
void live_bpf_reader_unmake(live_bpf_reader_t *live);
/* Closes and unmakes it. */
void live_bpf_reader_end(live_bpf_reader_t *live);

/* The callbacks. */
void live_bpf_reader_on_sample(uvperf_handle_t *handle, int status,
                               const uvperf_record_t *sample);
void live_bpf_reader_on_cpu(uvperf_handle_t *handle, int cpu, int status,
                            const uvperf_error_t *error);
void live_bpf_reader_on_close(uvperf_handle_t *handle);

#endif
