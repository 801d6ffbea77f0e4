/* SPDX-License-Identifier: MIT */
/* The reader of a BPF perf event array as a libuv handle: makes the events, and
 * the watch; closes these, and the hotplug that the first start adds. */
#include "bpf/internal.h"

#include <assert.h>
#include <string.h>

#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

/* A caller allocates the handle, so its size may never change. */
_Static_assert(sizeof(uvperf_bpf_reader_t) == 8 * sizeof(void *),
               "uvperf_bpf_reader_t is ABI");

#define DEFAULT_FLUSH_MS 100

reader_t *uvperf__bpf_reader_impl(const uvperf_bpf_reader_t *reader) {
  reader_t *impl = reader->impl;

  assert(impl != NULL && !impl->closing);
  return impl;
}

int uvperf__bpf_reader_is_forked(const reader_t *impl) {
  return uvperf__process() != impl->process;
}

int uvperf__bpf_reader_check_process(const reader_t *impl,
                                     uvperf_error_t *error) {
  if (!uvperf__bpf_reader_is_forked(impl))
    return 0;
  return uvperf__error_set(error, UV_EPERM, UVPERF_CAUSE_ARGUMENT,
                           "the reader belongs to the parent process");
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

/* As said in event.c, no fd that was polled, and no ring, is released before.
 */
static void closed(void *owner) {
  reader_t *impl = owner;
  uvperf_bpf_reader_t *handle = impl->handle;
  int closed_by_user = impl->closed_by_user;

  uvperf__teardown_let_go(&impl->teardown);
  handle->impl = NULL;
  /* What tells a close that is still owed from a second one. */
  if (closed_by_user)
    handle->reserved[0] = handle;
  if (handle->close_cb != NULL)
    handle->close_cb(handle);
}

/* Closing the rest can wait for the loop, but from now on no program finds an
 * event of ours. In a forked child the outputs leave the events and the map,
 * the parent's, alone. */
void uvperf__bpf_reader_begin_close(void *owner) {
  reader_t *impl = owner;

  impl->closing = 1;
  impl->is_started = 0;
  uvperf__bpf_outputs_leave_map(impl->outputs);
  uvperf__bpf_outputs_disable(impl->outputs);
  uvperf__watch_close(impl->watch, &impl->teardown);
  uvperf__bpf_reader_close_cpus(impl);
  uvperf__teardown_end(&impl->teardown);
}

void uvperf_bpf_reader_close(uvperf_bpf_reader_t *reader,
                             uvperf_bpf_close_cb close_cb) {
  reader_t *impl = reader->impl;

  /* uvperf_walk_close has closed it and the teardown is done. */
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
    uvperf__bpf_reader_begin_close(impl);
}

/* -- init ----------------------------------------------------------------- */

static int check_options(int map_fd, const uvperf_bpf_reader_options_t *options,
                         uvperf_error_t *error) {
  const uint32_t known =
      UVPERF_BPF_READER_OVERWRITE | UVPERF_BPF_READER_FIXED_CPUS;

  if ((options->flags & ~known) || options->reserved != 0)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "options.flags 0x%x has unknown bits, or "
                             "options.reserved is not 0",
                             options->flags);
  if ((map_fd >= 0) == (options->path != NULL))
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "the map is given by map_fd, or by options.path "
                             "with map_fd -1: by one of the two");
  return 0;
}

static int open_outputs(reader_t *impl, int map_fd, const char *root,
                        const uvperf_bpf_reader_options_t *options,
                        uvperf_error_t *error) {
  uvperf__bpf_outputs_options_t chosen = {
      .root = root,
      .map_fd = map_fd,
      .path = options->path,
      .attr = options->attr,
      .cpus = options->cpus,
      .ring_bytes = options->ring_bytes,
      .wakeup_events = options->wakeup_events,
      .wakeup_bytes = options->wakeup_bytes,
      .overwrite = (options->flags & UVPERF_BPF_READER_OVERWRITE) != 0,
      .is_fixed = (options->flags & UVPERF_BPF_READER_FIXED_CPUS) != 0,
  };
  int rc = uvperf__bpf_outputs_new(&impl->outputs, &chosen, error);

  if (rc != 0)
    return rc;
  impl->rings = uvperf__bpf_outputs_rings(impl->outputs);
  impl->decoder = uvperf__bpf_outputs_decoder(impl->outputs);
  return 0;
}

/* The watch is last, so that the loop knows of nothing when anything else
 * fails; rings are added to it by start. */
static int open_reader(reader_t *impl, uv_loop_t *loop, int map_fd,
                       const char *root,
                       const uvperf_bpf_reader_options_t *options,
                       uvperf_error_t *error) {
  int rc = 0;

  impl->scratch = uvperf__calloc(1, UVPERF__RING_SCRATCH_BYTES);
  if (impl->scratch == NULL)
    rc = UV_ENOMEM;
  if (rc == 0 && !(impl->flags & UVPERF_BPF_READER_FIXED_CPUS))
    rc = uvperf__bpf_reader_make_hotplug(impl, root);
  if (rc != 0)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                             "no memory for the handle");
  rc = open_outputs(impl, map_fd, root, options, error);
  if (rc != 0)
    return rc;
  rc = uvperf__watch_new(&impl->watch, loop, &uvperf__bpf_reader_watch_ops,
                         impl);
  if (rc != 0)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                             "no memory for the inner handles");
  return 0;
}

static reader_t *make_impl(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                           const uvperf_bpf_reader_options_t *options) {
  reader_t *impl = uvperf__calloc(1, sizeof(*impl));

  if (impl == NULL)
    return NULL;
  impl->handle = reader;
  uvperf__teardown_init(&impl->teardown, loop, closed, release, impl);
  impl->process = uvperf__process();
  impl->flags = options->flags;
  impl->default_flush_ms =
      options->wakeup_events == 1 || options->wakeup_bytes == 1
          ? 0
          : DEFAULT_FLUSH_MS;
  return impl;
}

int uvperf__bpf_reader_open(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                            int map_fd, const char *root,
                            const uvperf_bpf_reader_options_t *options,
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
  impl = make_impl(loop, reader, &own);
  if (impl == NULL)
    return uvperf__error_set(error, UV_ENOMEM, UVPERF_CAUSE_MEMORY,
                             "no memory for the handle");
  rc = open_reader(impl, loop, map_fd, root, &own, error);
  if (rc != 0) {
    release(impl);
    return rc;
  }
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
  return uvperf__bpf_reader_open(loop, reader, map_fd, "", options, error);
}

/* -- as any uv handle ----------------------------------------------------- */

/* These may be asked of a closing handle too, and of one that is closed (impl
 * NULL) while its memory lives. */

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

  return impl != NULL && !impl->closing && uvperf__watch_is_active(impl->watch);
}

int uvperf_bpf_reader_is_closing(const uvperf_bpf_reader_t *reader) {
  const reader_t *impl = reader->impl;

  return impl == NULL || impl->closing;
}

size_t uvperf_bpf_reader_size(void) {
  return sizeof(uvperf_bpf_reader_t);
}
