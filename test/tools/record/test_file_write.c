/* SPDX-License-Identifier: MIT */
/* A perf.data file can be read after each write(2), so its program may be
 * killed at any time. Records that were written before a failure stay in the
 * file. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data_file.h"
#include "record/file.h"
#include "make_record.h"
#include "support.h"
#include "make_tree.h"
#include "uvperf.h"

/* -- a pwrite(2) that can fail --------------------------------------------- */

typedef struct disk_s {
  uint64_t calls;
  size_t most;        /* bytes that a call can write; 0: all */
  uint64_t interrupt; /* every n-th call fails with EINTR first */
  int interrupted;
  uint64_t full_at; /* no byte from this offset on; 0: no limit */
  uint64_t room;    /* bytes left after the header */
  int is_checked;   /* read the file after each call */
  uint64_t records; /* found at the last reading */
  uint64_t ids;
} disk_t;

static disk_t disk;

/* glibc's name of pwrite(2) with an off_t of 64 bits. */
#ifdef __GLIBC__
#define __real_pwrite __real_pwrite64
#define __wrap_pwrite __wrap_pwrite64
#endif

ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);

/* Reads the file. It is opened again, because fd is only for writing. */
static void check(int fd) {
  const struct perf_event_header *record = NULL;
  uint64_t records = 0;
  data_file_t file;
  char path[64];
  size_t nr, ids = 0, i;
  int again;

  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  again = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(again >= 0);
  if (data_file_read_fd(&file, again)) {
    while ((record = data_file_next(&file, record)) != NULL)
      records++;
    for (i = 0; i < data_file_nr_attrs(&file); i++) {
      data_file_ids(&file, i, &nr);
      ids += nr;
    }
    data_file_free(&file);
  }
  close(again);
  assert_true(records >= disk.records); /* no record got lost */
  assert_true(ids >= disk.ids);
  disk.records = records;
  disk.ids = ids;
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  ssize_t nr;

  if (disk.interrupt != 0 && !disk.interrupted &&
      disk.calls % disk.interrupt == 0) {
    disk.interrupted = 1;
    errno = EINTR;
    return -1;
  }
  disk.interrupted = 0;
  disk.calls++;
  if (disk.most != 0 && size > disk.most)
    size = disk.most;
  if (disk.full_at != 0 && (uint64_t)offset + size > disk.full_at) {
    if ((uint64_t)offset >= disk.full_at) {
      errno = EFBIG;
      return -1;
    }
    size = (size_t)(disk.full_at - (uint64_t)offset);
  }
  if (offset > 0 && size > disk.room)
    size = (size_t)disk.room;
  if (size == 0) {
    errno = ENOSPC;
    return -1;
  }
  disk.room -= offset > 0 ? size : 0;
  nr = __real_pwrite(fd, bytes, size, offset);
  if (disk.is_checked)
    check(fd);
  return nr;
}

/* -- a recording ----------------------------------------------------------- */

typedef struct recording_s {
  record_file_t *file;
  char path[128];
  record_builder_t sample;
  uint64_t written;
  uint64_t ids;
} recording_t;

static recording_t recording;

static void begin(void **state, size_t nr_events) {
  struct perf_event_attr attr;
  record_values_t values;
  size_t i;

  memset(&disk, 0, sizeof(disk));
  disk.room = UINT64_MAX;
  memset(&recording, 0, sizeof(recording));
  snprintf(recording.path, sizeof(recording.path), "%s/perf.data",
           ((make_tree_t *)*state)->root);
  recording.file = record_file_open(recording.path);
  assert_non_null(recording.file);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
  for (i = 0; i < nr_events; i++)
    record_file_add_event(recording.file, &attr, "clock");
  record_values_init(&values);
  values.callchain_nr = 100;
  record_build(&recording.sample, PERF_RECORD_SAMPLE, &attr, &values);
}

static void add_id(size_t event) {
  record_file_add_id(recording.file, event, ++recording.ids);
}

static int write_some(uint64_t nr) {
  uint64_t i;
  int rc;

  for (i = 0; i < nr; i++) {
    rc = record_file_write(recording.file, recording.sample.words,
                           recording.sample.size);
    if (rc != 0)
      return rc;
    recording.written++;
  }
  return 0;
}

static uint64_t count(void) {
  const struct perf_event_header *record = NULL;
  data_file_t file;
  uint64_t nr = 0;

  data_file_read(&file, recording.path);
  while ((record = data_file_next(&file, record)) != NULL) {
    if (record->type != PERF_RECORD_SAMPLE)
      continue;
    assert_int_equal(record->size, recording.sample.size);
    assert_memory_equal(record, recording.sample.words, record->size);
    nr++;
  }
  data_file_free(&file);
  return nr;
}

/* -- a program that is killed ---------------------------------------------- */

/* There are enough records for the data to reach the attrs several times. Ids
 * are added all the time. */
static void file_is_readable_after_each_write(void **state) {
  unsigned i;

  begin(state, 3);
  disk.is_checked = 1;
  for (i = 0; i < 60; i++) {
    if (i % 3 == 0)
      add_id(i % 2);
    assert_int_equal(write_some(50), 0);
    assert_int_equal(record_file_sync(recording.file), 0);
    assert_int_equal(disk.records, recording.written);
    assert_int_equal(disk.ids, recording.ids);
  }
  assert_int_equal(record_file_close(recording.file, NULL), 0);
  assert_int_equal(count(), recording.written);
}

/* The same is true if a write can end anywhere. */
static void file_is_readable_after_each_part_of_a_write(void **state) {
  unsigned i;

  begin(state, 2);
  disk.is_checked = 1;
  disk.most = 128;
  for (i = 0; i < 10; i++) {
    add_id(1);
    assert_int_equal(record_file_sync(recording.file), 0);
    add_id(0);
    assert_int_equal(record_file_sync(recording.file), 0);
    assert_int_equal(write_some(4), 0);
    assert_int_equal(record_file_sync(recording.file), 0);
  }
  assert_int_equal(record_file_close(recording.file, NULL), 0);
  assert_int_equal(count(), recording.written);
}

/* These are more ids than any space that could have been reserved for them. */
static void many_ids_may_come_late(void **state) {
  data_file_t file;
  const uint64_t *ids;
  size_t nr, i;

  begin(state, 2);
  add_id(0);
  assert_int_equal(write_some(10), 0);
  assert_int_equal(record_file_sync(recording.file), 0);
  for (i = 0; i < 100000; i++)
    add_id(1);
  assert_int_equal(record_file_sync(recording.file), 0);
  assert_int_equal(count(), 10);
  assert_int_equal(write_some(10), 0);
  assert_int_equal(record_file_close(recording.file, NULL), 0);
  data_file_read(&file, recording.path);
  ids = data_file_ids(&file, 1, &nr);
  assert_int_equal(nr, 100000);
  for (i = 0; i < nr; i++)
    assert_int_equal(ids[i], i + 2);
  data_file_free(&file);
  assert_int_equal(count(), 20);
}

/* The features go to the place of the attrs, which are valid until the file is
 * finished. */
static void file_is_readable_while_it_is_finished(void **state) {
  data_file_t file;
  uint64_t attrs;

  begin(state, 1);
  add_id(0);
  assert_int_equal(record_file_sync(recording.file), 0);
  data_file_read(&file, recording.path);
  attrs = file.header.attrs.offset;
  data_file_free(&file);
  while (record_file_bytes(recording.file) + recording.sample.size <= attrs)
    assert_int_equal(write_some(1), 0);
  assert_int_equal(record_file_sync(recording.file), 0);
  data_file_read(&file, recording.path);
  assert_int_equal(file.header.attrs.offset, attrs);
  data_file_free(&file);
  disk.is_checked = 1;
  disk.most = 256;
  assert_int_equal(record_file_close(recording.file, NULL), 0);
  assert_int_equal(count(), recording.written);
}

/* The rest of a finished file is cut off, so it ends after its last content. */
static void finished_file_has_nothing_behind_it(void **state) {
  data_file_t file;

  begin(state, 1);
  add_id(0);
  assert_int_equal(write_some(10), 0);
  assert_int_equal(record_file_close(recording.file, NULL), 0);
  data_file_read(&file, recording.path);
  assert_int_equal(file.header.attrs.offset + file.header.attrs.size +
                       sizeof(uint64_t),
                   file.size);
  assert_true(file.size < 65536);
  data_file_free(&file);
}

/* -- failures -------------------------------------------------------------- */

static void interrupted_and_short_writes_are_gone_on_with(void **state) {
  begin(state, 2);
  disk.interrupt = 2;
  disk.most = 1000;
  add_id(0);
  assert_int_equal(write_some(1000), 0);
  assert_int_equal(record_file_close(recording.file, NULL), 0);
  assert_int_equal(count(), 1000);
}

/* The record that was only written in part does not count. */
static void full_disk_leaves_whole_records(void **state) {
  uint64_t at, found;
  int rc;

  for (at = 700001; at < 710000; at += 1111) {
    begin(state, 2);
    add_id(0);
    disk.room = at;
    disk.is_checked = 1;
    rc = write_some(5000);
    assert_int_equal(rc, -ENOSPC);
    assert_int_equal(record_file_sync(recording.file), -ENOSPC);
    assert_int_equal(write_some(1), -ENOSPC);
    assert_int_equal(record_file_round(recording.file), -ENOSPC);
    assert_int_equal(record_file_close(recording.file, NULL), -ENOSPC);
    found = count();
    assert_true(found > 0);
    assert_true(found * recording.sample.size <= at);
  }
}

/* Attrs are after the data, but do not limit them: nearly the whole file is
 * data. */
static void limit_of_the_size_is_made_use_of(void **state) {
  uint64_t limit;
  int rc;

  for (limit = 100000; limit < 2000000; limit += 61803) {
    begin(state, 2);
    add_id(0);
    disk.full_at = limit;
    disk.is_checked = 1;
    do {
      rc = write_some(3);
      if (rc == 0)
        rc = record_file_round(recording.file);
    } while (rc == 0);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(record_file_close(recording.file, NULL), -EFBIG);
    assert_true(count() * recording.sample.size + 8192 > limit);
  }
}

/* The disk has room for the data, but not for the features after them. */
static void disk_that_is_full_at_the_end_keeps_the_records(void **state) {
  begin(state, 1);
  add_id(0);
  assert_int_equal(write_some(100), 0);
  assert_int_equal(record_file_sync(recording.file), 0);
  disk.room = 100;
  disk.is_checked = 1;
  assert_int_equal(record_file_close(recording.file, NULL), -ENOSPC);
  assert_int_equal(count(), 100);
}

static void pipe_that_nobody_reads_is_an_error(void **state) {
  char path[128];
  int fd;

  begin(state, 1);
  assert_int_equal(record_file_close(recording.file, NULL), 0);
  snprintf(path, sizeof(path), "%s/pipe", ((make_tree_t *)*state)->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
  fd = open(path, O_RDWR | O_CLOEXEC);
  assert_true(fd >= 0);
  recording.file = record_file_open(path);
  assert_non_null(recording.file);
  close(fd);
  assert_int_equal(write_some(1), -EPIPE);
  assert_int_equal(record_file_close(recording.file, NULL), -EPIPE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(file_is_readable_after_each_write),
      MAKE_TREE_TEST(file_is_readable_after_each_part_of_a_write),
      MAKE_TREE_TEST(many_ids_may_come_late),
      MAKE_TREE_TEST(file_is_readable_while_it_is_finished),
      MAKE_TREE_TEST(finished_file_has_nothing_behind_it),
      MAKE_TREE_TEST(interrupted_and_short_writes_are_gone_on_with),
      MAKE_TREE_TEST(full_disk_leaves_whole_records),
      MAKE_TREE_TEST(limit_of_the_size_is_made_use_of),
      MAKE_TREE_TEST(disk_that_is_full_at_the_end_keeps_the_records),
      MAKE_TREE_TEST(pipe_that_nobody_reads_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
