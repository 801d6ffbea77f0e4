/* SPDX-License-Identifier: MIT */
/* Several events as one libuv handle: init, start, stop, flush, close, and
 * calls that are passed on to the evlist. */
#include "set/internal.h"

#include "decode/decoder.h"
#include "loop/rings.h"
#include "loop/stats.h"
#include "loop/stream_options.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

/* The caller allocates the handle, so its size must never change. */
_Static_assert(sizeof(uvperf_set_t) == 7 * sizeof(void *) + 2 * sizeof(int),
               "uvperf_set_t is ABI");

#define NS_PER_US        ((uint64_t)1000)
#define DEFAULT_SLACK_US 1000

static const uvperf__handle_kind_t set_kind;

static const uvperf__interval_timer_ops_t interval_ops = {
    uvperf__set_tick, uvperf__set_cancel_reads, uvperf__handle_begin_close};

/* -- init ------------------------------------------------------------------ */

/* This is the last step, so that the loop has no handle if another step
 * fails. */
static int set_make_timer(set_t *impl, uvperf_error_t *error) {
  int rc = uvperf__interval_timer_new(
      &impl->interval_timer, &impl->base.teardown, &interval_ops, impl);

  return rc == 0 ? 0 : uvperf__error_shortage(error, rc, "cannot make the set");
}

/* An event that follows its task to every CPU does not depend on CPUs. If the
 * note fails, the start reports it. */
static void set_note_cpus(set_t *impl, const uvperf_target_t *targets,
                          size_t nr) {
  if (impl->base.hotplug != NULL && ((impl->flags & UVPERF_SET_RECORDS) ||
                                     uvperf__targets_are_on_cpus(targets, nr)))
    uvperf__hotplug_note(impl->base.hotplug);
}

/* Opens the set, or begins to open it on the pool. */
static int set_open(set_t *impl, const uvperf_set_options_t *options,
                    uvperf_error_t *error) {
  set_opening_t *opening;
  int rc = 0;

  if (!(impl->flags & UVPERF_SET_FIXED_CPUS))
    rc = uvperf__rings_make_hotplug(&impl->base);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot make the set");
  set_note_cpus(impl, options->targets, options->nr_targets);
  if (options->open_cb == NULL) {
    rc = uvperf__evlist_new(&impl->evlist, options, error);
    if (rc == 0)
      rc = set_make_timer(impl, error);
    if (rc == 0)
      uvperf__set_take_evlist(impl);
    return rc;
  }
  rc = uvperf__set_new_opening(&opening, impl, options, error);
  if (rc != 0)
    return rc;
  rc = set_make_timer(impl, error);
  if (rc == 0)
    rc = uvperf__set_begin_opening(impl, opening, error);
  if (rc != 0)
    uvperf__set_free_opening(opening);
  return rc;
}

/* A set without targets would count nothing, without any error. So it is
 * refused. */
int uvperf_set_init(uv_loop_t *loop, uvperf_set_t *set,
                    const uvperf_set_options_t *options,
                    uvperf_error_t *error) {
  uvperf_set_options_t own = UVPERF_SET_OPTIONS_INIT;
  set_t *impl;
  int rc;

  if (loop == NULL || set == NULL || options == NULL)
    return uvperf__error_argument(error,
                                  "loop, set and options must not be NULL");
  rc = uvperf__options_copy(&own, sizeof(own),
                            offsetof(uvperf_set_options_t, side_band), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_set_options_t");
  if (own.nr_targets == 0 && !(own.flags & UVPERF_SET_TARGETS_LATER))
    return uvperf__error_argument(
        error, "%s",
        own.targets != NULL
            ? "options.targets is set, but options.nr_targets is 0; set it to "
              "the number of targets"
            : "options.targets is NULL, so nothing would be measured; set it "
              "and options.nr_targets, or UVPERF_SET_TARGETS_LATER to add "
              "targets later");
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the set");
  uvperf__handle_init(&impl->base, loop, &set_kind);
  uvperf__handle_limit_calls(&impl->base, own.open, own.open_timeout_ms);
  impl->lent_reading = -1;
  impl->flags = own.flags;
  impl->base.is_overwritable = (own.flags & UVPERF_SET_OVERWRITE) != 0;
  impl->base.was_switched = (own.flags & UVPERF_SET_ENABLED) != 0;
  if (own.wakeup_bytes != 1)
    impl->default_flush_ms = UVPERF__DEFAULT_FLUSH_MS;
  impl->slack_ns =
      (own.slack_us == 0 ? DEFAULT_SLACK_US : own.slack_us) * NS_PER_US;
  rc = set_open(impl, &own, error);
  if (rc == 0)
    uvperf__handle_publish(&impl->base, &set->handle);
  else
    uvperf__handle_fail(&impl->base);
  return rc;
}

/* -- start ----------------------------------------------------------------- */

static int set_check_start(const set_t *impl, uvperf_record_cb cb,
                           uvperf_error_t *error) {
  if (impl->base.rings == NULL)
    return uvperf__error_argument(
        error,
        "the set has no records; set UVPERF_SET_RECORDS in options.flags");
  if (!uvperf__evlist_write_records(impl->evlist))
    return uvperf__error_argument(
        error, "all events of the set only count, so the callback would never "
               "be called; set the period of one (uvperf_attr_set_period), or "
               "options.side_band");
  if (cb == NULL)
    return uvperf__error_argument(error, "cb must not be NULL");
  if (impl->eof_reported && uvperf__evlist_have_ended(impl->evlist))
    return uvperf__error_set(
        error, UV_EOF, UVPERF_CAUSE_NO_TASK,
        "every target has ended; no more records will come");
  return uvperf__evlist_check_writers(impl->evlist, error);
}

/* The watch comes first, so that the first record finds a reader. */
static int set_start(void *owner, const uvperf_stream_options_t *options,
                     int enables, uvperf_record_cb cb, uvperf_error_t *error) {
  set_t *impl = owner;
  uvperf__watch_options_t chosen;
  int rc = set_check_start(impl, cb, error);

  if (rc != 0)
    return rc;
  uvperf__stream_options_for_watch(options, impl->default_flush_ms, &chosen);
  if (impl->base.is_overwritable) {
    chosen.flush_ms = 0; /* no record waits for a flush */
    chosen.is_idle = 1;
  }
  rc = uvperf__set_make_watch(impl);
  if (rc == 0)
    rc = uvperf__rings_watch(&impl->base);
  if (rc == 0)
    rc = uvperf__watch_start(impl->base.watch, &chosen);
  if (rc != 0)
    return uvperf__watch_explain(error, rc);
  impl->flush_ms = chosen.flush_ms;
  rc = uvperf__rings_follow_cpus(&impl->base, "set UVPERF_SET_FIXED_CPUS",
                                 error);
  if (rc == 0 && enables) {
    rc = uvperf__evlist_enable(impl->evlist, error);
    if (rc != 0)
      uvperf__evlist_disable(impl->evlist, NULL);
  }
  if (rc != 0) {
    uvperf__set_stop(impl);
    return rc;
  }
  impl->session += 1;
  impl->eof_reported = 0;
  uvperf__set_start_probes(impl);
  return 0;
}

static int set_is_active(const void *owner) {
  const set_t *impl = owner;

  return uvperf__interval_timer_is_active(impl->interval_timer) ||
         (impl->base.watch != NULL && uvperf__watch_is_busy(impl->base.watch));
}

static void set_ref(void *owner, int ref) {
  set_t *impl = owner;

  uvperf__interval_timer_set_ref(impl->interval_timer, ref);
}

/* -- flush ----------------------------------------------------------------- */

static int set_flush(void *owner) {
  set_t *impl = owner;
  int rc;

  impl->is_flushing = 1;
  rc = uvperf__watch_flush(impl->base.watch);
  impl->is_flushing = 0;
  if (!impl->base.closing)
    uvperf__evlist_free_sources(impl->evlist);
  return rc;
}

int uvperf_set_on_end(uvperf_set_t *set, uvperf_set_end_cb cb) {
  set_t *impl = uvperf__handle_impl(&set->handle);

  if (uvperf__handle_is_forked(&impl->base))
    return UV_EPERM;
  if (impl->base.closing)
    return UV_ECANCELED;
  if (cb != NULL && !(impl->flags & UVPERF_SET_RECORDS))
    return UV_EINVAL;
  impl->end_cb = cb;
  return 0;
}

/* -- control --------------------------------------------------------------- */

static uvperf__evlist_t *evlist_of(const void *owner) {
  return ((const set_t *)owner)->evlist;
}

/* A set is enabled, disabled and reset as a whole. */
static int set_check_attr(size_t attr, int is_whole, uvperf_error_t *error) {
  if (!is_whole || attr == UVPERF_ALL)
    return 0;
  return uvperf__error_argument(error,
                                "a set does this for all its attrs at once, "
                                "not for attr %zu; pass UVPERF_ALL",
                                attr);
}

static int set_enable(void *owner, size_t attr, uvperf_error_t *error) {
  (void)attr;
  return uvperf__evlist_enable(evlist_of(owner), error);
}

static int set_disable(void *owner, size_t attr, uvperf_error_t *error) {
  (void)attr;
  return uvperf__evlist_disable(evlist_of(owner), error);
}

static int set_reset(void *owner, size_t attr, uvperf_error_t *error) {
  (void)attr;
  (void)error;
  return uvperf__evlist_reset(evlist_of(owner));
}

static int set_apply_filter(void *owner, size_t attr, const char *filter,
                            uvperf_error_t *error) {
  return uvperf__evlist_apply_filter(evlist_of(owner), attr, filter, error);
}

static int set_change_period(void *owner, size_t attr, uint64_t period,
                             uvperf_error_t *error) {
  return uvperf__evlist_change_period(evlist_of(owner), attr, period, error);
}

static int set_attach_bpf(void *owner, size_t attr, int prog_fd,
                          uint64_t cookie, uvperf_error_t *error) {
  return uvperf__evlist_attach_bpf(evlist_of(owner), attr, prog_fd, cookie,
                                   error);
}

static int set_query_bpf(void *owner, size_t attr, uint32_t *ids, size_t *nr,
                         uvperf_error_t *error) {
  return uvperf__evlist_query_bpf(evlist_of(owner), attr, ids, nr, error);
}

static const uvperf_change_t *set_changes(const void *owner, size_t attr,
                                          size_t *nr) {
  return uvperf__evlist_changes(evlist_of(owner), attr, nr);
}

static const struct perf_event_attr *set_attr(const void *owner, size_t attr) {
  const uvperf_event_item_t *item = uvperf__evlist_item(evlist_of(owner), attr);

  return item == NULL ? NULL : item->attr;
}

static const uvperf__control_ops_t set_control = {
    set_check_attr, set_enable,        set_disable,
    set_reset,      set_change_period, set_apply_filter,
    set_attach_bpf, set_query_bpf,     set_changes};

/* -- counts and targets ---------------------------------------------------- */

int uvperf_set_read(uvperf_set_t *set, uvperf_reading_t *reading,
                    uvperf_error_t *error) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  int rc = uvperf__handle_check(&impl->base, error);

  if (reading == NULL)
    return uvperf__error_argument(error, "reading must not be NULL");
  if (rc != 0)
    return rc;
  rc = uvperf__evlist_read(impl->evlist, reading);
  return rc == 0 ? 0
                 : uvperf__error_shortage(error, rc, "cannot read the counts");
}

static int set_remove_target(set_t *impl, uint32_t index,
                             uvperf_reading_t *last, uvperf_error_t *error) {
  set_closing_t *closing = uvperf__set_begin_closing(impl);
  int rc = uvperf__evlist_remove_target(impl->evlist, index, last, error);

  uvperf__set_end_closing(closing);
  return rc;
}

/* If the new rings cannot be watched, the target is not added. */
int uvperf_set_add(uvperf_set_t *set, const uvperf_target_t *target,
                   uvperf_set_target_cb cb, uint32_t *index,
                   uvperf_error_t *error) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  uint32_t added;
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc != 0)
    return rc;
  /* If the set is not started, nothing else frees the sources. */
  uvperf__set_free_sources(impl);
  set_note_cpus(impl, target, target != NULL);
  if (cb != NULL)
    return uvperf__set_begin_adding(impl, target, cb, index, error);
  rc = uvperf__evlist_add_target(impl->evlist, target, &added, error);
  if (rc != 0)
    return rc;
  rc = uvperf__rings_watch(&impl->base);
  if (rc != 0) {
    set_remove_target(impl, added, NULL, NULL);
    return uvperf__watch_explain(error, rc);
  }
  if (index != NULL)
    *index = added;
  uvperf__set_check_ends(impl);
  return 0;
}

/* If the target is still being added, `last` becomes a reading without
 * places. */
int uvperf_set_remove(uvperf_set_t *set, uint32_t index, uvperf_reading_t *last,
                      uvperf_error_t *error) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  set_opening_t *adding;
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc != 0)
    return rc;
  adding = uvperf__set_find_adding(impl, index);
  if (adding == NULL) {
    rc = set_remove_target(impl, index, last, error);
    if (rc == 0)
      uvperf__set_check_ends(impl);
    return rc;
  }
  if (last != NULL)
    rc = uvperf__evlist_read_targets(impl->evlist, 0, 0, last);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot read the last counts");
  uvperf__set_cancel_adding(adding);
  return 0;
}

int uvperf_set_fill_map(uvperf_set_t *set, size_t attr, int map_fd,
                        uvperf_error_t *error) {
  const set_t *impl = uvperf__handle_impl(&set->handle);
  int rc = uvperf__handle_check(&impl->base, error);

  return rc != 0 ? rc
                 : uvperf__evlist_fill_map(impl->evlist, attr, map_fd, error);
}

/* -- CPUs that come and go ------------------------------------------------- */

/* Only events of tasks will write into the CPU's ring again, after the CPU is
 * back. */
static void set_cpu_gone(void *owner, int cpu) {
  set_t *impl = owner;

  uvperf__evlist_cpu_gone(impl->evlist, cpu);
}

static int set_cpu_come(void *owner, int cpu, uvperf_error_t *error) {
  set_t *impl = owner;
  set_closing_t *closing = uvperf__set_begin_closing(impl);
  int rc = uvperf__evlist_cpu_come(impl->evlist, cpu, error);

  uvperf__set_end_closing(closing);
  return rc;
}

/* -- close ----------------------------------------------------------------- */

/* The fds may be closed later, but no BPF program may run from now on. So
 * programs are detached: a tracepoint runs its programs even if its events are
 * disabled. All events are disabled too. But if closing the events takes long,
 * the pool disables all of them before it closes the first. In a forked child
 * the evlist does not touch the events, which belong to the parent. */
static void set_quit(void *owner) {
  set_t *impl = owner;

  impl->session += 1;
  impl->base.is_started = 0;
  if (!uvperf__evlist_close_slowly(impl->evlist,
                                   uvperf__evlist_nr_open(impl->evlist)))
    uvperf__evlist_disable(impl->evlist, NULL);
  uvperf__evlist_detach(impl->evlist);
  uvperf__evlist_leave_maps(impl->evlist);
  uvperf__interval_timer_close(impl->interval_timer);
}

static void set_give_up(void *owner, uvperf__leftovers_t *leftovers) {
  set_t *impl = owner;

  uvperf__evlist_give_up(impl->evlist, leftovers);
}

static void set_release(void *owner) {
  set_t *impl = owner;

  /* If the set was closed inside a flush, the events can still be enabled: the
   * pool should have disabled them, but it did not get them. */
  if (impl->evlist != NULL && uvperf__evlist_is_enabled(impl->evlist) &&
      uvperf__evlist_nr_open(impl->evlist) != 0)
    uvperf__evlist_disable(impl->evlist, NULL);
  uvperf__merge_free(impl->merge);
  uvperf__merge_free(impl->next_merge);
  uvperf__interval_timer_free(impl->interval_timer);
  uvperf__watch_free(impl->base.watch);
  uvperf__hotplug_free(impl->base.hotplug);
  uvperf__evlist_free(impl->evlist);
  uvperf_reading_free(impl->readings[0]);
  uvperf_reading_free(impl->readings[1]);
  uvperf_reading_free(impl->delta);
  uvperf__free(impl);
}

/* -- getters --------------------------------------------------------------- */

const uvperf_set_failure_t *uvperf_set_failures(const uvperf_set_t *set,
                                                size_t *nr) {
  return uvperf__evlist_failures(evlist_of(uvperf__handle_impl(&set->handle)),
                                 nr);
}

size_t uvperf_set_nr_attrs(const uvperf_set_t *set) {
  return uvperf__evlist_nr_attrs(evlist_of(uvperf__handle_impl(&set->handle)));
}

const uvperf_event_item_t *uvperf_set_item(const uvperf_set_t *set,
                                           size_t attr) {
  return uvperf__evlist_item(evlist_of(uvperf__handle_impl(&set->handle)),
                             attr);
}

size_t uvperf_set_nr_open(const uvperf_set_t *set) {
  return uvperf__evlist_nr_open(evlist_of(uvperf__handle_impl(&set->handle)));
}

int uvperf_set_fd(const uvperf_set_t *set, size_t attr, uint64_t serial) {
  return uvperf__evlist_fd(evlist_of(uvperf__handle_impl(&set->handle)), attr,
                           serial);
}

const uvperf_source_t *uvperf_set_source(const uvperf_set_t *set, uint64_t id) {
  const uvperf_decoder_t *decoder =
      uvperf__evlist_decoder(evlist_of(uvperf__handle_impl(&set->handle)));

  return decoder == NULL ? NULL : uvperf__decoder_source(decoder, id);
}

static int set_count_lost(void *owner) {
  return uvperf__evlist_count_lost(evlist_of(owner));
}

/* -- the kind -------------------------------------------------------------- */

static const uvperf__handle_kind_t set_kind = {
    .type = UVPERF_HANDLE_SET,
    .noun = "set",
    .set_ref = set_ref,
    .is_active = set_is_active,
    .start = set_start,
    .stop = uvperf__set_stop,
    .next = uvperf__set_next,
    .next_or_end = uvperf__set_next_or_end,
    .flush = set_flush,
    .overwritable_by = "UVPERF_SET_OVERWRITE in options.flags",
    .prepare = uvperf__set_prepare,
    .deliver = uvperf__set_deliver_snapshot,
    .snapped = uvperf__set_free_sources,
    .control = &set_control,
    .attr = set_attr,
    .count_lost = set_count_lost,
    .rings_watched = uvperf__set_rings_watched,
    .task_exited = uvperf__set_task_exited,
    .cpu_gone = set_cpu_gone,
    .cpu_come = set_cpu_come,
    .quit = set_quit,
    .give_up = set_give_up,
    .release = set_release,
};
