/* SPDX-License-Identifier: MIT */
/* One perf event as a libuv handle: init, start, stop, flush, close. open.c
 * opens the event, drain.c delivers its records, output.c shares its ring,
 * read.c reads it, and control.c has the other operations. */
#include "event/internal.h"

#include <sys/ioctl.h>

#include "attr/attr.h"
#include "explain/explain.h"
#include "host/task.h"
#include "loop/hub.h"
#include "loop/rings.h"
#include "loop/stats.h"
#include "loop/stream_options.h"
#include "sys/opener.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

#define FLAGS_KNOWN                                                            \
  (UVPERF_EVENT_NO_RING | UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_CPU |           \
   UVPERF_EVENT_CGROUP | UVPERF_EVENT_PERF_CLOCK | UVPERF_EVENT_FD |           \
   UVPERF_EVENT_PIDFD)

/* A caller allocates the handle, so its size must never change. */
_Static_assert(sizeof(uvperf_event_t) == 7 * sizeof(void *) + 2 * sizeof(int),
               "uvperf_event_t is ABI");

static const uvperf__handle_kind_t event_kind;

static const uvperf__watch_ops_t watch_ops = {
    .drain = uvperf__event_drain,
    .slice_end = uvperf__handle_slice_end,
    .ring_skipped = uvperf__rings_skipped,
    .end = uvperf__rings_end,
    .close = uvperf__handle_begin_close,
};

/* -- init and open --------------------------------------------------------- */

/* Zero is the default of each id option, but zero is also a valid CPU, cgroup
 * and fd. So each of these has a flag. */
static int check_id(int32_t id, int has_flag, const char *option,
                    const char *flag, uvperf_error_t *error) {
  if (has_flag ? id >= 0 : id == 0 || id == -1)
    return 0;
  if (has_flag)
    return uvperf__error_argument(error,
                                  "options.%s is %d, but options.flags has %s; "
                                  "leave the flag out, or set the field",
                                  option, id, flag);
  return uvperf__error_argument(
      error,
      "options.%s is %d, but options.flags lacks %s; set it, or leave %s 0",
      option, id, flag, option);
}

/* Checks the ids of the options. Inside the library -1 means no id, as for
 * perf_event_open(2). */
static int plan_take_ids(event_plan_t *plan, uvperf_error_t *error) {
  uvperf_event_options_t *own = &plan->options;
  int has_cpu = (own->flags & UVPERF_EVENT_CPU) != 0;
  int has_cgroup = (own->flags & UVPERF_EVENT_CGROUP) != 0;
  int is_pidfd = (own->flags & UVPERF_EVENT_PIDFD) != 0;
  uvperf__task_t task;
  int rc = check_id(own->cpu, has_cpu, "cpu", "UVPERF_EVENT_CPU", error);

  if (rc == 0)
    rc = check_id(own->cgroup, has_cgroup, "cgroup", "UVPERF_EVENT_CGROUP",
                  error);
  if (rc == 0 && !(own->flags & UVPERF_EVENT_FD))
    rc = check_id(own->fd, 0, "fd", "UVPERF_EVENT_FD", error);
  if (rc != 0)
    return rc;
  if (!has_cpu)
    own->cpu = -1;
  if (!has_cgroup)
    own->cgroup = -1;
  if (has_cgroup && (own->pid != 0 || is_pidfd || !has_cpu))
    return uvperf__error_argument(
        error, "a cgroup needs one CPU and no task; set options.cpu and "
               "UVPERF_EVENT_CPU in options.flags, and leave options.pid 0");
  if (own->pid == -1 && !has_cpu && !is_pidfd)
    return uvperf__error_argument(
        error, "every task (options.pid -1) needs one CPU; set options.cpu, "
               "and UVPERF_EVENT_CPU in options.flags");
  if (!is_pidfd)
    return 0;
  if (own->pid < 0)
    return uvperf__error_argument(error,
                                  "options.pid is %d, but options.flags has "
                                  "UVPERF_EVENT_PIDFD; set the pidfd",
                                  own->pid);
  rc = uvperf__task_of_pidfd(own->pid, &task, error);
  if (rc != 0)
    return rc;
  own->pid = plan->pid = task.id;
  plan->start = own->flags & UVPERF_EVENT_FD ? 0 : task.start;
  return 0;
}

/* Checks all options except the ids, the leader and the size of the ring. */
static int check_options(const uvperf_event_options_t *options,
                         const struct perf_event_attr *attr,
                         uvperf_error_t *error) {
  const char *why = NULL;

  if (options->flags & ~FLAGS_KNOWN)
    return uvperf__error_bits(error, "options.flags", options->flags);
  if (options->fallbacks & ~(uint32_t)UVPERF_FALLBACK_ALL)
    return uvperf__error_bits(error, "options.fallbacks", options->fallbacks);
  if ((options->flags & UVPERF_EVENT_NO_RING) && options->ring_bytes != 0)
    return uvperf__error_argument(error,
                                  "UVPERF_EVENT_NO_RING and options.ring_bytes "
                                  "exclude each other; leave one out");
  if (!(options->flags & UVPERF_EVENT_FD))
    return 0;
  if (options->open != NULL || options->fallbacks != 0)
    why = "options.open or options.fallbacks, which are for opening; leave "
          "them out";
  else if (options->flags & UVPERF_EVENT_IDENTIFY)
    why = "UVPERF_EVENT_IDENTIFY, which would change the attr; leave it out";
  else if ((attr->read_format & (PERF_FORMAT_GROUP | PERF_FORMAT_ID)) ==
           PERF_FORMAT_GROUP)
    why = "PERF_FORMAT_GROUP without PERF_FORMAT_ID, by which values are "
          "matched; open the event with both";
  if (why == NULL)
    return 0;
  return uvperf__error_argument(error, "UVPERF_EVENT_FD excludes %s", why);
}

/* Checks the attr, and chooses the size of the ring to map. 0 means no ring. */
static int plan_choose_ring(event_plan_t *plan,
                            const struct perf_event_attr *attr,
                            uvperf_error_t *error) {
  size_t asked = plan->options.ring_bytes;
  uint32_t least = uvperf__event_least_ring(attr);
  const char *fault = uvperf__attr_fault(attr);

  if (fault != NULL)
    return uvperf__error_argument(error, "attr has %s", fault);
  if ((plan->options.flags & UVPERF_EVENT_NO_RING) ||
      (asked == 0 && !uvperf__attr_writes_records(attr)))
    return 0;
  plan->ring_bytes =
      uvperf__ring_round(asked == 0 ? UVPERF__RING_DEFAULT_BYTES : asked);
  if (plan->ring_bytes == 0)
    return uvperf__error_argument(
        error, "options.ring_bytes %zu is too large; lower it", asked);
  if (least < plan->ring_bytes)
    return 0;
  return uvperf__error_argument(
      error,
      attr->write_backward
          ? "attr.sample_stack_user %u does not fit the overwritable ring of "
            "%zu bytes, so no record would be whole; raise options.ring_bytes"
          : "attr.wakeup_watermark %u is not below the ring's %zu bytes, so no "
            "record would wake the loop; lower it",
      least, plan->ring_bytes);
}

/* Refuses an event that another handle of the loop already has, because both
 * handles would read the same ring and close the same fd. The fd is the
 * caller's: it is options.fd, or options.open has returned it. Handles of other
 * loops, sets and readers are not checked. */
static int check_twin(event_t *impl, const event_plan_t *plan,
                      uvperf_error_t *error) {
  int is_given = (impl->flags & UVPERF_EVENT_FD) != 0;

  if ((!is_given && plan->options.open == NULL) ||
      !uvperf__hub_has_event(impl->base.teardown.loop, impl->id))
    return 0;
  uvperf__error_set(error, UV_EEXIST, UVPERF_CAUSE_ARGUMENT,
                    "%s %d is already the event of another handle of the loop "
                    "(id %llu); use that handle",
                    is_given ? "options.fd" : "the fd from options.open",
                    impl->fd, (unsigned long long)impl->id);
  impl->flags |= UVPERF_EVENT_FD; /* for uvperf__event_give_back */
  return UV_EEXIST;
}

static int event_make_watch(event_t *impl, uvperf_error_t *error) {
  int rc = uvperf__watch_new(&impl->base.watch, &impl->base.teardown,
                             &watch_ops, impl);

  return rc == 0 ? 0
                 : uvperf__error_shortage(error, rc, "cannot make the event");
}

/* Makes what an open event needs. The pool has a watch already. An init makes
 * it as late as possible: if a step before it fails, nothing is registered with
 * the loop. */
static int event_install(event_t *impl, const event_plan_t *plan,
                         uvperf_error_t *error) {
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_ID,
                                     .attr = impl->attr};
  int rc = uvperf__open_id(impl->fd, &impl->id);

  if (rc != 0)
    return uvperf__explain_control(error, rc, &control);
  rc = check_twin(impl, plan, error);
  if (rc != 0)
    return rc;
  impl->base.is_overwritable = impl->own.ring.overwrite;
  impl->source.size = sizeof(impl->source);
  impl->source.attr = impl->attr;
  impl->source.ids = &impl->id;
  impl->source.nr_ids = 1;
  impl->source.pid = plan->options.pid;
  impl->source.cpu = plan->options.cpu;
  rc = uvperf__event_make_decoder(&impl->base.decoder, impl, NULL);
  if (rc == UV_ENOMEM)
    return uvperf__error_shortage(error, rc, "cannot make the decoder");
  if (rc != 0)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_ARGUMENT,
                             "cannot decode the records of this attr");
  if (impl->base.watch == NULL)
    rc = event_make_watch(impl, error);
  if (rc != 0)
    return rc;
  if (uvperf__event_is_watched(impl))
    rc = uvperf__watch_add(impl->base.watch, &impl->own.ring, impl->fds,
                           impl->own.nr_events);
  if (rc != 0)
    return uvperf__watch_explain(error, rc);
  uvperf__watch_note_event(impl->base.watch, impl->id);
  impl->own.fd = impl->fd;
  impl->own.spare = -1;
  impl->own.cpu = impl->source.cpu;
  if (impl->own.ring.page != NULL)
    impl->base.ring = &impl->own;
  return 0;
}

/* Makes all checks that can be made before opening, and the attr of the
 * event. */
static int event_plan(event_t *impl, event_plan_t *plan,
                      const struct perf_event_attr *attr,
                      uvperf_error_t *error) {
  const uvperf_event_options_t *options = &plan->options;
  const event_t *leader = NULL;
  int rc = check_options(options, attr, error);

  plan->pid = options->pid;
  plan->group_fd = -1;
  if (rc == 0)
    rc = plan_take_ids(plan, error);
  if (rc == 0 && options->leader != NULL) {
    leader = options->leader->handle.impl;
    if (leader == NULL || leader->base.closing ||
        options->leader->handle.loop != impl->base.teardown.loop)
      return uvperf__error_argument(
          error, "options.leader is closed or on another loop");
    rc = uvperf__handle_check_as(&leader->base, "leader", error);
    plan->group_fd = leader->fd;
  }
  if (rc == 0)
    rc = uvperf__event_attr_copy(&impl->attr, attr,
                                 leader == NULL ? NULL : leader->attr,
                                 impl->flags, error);
  if (rc == 0)
    rc = plan_choose_ring(plan, impl->attr, error);
  if (rc == 0 && options->open != NULL)
    plan->newest_id = uvperf__hub_newest_event(impl->base.teardown.loop);
  return rc;
}

static int event_open_on_pool(event_t *impl, const event_plan_t *plan,
                              uvperf_error_t *error) {
  event_opening_t *opening;
  int rc =
      uvperf__event_new_opening(&opening, impl, plan, event_install, error);

  if (rc == 0)
    rc = event_make_watch(impl, error);
  if (rc == 0)
    rc = uvperf__event_begin_opening(impl, opening, error);
  if (rc != 0)
    uvperf__event_free_opening(opening);
  return rc;
}

int uvperf_event_init(uv_loop_t *loop, uvperf_event_t *event,
                      const struct perf_event_attr *attr,
                      const uvperf_event_options_t *options,
                      uvperf_error_t *error) {
  event_plan_t plan = {.options = {.size = 0}};
  uvperf_event_options_t *own = &plan.options;
  event_t *impl;
  int rc;

  if (loop == NULL || event == NULL || attr == NULL)
    return uvperf__error_argument(error,
                                  "loop, event and attr must not be NULL");
  /* The first version ended before `fallbacks`. */
  rc = uvperf__options_copy(
      own, sizeof(*own), offsetof(uvperf_event_options_t, fallbacks), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_event_options_t");
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the event");
  impl->fd = -1;
  impl->bpf_link = -1;
  impl->fds = &impl->fd;
  impl->own.nr_events = 1;
  impl->flags = own->flags;
  uvperf__handle_init(&impl->base, loop, &event_kind);
  uvperf__handle_limit_calls(&impl->base, own->open, own->open_timeout_ms);
  rc = event_plan(impl, &plan, attr, error);
  if (rc == 0 && own->open_cb != NULL) {
    rc = event_open_on_pool(impl, &plan, error);
  } else if (rc == 0) {
    rc = uvperf__event_open(impl, &plan, error);
    if (rc == 0)
      rc = event_install(impl, &plan, error);
  }
  if (rc == 0) {
    if (own->leader != NULL)
      uvperf__event_join_group(impl, own->leader->handle.impl);
    impl->source.data = event;
    uvperf__handle_publish(&impl->base, &event->handle);
    return 0;
  }
  uvperf__event_give_back(impl);
  uvperf__handle_fail(&impl->base);
  return rc;
}

/* -- start, stop, flush ---------------------------------------------------- */

/* Checks whether the start needs a callback, and whether the event can get
 * records for it: its own records, READ records of children (inherit_stat), or
 * records of other events that write into its ring. Records of other events
 * need UVPERF_EVENT_IDENTIFY. An overwritable ring is delivered by snapshots,
 * which also use the callback. */
static int event_check_cb(const event_t *impl, uvperf_record_cb cb,
                          uvperf_error_t *error) {
  if (cb == NULL && uvperf__event_is_watched(impl))
    return uvperf__error_argument(
        error,
        "an event with a ring needs a record callback; cb must not be NULL");
  if (cb == NULL ||
      (impl->own.ring.page != NULL &&
       (uvperf__attr_writes_records(impl->attr) || impl->attr->inherit_stat ||
        (impl->attr->sample_type & PERF_SAMPLE_IDENTIFIER) != 0 ||
        impl->writers != NULL)))
    return 0;
  if (impl->flags & UVPERF_EVENT_NO_RING)
    return uvperf__error_argument(
        error, "an event with UVPERF_EVENT_NO_RING has no records of its own "
               "for a callback; start it with cb NULL");
  return uvperf__error_argument(
      error, "the event only counts, so its callback would never be called; "
             "set a period (uvperf_attr_set_period, or period= in its name), "
             "or start it with cb NULL");
}

/* Registers with the loop, then enables, so that the first record finds a
 * reader. execve(2) will enable an event with enable_on_exec, so then only its
 * siblings are enabled here. They do not count before the event does. */
static int event_start(void *owner, const uvperf_stream_options_t *options,
                       int enables, uvperf_record_cb cb,
                       uvperf_error_t *error) {
  event_t *impl = owner;
  uvperf__watch_options_t chosen;
  int rc = event_check_cb(impl, cb, error);

  if (rc != 0)
    return rc;
  uvperf__stream_options_for_watch(options, uvperf__event_default_flush(impl),
                                   &chosen);
  /* A pinned event in error state wakes nobody. A flush finds that out. */
  chosen.flush_all = impl->attr->pinned;
  if (impl->own.status == UV_EPROTO)
    rc = UV_EPROTO;
  else if (uvperf__event_is_watched(impl))
    rc = uvperf__watch_start(impl->base.watch, &chosen);
  else
    uvperf__watch_set_options(impl->base.watch, &chosen);
  if (rc == UV_EOF)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_NO_TASK,
                             "delivery has ended; no more records will come");
  if (rc != 0)
    return uvperf__watch_explain(error, rc);
  if (enables)
    rc = impl->attr->enable_on_exec
             ? uvperf__event_enable_siblings(impl, 0, error)
             : uvperf__event_enable(impl, error);
  /* A start without a callback inside a snapshot's callback ends the delivery
   * of that snapshot. */
  if (rc != 0 || cb == NULL)
    uvperf__watch_stop(impl->base.watch);
  if (rc == 0)
    impl->default_flush = options->flush_ms == 0;
  return rc;
}

static int event_flush(void *owner) {
  event_t *impl = owner;

  if (impl->own.status != 0)
    return 0;
  return uvperf__watch_flush(impl->base.watch);
}

/* -- close ----------------------------------------------------------------- */

/* Without a link the program runs until the event's file is closed. */
static void event_end_program(event_t *impl) {
  if (impl->bpf_link < 0)
    return;
  uvperf__sys_close(impl->bpf_link);
  impl->bpf_link = -1;
  impl->has_program = 0;
}

static void event_quit(void *owner) {
  event_t *impl = owner;

  if (!uvperf__handle_is_forked(&impl->base)) {
    /* When the leader's fd is closed, its siblings become leaders and would
     * count. */
    uvperf__event_disable_siblings(impl);
    if (impl->fd >= 0)
      uvperf__sys_ioctl(impl->fd, PERF_EVENT_IOC_DISABLE, 0);
    event_end_program(impl); /* not earlier: the program may drop samples */
  }
  uvperf__event_leave_group(impl);
  uvperf__event_unlink(impl);
}

static void event_give_up(void *owner, uvperf__leftovers_t *leftovers) {
  event_t *impl = owner;

  /* In these cases the event is closed at once. After a failed init the loop
   * runs only once more. A program without a link must end soon. A forked
   * child's fd is not the last fd of the event. */
  if (impl->base.handle == NULL || impl->has_program ||
      !uvperf__attr_closes_slowly(impl->attr) ||
      uvperf__handle_is_forked(&impl->base))
    return;
  uvperf__ring_give_up(&impl->own.ring, leftovers);
  uvperf__leftovers_add(leftovers, NULL, 0, impl->fd);
  impl->fd = -1;
}

static void event_release(void *owner) {
  event_t *impl = owner;

  /* Checked only now: this may be a child that was forked after the close
   * began. */
  if (uvperf__handle_is_forked(&impl->base))
    uvperf__ring_forget(&impl->own.ring);
  else
    uvperf__ring_unmap(&impl->own.ring);
  event_end_program(impl);
  if (impl->fd >= 0)
    uvperf__sys_close(impl->fd);
  uvperf_decoder_free(impl->base.decoder);
  uvperf__event_free_old_decoders(impl);
  uvperf__event_free_writers(impl);
  uvperf__free(impl->attr);
  uvperf__free(impl->changes);
  uvperf__watch_free(impl->base.watch);
  uvperf__free(impl);
}

/* -- getters --------------------------------------------------------------- */

int uvperf_event_id(uvperf_event_t *event, uint64_t *id) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  int rc = uvperf__handle_check(&impl->base, NULL);

  if (id == NULL)
    return UV_EINVAL;
  if (rc != 0)
    return rc;
  *id = impl->id;
  return 0;
}

int uvperf_event_fd(const uvperf_event_t *event) {
  const event_t *impl = uvperf__handle_impl(&event->handle);

  return impl->base.code == UV_EBADF ? -1 : impl->fd;
}

static const struct perf_event_attr *event_attr(const void *owner,
                                                size_t attr) {
  return attr == 0 ? ((const event_t *)owner)->attr : NULL;
}

/* -- the kind -------------------------------------------------------------- */

static const uvperf__handle_kind_t event_kind = {
    .type = UVPERF_HANDLE_EVENT,
    .noun = "event",
    .is_active = uvperf__handle_is_watching,
    .start = event_start,
    .stop = uvperf__handle_stop,
    .next = uvperf__event_next,
    .next_or_end = uvperf__event_next_or_end,
    .flush = event_flush,
    .overwritable_by = "attr.write_backward",
    .prepare = uvperf__event_prepare,
    .deliver = uvperf__event_deliver_snapshot,
    .control = &uvperf__event_control,
    .attr = event_attr,
    .count_lost = uvperf__event_count_lost,
    .quit = event_quit,
    .give_up = event_give_up,
    .release = event_release,
};
