/* SPDX-License-Identifier: MIT */
/* Several events that write into one ring. Their records are distinguished by
 * id. The owner of the ring keeps a copy of each event's attr for decoding,
 * because records can outlive the event that wrote them. */
#include "event/internal.h"

#include <string.h>

#include <sys/ioctl.h>

#include "attr/attr.h"
#include "decode/decoder.h"
#include "decode/read_format.h"
#include "explain/explain.h"
#include "loop/stream_options.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

/* Everything that is needed to attach an event to a ring. An attachment is made
 * before the ioctl, so that nothing can fail after the kernel has agreed. */
typedef struct attachment_s {
  uvperf__writer_t *writer;
  int is_new; /* 0: the event has written into this ring before */
  uvperf_decoder_t *decoder;
  int *fds;
} attachment_t;

static void free_writer(uvperf__writer_t *writer) {
  if (writer == NULL)
    return;
  uvperf__free(writer->attr);
  uvperf__free(writer);
}

static void free_fds(event_t *owner) {
  if (owner->fds != &owner->fd)
    uvperf__free(owner->fds);
}

/* For this time after SET_OUTPUT records can still arrive in the old ring:
 * SET_OUTPUT does not wait for a record that another CPU is writing. That CPU
 * holds the old ring by RCU (ring_buffer_attach) for microseconds, or longer if
 * a hypervisor has taken the CPU away. */
#define LATEST_RECORD_NS (100 * UINT64_C(1000000))

/* For each writer that has left, notes where its records end, and whether they
 * are overwritten. The head may move at any time, so the head is read only
 * here.
 *
 * An overwritable ring, whose head moves down, has overwritten the records when
 * it was written once from `end` on. They are still remembered while the user
 * has a record (as in a callback) or a snapshot is pending, because the user
 * then has, or still gets, records that are no longer in the ring. */
static void ring_note_ends(event_t *owner) {
  int may_be_over = owner->own.ring.overwrite && owner->base.cursor.lent == 0 &&
                    !owner->base.in_callback && owner->base.snapshot == NULL;
  uvperf__writer_t *writer;
  uint64_t now = uv_hrtime();

  for (writer = owner->writers; writer != NULL; writer = writer->next) {
    if (!writer->has_left || now - writer->left_at < LATEST_RECORD_NS)
      continue;
    if (!writer->has_end)
      writer->end = uvperf__ring_head(&owner->own.ring);
    writer->has_end = 1;
    writer->is_overwritten =
        may_be_over && writer->end - uvperf__ring_head(&owner->own.ring) >=
                           owner->own.ring.size;
  }
}

/* Whether the ring may still hold records of a writer. */
static int writer_is_remembered(const uvperf__writer_t *writer) {
  const uvperf__ring_t *ring = &writer->owner->own.ring;

  if (!writer->has_left || !writer->has_end)
    return 1;
  if (ring->overwrite)
    return !writer->is_overwritten;
  return (int64_t)(writer->end - ring->tail) > 0;
}

int uvperf__event_make_decoder(uvperf_decoder_t **decoder, const event_t *owner,
                               const uvperf__writer_t *added) {
  const uvperf_source_t **sources;
  const uvperf__writer_t *writer;
  size_t nr = added != NULL ? 2 : 1;
  int rc;

  for (writer = owner->writers; writer != NULL; writer = writer->next)
    nr += 1;
  sources = uvperf__calloc(nr, sizeof(*sources));
  if (sources == NULL)
    return UV_ENOMEM;
  nr = 0;
  sources[nr++] = &owner->source;
  if (added != NULL)
    sources[nr++] = &added->source;
  for (writer = owner->writers; writer != NULL; writer = writer->next)
    if (writer_is_remembered(writer))
      sources[nr++] = &writer->source;
  rc = uvperf_decoder_new(decoder, sources, nr);
  uvperf__free(sources);
  return rc;
}

/* -- lost records ---------------------------------------------------------- */

/* Returns the event into whose ring `impl` writes. Returns `impl` itself if the
 * ring is its own. */
static event_t *owner_of(event_t *impl) {
  return impl->output != NULL ? impl->output : impl;
}

/* Adds what the event has lost since the last time to the ring into which it
 * writes now. */
static void writer_count_lost(event_t *impl) {
  event_t *owner = owner_of(impl);
  uint64_t format = impl->attr->read_format;
  uvperf__value_t value;

  if (owner->own.ring.size == 0 || !uvperf__read_format_has_lost(format) ||
      (!owner->was_paused && !uvperf__ring_may_have_lost(&owner->own.ring)) ||
      uvperf__read_format_fd(impl->fd, format, &value) != 0)
    return;
  owner->own.lost += value.lost - impl->seen_lost;
  impl->seen_lost = value.lost;
}

int uvperf__event_count_lost(void *impl) {
  event_t *owner = impl;
  const uvperf__writer_t *writer;

  writer_count_lost(owner);
  for (writer = owner->writers; writer != NULL; writer = writer->next)
    if (writer->event != NULL && writer->event->output == owner)
      writer_count_lost(writer->event);
  return owner->own.ring.size != 0 &&
         uvperf__read_format_has_lost(owner->attr->read_format);
}

/* -- attaching ------------------------------------------------------------ */

static uvperf__writer_t *find_writer(const event_t *impl,
                                     const event_t *owner) {
  uvperf__writer_t *writer = impl->rings;

  while (writer != NULL && writer->owner != owner)
    writer = writer->next_ring;
  return writer;
}

static int make_writer(uvperf__writer_t **made, event_t *impl, event_t *owner) {
  uvperf__writer_t *writer = uvperf__calloc(1, sizeof(*writer));

  *made = writer;
  if (writer == NULL)
    return UV_ENOMEM;
  writer->owner = owner;
  writer->event = impl;
  writer->id = impl->id;
  writer->source = impl->source;
  writer->source.ids = &writer->id;
  if (uvperf__attr_copy(&writer->attr, impl->attr, NULL) != 0)
    return UV_ENOMEM;
  writer->source.attr = writer->attr;
  return 0;
}

static int attachment_make(attachment_t *attachment, event_t *impl,
                           event_t *owner, uvperf_error_t *error) {
  size_t size = sizeof(attachment->fds[0]);
  int rc = 0;

  attachment->writer = find_writer(impl, owner);
  attachment->is_new = attachment->writer == NULL;
  if (attachment->is_new)
    rc = make_writer(&attachment->writer, impl, owner);
  else
    attachment->writer->has_left = 0;
  attachment->fds = uvperf__calloc(owner->own.nr_events + 1, size);
  if (attachment->fds != NULL) {
    memcpy(attachment->fds, owner->fds, owner->own.nr_events * size);
    attachment->fds[owner->own.nr_events] = impl->fd;
  }
  if (rc != 0 || attachment->fds == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot share the ring");
  rc = uvperf__event_make_decoder(&attachment->decoder, owner,
                                  attachment->is_new ? attachment->writer
                                                     : NULL);
  if (rc == UV_ENOMEM)
    return uvperf__error_shortage(error, rc, "cannot share the ring");
  if (rc != 0)
    return uvperf__error_set(
        error, rc, UVPERF_CAUSE_ARGUMENT,
        "events that share a ring need ids in their records; open each of them "
        "with UVPERF_EVENT_IDENTIFY");
  return 0;
}

/* Removes a writer from its event's list. */
static void unlink_ring(const uvperf__writer_t *writer) {
  uvperf__writer_t **link;

  if (writer->event == NULL)
    return;
  link = &writer->event->rings;
  while (*link != writer)
    link = &(*link)->next_ring;
  *link = writer->next_ring;
}

/* Cannot fail: the kernel has agreed. A record that the user holds belongs to
 * the old decoder or to an earlier decoder. */
static void event_attach(attachment_t *attachment, event_t *impl,
                         event_t *owner) {
  uvperf__writer_t *writer = attachment->writer;
  uvperf__writer_t **link = &owner->writers;

  if (owner->base.cursor.lent > 0 || owner->base.in_callback) {
    owner->base.decoder->older = owner->old_decoders;
    owner->old_decoders = owner->base.decoder;
  } else {
    uvperf_decoder_free(owner->base.decoder);
  }
  owner->base.decoder = attachment->decoder;
  uvperf__cursor_stop(&owner->base.cursor);
  if (attachment->is_new) {
    writer->next = owner->writers;
    owner->writers = writer;
    writer->next_ring = impl->rings;
    impl->rings = writer;
  }
  while ((writer = *link) != NULL) {
    if (writer_is_remembered(writer)) {
      link = &writer->next;
      continue;
    }
    *link = writer->next;
    unlink_ring(writer);
    free_writer(writer);
  }
  if (uvperf__event_is_watched(owner))
    uvperf__watch_set_fds(owner->base.watch, 0, attachment->fds,
                          owner->own.nr_events + 1);
  free_fds(owner);
  owner->fds = attachment->fds;
  owner->own.nr_events += 1;
  impl->output = owner;
  if (owner->base.is_started && owner->default_flush)
    uvperf__watch_set_flush(owner->base.watch,
                            uvperf__event_default_flush(owner));
}

/* -- detaching ------------------------------------------------------------ */

/* Records that the event has written are still delivered. */
static void event_detach(event_t *impl) {
  event_t *owner = impl->output;
  uvperf__writer_t *writer;
  size_t kept = 0;
  int is_forked;
  size_t i;

  if (owner == NULL)
    return;
  is_forked = uvperf__handle_is_forked(&owner->base);
  if (!is_forked)
    writer_count_lost(impl);
  impl->output = NULL;
  writer = find_writer(impl, owner);
  writer->has_left = 1;
  writer->has_end = 0;
  writer->left_at = uv_hrtime();
  /* In a forked child, choosing another fd to poll would take a wakeup from the
   * parent. */
  if (is_forked)
    return;
  for (i = 0; i < owner->own.nr_events; i++)
    if (owner->fds[i] != impl->fd)
      owner->fds[kept++] = owner->fds[i];
  owner->own.nr_events = kept;
  if (uvperf__event_is_watched(owner))
    uvperf__watch_set_fds(owner->base.watch, 0, owner->fds,
                          owner->own.nr_events);
}

void uvperf__event_unlink(event_t *impl) {
  uvperf__writer_t *writer;

  if (impl->output != NULL && !uvperf__handle_is_forked(&impl->base))
    uvperf__sys_ioctl(impl->fd, PERF_EVENT_IOC_SET_OUTPUT, -1L);
  event_detach(impl);
  /* From now on the event's records must not refer to the handle. */
  for (writer = impl->rings; writer != NULL; writer = writer->next_ring) {
    writer->event = NULL;
    writer->source.data = NULL;
  }
  impl->rings = NULL;
  /* When the ring is unmapped, perf_mmap_close() detaches the other events. */
  for (writer = impl->writers; writer != NULL; writer = writer->next) {
    unlink_ring(writer);
    if (writer->event != NULL && writer->event->output == impl)
      writer->event->output = NULL;
    writer->event = NULL;
  }
}

void uvperf__event_free_writers(event_t *impl) {
  uvperf__writer_t *writer;

  while ((writer = impl->writers) != NULL) {
    impl->writers = writer->next;
    free_writer(writer);
  }
  free_fds(impl);
}

/* -- SET_OUTPUT ----------------------------------------------------------- */

/* Returns the reason why the library refuses the output, or NULL. */
static const char *fault_of(const uvperf_event_t *event,
                            const uvperf_event_t *output) {
  const event_t *impl = event->handle.impl;
  const event_t *owner;

  if (impl->own.ring.page != NULL)
    return "the event has a ring of its own; open it with UVPERF_EVENT_NO_RING "
           "(and both with UVPERF_EVENT_IDENTIFY)";
  if (output == NULL)
    return NULL;
  if (output->handle.impl == NULL ||
      ((const event_t *)output->handle.impl)->base.closing)
    return "output is closed";
  if (output == event || event->handle.loop != output->handle.loop)
    return "output must be another event on the same loop";
  owner = owner_of(output->handle.impl);
  if (owner->base.code != 0)
    return NULL; /* uvperf__handle_check_as explains it */
  if (owner->own.ring.page == NULL)
    return "output has no ring; open it with one";
  if (owner->own.ring.overwrite &&
      uvperf__attr_stack(impl->attr) >= owner->own.ring.size)
    return "attr.sample_stack_user does not fit the overwritable ring; use a "
           "larger ring";
  return NULL;
}

/* perf_event_set_output() in kernel/events/core.c returns EINVAL in all of
 * these cases. */
static int explain_output(int code, const event_t *impl, const event_t *owner,
                          uvperf_error_t *error) {
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_OUTPUT,
                                     .attr = impl->attr};
  const char *why;

  if (code != UV_EINVAL || owner == NULL)
    return uvperf__explain_control(error, code, &control);
  if (owner->source.cpu != impl->source.cpu)
    why = "both events must be on the same CPU";
  else if (owner->own.ring.overwrite != impl->attr->write_backward)
    why = "both events must have attr.write_backward, or none";
  else if (owner->source.cpu == -1)
    why = "without a CPU both events must measure the same thread, with the "
          "same clock";
  else
    why = "both events must use the same clock (attr.use_clockid)";
  return uvperf__error_set(error, code, UVPERF_CAUSE_ARGUMENT,
                           "cannot redirect the records: %s", why);
}

static int event_redirect(event_t *impl, event_t *owner,
                          uvperf_error_t *error) {
  attachment_t attachment = {NULL, 0, NULL, NULL};
  int rc;

  if (uvperf__event_has_ended(owner))
    return uvperf__error_set(error, UV_EOF, UVPERF_CAUSE_NO_TASK,
                             "delivery from the output's ring has ended");
  ring_note_ends(owner);
  rc = attachment_make(&attachment, impl, owner, error);
  if (rc == 0) {
    rc = uvperf__sys_ioctl(impl->fd, PERF_EVENT_IOC_SET_OUTPUT, owner->fd);
    if (rc < 0)
      explain_output(rc, impl, owner, error);
  }
  if (rc >= 0) {
    event_detach(impl);
    event_attach(&attachment, impl, owner);
    return 0;
  }
  if (attachment.is_new)
    free_writer(attachment.writer);
  else
    attachment.writer->has_left = 1;
  uvperf_decoder_free(attachment.decoder);
  uvperf__free(attachment.fds);
  return rc;
}

int uvperf_event_set_output(uvperf_event_t *event, uvperf_event_t *output,
                            uvperf_error_t *error) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  const char *fault;
  event_t *owner;
  int rc;

  rc = uvperf__handle_check(&impl->base, error);
  if (rc != 0)
    return rc;
  fault = fault_of(event, output);
  if (fault != NULL)
    return uvperf__error_argument(error, "%s", fault);
  if (output != NULL) {
    owner = owner_of(output->handle.impl);
    rc = uvperf__handle_check_as(&owner->base, "output", error);
    if (rc != 0 || impl->output == owner)
      return rc;
    return event_redirect(impl, owner, error);
  }
  rc = uvperf__sys_ioctl(impl->fd, PERF_EVENT_IOC_SET_OUTPUT, -1L);
  if (rc < 0)
    return explain_output(rc, impl, NULL, error);
  event_detach(impl);
  return 0;
}

/* -- changes of the attr --------------------------------------------------- */

void uvperf__event_attr_changed(const event_t *impl) {
  const uvperf__writer_t *writer;

  for (writer = impl->rings; writer != NULL; writer = writer->next_ring)
    memcpy(writer->attr, impl->attr, impl->attr->size);
}

/* -- latency -------------------------------------------------------------- */

/* The default is 0 if each record of each writer wakes the reader. The
 * watermark of a ring is its owner's, but each event has its own wakeup_events:
 * ring_buffer_init() and __perf_output_begin() in kernel/events/ring_buffer.c.
 * Before Linux 6.15 a pinned event in error state causes no wakeup. */
uint64_t uvperf__event_default_flush(const event_t *impl) {
  const uvperf__writer_t *writer;

  if (impl->attr->pinned || !uvperf__attr_wakes_each(impl->attr))
    return UVPERF__DEFAULT_FLUSH_MS;
  if (impl->attr->watermark)
    return 0;
  for (writer = impl->writers; writer != NULL; writer = writer->next)
    if (writer->attr->watermark || !uvperf__attr_wakes_each(writer->attr))
      return UVPERF__DEFAULT_FLUSH_MS;
  return 0;
}
