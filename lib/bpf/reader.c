/* SPDX-License-Identifier: MIT */
/* The reader of a BPF perf event array as a libuv handle: init, start, stop,
 * flush, close, pause and resume. outputs.c has the events through which
 * programs write. drain.c delivers their records. */
#include "bpf/internal.h"

#include <assert.h>
#include <string.h>

#include "loop/stats.h"
#include "loop/stream_options.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

/* A caller allocates the handle, so its size must never change. */
_Static_assert(sizeof(uvperf_bpf_reader_t) == 8 * sizeof(void *),
               "uvperf_bpf_reader_t is ABI");

/* -- the events and the map ------------------------------------------------ */

/* The rules for when a reader's events are enabled and in the map.
 *
 * uvperf_bpf_reader_start requests both, until stop. With
 * UVPERF_START_NO_ENABLE, start requests neither. uvperf_bpf_reader_resume
 * requests both until close. But if start has already requested both, resume
 * only ends the pause. While there is a request, the events are enabled, and
 * they are in the map unless the reader is paused:
 *
 *    request of     not paused         paused
 *    none           out                out
 *    start          in, until stop     enabled, out
 *    resume         in                 enabled, out
 *
 * So stop takes events out of the map if start has put them there, whatever
 * pause and resume did in between. Stop leaves the events there if resume had
 * put them there before start. */

/* Enables first, so that no program finds a disabled event. */
static int enable_and_put(reader_t *impl, int is_paused,
                          uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_enable(impl->outputs, error);

  if (rc == 0 && !is_paused)
    rc = uvperf__bpf_outputs_put(impl->outputs, error);
  if (rc != 0 && !impl->is_wanted_by_start && !impl->is_wanted_by_resume)
    uvperf__bpf_outputs_disable(impl->outputs);
  return rc;
}

/* Stops delivery and ends the request of start. If resume has a request too,
 * the events stay as they are. If the kernel refuses to delete an entry, its
 * event is disabled, and programs get -EOPNOTSUPP. */
static void end_delivery(reader_t *impl) {
  impl->is_started = 0;
  /* The watch is stopped even if it was not started, because this may be inside
   * a flush. */
  uvperf__watch_stop(impl->watch);
  if (impl->is_wanted_by_start && !impl->is_wanted_by_resume) {
    uvperf__bpf_outputs_take(impl->outputs, NULL);
    uvperf__bpf_outputs_disable(impl->outputs);
  }
  impl->is_wanted_by_start = 0;
  uvperf__bpf_reader_leave_cpus(impl);
}

/* -- close ---------------------------------------------------------------- */

static void release(void *owner) {
  reader_t *impl = owner;

  uvperf__free(impl->scratch);
  uvperf__watch_free(impl->watch);
  uvperf__hotplug_free(impl->hotplug);
  uvperf__bpf_outputs_free(impl->outputs);
  uvperf__free(impl);
}

static void give_up(void *owner, uvperf__leftovers_t *leftovers) {
  reader_t *impl = owner;

  if (impl->outputs != NULL)
    uvperf__bpf_outputs_give_up(impl->outputs, leftovers);
}

/* No polled fd and no ring is released before the last close callback of an
 * inner handle: see event/event.c. */
static void closed(void *owner) {
  reader_t *impl = owner;
  uvperf_bpf_reader_t *handle = impl->handle;
  int closed_by_user = impl->closed_by_user;

  uvperf__snapshot_job_closed(impl->snapshot);
  uvperf__teardown_let_go(&impl->teardown);
  if (handle == NULL)
    return; /* open failed: the struct belongs to the caller */
  handle->impl = NULL;
  /* The user has closed the handle. Another close is an error. */
  if (closed_by_user)
    handle->reserved[0] = handle;
  if (handle->close_cb != NULL)
    handle->close_cb(handle);
}

/* The rest can be closed later by the loop, but from now on no program finds
 * one of our events. In a forked child the outputs do not touch the events and
 * the map, which belong to the parent. */
static void begin_close(void *owner) {
  reader_t *impl = owner;

  impl->closing = 1;
  impl->is_started = 0;
  if (impl->opening != NULL)
    uvperf__bpf_reader_cancel_opening(impl);
  else
    uvperf__bpf_reader_leave_outputs(impl);
  uvperf__watch_close(impl->watch, &impl->teardown);
  if (impl->hotplug != NULL && uvperf__hotplug_is_attached(impl->hotplug))
    uvperf__hotplug_close(impl->hotplug, &impl->teardown);
  uvperf__snapshot_job_close(impl->snapshot, &impl->teardown);
  uvperf__teardown_end(&impl->teardown);
}

void uvperf_bpf_reader_close(uvperf_bpf_reader_t *reader,
                             uvperf_bpf_reader_close_cb close_cb) {
  reader_t *impl = reader->impl;

  /* uvperf_walk_close has closed the handle and the teardown is done. */
  if (impl == NULL) {
    assert(reader->reserved[0] == NULL);
    reader->reserved[0] = reader;
    if (close_cb != NULL)
      close_cb(reader);
    return;
  }
  assert(!impl->closed_by_user);
  impl->closed_by_user = 1;
  reader->close_cb = close_cb;
  if (!impl->closing)
    begin_close(impl);
}

/* -- called by the watch and the hotplug ----------------------------------- */

/* Called when the last ring ends. The others have ended before. */
static void end(void *owner, size_t ring_index, int status) {
  end_delivery(owner);
  uvperf__bpf_reader_ring_end(owner, ring_index, status);
}

static const uvperf__watch_ops_t watch_ops = {
    .drain = uvperf__bpf_reader_drain,
    .slice_end = uvperf__bpf_reader_slice_end,
    .spare = uvperf__bpf_reader_spare,
    .ring_skipped = uvperf__bpf_reader_ring_skipped,
    .ring_end = uvperf__bpf_reader_ring_end,
    .end = end,
    .close = begin_close,
};

static const uvperf__hotplug_ops_t hotplug_ops = {
    .come = uvperf__bpf_reader_cpu_come,
    .gone = uvperf__bpf_reader_cpu_gone,
    .close = begin_close,
};

/* -- init ----------------------------------------------------------------- */

static int check_options(int map_fd, const uvperf_bpf_reader_options_t *options,
                         uvperf_error_t *error) {
  const uint32_t known = UVPERF_BPF_READER_OVERWRITE |
                         UVPERF_BPF_READER_FIXED_CPUS |
                         UVPERF_BPF_READER_PERF_CLOCK;

  if ((options->flags & ~known) || options->reserved != 0)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "options.flags 0x%x has unknown bits, or "
                             "options.reserved is not 0; clear them",
                             options->flags);
  if ((map_fd >= 0) == (options->path != NULL))
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "the map must be named once; pass map_fd, or set "
                             "options.path with map_fd -1");
  return 0;
}

int uvperf__bpf_reader_make_hotplug(reader_t *impl, const char *root) {
  return uvperf__hotplug_new(&impl->hotplug, root, &hotplug_ops, impl);
}

/* If is_begun is set, only the first step is done. */
static int open_outputs(reader_t *impl, int map_fd, const char *root,
                        const uvperf_bpf_reader_options_t *options,
                        int is_begun, uvperf_error_t *error) {
  const uvperf__bpf_outputs_options_t chosen = {
      .root = root,
      .map_fd = map_fd,
      .path = options->path,
      .attr = options->attr,
      .cpus = options->cpus,
      .ring_bytes = options->ring_bytes,
      .wakeup_events = options->wakeup_events,
      .wakeup_bytes = options->wakeup_bytes,
      .overwrite = (options->flags & UVPERF_BPF_READER_OVERWRITE) != 0,
      .perf_clock = (options->flags & UVPERF_BPF_READER_PERF_CLOCK) != 0,
      .is_fixed = (options->flags & UVPERF_BPF_READER_FIXED_CPUS) != 0,
      .opener = {options->open, options->open_arg, NULL},
  };
  int rc;

  if (is_begun)
    return uvperf__bpf_outputs_begin(&impl->outputs, &chosen, error);
  rc = uvperf__bpf_outputs_new(&impl->outputs, &chosen, error);
  if (rc == 0)
    uvperf__bpf_reader_take_outputs(impl);
  return rc;
}

/* The watch is made last, so that nothing is registered with the loop if
 * another step fails. start adds the rings to the watch. */
static int open_reader(reader_t *impl, uv_loop_t *loop, int map_fd,
                       const char *root,
                       const uvperf_bpf_reader_options_t *options, int is_begun,
                       uvperf_error_t *error) {
  int rc = 0;

  impl->scratch = uvperf__calloc(1, UVPERF__RING_SCRATCH_BYTES);
  if (impl->scratch == NULL)
    rc = UV_ENOMEM;
  if (rc == 0 && !(impl->flags & UVPERF_BPF_READER_FIXED_CPUS))
    rc = uvperf__bpf_reader_make_hotplug(impl, root);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot make the reader");
  rc = open_outputs(impl, map_fd, root, options, is_begun, error);
  if (rc != 0)
    return rc;
  rc = uvperf__watch_new(&impl->watch, loop, &watch_ops, impl);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot make the reader");
  return 0;
}

static reader_t *make_impl(uv_loop_t *loop,
                           const uvperf_bpf_reader_options_t *options) {
  reader_t *impl = uvperf__calloc(1, sizeof(*impl));

  if (impl == NULL)
    return NULL;
  uvperf__teardown_init(&impl->teardown, loop, closed, release, give_up, impl);
  impl->process = uvperf__process();
  impl->flags = options->flags;
  impl->default_flush_ms =
      options->wakeup_events == 1 || options->wakeup_bytes == 1
          ? 0
          : UVPERF__DEFAULT_FLUSH_MS;
  return impl;
}

int uvperf__bpf_reader_make(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                            int map_fd, const char *root,
                            const uvperf_bpf_reader_options_t *options,
                            uvperf_bpf_reader_open_cb cb,
                            uvperf_error_t *error) {
  uvperf_bpf_reader_options_t own = UVPERF_BPF_READER_OPTIONS_INIT;
  reader_t *impl;
  int rc;

  if (loop == NULL || reader == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "loop and reader must not be NULL");
  rc = uvperf__options_copy(&own, sizeof(own), sizeof(own), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_bpf_reader_options_t");
  rc = check_options(map_fd, &own, error);
  if (rc != 0)
    return rc;
  impl = make_impl(loop, &own);
  if (impl == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the reader");
  rc = open_reader(impl, loop, map_fd, root, &own, cb != NULL, error);
  if (rc != 0) {
    release(impl);
    return rc;
  }
  if (cb != NULL)
    rc = uvperf__bpf_reader_begin_opening(impl, loop, cb, error);
  if (rc != 0) {
    begin_close(impl); /* frees it later: inner handles are registered */
    return rc;
  }
  impl->handle = reader;
  reader->loop = loop;
  reader->impl = impl;
  reader->close_cb = NULL;
  memset(reader->reserved, 0, sizeof(reader->reserved));
  return 0;
}

int uvperf_bpf_reader_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                           int map_fd,
                           const uvperf_bpf_reader_options_t *options,
                           uvperf_error_t *error) {
  return uvperf__bpf_reader_make(loop, reader, map_fd, "", options, NULL,
                                 error);
}

int uvperf_bpf_reader_open(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                           int map_fd,
                           const uvperf_bpf_reader_options_t *options,
                           uvperf_bpf_reader_open_cb cb,
                           uvperf_error_t *error) {
  if (cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "cb must not be NULL");
  return uvperf__bpf_reader_make(loop, reader, map_fd, "", options, cb, error);
}

/* -- start, stop, flush ---------------------------------------------------- */

static int start_watch(reader_t *impl, const uvperf_stream_options_t *options,
                       uvperf_error_t *error) {
  uvperf__watch_options_t chosen;
  int rc;

  uvperf__stream_options_for_watch(options, impl->default_flush_ms, &chosen);
  if (!uvperf__bpf_reader_is_watched(impl)) {
    uvperf__watch_set_options(impl->watch, &chosen);
    return 0;
  }
  rc = uvperf__bpf_reader_watch_rings(impl);
  if (rc == 0)
    rc = uvperf__watch_start(impl->watch, &chosen);
  return rc == 0 ? 0 : uvperf__watch_explain(error, rc);
}

/* The watch comes first, so that the first record finds a reader. */
static int start(reader_t *impl, const uvperf_stream_options_t *options,
                 uvperf_error_t *error) {
  int rc;

  rc = start_watch(impl, options, error);
  if (rc != 0)
    return rc;
  rc = uvperf__bpf_reader_follow_cpus(impl, error);
  if (rc == 0 && !(options->flags & UVPERF_START_NO_ENABLE)) {
    rc = enable_and_put(impl, impl->is_paused, error);
    impl->is_wanted_by_start = rc == 0;
  }
  if (rc != 0)
    end_delivery(impl);
  return rc;
}

int uvperf_bpf_reader_start(uvperf_bpf_reader_t *reader,
                            const uvperf_stream_options_t *options,
                            uvperf_bpf_reader_sample_cb cb,
                            uvperf_error_t *error) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  uvperf_stream_options_t own;
  int rc;

  rc = uvperf__stream_options_copy(&own, options, error);
  if (rc == 0)
    rc = uvperf__bpf_reader_check(impl, error);
  if (rc != 0)
    return rc;
  if (cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "cb must not be NULL");
  if (impl->is_started)
    return uvperf__error_set(error, UV_EALREADY, UVPERF_CAUSE_ARGUMENT,
                             "the reader is already started");
  uvperf__bpf_reader_take_back(impl);
  rc = start(impl, &own, error);
  if (rc != 0)
    return rc;
  impl->is_started = 1;
  impl->start_flags = own.flags;
  impl->cb = cb;
  return 0;
}

int uvperf_bpf_reader_stop(uvperf_bpf_reader_t *reader) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  int rc = uvperf__bpf_reader_check(impl, NULL);

  if (rc != 0)
    return rc;
  end_delivery(impl);
  return 0;
}

/* Begins a flush. If a flush is not allowed now, returns a code instead. */
static int begin_flush(reader_t *impl) {
  int rc = uvperf__bpf_reader_check(impl, NULL);

  if (rc != 0)
    return rc;
  if (!uvperf__bpf_reader_is_watched(impl) || impl->cb == NULL)
    return UV_EINVAL;
  if (impl->in_callback)
    return UV_EBUSY;
  uvperf__bpf_reader_take_back(impl);
  impl->lost_at = 0;
  uvperf__teardown_hold(&impl->teardown);
  return 0;
}

int uvperf_bpf_reader_flush(uvperf_bpf_reader_t *reader) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  int rc = begin_flush(impl);

  if (rc != 0)
    return rc;
  uvperf__watch_flush(impl->watch);
  uvperf__teardown_let_go(&impl->teardown);
  return 0;
}

int uvperf_bpf_reader_flush_ring(uvperf_bpf_reader_t *reader, size_t index) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  int rc = begin_flush(impl);

  if (rc != 0)
    return rc;
  rc = UV_EINVAL;
  if (index < uvperf__watch_nr_rings(impl->watch))
    rc = uvperf__watch_flush_ring(impl->watch, index);
  uvperf__teardown_let_go(&impl->teardown);
  return rc;
}

int uvperf_bpf_reader_on_cpu(uvperf_bpf_reader_t *reader,
                             uvperf_bpf_reader_cpu_cb cb) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);

  if (cb != NULL && (impl->flags & UVPERF_BPF_READER_FIXED_CPUS))
    return UV_EINVAL;
  impl->cpu_cb = cb;
  return 0;
}

/* -- pause ----------------------------------------------------------------- */

int uvperf_bpf_reader_pause(uvperf_bpf_reader_t *reader,
                            uvperf_error_t *error) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  int rc = uvperf__bpf_reader_check(impl, error);

  if (rc == 0)
    rc = uvperf__bpf_outputs_take(impl->outputs, error);
  if (rc == 0)
    impl->is_paused = 1;
  return rc;
}

int uvperf_bpf_reader_resume(uvperf_bpf_reader_t *reader,
                             uvperf_error_t *error) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  int rc = uvperf__bpf_reader_check(impl, error);

  if (rc == 0)
    rc = enable_and_put(impl, 0, error);
  if (rc != 0)
    return rc;
  impl->is_paused = 0;
  if (!impl->is_wanted_by_start)
    impl->is_wanted_by_resume = 1;
  return 0;
}

/* -- getters --------------------------------------------------------------- */

/* Counts lost samples at most once in an iteration of the loop. Otherwise a
 * program that reads the statistics in each callback would interrupt all CPUs
 * for each record. */
static void count_lost(reader_t *impl) {
  uint64_t now = uvperf__watch_now(impl->watch);

  if (uvperf__bpf_reader_check(impl, NULL) != 0 ||
      (now != 0 && impl->lost_at == now))
    return;
  impl->lost_at = now;
  uvperf__bpf_outputs_count_lost(impl->outputs);
}

int uvperf_bpf_reader_cpu_status(const uvperf_bpf_reader_t *reader, int cpu) {
  const reader_t *impl = uvperf__bpf_reader_impl(reader);

  if (impl->rings == NULL)
    return uvperf__bpf_reader_check(impl, NULL);
  return uvperf__bpf_outputs_cpu_status(impl->outputs, cpu);
}

size_t uvperf_bpf_reader_nr_rings(const uvperf_bpf_reader_t *reader) {
  const reader_t *impl = uvperf__bpf_reader_impl(reader);

  return impl->rings == NULL ? 0 : uvperf__cpu_rings_nr(impl->rings);
}

int uvperf_bpf_reader_ring(const uvperf_bpf_reader_t *reader, size_t index,
                           uvperf_ring_info_t *ring) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);

  count_lost(impl);
  return uvperf__stats_ring_info(impl->rings, index, impl->watch,
                                 uvperf__bpf_reader_is_forked(impl), ring);
}

int uvperf_bpf_reader_failed_ring(const uvperf_bpf_reader_t *reader,
                                  uvperf_ring_info_t *ring) {
  const reader_t *impl = uvperf__bpf_reader_impl(reader);

  if (impl->failed_ring == NULL)
    return UV_ENOENT;
  return uvperf_bpf_reader_ring(reader, impl->failed_ring->index, ring);
}

void uvperf_bpf_reader_stats(const uvperf_bpf_reader_t *reader,
                             uvperf_stats_t *stats) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);

  count_lost(impl);
  uvperf__stats_of_rings(impl->rings, impl->watch,
                         uvperf__bpf_reader_is_forked(impl), stats);
  stats->cpus_gone = impl->cpus_gone;
  stats->cpus_come = impl->cpus_come;
}

const struct perf_event_attr *
uvperf_bpf_reader_attr(const uvperf_bpf_reader_t *reader) {
  const reader_t *impl = uvperf__bpf_reader_impl(reader);

  return impl->rings == NULL ? NULL : uvperf__bpf_outputs_attr(impl->outputs);
}

/* -- as any uv handle ----------------------------------------------------- */

/* These functions may also be called for a closing handle, and for a closed
 * handle (impl NULL) while its memory lives. */

void uvperf_bpf_reader_ref(uvperf_bpf_reader_t *reader) {
  reader_t *impl = reader->impl;

  if (impl != NULL && !impl->closing)
    uvperf__watch_set_ref(impl->watch, 1);
}

void uvperf_bpf_reader_unref(uvperf_bpf_reader_t *reader) {
  reader_t *impl = reader->impl;

  if (impl != NULL && !impl->closing)
    uvperf__watch_set_ref(impl->watch, 0);
}

int uvperf_bpf_reader_has_ref(const uvperf_bpf_reader_t *reader) {
  const reader_t *impl = reader->impl;

  return impl != NULL && uvperf__watch_has_ref(impl->watch);
}

int uvperf_bpf_reader_is_active(const uvperf_bpf_reader_t *reader) {
  const reader_t *impl = reader->impl;

  return impl != NULL && !impl->closing &&
         (impl->opening != NULL || uvperf__watch_is_active(impl->watch));
}

int uvperf_bpf_reader_is_closing(const uvperf_bpf_reader_t *reader) {
  const reader_t *impl = reader->impl;

  return impl == NULL || impl->closing;
}

size_t uvperf_bpf_reader_size(void) {
  return sizeof(uvperf_bpf_reader_t);
}
