/* SPDX-License-Identifier: MIT */
/* When a reader's events are enabled and in the map.
 *
 * Start wants both, until stop; with UVPERF_START_NO_ENABLE it wants neither.
 * Resume wants both until close, unless start wants them at that time: then it
 * only ends the pause. While anybody wants them the events are enabled, and in
 * the map unless the reader is paused:
 *
 *                   not paused         paused
 *    nobody wants   out                out
 *    start wants    in, until stop     enabled, out
 *    resume wants   in                 enabled, out
 *
 * So stop leaves in the map what resume put there before start, and takes out
 * what start has put there, whatever pause and resume did in between. */
#include "bpf/internal.h"

#include "explain/explain.h"

static int is_wanted(const reader_t *impl) {
  return impl->is_wanted_by_start || impl->is_wanted_by_resume;
}

/* Undoes what somebody wanted who is the last. Of an entry that the kernel does
 * not let go of the event is off, and the program gets -EOPNOTSUPP. */
static void withdraw(reader_t *impl) {
  uvperf__bpf_outputs_take(impl->outputs, NULL);
  uvperf__bpf_outputs_disable(impl->outputs);
}

/* Enables first, so that no program finds an event that is off. */
static int bring_in(reader_t *impl, int is_paused, uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_enable(impl->outputs, error);

  if (rc == 0 && !is_paused)
    rc = uvperf__bpf_outputs_put(impl->outputs, error);
  if (rc != 0 && !is_wanted(impl))
    uvperf__bpf_outputs_disable(impl->outputs);
  return rc;
}

int uvperf__bpf_reader_want(reader_t *impl, uvperf_error_t *error) {
  int rc = bring_in(impl, impl->is_paused, error);

  if (rc == 0)
    impl->is_wanted_by_start = 1;
  return rc;
}

void uvperf__bpf_reader_unwant(reader_t *impl) {
  if (!impl->is_wanted_by_start)
    return;
  impl->is_wanted_by_start = 0;
  if (!is_wanted(impl))
    withdraw(impl);
}

int uvperf_bpf_reader_pause(uvperf_bpf_reader_t *reader,
                            uvperf_error_t *error) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  int rc = uvperf__bpf_reader_check_process(impl, error);

  if (rc == 0)
    rc = uvperf__bpf_outputs_take(impl->outputs, error);
  if (rc == 0)
    impl->is_paused = 1;
  return rc;
}

int uvperf_bpf_reader_resume(uvperf_bpf_reader_t *reader,
                             uvperf_error_t *error) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  int rc = uvperf__bpf_reader_check_process(impl, error);

  if (rc == 0)
    rc = bring_in(impl, 0, error);
  if (rc != 0)
    return rc;
  impl->is_paused = 0;
  if (!impl->is_wanted_by_start)
    impl->is_wanted_by_resume = 1;
  return 0;
}
