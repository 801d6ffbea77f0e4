/* SPDX-License-Identifier: MIT */
/* The reader of a BPF perf event array as a libuv handle: init, start, stop,
 * publish and unpublish, next, close. evlist/array.c has the events through
 * which programs write. loop/rings.c delivers their records. */
#include "uvperf/bpf.h"

#include "bpf/attr.h"
#include "bpf/ringbuf.h"
#include "decode/decoder.h"
#include "evlist/evlist.h"
#include "host/cpu_list.h"
#include "host/system.h"
#include "loop/handle.h"
#include "loop/rings.h"
#include "loop/stats.h"
#include "loop/stream_options.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

/* A caller allocates the handle, so its size must never change. */
_Static_assert(sizeof(uvperf_bpf_reader_t) ==
                   7 * sizeof(void *) + 2 * sizeof(int),
               "uvperf_bpf_reader_t is ABI");

/* uvperf_bpf_reader_t.impl points to this. It is freed in the last inner close
 * callback. If that callback runs inside a flush or a snapshot, it is freed
 * when the flush or snapshot returns. */
typedef struct reader_s {
  uvperf__handle_t base;    /* its rings and decoder are those of the evlist */
  uvperf__evlist_t *evlist; /* NULL until it is open */
  uint64_t default_flush_ms;
  int is_enabled; /* the events were published once */
} reader_t;

static const uvperf__handle_kind_t reader_kind;

static const uvperf__watch_ops_t watch_ops = {
    .drain = uvperf__rings_drain,
    .slice_end = uvperf__handle_slice_end,
    .spare = uvperf__rings_spare,
    .ring_skipped = uvperf__rings_skipped,
    .ring_end = uvperf__rings_ring_end,
    .end = uvperf__rings_end,
    .close = uvperf__handle_begin_close,
};

/* -- init ------------------------------------------------------------------ */

/* The events are opened in an evlist of the opening, because the loop's thread
 * must not use the evlist while a thread of the pool opens it. */
typedef struct reader_opening_s {
  uvperf__handle_job_t base;
  uvperf__evlist_t *evlist;
  uvperf__adding_t adding;
  int has_ended; /* the adding; only the loop's thread uses this */
} reader_opening_t;

static int opening_step(uvperf__job_t *job) {
  reader_opening_t *opening = (reader_opening_t *)job;

  return uvperf__adding_step(&opening->adding,
                             atomic_load(&opening->base.is_cancelled));
}

static int opening_end(reader_opening_t *opening, reader_t *impl,
                       uvperf_error_t *error) {
  int rc = uvperf__adding_end(&opening->adding, error);

  opening->has_ended = 1;
  if (rc != 0)
    return rc;
  impl->evlist = opening->evlist;
  opening->evlist = NULL;
  impl->base.rings = uvperf__evlist_rings(impl->evlist);
  impl->base.decoder = uvperf__evlist_decoder(impl->evlist);
  return 0;
}

static int opening_done(uvperf__handle_job_t *job, int rc,
                        uvperf_error_t *error) {
  if (job->is_late)
    return rc;
  return opening_end((reader_opening_t *)job, (reader_t *)job->owner,
                     rc == 0 ? error : NULL);
}

static void opening_free(uvperf__handle_job_t *job) {
  reader_opening_t *opening = (reader_opening_t *)job;

  if (!opening->has_ended)
    uvperf__adding_end(&opening->adding, NULL);
  uvperf__evlist_free(opening->evlist);
  uvperf__free(opening);
}

/* The watch is made last, so that nothing is registered with the loop if
 * another step fails. start adds the rings to the watch. */
static int reader_make_watch(reader_t *impl, uvperf_error_t *error) {
  int rc = uvperf__watch_new(&impl->base.watch, &impl->base.teardown,
                             &watch_ops, impl);

  return rc == 0 ? 0
                 : uvperf__error_shortage(error, rc, "cannot make the reader");
}

/* Opens the events, or begins to open them on the pool. */
static int reader_open_events(reader_t *impl, reader_opening_t *opening,
                              uvperf_open_cb cb, uvperf_error_t *error) {
  int rc;

  if (cb == NULL) {
    while (opening_step(&opening->base.job))
      continue;
    rc = opening_end(opening, impl, error);
    return rc != 0 ? rc : reader_make_watch(impl, error);
  }
  opening->base.job.step = opening_step;
  opening->base.done = opening_done;
  opening->base.free = opening_free;
  opening->base.open_cb = cb;
  rc = reader_make_watch(impl, error);
  return rc != 0
             ? rc
             : uvperf__handle_job_begin(&impl->base, &opening->base,
                                        uvperf__evlist_calls(opening->evlist),
                                        error);
}

static int reader_open(reader_t *impl, uvperf__bpf_map_t *map,
                       const uvperf_bpf_reader_options_t *options,
                       uvperf_error_t *error) {
  reader_opening_t *opening;
  int rc = 0;

  if (!(options->flags & UVPERF_BPF_READER_FIXED_CPUS))
    rc = uvperf__rings_make_hotplug(&impl->base);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot make the reader");
  if (impl->base.hotplug != NULL)
    uvperf__hotplug_note(impl->base.hotplug);
  opening = uvperf__calloc(1, sizeof(*opening));
  if (opening == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the reader");
  rc = uvperf__bpf_evlist_new(&opening->evlist, map, options, &opening->adding,
                              error);
  if (rc != 0) {
    uvperf__free(opening);
    return rc;
  }
  rc = reader_open_events(impl, opening, options->open_cb, error);
  if (rc != 0 || options->open_cb == NULL)
    opening_free(&opening->base);
  return rc;
}

/* The reader of a perf event array. */
static int array_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                      uvperf__bpf_map_t *map,
                      const uvperf_bpf_reader_options_t *options,
                      uvperf_error_t *error) {
  reader_t *impl;
  int rc;

  if (options->lost != NULL)
    return uvperf__error_argument(error,
                                  "options.lost is for ring buffers; the "
                                  "kernel counts what a perf event array has "
                                  "lost");
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the reader");
  uvperf__handle_init(&impl->base, loop, &reader_kind);
  uvperf__handle_limit_calls(&impl->base, options->open,
                             options->open_timeout_ms);
  impl->base.is_overwritable =
      (options->flags & UVPERF_BPF_READER_OVERWRITE) != 0;
  if (options->wakeup_events != 1 && options->wakeup_bytes != 1)
    impl->default_flush_ms = UVPERF__DEFAULT_FLUSH_MS;
  rc = reader_open(impl, map, options, error);
  if (rc == 0)
    uvperf__handle_publish(&impl->base, &reader->handle);
  else
    uvperf__handle_fail(&impl->base);
  return rc;
}

int uvperf_bpf_reader_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                           int map_fd,
                           const uvperf_bpf_reader_options_t *options,
                           uvperf_error_t *error) {
  const uint32_t known = UVPERF_BPF_READER_OVERWRITE |
                         UVPERF_BPF_READER_FIXED_CPUS |
                         UVPERF_BPF_READER_PERF_CLOCK;
  uvperf_bpf_reader_options_t own = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf__bpf_map_t map;
  int rc;

  if (loop == NULL || reader == NULL)
    return uvperf__error_argument(error, "loop and reader must not be NULL");
  rc = uvperf__options_copy(
      &own, sizeof(own), offsetof(uvperf_bpf_reader_options_t, lost), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_bpf_reader_options_t");
  if (own.flags & ~known)
    return uvperf__error_bits(error, "options.flags", own.flags);
  if ((map_fd >= 0) == (own.path != NULL))
    return uvperf__error_argument(error,
                                  "the map must be named once; pass map_fd, or "
                                  "set options.path with map_fd -1");
  rc = uvperf__bpf_map_open(&map, map_fd, own.path, 1, error);
  if (rc != 0)
    return rc;
  rc = map.is_ring ? uvperf__ringbuf_init(loop, reader, &map, &own, error)
                   : array_init(loop, reader, &map, &own, error);
  uvperf__bpf_map_close(&map);
  return rc;
}

/* -- start and stop -------------------------------------------------------- */

/* Enables first, so that no program finds a disabled event. */
static int reader_publish(reader_t *impl, uvperf_error_t *error) {
  int rc = uvperf__evlist_enable(impl->evlist, error);

  if (rc == 0)
    rc = uvperf__evlist_put(impl->evlist, 1, error);
  if (rc == 0)
    impl->is_enabled = 1;
  else if (!impl->is_enabled)
    uvperf__evlist_disable(impl->evlist, NULL);
  return rc;
}

/* The watch comes first, so that the first record finds a reader. */
static int reader_start(void *owner, const uvperf_stream_options_t *options,
                        int enables, uvperf_record_cb cb,
                        uvperf_error_t *error) {
  reader_t *impl = owner;
  uvperf__watch_options_t chosen;
  int rc;

  if (cb == NULL)
    return uvperf__error_argument(error, "cb must not be NULL");
  uvperf__stream_options_for_watch(options, impl->default_flush_ms, &chosen);
  rc = uvperf__rings_start(&impl->base, &chosen, error);
  if (rc != 0)
    return rc;
  rc = uvperf__rings_follow_cpus(&impl->base,
                                 "set UVPERF_BPF_READER_FIXED_CPUS", error);
  if (rc == 0 && enables)
    rc = reader_publish(impl, error);
  if (rc != 0)
    uvperf__handle_stop(impl);
  return rc;
}

/* -- the map --------------------------------------------------------------- */

/* After unpublish the events stay enabled, because an event with side-band
 * records writes them without the map too. */
static int reader_switch(uvperf_bpf_reader_t *reader, int is_in,
                         uvperf_error_t *error) {
  reader_t *impl = uvperf__handle_impl(&reader->handle);
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc == 0 && uvperf__ringbuf_is(reader))
    return is_in ? 0
                 : uvperf__error_argument(
                       error,
                       "the map is a ring buffer, into which programs write "
                       "whether it is read or not; detach them, or let them "
                       "test a variable");
  if (rc == 0)
    rc = is_in ? reader_publish(impl, error)
               : uvperf__evlist_put(impl->evlist, 0, error);
  impl->base.was_switched |= rc == 0;
  return rc;
}

int uvperf_bpf_reader_unpublish(uvperf_bpf_reader_t *reader,
                                uvperf_error_t *error) {
  return reader_switch(reader, 0, error);
}

int uvperf_bpf_reader_publish(uvperf_bpf_reader_t *reader,
                              uvperf_error_t *error) {
  return reader_switch(reader, 1, error);
}

/* -- next ------------------------------------------------------------------ */

static int reader_next(void *owner, const uvperf_record_t **record) {
  reader_t *impl = owner;

  if (impl->base.is_overwritable)
    return UV_EINVAL;
  if (impl->base.is_started)
    return UV_EBUSY;
  return uvperf__next_of_rings(&impl->base, record);
}

/* -- CPUs that come and go ------------------------------------------------- */

static int reader_uses_cpu(const void *owner, int cpu) {
  const reader_t *impl = owner;

  return uvperf__evlist_cpu_status(impl->evlist, cpu) != UV_ENOENT;
}

static void reader_cpu_gone(void *owner, int cpu) {
  reader_t *impl = owner;

  uvperf__evlist_cpu_gone(impl->evlist, cpu);
}

static int reader_cpu_come(void *owner, int cpu, uvperf_error_t *error) {
  reader_t *impl = owner;
  int rc = uvperf__evlist_cpu_come(impl->evlist, cpu, error);

  if (uvperf__evlist_cpu_status(impl->evlist, cpu) != UV_E2BIG)
    return rc;
  return uvperf__error_set(
      error, UV_E2BIG, UVPERF_CAUSE_ARGUMENT,
      "the map has no entry for CPU %d; create it with more max_entries", cpu);
}

/* -- getters --------------------------------------------------------------- */

int uvperf_bpf_reader_cpu_status(const uvperf_bpf_reader_t *reader, int cpu) {
  const reader_t *impl = uvperf__handle_impl(&reader->handle);

  if (impl->base.rings == NULL)
    return uvperf__handle_check(&impl->base, NULL);
  if (uvperf__ringbuf_is(reader))
    return cpu < 0 || cpu > UVPERF__MAX_CPU ||
                   uvperf__system_has_cpu("possible", cpu) == 0
               ? UV_ENOENT
               : 0;
  return uvperf__evlist_cpu_status(impl->evlist, cpu);
}

static int reader_count_lost(void *owner) {
  const reader_t *impl = owner;

  return uvperf__evlist_count_lost(impl->evlist);
}

static const struct perf_event_attr *reader_attr(const void *owner,
                                                 size_t attr) {
  const reader_t *impl = owner;

  return impl->evlist == NULL || attr != 0
             ? NULL
             : impl->base.decoder->only.source->attr;
}

/* -- close ---------------------------------------------------------------- */

static void reader_release(void *owner) {
  reader_t *impl = owner;

  uvperf__watch_free(impl->base.watch);
  uvperf__hotplug_free(impl->base.hotplug);
  uvperf__evlist_free(impl->evlist);
  uvperf__free(impl);
}

static void reader_give_up(void *owner, uvperf__leftovers_t *leftovers) {
  reader_t *impl = owner;

  if (impl->evlist == NULL)
    return;
  uvperf__evlist_give_up(impl->evlist, leftovers);
  leftovers->are_enabled = 0; /* see reader_quit */
}

/* In a forked child the evlist does not touch the events and the map, which
 * belong to the parent. */
static void reader_quit(void *owner) {
  reader_t *impl = owner;

  impl->base.is_started = 0;
  if (impl->evlist == NULL)
    return;
  uvperf__evlist_leave_maps(impl->evlist);
  uvperf__evlist_disable(impl->evlist, NULL);
}

/* -- the kind -------------------------------------------------------------- */

static const uvperf__handle_kind_t reader_kind = {
    .type = UVPERF_HANDLE_BPF_READER,
    .noun = "reader",
    .is_active = uvperf__handle_is_watching,
    .start = reader_start,
    .stop = uvperf__handle_stop,
    .next = reader_next,
    .overwritable_by = "UVPERF_BPF_READER_OVERWRITE in options.flags",
    .deliver = uvperf__rings_deliver_snapshot,
    .attr = reader_attr,
    .count_lost = reader_count_lost,
    .uses_cpu = reader_uses_cpu,
    .cpu_gone = reader_cpu_gone,
    .cpu_come = reader_cpu_come,
    .quit = reader_quit,
    .give_up = reader_give_up,
    .release = reader_release,
};
