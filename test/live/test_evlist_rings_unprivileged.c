/* SPDX-License-Identifier: MIT */
/* Records of the process's own tasks without any privilege, at
 * perf_event_paranoid 2: the owners of rings and the side-band need none. */
#include "evlist_make.h"
#include "unprivileged.h"

#include <sys/prctl.h>

/* The number of records of a type in all rings, each of a source. */
static unsigned count_records(uvperf__evlist_t *evlist, uint32_t type) {
  static _Alignas(8) uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
  uvperf__cpu_rings_t *rings = uvperf__evlist_rings(evlist);
  const uvperf_record_t *record;
  uvperf__ring_t *ring;
  const void *bytes;
  unsigned nr = 0;
  size_t size, i;

  for (i = 0; i < uvperf__cpu_rings_nr(rings); i++) {
    ring = &uvperf__cpu_rings_at(rings, i)->ring;
    for (uvperf__ring_begin(ring);
         uvperf__ring_next(ring, scratch, &bytes, &size) == 1;
         uvperf__ring_consume(ring, size))
      nr += uvperf_decode(uvperf__evlist_decoder(evlist), bytes, size,
                          &record) == 0 &&
            record->source != NULL && record->type == type;
  }
  return nr;
}

static uvperf__evlist_t *open_own(unprivileged_report_t *report,
                                  evlist_make_t *make) {
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  size_t nr;

  make->options.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  evlist_add(make, UVPERF_TARGET_SELF);
  if (uvperf__evlist_new(&evlist, &make->options, &error) != 0) {
    unprivileged_wrong(report, "%s", error.reason);
    return NULL;
  }
  if (uvperf__evlist_failures(evlist, &nr) != NULL)
    unprivileged_wrong(report, "%s",
                       uvperf__evlist_failures(evlist, &nr)->error.reason);
  uvperf__evlist_enable(evlist, NULL);
  return evlist;
}

static void expect(unprivileged_report_t *report, uvperf__evlist_t *evlist,
                   uint32_t type, unsigned least) {
  unsigned nr = count_records(evlist, type);

  if (nr < least)
    unprivileged_wrong(report, "%u records of type %u", nr, type);
  uvperf__evlist_free(evlist);
}

static void samples_come(unprivileged_report_t *report) {
  char *region = live_region();
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  evlist_make(&make, 1);
  live_touch_attr(&make.attrs[0], PERF_SAMPLE_IP);
  evlist = open_own(report, &make);
  live_touch(region);
  if (evlist != NULL)
    expect(report, evlist, PERF_RECORD_SAMPLE, LIVE_PAGES);
  live_region_free(region);
}

static void side_band_comes(unprivileged_report_t *report) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  evlist_make(&make, 0);
  make.options.side_band = UVPERF_SIDE_BAND_TASKS | UVPERF_SIDE_BAND_MMAP |
                           UVPERF_SIDE_BAND_SWITCH | UVPERF_SIDE_BAND_KSYMBOL;
  evlist = open_own(report, &make);
  prctl(PR_SET_NAME, "nobody");
  if (evlist != NULL)
    expect(report, evlist, PERF_RECORD_COMM, 1);
}

static void unprivileged_records_come(void **state) {
  static const unprivileged_line_t lines[] = {
      {"samples", samples_come},
      {"side-band", side_band_comes},
  };

  (void)state;
  unprivileged_run(__func__, lines, sizeof(lines) / sizeof(lines[0]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unprivileged_records_come),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
