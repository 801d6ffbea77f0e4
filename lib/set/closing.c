/* SPDX-License-Identifier: MIT */
/* The kernel can take long to close the events of a removed target, or of a CPU
 * that is back online. Such events are put aside, and libuv's pool closes them
 * while the handle goes on. */
#include "set/internal.h"

#include "util/alloc.h"

struct set_closing_s {
  uvperf__handle_job_t base;
  set_t *impl;
  uvperf__leftovers_t leftovers;
};

static int closing_step(uvperf__job_t *job) {
  uvperf__leftovers_t *leftovers = &((set_closing_t *)job)->leftovers;
  int more = uvperf__leftovers_close_one(leftovers);

  if (!uvperf__leftovers_are_on(leftovers))
    job->kind = UVPERF__JOB_CLOSE;
  return more;
}

static void closing_free(uvperf__handle_job_t *job) {
  set_closing_t *closing = (set_closing_t *)job;

  uvperf__leftovers_end(&closing->leftovers);
  uvperf__free(closing);
}

static int closing_done(uvperf__handle_job_t *job, int rc,
                        uvperf_error_t *error) {
  set_closing_t *closing = (set_closing_t *)job;

  (void)error;
  job->owner->closing_fds -= closing->leftovers.nr;
  return rc;
}

set_closing_t *uvperf__set_begin_closing(set_t *impl) {
  set_closing_t *closing = uvperf__calloc(1, sizeof(*closing));

  if (closing == NULL)
    return NULL;
  closing->base.job.kind = UVPERF__JOB_SOON; /* it disables them first */
  closing->base.job.step = closing_step;
  closing->base.done = closing_done;
  closing->base.free = closing_free;
  closing->impl = impl;
  uvperf__evlist_put_aside(impl->evlist, &closing->leftovers);
  return closing;
}

void uvperf__set_free_aside(set_closing_t *closing, uvperf__evlist_t *evlist) {
  if (closing != NULL)
    uvperf__evlist_put_aside(evlist, &closing->leftovers);
  uvperf__evlist_free(evlist);
}

void uvperf__set_end_closing(set_closing_t *closing) {
  uvperf__leftovers_t *leftovers;
  set_t *impl;

  if (closing == NULL)
    return;
  impl = closing->impl;
  leftovers = &closing->leftovers;
  uvperf__evlist_put_aside(impl->evlist, NULL);
  if (leftovers->nr == 0 ||
      !uvperf__evlist_close_slowly(impl->evlist, leftovers->nr) ||
      uvperf__handle_job_begin(&impl->base, &closing->base, NULL, NULL) != 0) {
    closing_free(&closing->base);
    return;
  }
  impl->base.closing_fds += leftovers->nr;
}
