/* SPDX-License-Identifier: MIT */
/* The options of delivery: slice_records, slice_bytes, slice_us, flush_ms and
 * the flags of uvperf_stream_options_t. */
#include "loop/stream_options.h"

#include "util/error.h"
#include "util/options.h"

/* The bounds of a slice. The slice ends at the first bound that is reached. */
#define DEFAULT_SLICE_RECORDS 4096
#define DEFAULT_SLICE_BYTES   (1024 * 1024)
#define DEFAULT_SLICE_US      1000

#define NS_PER_US 1000u

int uvperf__stream_options_copy(uvperf_stream_options_t *own,
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
                             "options.flags 0x%x has unknown bits, or "
                             "options.flush_ms %d is below -1",
                             own->flags, own->flush_ms);
  return 0;
}

void uvperf__stream_options_for_watch(const uvperf_stream_options_t *options,
                                      uint64_t default_flush_ms,
                                      uvperf__watch_options_t *watch) {
  uint64_t slice_us =
      options->slice_us == 0 ? DEFAULT_SLICE_US : options->slice_us;

  watch->slice_records = options->slice_records == 0 ? DEFAULT_SLICE_RECORDS
                                                     : options->slice_records;
  watch->slice_bytes =
      options->slice_bytes == 0 ? DEFAULT_SLICE_BYTES : options->slice_bytes;
  watch->slice_ns = slice_us * NS_PER_US;
  watch->flush_ms = default_flush_ms;
  if (options->flush_ms != 0)
    watch->flush_ms = options->flush_ms < 0 ? 0 : (uint64_t)options->flush_ms;
  watch->flush_all = 0;
  watch->wakes_each = default_flush_ms == 0;
  watch->is_idle = 0;
}
