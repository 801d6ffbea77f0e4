/* SPDX-License-Identifier: MIT */
/* The loop that delivers the records found by one check of a ring, with an
 * owner of the test's own: what a run is, where it ends, and what is counted
 * and published when. */
#include "support.h"

#include "fake_kernel.h"
#include "loop/drain.h"
#include "loop/stats.h"
#include "model_run.h"

/* The ring of most tests, and the largest. */
#define RING_BYTES 1024
#define MOST_BYTES 65536
#define QUARTER    (RING_BYTES / 4)
#define MOST       4096

/* A sample with this misc is one that cannot be decoded. */
#define BROKEN 1
/* Any record that is no sample. */
#define OTHER 1000

typedef struct written_s {
  uint64_t at; /* where it starts, in the unit of heads */
  size_t size;
} written_t;

typedef struct fixture_s fixture_t;
struct fixture_s {
  uint64_t data[MOST_BYTES / sizeof(uint64_t)];
  uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
  struct perf_event_mmap_page page;
  uvperf__ring_t ring;
  uint64_t session;
  uvperf__slice_t slice;
  uvperf_stats_t stats;
  written_t written[MOST];
  size_t nr_written;
  size_t nr_given;
  uint64_t bytes_given;
  uint64_t looked; /* the head at the check */
  /* What was delivered, such as "s8 r64": by sample or by record, and the
   * size. */
  char log[512];
  size_t longest_run;
  size_t run;
  int is_gone; /* the result of has_no_ring */
  int has_asked;
  void (*hook)(fixture_t *fixture); /* in each callback; may be NULL */
  model_run_t random;
};

static fixture_t fixture;

/* -- the owner ------------------------------------------------------------ */

/* One record that is given: the next, whole, and counted as it should be. */
static void check_given(const uint8_t *bytes, size_t size, uint64_t behind) {
  const written_t *next = &fixture.written[fixture.nr_given];
  const uint8_t *ring = (const uint8_t *)fixture.data;
  uint64_t waiting;
  size_t i;

  assert_true(fixture.nr_given < fixture.nr_written);
  assert_int_equal(size, next->size);
  for (i = 0; i < size; i++)
    assert_int_equal(bytes[i], ring[(next->at + i) % fixture.ring.size]);
  assert_true(behind == fixture.looked - next->at - size);
  waiting = uvperf__ring_head(&fixture.ring) - next->at;
  assert_true(uvperf__ring_waiting(&fixture.ring) == waiting);
  assert_true(next->at - fake_ring_tail(&fixture.page) < fixture.ring.size / 4);
  fixture.nr_given += 1;
  fixture.bytes_given += size;
}

/* The current statistics. */
static void check_stats(void) {
  uvperf_stats_t stats = fixture.stats;
  uint64_t bytes;

  stats.records += uvperf__ring_run_delivered(&fixture.ring, &bytes);
  stats.bytes += bytes;
  assert_true(stats.records == fixture.nr_given);
  assert_true(stats.bytes == fixture.bytes_given);
}

static void append(char kind, size_t size) {
  size_t used = strlen(fixture.log);

  snprintf(fixture.log + used, sizeof(fixture.log) - used, "%s%c%zu",
           used > 0 ? " " : "", kind, size);
}

static void after(char kind, size_t size) {
  check_stats();
  append(kind, size);
  if (fixture.hook != NULL)
    fixture.hook(&fixture);
}

static uvperf__reader_t *no_reader(const void *owner) {
  assert_ptr_equal(owner, &fixture);
  return NULL;
}

static int on_sample(void *owner, uvperf__reader_t *reader, unsigned int form,
                     const uint8_t *bytes, uint64_t header, uint64_t behind) {
  const struct perf_event_header *at = (const void *)bytes;

  assert_ptr_equal(owner, &fixture);
  assert_null(reader);
  assert_int_equal(form, UVPERF__FORM_OTHER);
  assert_true(uvperf__u64(bytes) == header);
  if (at->type != PERF_RECORD_SAMPLE || at->misc == BROKEN ||
      at->size < sizeof(*at) || at->size % sizeof(uint64_t) != 0)
    return 0;
  check_given(bytes, at->size, behind);
  /* In place, and the tail has not moved since the run began. */
  assert_ptr_equal(bytes, (const uint8_t *)fixture.data +
                              fixture.written[fixture.nr_given - 1].at %
                                  fixture.ring.size);
  fixture.run =
      fixture.ring.run->at == fixture.ring.run->start ? 1 : fixture.run + 1;
  if (fixture.longest_run < fixture.run)
    fixture.longest_run = fixture.run;
  after('s', at->size);
  return 1;
}

static unsigned int on_record(void *owner, const void *bytes, size_t size,
                              uint64_t behind) {
  assert_ptr_equal(owner, &fixture);
  assert_null(fixture.ring.run);
  check_given(bytes, size, behind);
  fixture.stats.records += 1;
  fixture.stats.bytes += size;
  after('r', size);
  return 1;
}

static const void *const *no_data(const void *owner) {
  assert_ptr_equal(owner, &fixture);
  return NULL;
}

static int has_no_ring(const void *owner) {
  assert_ptr_equal(owner, &fixture);
  fixture.has_asked = 1;
  return fixture.is_gone;
}

static const uvperf__drain_ops_t ops = {&uvperf__perf_framing,
                                        no_reader,
                                        no_data,
                                        on_sample,
                                        on_record,
                                        has_no_ring};

/* -- the kernel ----------------------------------------------------------- */

/* A ring whose head and tail are there; and a slice without bounds. */
static void begin_at(uint64_t start) {
  model_run_t random = fixture.random;

  memset(&fixture, 0, sizeof(fixture));
  fixture.random = random;
  uvperf__ring_set_page(&fixture.ring, &fixture.page);
  fixture.ring.data = (const uint8_t *)fixture.data;
  fixture.ring.size = RING_BYTES;
  fixture.ring.head = start;
  fixture.ring.tail = start;
  fixture.ring.published = start;
  fixture.page.data_head = start;
  fixture.page.data_tail = start;
  uvperf__slice_unbounded(&fixture.slice, &fixture.session);
}

static void begin(void) {
  begin_at(0);
}

/* Words at the head: a header with any size, and numbers. */
static void put(uint32_t type, uint16_t misc, uint16_t size, size_t room) {
  struct perf_event_header header = {type, misc, size};
  uint64_t head = fixture.page.data_head;
  uint64_t word;
  size_t i;

  assert_true(head + room - fake_ring_tail(&fixture.page) <= fixture.ring.size);
  for (i = 0; i < room; i += sizeof(word)) {
    word = head * 1000 + i;
    if (i == 0)
      memcpy(&word, &header, sizeof(word));
    fixture.data[(head + i) % fixture.ring.size / sizeof(word)] = word;
  }
  fixture.page.data_head = head + room;
}

static void write_as(uint32_t type, uint16_t misc, size_t size) {
  written_t *written = &fixture.written[fixture.nr_written++];

  assert_true(fixture.nr_written <= MOST);
  written->at = fixture.page.data_head;
  written->size = size;
  put(type, misc, (uint16_t)size, size);
}

static void write_sample(size_t size) {
  write_as(PERF_RECORD_SAMPLE, 0, size);
}

static void write_samples(size_t nr, size_t size) {
  while (nr-- > 0)
    write_sample(size);
}

/* "s16*3 r8 b24": samples of 16 bytes, another record, a sample that cannot be
 * decoded. */
static void write_text(const char *text) {
  unsigned nr, size;
  char kind;
  int used;

  for (; sscanf(text, " %c%u%n", &kind, &size, &used) == 2; text += used) {
    nr = 1;
    if (text[used] == '*')
      nr = (unsigned)strtoul(text + used + 1, NULL, 10);
    for (; nr > 0; nr--)
      write_as(kind == 'r' ? OTHER : PERF_RECORD_SAMPLE,
               kind == 'b' ? BROKEN : 0, size);
    used += (int)strcspn(text + used, " ");
  }
}

/* -- the tests ------------------------------------------------------------ */

static int drain(void) {
  int rc;

  fixture.looked = fixture.page.data_head;
  fixture.slice.scratch = fixture.scratch;
  rc = uvperf__drain(&fixture.ring, &fixture.slice, &fixture.stats, &ops,
                     &fixture);
  assert_null(fixture.ring.run);
  check_stats();
  return rc;
}

/* A drain, its result, what it delivers, and the tail afterwards. */
static void expect(int rc, const char *log, uint64_t tail) {
  fixture.log[0] = '\0';
  assert_int_equal(drain(), rc);
  assert_string_equal(fixture.log, log);
  assert_true(fixture.ring.tail == tail);
  assert_true(fixture.page.data_tail == tail);
  assert_int_equal(fixture.slice.records, fixture.nr_given);
  assert_int_equal(fixture.slice.bytes, fixture.bytes_given);
}

static void bound(uint64_t records, uint64_t bytes) {
  uvperf__slice_begin(&fixture.slice, &fixture.session, records, bytes,
                      UINT64_MAX);
  uvperf__slice_start_clock(&fixture.slice);
}

/* What is written from `start` on, and what one drain delivers of it. */
typedef struct drain_row_s {
  const char *name;
  uint64_t start;
  uint64_t most; /* records of the slice; 0: without bounds */
  const char *written;
  const char *delivered;
  uint64_t bytes;
  size_t longest_run; /* 0: any */
} drain_row_t;

static const drain_row_t rows[] = {
    {"an_empty_ring_delivers_nothing", 72, 0, "", "", 0, 0},
    {"samples_are_one_run", 0, 0, "s40*5", "s40 s40 s40 s40 s40", 200, 5},
    {"samples_of_a_header_alone_are_a_run", 0, 0, "s8*3", "s8 s8 s8", 24, 3},
    {"other_records_are_between_runs", 0, 0, "r16 s24*2 r8*2 s32",
     "r16 s24 s24 r8 r8 s32", 112, 2},
    {"a_sample_that_is_broken_is_between_runs", 0, 0, "b16 s24*2 b24 s24 b8",
     "r16 s24 s24 r24 s24 r8", 120, 0},
    {"a_sample_that_wraps_is_put_together", RING_BYTES - 64, 0, "s40 s32 s16",
     "s40 r32 s16", 88, 0},
    {"a_run_ends_where_the_ring_does", RING_BYTES - 64, 0, "s32*4",
     "s32 s32 s32 s32", 128, 2},
    {"a_sample_across_a_quarters_end_is_a_run_of_its_own", 0, 0,
     "s248 s16 s264 s24", "s248 r16 r264 s24", 2 * QUARTER + 40, 0},
    {"a_record_as_long_as_the_ring_is_delivered", 8, 0, "s1024", "r1024",
     RING_BYTES, 0},
    {"a_slice_of_one_record_ends_after_it", 0, 1, "s16*3 r16 s16*3", "s16", 16,
     0},
    {"a_slice_ends_after_its_records", 0, 5, "s16*3 r16 s16*3",
     "s16 s16 s16 r16 s16", 80, 0},
    {"a_slice_of_as_many_records_as_there_are_is_cut", 0, 7, "s16*7",
     "s16 s16 s16 s16 s16 s16 s16", 112, 0},
    {"a_slice_of_more_records_than_there_are_drains_it", 0, 8, "s16*7",
     "s16 s16 s16 s16 s16 s16 s16", 112, 0},
};

static void run_row(void **state) {
  const drain_row_t *row = *state;

  begin_at(row->start);
  write_text(row->written);
  if (row->most != 0)
    bound(row->most, UINT64_MAX);
  expect(row->most == 0 || row->most > fixture.nr_written ? UVPERF__DRAINED
                                                          : UVPERF__CUT,
         row->delivered, row->start + row->bytes);
  if (row->longest_run != 0)
    assert_int_equal(fixture.longest_run, row->longest_run);
}

/* So that counting the delivered records takes little time, whatever the ring's
 * size. */
static void a_run_is_not_longer_than_it_may_be(void **state) {
  begin();
  fixture.ring.size = MOST_BYTES;
  write_samples(UVPERF__DRAIN_RUN + 1, 8);
  assert_int_equal(drain(), UVPERF__DRAINED);
  assert_int_equal(fixture.nr_given, UVPERF__DRAIN_RUN + 1);
  assert_int_equal(fixture.longest_run, UVPERF__DRAIN_RUN);
}

/* check_given asserts it in each callback. */
static void the_tail_is_published_after_each_quarter(void **state) {
  begin();
  write_samples(16, 64);
  assert_int_equal(drain(), UVPERF__DRAINED);
  assert_int_equal(fixture.longest_run, 4);
  assert_int_equal(fixture.page.data_tail, RING_BYTES);
}

static void tails_overflow(void **state) {
  static const uint64_t starts[] = {UINT64_MAX - 63, UINT32_MAX - UINT64_C(63),
                                    INT64_MAX - UINT64_C(63), UINT64_MAX - 1023,
                                    UINT64_MAX - 7};
  size_t i;

  for (i = 0; i < COUNT_OF(starts); i++) {
    begin_at(starts[i]);
    write_samples(9, 40);
    assert_int_equal(drain(), UVPERF__DRAINED);
    assert_int_equal(fixture.nr_given, 9);
    assert_true(fake_ring_tail(&fixture.page) == starts[i] + 360);
  }
}

/* -- bounds --------------------------------------------------------------- */

static void a_slice_ends_once_its_bytes_are_reached(void **state) {
  static const struct {
    uint64_t bytes;
    size_t nr;
  } bounds[] = {{0, 1},  {1, 1},  {23, 1}, {24, 1}, {25, 2},
                {48, 2}, {49, 3}, {72, 3}, {96, 4}, {UINT64_MAX, 5}};
  size_t i;

  for (i = 0; i < COUNT_OF(bounds); i++) {
    begin();
    write_samples(5, 24);
    bound(UINT64_MAX, bounds[i].bytes);
    assert_int_equal(drain(), bounds[i].nr < 5 ? UVPERF__CUT : UVPERF__DRAINED);
    assert_int_equal(fixture.nr_given, bounds[i].nr);
    assert_int_equal(fixture.page.data_tail, 24 * bounds[i].nr);
  }
}

/* A slice continues with the next ring. */
static void a_slice_that_has_begun_ends_at_its_bounds(void **state) {
  begin();
  write_samples(2, 24);
  bound(5, 100);
  assert_int_equal(drain(), UVPERF__DRAINED);
  write_samples(4, 24);
  assert_int_equal(drain(), UVPERF__CUT);
  assert_int_equal(fixture.nr_given, 5);
}

static void write_more(fixture_t *one) {
  write_sample(16);
}

static void record_written_after_the_check_is_not_returned(void **state) {
  begin();
  fixture.hook = write_more;
  write_samples(3, 16);
  expect(UVPERF__DRAINED, "s16 s16 s16", 48);
  expect(UVPERF__DRAINED, "s16 s16 s16", 96);
}

/* -- damage --------------------------------------------------------------- */

/* In the middle of a run, at its start, and after another record. */
static void a_size_that_cannot_be_right_ends_the_ring(void **state) {
  static const uint16_t sizes[] = {0, 4, 7, 12, 23, 32, 65528, 65535};
  static const char *const stories[] = {"s16 s16", "", "s16 r16"};
  size_t i, before;

  for (i = 0; i < COUNT_OF(sizes); i++)
    for (before = 0; before < 3; before++) {
      begin();
      if (before != 1)
        write_sample(16);
      if (before != 1)
        write_as(before == 0 ? PERF_RECORD_SAMPLE : OTHER, 0, 16);
      put(PERF_RECORD_SAMPLE, 0, sizes[i], 24);
      expect(-EPROTO, stories[before], before == 1 ? 0 : 32);
      expect(-EPROTO, "", before == 1 ? 0 : 32);
    }
}

static void a_head_that_cannot_be_right_ends_the_ring(void **state) {
  static const uint64_t moved[] = {4, 12, 15};
  size_t i;

  for (i = 0; i < 3; i++) {
    begin();
    write_samples(2, 24);
    fixture.page.data_head += moved[i];
    expect(-EPROTO, "s24 s24", 48);
  }
  begin();
  fixture.page.data_head = RING_BYTES + 8;
  expect(-EPROTO, "", 0);
  begin_at(16);
  fixture.page.data_head = 8;
  expect(-EPROTO, "", 16);
}

/* -- callbacks ------------------------------------------------------------ */

static void stop_at_third(fixture_t *one) {
  if (one->nr_given == 3)
    one->session += 1;
}

static void a_callback_that_stops_leaves_the_rest(void **state) {
  begin();
  fixture.hook = stop_at_third;
  write_samples(5, 16);
  expect(UVPERF__STOPPED, "s16 s16 s16", 48);
  assert_true(fixture.has_asked);
  begin();
  fixture.hook = stop_at_third;
  write_samples(2, 16);
  write_as(OTHER, 0, 16);
  write_sample(16);
  expect(UVPERF__STOPPED, "s16 s16 r16", 48);
  assert_true(fixture.has_asked);
}

/* Neither the ring nor its page exist. */
static void a_forked_child_that_closes_touches_no_ring(void **state) {
  begin();
  fixture.hook = stop_at_third;
  fixture.is_gone = 1;
  write_samples(5, 16);
  assert_int_equal(drain(), UVPERF__STOPPED);
  assert_string_equal(fixture.log, "s16 s16 s16");
  assert_int_equal(fixture.page.data_tail, 0);
  assert_int_equal(fixture.ring.tail, 0);
}

static void who_does_not_stop_is_not_asked(void **state) {
  begin();
  fixture.is_gone = 1;
  write_samples(5, 16);
  write_as(OTHER, 0, 16);
  expect(UVPERF__DRAINED, "s16 s16 s16 s16 s16 r16", 96);
  assert_false(fixture.has_asked);
}

/* -- at random ------------------------------------------------------------ */

static size_t draw(size_t below) {
  return (size_t)model_run_draw(&fixture.random, below);
}

static void write_at_random(void) {
  static const size_t largest[] = {1, 3, 16, QUARTER / 4, RING_BYTES / 8};
  uint64_t room;
  size_t size, nr;

  for (nr = draw(40); nr > 0; nr--) {
    size = 8 * (1 + draw(largest[draw(5)]));
    room =
        RING_BYTES - (fixture.page.data_head - fake_ring_tail(&fixture.page));
    if (size > room || fixture.nr_written == MOST)
      return;
    write_as(draw(6) > 0 ? PERF_RECORD_SAMPLE : OTHER, draw(20) == 0, size);
  }
}

static void callback_at_random(fixture_t *one) {
  one->log[0] = '\0';
  if (draw(30) == 0)
    write_at_random();
  if (draw(60) == 0)
    one->session += 1;
}

static void expect_slice(int rc, uint64_t records, uint64_t bytes) {
  int is_full =
      fixture.slice.records >= records || fixture.slice.bytes >= bytes;

  assert_true(rc == UVPERF__STOPPED || is_full == (rc == UVPERF__CUT));
  if (rc == UVPERF__DRAINED)
    assert_true(fixture.ring.tail == fixture.looked);
  assert_true(fixture.ring.tail == fake_ring_tail(&fixture.page));
  assert_true(fixture.nr_given == fixture.nr_written ||
              fixture.written[fixture.nr_given].at == fixture.ring.tail);
  assert_true(fixture.slice.records <= records);
}

static void run_at_random(uint64_t seed) {
  uint64_t records, bytes;
  int step, rc;

  model_run_seed(&fixture.random, seed);
  begin_at(8 * (uint64_t)draw(1000) - 8 * 500);
  fixture.hook = callback_at_random;
  for (step = 0; step < 200; step++) {
    write_at_random();
    records = draw(3) == 0 ? UINT64_MAX : 1 + draw(20);
    bytes = draw(3) == 0 ? UINT64_MAX : 1 + draw(640);
    bound(records, bytes);
    rc = drain();
    expect_slice(rc, records, bytes);
    assert_true(rc >= 0);
  }
  assert_true(fixture.nr_given > 500);
}

static void drains_at_random_deliver_each_record_once(void **state) {
  uint64_t seed, last;

  model_run_seeds(200, &seed, &last);
  for (; seed <= last; seed++)
    run_at_random(seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_is_not_longer_than_it_may_be),
      cmocka_unit_test(the_tail_is_published_after_each_quarter),
      cmocka_unit_test(tails_overflow),
      cmocka_unit_test(a_slice_ends_once_its_bytes_are_reached),
      cmocka_unit_test(a_slice_that_has_begun_ends_at_its_bounds),
      cmocka_unit_test(record_written_after_the_check_is_not_returned),
      cmocka_unit_test(a_size_that_cannot_be_right_ends_the_ring),
      cmocka_unit_test(a_head_that_cannot_be_right_ends_the_ring),
      cmocka_unit_test(a_callback_that_stops_leaves_the_rest),
      cmocka_unit_test(a_forked_child_that_closes_touches_no_ring),
      cmocka_unit_test(who_does_not_stop_is_not_asked),
      cmocka_unit_test(drains_at_random_deliver_each_record_once),
  };

  return SUPPORT_RUN_ROWS_AND_TESTS(rows, run_row, tests);
}
