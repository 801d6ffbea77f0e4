/* SPDX-License-Identifier: MIT */
#include "make_evlist.h"

#include "attr/kernel_knows.h"
#include "decode/decoder.h"
#include "evlist/internal.h"

/* The words that scripted events return, of all events. */
static struct {
  uint64_t words[4096];
  size_t used;
} given;

int evlist_make_setup(void **state) {
  fake_kernel_reset();
  memset(&given, 0, sizeof(given));
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = UVPERF_FORMAT_LOST;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = 0;
  return 0;
}

void evlist_make(evlist_make_t *make, size_t nr_attrs) {
  static const uvperf_set_options_t init = UVPERF_SET_OPTIONS_INIT;
  static const uint64_t configs[COUNTERS_MOST] = {
      PERF_COUNT_SW_TASK_CLOCK,      PERF_COUNT_SW_PAGE_FAULTS,
      PERF_COUNT_SW_DUMMY,           PERF_COUNT_SW_CONTEXT_SWITCHES,
      PERF_COUNT_SW_CPU_MIGRATIONS,  PERF_COUNT_SW_PAGE_FAULTS_MIN,
      PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_COUNT_SW_CPU_CLOCK};
  size_t i;

  assert_true(nr_attrs <= COUNTERS_MOST);
  memset(make, 0, sizeof(*make));
  for (i = 0; i < nr_attrs; i++) {
    uvperf_attr_software(&make->attrs[i], configs[i % 8]);
    make->pointers[i] = &make->attrs[i];
    make->leaders[i] = i;
  }
  make->options = init;
  make->options.attrs = nr_attrs != 0 ? make->pointers : NULL;
  make->options.nr_attrs = nr_attrs;
  make->options.targets = make->targets;
}

void evlist_group(evlist_make_t *make, size_t first, size_t nr) {
  size_t i;

  for (i = first; i < first + nr; i++)
    make->leaders[i] = first;
}

uvperf_target_t *evlist_add(evlist_make_t *make, uint32_t type) {
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf_target_t *target;

  assert_true(make->options.nr_targets < COUNTERS_MOST);
  target = &make->targets[make->options.nr_targets++];
  *target = init;
  target->type = type;
  return target;
}

void evlist_add_cpus(evlist_make_t *make, const char *cpus) {
  evlist_add(make, UVPERF_TARGET_CPUS)->cpus = cpus;
}

void evlist_add_thread(evlist_make_t *make, int32_t pid) {
  evlist_add(make, UVPERF_TARGET_THREAD)->pid = pid;
}

static int has_groups(const evlist_make_t *make) {
  size_t i = 0;

  while (i < COUNTERS_MOST &&
         (make->pointers[i] == NULL || make->leaders[i] == i))
    i++;
  return i < COUNTERS_MOST;
}

/* Groups are made in a list. */
int evlist_try(const evlist_make_t *make, uvperf__evlist_t **evlist,
               uvperf_error_t *error) {
  uvperf_set_options_t options = make->options;
  uvperf_event_list_t *list = NULL;
  size_t i, leader;
  int rc = 0;

  *evlist = NULL;
  if (has_groups(make)) {
    for (i = 0; i < options.nr_attrs && rc >= 0; i++) {
      leader = make->leaders[i];
      rc = uvperf_event_list_add(&list, options.attrs[i], NULL,
                                 leader == i ? -1 : (int)leader, error);
    }
    options.events = list;
    options.attrs = NULL;
    options.nr_attrs = 0;
  }
  if (rc >= 0)
    rc = uvperf__evlist_make(0, evlist, &options, error);
  uvperf_event_list_free(list);
  return rc;
}

uvperf__evlist_t *evlist_open(const evlist_make_t *make) {
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  int rc;

  memset(&error, 0, sizeof(error));
  rc = evlist_try(make, &evlist, &error);
  if (rc != 0)
    fail_msg("the counters returned %d: %s", rc, error.reason);
  return evlist;
}

int evlist_add_elsewhere(uvperf__evlist_t *evlist,
                         const uvperf_target_t *target, uvperf_error_t *error) {
  uvperf__evlist_t *made;
  uvperf__adding_t adding;
  int rc = uvperf__evlist_new_for_target(&made, evlist, target, &adding, error);

  if (rc != 0)
    return rc;
  while (uvperf__adding_step(&adding, 0))
    continue;
  rc = uvperf__adding_end(&adding, error);
  if (rc == 0)
    rc = uvperf__evlist_take_target(evlist, made, error);
  uvperf__evlist_free(made);
  return rc;
}

void evlist_refused(const evlist_make_t *make, uvperf_error_t *error, int code,
                    int cause) {
  uvperf__evlist_t *evlist = (void *)error;
  size_t fds = support_count_fds();
  int rc;

  memset(error, 0, sizeof(*error));
  rc = evlist_try(make, &evlist, error);
  if (rc != code || error->code != code || error->cause != cause)
    fail_msg("%d, not %d; %s, not %s: %s", rc, code,
             uvperf_cause_name(error->cause), uvperf_cause_name(cause),
             error->reason);
  assert_null(evlist);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

void counters_script(fake_event_t **events, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    events[i] = fake_event_add(100 + i);
}

static uint64_t *take(size_t nr) {
  uint64_t *words = given.words + given.used;

  assert_true(given.used + nr <= sizeof(given.words) / sizeof(words[0]));
  given.used += nr;
  return words;
}

void counters_give(fake_event_t *fake, uint64_t value, uint64_t enabled,
                   uint64_t running) {
  uint64_t *words = take(5);

  words[0] = value;
  words[1] = enabled;
  words[2] = running;
  words[3] = fake->id;
  words[4] = 0;
  fake->read_data = words;
  fake->read_size = 5 * sizeof(words[0]);
}

void counters_give_group(fake_event_t *fake, uint64_t enabled, uint64_t running,
                         const uint64_t *ids, const uint64_t *values,
                         size_t nr) {
  uint64_t *words = take(3 + 3 * nr);
  size_t i;

  words[0] = nr;
  words[1] = enabled;
  words[2] = running;
  for (i = 0; i < nr; i++) {
    words[3 + 3 * i] = values[i];
    words[4 + 3 * i] = ids[i];
    words[5 + 3 * i] = 0;
  }
  fake->read_data = words;
  fake->read_size = (3 + 3 * nr) * sizeof(words[0]);
}

static uvperf_reading_t *read_all(uvperf__evlist_t *evlist) {
  uvperf_reading_t *reading;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  return reading;
}

uvperf_count_t evlist_total(uvperf__evlist_t *evlist, size_t attr) {
  uvperf_reading_t *reading = read_all(evlist);
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_total(reading, attr, &count), 0);
  uvperf_reading_free(reading);
  return count;
}

uvperf_count_t evlist_at(uvperf__evlist_t *evlist, size_t attr, size_t place) {
  uvperf_reading_t *reading = read_all(evlist);
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_get(reading, attr, UVPERF_ALL, place, &count),
                   0);
  uvperf_reading_free(reading);
  return count;
}

size_t evlist_nr_places(uvperf__evlist_t *evlist) {
  uvperf_reading_t *reading = read_all(evlist);
  size_t nr = uvperf_reading_info(reading)->nr_places;

  uvperf_reading_free(reading);
  return nr;
}

const uvperf_set_failure_t *evlist_failure(const uvperf__evlist_t *evlist,
                                           size_t nth) {
  const uvperf_set_failure_t *failures;
  size_t nr;

  failures = uvperf__evlist_failures(evlist, &nr);
  assert_true(nth < nr);
  return &failures[nth];
}

size_t evlist_nr_failures(const uvperf__evlist_t *evlist) {
  size_t nr;

  uvperf__evlist_failures(evlist, &nr);
  return nr;
}

/* -- records -------------------------------------------------------------- */

void evlist_make_records(evlist_make_t *make, size_t nr_attrs) {
  size_t i;

  evlist_make(make, nr_attrs);
  make->options.flags = UVPERF_SET_RECORDS;
  make->options.ring_bytes = 1;
  for (i = 0; i < nr_attrs; i++) {
    make->attrs[i].config = PERF_COUNT_SW_CPU_CLOCK;
    make->attrs[i].sample_period = 1000;
    make->attrs[i].sample_type = PERF_SAMPLE_TID;
  }
}

uvperf__cpu_ring_t *evlist_ring(const uvperf__evlist_t *evlist, size_t index) {
  return uvperf__cpu_rings_at(uvperf__evlist_rings(evlist), index);
}

const uvperf_source_t *evlist_source(const uvperf__evlist_t *evlist,
                                     uint64_t id) {
  return uvperf__decoder_source(uvperf__evlist_decoder(evlist), id);
}

static size_t drain_ring(uvperf__cpu_ring_t *cpu_ring,
                         uvperf_decoder_t *decoder, evlist_record_cb cb,
                         void *data) {
  static _Alignas(8) uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
  uvperf__ring_t *ring = &cpu_ring->ring;
  const uvperf_record_t *record;
  const void *bytes;
  size_t nr = 0;
  size_t size;
  int rc;

  assert_int_equal(uvperf__ring_begin(ring), 0);
  while ((rc = uvperf__ring_next(ring, scratch, &bytes, &size)) == 1) {
    rc = uvperf__decode(decoder, uvperf__cpu_ring_alone(cpu_ring), bytes, size,
                        &record);
    if (cb != NULL)
      cb(data, rc, record);
    uvperf__ring_consume(ring, size);
    nr++;
  }
  assert_int_equal(rc, 0);
  uvperf__ring_end(ring);
  return nr;
}

size_t evlist_drain(uvperf__evlist_t *evlist, evlist_record_cb cb, void *data) {
  uvperf__cpu_rings_t *rings = uvperf__evlist_rings(evlist);
  uvperf_decoder_t *decoder = uvperf__evlist_decoder(evlist);
  size_t nr = 0;
  size_t i;

  for (i = 0; i < uvperf__cpu_rings_nr(rings); i++)
    nr += drain_ring(uvperf__cpu_rings_at(rings, i), decoder, cb, data);
  return nr;
}
