/* SPDX-License-Identifier: MIT */
/* The reader of a BPF perf event array as a libuv handle: init, start, stop,
 * publish and unpublish, next, close. outputs.c has the events through which
 * programs write. loop/rings.c delivers their records. */
#include "uvperf/bpf.h"

#include "bpf/outputs.h"
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
  uvperf__handle_t base; /* its rings and decoder are those of the outputs */
  uvperf__bpf_outputs_t *outputs;
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

static void reader_take_outputs(reader_t *impl) {
  impl->base.rings = uvperf__bpf_outputs_rings(impl->outputs);
  impl->base.decoder = uvperf__bpf_outputs_decoder(impl->outputs);
}

/* Only the thread of the pool uses the outputs meanwhile. */
typedef struct reader_opening_s {
  uvperf__handle_job_t base;
  uvperf__bpf_outputs_t *outputs; /* the reader's, unless is_late is set */
} reader_opening_t;

static int open_next(uvperf__job_t *job) {
  reader_opening_t *opening = (reader_opening_t *)job;

  return uvperf__bpf_outputs_open_next(
      opening->outputs, atomic_load(&opening->base.is_cancelled));
}

static int on_opened(uvperf__handle_job_t *job, int rc, uvperf_error_t *error) {
  reader_t *impl = (reader_t *)job->owner;
  int opened;

  if (job->is_late) {
    impl->outputs = NULL;
    return rc;
  }
  opened = uvperf__bpf_outputs_end(&impl->outputs, rc == 0 ? error : NULL);
  if (opened == 0)
    reader_take_outputs(impl);
  return opened;
}

static void free_opening(uvperf__handle_job_t *job) {
  if (job->is_late)
    uvperf__bpf_outputs_free(((reader_opening_t *)job)->outputs);
  uvperf__free(job);
}

static int reader_begin_opening(reader_t *impl, uvperf_open_cb cb,
                                uvperf_error_t *error) {
  reader_opening_t *opening = uvperf__calloc(1, sizeof(*opening));
  int rc;

  if (opening == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the reader");
  opening->base.job.step = open_next;
  opening->base.done = on_opened;
  opening->base.free = free_opening;
  opening->base.open_cb = cb;
  opening->outputs = impl->outputs;
  rc =
      uvperf__handle_job_begin(&impl->base, &opening->base,
                               uvperf__bpf_outputs_calls(impl->outputs), error);
  if (rc != 0)
    uvperf__free(opening);
  return rc;
}

/* Opens the outputs, or begins to open them on the pool. The watch is made
 * last, so that nothing is registered with the loop if another step fails.
 * start adds the rings to the watch. */
static int reader_open(reader_t *impl, int map_fd,
                       const uvperf_bpf_reader_options_t *options,
                       uvperf_error_t *error) {
  int rc = 0;

  if (!(options->flags & UVPERF_BPF_READER_FIXED_CPUS))
    rc = uvperf__rings_make_hotplug(&impl->base);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot make the reader");
  if (impl->base.hotplug != NULL)
    uvperf__hotplug_note(impl->base.hotplug);
  if (options->open_cb != NULL) {
    rc = uvperf__bpf_outputs_begin(&impl->outputs, map_fd, options, error);
  } else {
    rc = uvperf__bpf_outputs_new(&impl->outputs, map_fd, options, error);
    if (rc == 0)
      reader_take_outputs(impl);
  }
  if (rc != 0)
    return rc;
  rc = uvperf__watch_new(&impl->base.watch, &impl->base.teardown, &watch_ops,
                         impl);
  return rc == 0 ? 0
                 : uvperf__error_shortage(error, rc, "cannot make the reader");
}

int uvperf_bpf_reader_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                           int map_fd,
                           const uvperf_bpf_reader_options_t *options,
                           uvperf_error_t *error) {
  const uint32_t known = UVPERF_BPF_READER_OVERWRITE |
                         UVPERF_BPF_READER_FIXED_CPUS |
                         UVPERF_BPF_READER_PERF_CLOCK;
  uvperf_bpf_reader_options_t own = UVPERF_BPF_READER_OPTIONS_INIT;
  reader_t *impl;
  int rc;

  if (loop == NULL || reader == NULL)
    return uvperf__error_argument(error, "loop and reader must not be NULL");
  rc = uvperf__options_copy(&own, sizeof(own), sizeof(own), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_bpf_reader_options_t");
  if (own.flags & ~known)
    return uvperf__error_bits(error, "options.flags", own.flags);
  if ((map_fd >= 0) == (own.path != NULL))
    return uvperf__error_argument(error,
                                  "the map must be named once; pass map_fd, or "
                                  "set options.path with map_fd -1");
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the reader");
  uvperf__handle_init(&impl->base, loop, &reader_kind);
  uvperf__handle_limit_calls(&impl->base, own.open, own.open_timeout_ms);
  impl->base.is_overwritable = (own.flags & UVPERF_BPF_READER_OVERWRITE) != 0;
  if (own.wakeup_events != 1 && own.wakeup_bytes != 1)
    impl->default_flush_ms = UVPERF__DEFAULT_FLUSH_MS;
  rc = reader_open(impl, map_fd, &own, error);
  if (rc == 0 && own.open_cb != NULL)
    rc = reader_begin_opening(impl, own.open_cb, error);
  if (rc == 0)
    uvperf__handle_publish(&impl->base, &reader->handle);
  else
    uvperf__handle_fail(&impl->base);
  return rc;
}

/* -- start and stop -------------------------------------------------------- */

/* Enables first, so that no program finds a disabled event. */
static int reader_publish(reader_t *impl, uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_enable(impl->outputs, error);

  if (rc == 0)
    rc = uvperf__bpf_outputs_put(impl->outputs, error);
  if (rc == 0)
    impl->is_enabled = 1;
  else if (!impl->is_enabled)
    uvperf__bpf_outputs_disable(impl->outputs);
  return rc;
}

/* The watch comes first, so that the first record finds a reader. */
static int reader_start(void *owner, const uvperf_stream_options_t *options,
                        int enables, uvperf_record_cb cb,
                        uvperf_error_t *error) {
  reader_t *impl = owner;
  uvperf__watch_options_t chosen;
  int rc = 0;

  if (cb == NULL)
    return uvperf__error_argument(error, "cb must not be NULL");
  uvperf__stream_options_for_watch(options, impl->default_flush_ms, &chosen);
  if (impl->base.is_overwritable) {
    uvperf__watch_set_options(impl->base.watch, &chosen);
  } else {
    rc = uvperf__rings_watch(&impl->base);
    if (rc == 0)
      rc = uvperf__watch_start(impl->base.watch, &chosen);
  }
  if (rc != 0)
    return uvperf__watch_explain(error, rc);
  rc = uvperf__rings_follow_cpus(&impl->base,
                                 "set UVPERF_BPF_READER_FIXED_CPUS", error);
  if (rc == 0 && enables)
    rc = reader_publish(impl, error);
  if (rc != 0)
    uvperf__handle_stop(impl);
  return rc;
}

/* -- the map --------------------------------------------------------------- */

/* The events stay enabled, because an event with side-band records writes them
 * without the map too. */
int uvperf_bpf_reader_unpublish(uvperf_bpf_reader_t *reader,
                                uvperf_error_t *error) {
  reader_t *impl = uvperf__handle_impl(&reader->handle);
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc == 0)
    rc = uvperf__bpf_outputs_take(impl->outputs, error);
  impl->base.was_switched |= rc == 0;
  return rc;
}

int uvperf_bpf_reader_publish(uvperf_bpf_reader_t *reader,
                              uvperf_error_t *error) {
  reader_t *impl = uvperf__handle_impl(&reader->handle);
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc == 0)
    rc = reader_publish(impl, error);
  impl->base.was_switched |= rc == 0;
  return rc;
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

  return uvperf__bpf_outputs_cpu_status(impl->outputs, cpu) != UV_ENOENT;
}

static void reader_cpu_gone(void *owner, int cpu) {
  reader_t *impl = owner;

  uvperf__bpf_outputs_cpu_gone(impl->outputs, cpu);
}

static int reader_cpu_come(void *owner, int cpu, uvperf_error_t *error) {
  reader_t *impl = owner;
  int rc = uvperf__bpf_outputs_cpu_come(impl->outputs, cpu, error);

  if (uvperf__bpf_outputs_cpu_status(impl->outputs, cpu) != UV_E2BIG)
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
  return uvperf__bpf_outputs_cpu_status(impl->outputs, cpu);
}

static int reader_count_lost(void *owner) {
  const reader_t *impl = owner;

  return uvperf__bpf_outputs_count_lost(impl->outputs);
}

static const struct perf_event_attr *reader_attr(const void *owner,
                                                 size_t attr) {
  const reader_t *impl = owner;

  return impl->base.rings == NULL || attr != 0
             ? NULL
             : uvperf__bpf_outputs_attr(impl->outputs);
}

/* -- close ---------------------------------------------------------------- */

static void reader_release(void *owner) {
  reader_t *impl = owner;

  uvperf__watch_free(impl->base.watch);
  uvperf__hotplug_free(impl->base.hotplug);
  uvperf__bpf_outputs_free(impl->outputs);
  uvperf__free(impl);
}

static void reader_give_up(void *owner, uvperf__leftovers_t *leftovers) {
  reader_t *impl = owner;

  if (impl->outputs != NULL)
    uvperf__bpf_outputs_give_up(impl->outputs, leftovers);
}

/* While the pool opens the outputs, only the pool uses them. In a forked child
 * the outputs do not touch the events and the map, which belong to the
 * parent. */
static void reader_quit(void *owner) {
  reader_t *impl = owner;

  impl->base.is_started = 0;
  if (uvperf__handle_is_opening(&impl->base) || impl->outputs == NULL)
    return;
  uvperf__bpf_outputs_leave_map(impl->outputs);
  uvperf__bpf_outputs_disable(impl->outputs);
}

static int reader_is_active(const void *owner) {
  const reader_t *impl = owner;

  return uvperf__watch_is_active(impl->base.watch);
}

/* -- the kind -------------------------------------------------------------- */

static const uvperf__handle_kind_t reader_kind = {
    .type = UVPERF_HANDLE_BPF_READER,
    .noun = "reader",
    .is_active = reader_is_active,
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
