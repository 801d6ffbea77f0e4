/* SPDX-License-Identifier: MIT */
#include "common/lost.h"

#include <inttypes.h>
#include <unistd.h>

#include "common/output.h"
#include "common/say.h"

/* A filter of perf record rejected these samples
 * (tools/lib/perf/include/perf/event.h). */
#define MISC_LOST_SAMPLES_BPF (1u << 15)

/* perf record and uvperf-record write a LOST_SAMPLES record for the count of
 * each event. Its time is 0. The kernel writes one for samples that the PMU
 * lost. */
static void take_lost_samples(common_lost_t *lost,
                              const uvperf_record_t *record) {
  if (record->misc & MISC_LOST_SAMPLES_BPF)
    return;
  if ((record->present & PERF_SAMPLE_TIME) && record->time != 0)
    lost->hardware += record->lost_samples.lost;
  else
    lost->counted += record->lost_samples.lost;
}

void common_lost_record(common_lost_t *lost, const uvperf_record_t *record) {
  if (record->type == PERF_RECORD_LOST)
    lost->reported += record->lost.lost;
  else if (record->type == PERF_RECORD_LOST_SAMPLES)
    take_lost_samples(lost, record);
}

/* Adds up the counts of the first nr_attrs attrs, and of all. */
static void sum_counts(uvperf_set_t *set, size_t nr_attrs, uint64_t *first,
                       uint64_t *all) {
  uvperf_reading_t *reading;
  uvperf_count_t count;
  size_t i;

  if (uvperf_reading_new(&reading) != 0)
    return;
  if (uvperf_set_read(set, reading, NULL) == 0) {
    for (i = 0; i < uvperf_reading_info(reading)->nr_attrs; i++) {
      if (uvperf_reading_total(reading, i, &count) != 0)
        continue;
      *first += i < nr_attrs ? count.lost : 0;
      *all += count.lost;
    }
  }
  uvperf_reading_free(reading);
}

/* LOST records do not say whose records were lost. So they are not used if the
 * counts have all of them. */
void common_lost_read(common_lost_t *lost, uvperf_set_t *set, size_t nr_attrs) {
  uint64_t first = 0, all = 0;
  uvperf_stats_t stats;

  uvperf_stats(&set->handle, &stats);
  sum_counts(set, nr_attrs, &first, &all);
  lost->counted = first;
  lost->reported = all >= stats.lost_records ? 0 : stats.lost_records;
}

uint64_t common_lost_total(const common_lost_t *lost) {
  uint64_t rings =
      lost->counted > lost->reported ? lost->counted : lost->reported;

  return rings + lost->hardware;
}

uint64_t common_lost_of_set(uvperf_set_t *set, size_t nr_attrs) {
  common_lost_t lost = {0};

  common_lost_read(&lost, set, nr_attrs);
  return common_lost_total(&lost);
}

void common_lost_note(uint64_t total, uint64_t *noted) {
  if (total == *noted || !common_output_is_ready(STDERR_FILENO))
    return;
  common_say("%" PRIu64 " records were lost, %" PRIu64 " in all\n",
             total - *noted, total);
  *noted = total;
}
