/* SPDX-License-Identifier: MIT */
/* Opens a set, or one more target, on a thread of libuv's pool. While that
 * thread opens a list, no other thread uses them. Until the list is
 * open, the set has a placeholder. A target is opened in its own list.
 * These then join the set's list. */
#include "set/internal.h"

#include "loop/rings.h"
#include "util/alloc.h"
#include "util/error.h"

struct set_opening_s {
  uvperf__handle_job_t base;
  uvperf__evlist_t *evlist;
  uvperf__adding_t adding;
  int has_ended; /* the adding; only the loop's thread uses this */
  /* The rest is only for a target that is added. */
  uvperf_set_target_cb target_cb;
  void *data;         /* the user's pointer for the target */
  uint64_t cpus_come; /* the set's cpus_come when opening began */
  int is_removed;     /* see uvperf__set_cancel_adding */
};

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the set");
}

static int opening_step(uvperf__job_t *job);
static void opening_free(uvperf__handle_job_t *job);
static int opening_done(uvperf__handle_job_t *job, int rc,
                        uvperf_error_t *error);
static int target_done(uvperf__handle_job_t *job, int rc,
                       uvperf_error_t *error);

/* -- a set: begin, steps on the pool, the end on the loop ------------------ */

int uvperf__set_new_opening(set_opening_t **made, set_t *impl,
                            const uvperf_set_options_t *options,
                            uvperf_error_t *error) {
  set_opening_t *opening = uvperf__calloc(1, sizeof(*opening));
  int rc;

  impl->evlist = uvperf__evlist_new_none();
  if (opening == NULL || impl->evlist == NULL) {
    uvperf__free(opening);
    return no_memory(error);
  }
  opening->base.job.step = opening_step;
  opening->base.done = opening_done;
  opening->base.free = opening_free;
  opening->base.open_cb = options->open_cb;
  rc = uvperf__evlist_new_adding(&opening->evlist, options, NULL,
                                 &opening->adding, error);
  if (rc == 0)
    *made = opening;
  else
    uvperf__free(opening);
  return rc;
}

int uvperf__set_begin_opening(set_t *impl, set_opening_t *opening,
                              uvperf_error_t *error) {
  return uvperf__handle_job_begin(&impl->base, &opening->base,
                                  uvperf__evlist_calls(opening->evlist), error);
}

static int opening_step(uvperf__job_t *job) {
  set_opening_t *opening = (set_opening_t *)job;

  return uvperf__adding_step(&opening->adding,
                             atomic_load(&opening->base.is_cancelled));
}

/* If the set closes, it closes the evlist too. */
static int opening_done(uvperf__handle_job_t *job, int rc,
                        uvperf_error_t *error) {
  set_opening_t *opening = (set_opening_t *)job;
  set_t *impl = (set_t *)job->owner;

  if (job->is_late)
    return rc;
  rc = uvperf__adding_end(&opening->adding, rc == 0 ? error : NULL);
  opening->has_ended = 1;
  if (rc == 0) {
    uvperf__evlist_free(impl->evlist);
    impl->evlist = opening->evlist;
    opening->evlist = NULL;
    uvperf__set_take_evlist(impl);
  }
  return rc;
}

/* -- a target that is added: the same, with its own end -------------------- */

int uvperf__set_begin_adding(set_t *impl, const uvperf_target_t *target,
                             uvperf_set_target_cb cb, uint32_t *index,
                             uvperf_error_t *error) {
  set_opening_t *opening;
  int rc;

  if (target == NULL)
    return uvperf__error_argument(error, "target must not be NULL");
  opening = uvperf__calloc(1, sizeof(*opening));
  if (opening == NULL)
    return no_memory(error);
  opening->base.job.step = opening_step;
  opening->base.done = target_done;
  opening->base.free = opening_free;
  opening->target_cb = cb;
  rc = uvperf__evlist_new_for_target(&opening->evlist, impl->evlist, target,
                                     &opening->adding, error);
  if (rc != 0) {
    uvperf__free(opening);
    return rc;
  }
  opening->data = opening->adding.targets[0].data;
  opening->cpus_come = impl->base.cpus_come;
  rc = uvperf__handle_job_begin(&impl->base, &opening->base,
                                uvperf__evlist_calls(opening->evlist), error);
  if (rc != 0)
    uvperf__set_free_opening(opening);
  else if (index != NULL)
    *index = opening->adding.index;
  return rc;
}

/* Fails if a CPU came online meanwhile: the target was planned without this
 * CPU, or its events there are turned off. */
static int target_join(set_t *impl, set_opening_t *opening,
                       uvperf_error_t *error) {
  int rc;

  if (opening->cpus_come != impl->base.cpus_come)
    return uvperf__error_set(
        error, UV_EAGAIN, UVPERF_CAUSE_NO_CPU,
        "a CPU came online while the target was being opened; open it again");
  rc = uvperf__evlist_take_target(impl->evlist, opening->evlist, error);
  if (rc != 0)
    return rc;
  rc = uvperf__rings_watch(&impl->base);
  if (rc == 0)
    return 0;
  uvperf__evlist_remove_target(impl->evlist, opening->adding.index, NULL, NULL);
  return uvperf__watch_explain(error, rc);
}

static int target_done(uvperf__handle_job_t *job, int rc,
                       uvperf_error_t *error) {
  set_opening_t *opening = (set_opening_t *)job;
  set_t *impl = (set_t *)job->owner;
  set_closing_t *closing;
  int is_closing, opened;

  if (opening->is_removed)
    rc = uvperf__error_set(error, UV_ECANCELED, UVPERF_CAUSE_ARGUMENT,
                           "the target was removed while it was being opened");
  if (!job->is_late) {
    closing = uvperf__set_begin_closing(impl);
    opened = uvperf__adding_end(&opening->adding, rc == 0 ? error : NULL);
    opening->has_ended = 1;
    if (rc == 0)
      rc = opened;
    if (rc == 0)
      rc = target_join(impl, opening, error);
    uvperf__set_free_aside(closing, opening->evlist);
    opening->evlist = NULL;
    uvperf__set_end_closing(closing);
  }
  uvperf__teardown_hold(&impl->base.teardown);
  opening->target_cb(impl->base.handle, rc, opening->data,
                     opening->adding.index, rc == 0 ? NULL : error);
  is_closing = impl->base.closing;
  uvperf__teardown_let_go(&impl->base.teardown);
  if (rc == 0 && !is_closing)
    uvperf__set_check_ends(impl);
  return rc;
}

/* -- an opening that is not wanted ----------------------------------------- */

set_opening_t *uvperf__set_find_adding(const set_t *impl, uint32_t index) {
  uvperf__handle_job_t *job;
  set_opening_t *opening;

  for (job = impl->base.jobs; job != NULL; job = job->next) {
    opening = (set_opening_t *)job;
    if (job->done == target_done && opening->adding.index == index &&
        !opening->is_removed)
      return opening;
  }
  return NULL;
}

void uvperf__set_cancel_adding(set_opening_t *opening) {
  opening->is_removed = 1;
  atomic_store(&opening->base.is_cancelled, 1);
}

void uvperf__set_free_opening(set_opening_t *opening) {
  if (!opening->has_ended)
    uvperf__adding_end(&opening->adding, NULL);
  uvperf__evlist_free(opening->evlist);
  uvperf__free(opening);
}

static void opening_free(uvperf__handle_job_t *job) {
  uvperf__set_free_opening((set_opening_t *)job);
}
