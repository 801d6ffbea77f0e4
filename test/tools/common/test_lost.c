/* SPDX-License-Identifier: MIT */
/* The rule for lost records. */
#include "support.h"

#include <string.h>

#include "common/lost.h"

typedef struct case_s {
  uint32_t type;
  uint16_t misc;
  uint64_t time; /* 0: not known */
  uint64_t nr;
  uint64_t total; /* after this record */
} case_t;

/* perf report counted 98 for 49, because perf record writes both kinds. */
static void losses_that_two_kinds_of_records_report_count_once(void **state) {
  static const case_t cases[] = {
      {PERF_RECORD_LOST, 0, 1000, 30, 30},
      {PERF_RECORD_LOST, 0, 2000, 15, 45},
      {PERF_RECORD_LOST_SAMPLES, 0, 0, 40, 45},
      /* At the end of a stream, no LOST record follows. */
      {PERF_RECORD_LOST_SAMPLES, 0, 0, 9, 49},
      {PERF_RECORD_LOST, 0, 3000, 5, 50},
      /* The PMU lost samples: no ring was full. */
      {PERF_RECORD_LOST_SAMPLES, 0, 4000, 3, 53},
      /* A filter of perf record rejected samples. */
      {PERF_RECORD_LOST_SAMPLES, 1u << 15, 0, 1000, 53},
      {PERF_RECORD_COMM, 0, 5000, 7, 53},
  };
  common_lost_t lost = {0};
  uvperf_record_t record;
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    memset(&record, 0, sizeof(record));
    record.type = cases[i].type;
    record.misc = cases[i].misc;
    record.time = cases[i].time;
    record.present = PERF_SAMPLE_TIME;
    if (cases[i].type == PERF_RECORD_LOST)
      record.lost.lost = cases[i].nr;
    else
      record.lost_samples.lost = cases[i].nr;
    common_lost_record(&lost, &record);
    assert_int_equal(common_lost_total(&lost), cases[i].total);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(losses_that_two_kinds_of_records_report_count_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
