/* SPDX-License-Identifier: MIT */
/* What the user may say of delivery, and what it means to the watch. */
#include "loop/stream_options.h"

#include "util/error.h"
#include "util/options.h"

#define NS_PER_US 1000u

int uvperf__stream_copy(uvperf_stream_options_t *own,
                        const uvperf_stream_options_t *options,
                        uvperf_error_t *error) {
  const uvperf_stream_options_t defaults = UVPERF_STREAM_OPTIONS_INIT;
  const uint32_t known = UVPERF_START_NO_ENABLE | UVPERF_START_SLICE_END;
  int rc;

  *own = defaults;
  rc = uvperf__options_copy(own, sizeof(*own), sizeof(*own), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_stream_options_t");
  if ((own->flags & ~known) || own->flush_ms < -1)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "flags 0x%x or flush_ms %d of the stream options "
                             "are not known",
                             own->flags, own->flush_ms);
  return 0;
}

void uvperf__stream_choose(const uvperf_stream_options_t *options,
                           uint64_t default_flush_ms,
                           uvperf__watch_options_t *chosen) {
  chosen->slice_records =
      options->slice_records == 0 ? 4096 : options->slice_records;
  chosen->slice_bytes =
      options->slice_bytes == 0 ? 1024 * 1024 : options->slice_bytes;
  chosen->slice_ns =
      (options->slice_us == 0 ? 1000 : (uint64_t)options->slice_us) * NS_PER_US;
  chosen->flush_ms =
      options->flush_ms >= 0 ? (uint64_t)options->flush_ms : default_flush_ms;
}

void uvperf__stream_add_given(uvperf_stats_t *stats,
                              const uvperf__ring_t *ring) {
  uint64_t bytes;

  stats->records += uvperf__ring_run_delivered(ring, &bytes);
  stats->bytes += bytes;
}
