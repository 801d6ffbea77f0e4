/* SPDX-License-Identifier: MIT */
#include "make_reading.h"

static const uvperf__reading_origin_t the_set = {&the_set, 1};

uvperf__cell_t make_cell(uint64_t value, uint64_t enabled, uint64_t running) {
  uvperf__cell_t cell = {
      .value = value, .enabled = enabled, .running = running};

  cell.state = uvperf__cell_state(&cell, 0);
  return cell;
}

uvperf__cell_t make_gone(uint64_t value, uint64_t enabled, uint64_t running) {
  uvperf__cell_t cell = make_cell(value, enabled, running);

  cell.state = uvperf__cell_state(&cell, 1);
  return cell;
}

uvperf__cell_t make_failed(uint32_t state, int code) {
  uvperf__cell_t cell = {.state = state, .code = code};

  return cell;
}

void make_fill(uvperf_reading_t *reading, const make_t *build) {
  size_t place, attr;

  assert_int_equal(uvperf__reading_begin(reading, &the_set, build->resets,
                                         build->since, build->time,
                                         build->nr_attrs, build->attr_flags,
                                         build->nr_places),
                   0);
  for (place = 0; place < build->nr_places; place++) {
    uvperf_place_t *at = uvperf__reading_place(reading, place);

    at->serial = build->serials != NULL ? build->serials[place] : place + 1;
    at->target = (uint32_t)at->serial + 100;
    at->pid = -1;
    at->cpu = (int32_t)at->serial;
    for (attr = 0; attr < build->nr_attrs; attr++)
      *uvperf__reading_cell(reading, attr, place) =
          build->cells[place * build->nr_attrs + attr];
  }
  uvperf__reading_end(reading);
}

uvperf_reading_t *make_reading(const make_t *build) {
  uvperf_reading_t *reading;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  make_fill(reading, build);
  return reading;
}

uvperf_count_t make_count(const uvperf_reading_t *reading, size_t attr,
                          size_t place) {
  uvperf_count_t count;

  memset(&count, 0xff, sizeof(count));
  assert_int_equal(uvperf_reading_get(reading, attr, UVPERF_ALL, place, &count),
                   0);
  return count;
}

uvperf_count_t make_total(const uvperf_reading_t *reading, size_t attr) {
  uvperf_count_t count;

  memset(&count, 0xff, sizeof(count));
  assert_int_equal(uvperf_reading_total(reading, attr, &count), 0);
  return count;
}

void assert_counted(uvperf_count_t count, uint32_t state, uint64_t value,
                    uint64_t scaled, uint64_t enabled, uint64_t running) {
  assert_int_equal(count.state, state);
  assert_int_equal(count.value, value);
  assert_int_equal(count.scaled, scaled);
  assert_int_equal(count.time_enabled, enabled);
  assert_int_equal(count.time_running, running);
}

void assert_same_reading(const uvperf_reading_t *a, const uvperf_reading_t *b) {
  size_t nr_attrs = uvperf_reading_info(a)->nr_attrs;
  size_t nr_places = uvperf_reading_info(a)->nr_places, attr, place;

  assert_int_equal(nr_attrs, uvperf_reading_info(b)->nr_attrs);
  assert_int_equal(nr_places, uvperf_reading_info(b)->nr_places);
  assert_int_equal(uvperf_reading_info(a)->time, uvperf_reading_info(b)->time);
  assert_int_equal(uvperf_reading_info(a)->interval,
                   uvperf_reading_info(b)->interval);
  for (attr = 0; attr < nr_attrs; attr++) {
    uvperf_count_t left = make_total(a, attr), right = make_total(b, attr);

    assert_memory_equal(&left, &right, sizeof(left));
    for (place = 0; place < nr_places; place++) {
      left = make_count(a, attr, place);
      right = make_count(b, attr, place);
      assert_memory_equal(&left, &right, sizeof(left));
      assert_memory_equal(uvperf_reading_place(a, place),
                          uvperf_reading_place(b, place),
                          sizeof(uvperf_place_t));
    }
  }
}

const char *make_text(uvperf_count_t count) {
  static char text[192], lost[32], code[16];

  lost[0] = code[0] = '\0';
  if (count.lost != 0)
    snprintf(lost, sizeof(lost), " lost %llu", (unsigned long long)count.lost);
  if (count.code != 0)
    snprintf(code, sizeof(code), " code %d", (int)count.code);
  snprintf(text, sizeof(text), "%s %llu %llu %llu/%llu %.4f +%u-%u%s%s",
           uvperf_count_state_name(count.state),
           (unsigned long long)count.value, (unsigned long long)count.scaled,
           (unsigned long long)count.time_enabled,
           (unsigned long long)count.time_running, count.ratio,
           (unsigned)count.nr_counts, (unsigned)count.nr_missing, lost, code);
  return text;
}
