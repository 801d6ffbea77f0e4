/* SPDX-License-Identifier: MIT */
#include "data_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static void check_section(const data_file_t *file,
                          const data_section_t *section) {
  assert_true(section->offset <= file->size);
  assert_true(section->size <= file->size - section->offset);
}

static void read_all(data_file_t *file, int fd) {
  struct stat stat;

  assert_int_equal(fstat(fd, &stat), 0);
  file->size = (size_t)stat.st_size;
  file->bytes = malloc(file->size + 1);
  assert_non_null(file->bytes);
  assert_int_equal(pread(fd, file->bytes, file->size, 0), file->size);
}

static void read_header(data_header_t *header, int fd) {
  memset(header, 0, sizeof(*header));
  assert_true(pread(fd, header, sizeof(*header), 0) >= 0);
}

/* Attrs move while a file grows: the header points to the new ones before the
 * old ones are overwritten. So what is read fits together if the header does
 * not change meanwhile. */
static void read_whole(data_file_t *file, int fd) {
  data_header_t now;

  for (;;) {
    read_header(&file->header, fd);
    read_all(file, fd);
    read_header(&now, fd);
    if (memcmp(&now, &file->header, sizeof(now)) == 0)
      return;
    free(file->bytes);
  }
}

static data_section_t ids_of(const data_file_t *file, size_t index) {
  const unsigned char *entry = file->bytes + file->header.attrs.offset +
                               (index + 1) * file->header.attr_size;
  data_section_t ids;

  memcpy(&ids, entry - sizeof(ids), sizeof(ids));
  return ids;
}

/* perf(1) reads attr.size bytes and takes what follows for the section, so that
 * all must be of the header's size. */
static void check_attrs(const data_file_t *file) {
  struct perf_event_attr attr;
  data_section_t ids;
  size_t i;

  check_section(file, &file->header.attrs);
  assert_true(file->header.attr_size >=
              PERF_ATTR_SIZE_VER0 + sizeof(data_section_t));
  assert_int_equal(file->header.attrs.size % file->header.attr_size, 0);
  assert_int_equal(file->header.attrs.offset % sizeof(uint64_t), 0);
  assert_int_equal(file->header.attr_size % sizeof(uint64_t), 0);
  for (i = 0; i < data_file_nr_attrs(file); i++) {
    data_file_attr(file, i, &attr);
    assert_int_equal(attr.size,
                     file->header.attr_size - sizeof(data_section_t));
    ids = ids_of(file, i);
    check_section(file, &ids);
    assert_int_equal(ids.size % sizeof(uint64_t), 0);
    assert_int_equal(ids.offset % sizeof(uint64_t), 0);
  }
}

static void check_records(const data_file_t *file) {
  const struct perf_event_header *record = NULL;
  uint64_t bytes = 0;

  check_section(file, &file->header.data);
  while ((record = data_file_next(file, record)) != NULL)
    bytes += record->size;
  assert_int_equal(bytes, file->header.data.size);
}

static void check_features(const data_file_t *file) {
  size_t size;
  unsigned bit;

  for (bit = 0; bit < 256; bit++)
    data_file_feature(file, bit, &size);
}

int data_file_read_fd(data_file_t *file, int fd) {
  memset(file, 0, sizeof(*file));
  read_whole(file, fd);
  if (file->header.magic == 0) {
    data_file_free(file);
    return 0;
  }
  assert_true(file->header.magic == DATA_FILE_MAGIC);
  assert_int_equal(file->header.size, 104);
  check_attrs(file);
  check_records(file);
  check_features(file);
  return 1;
}

void data_file_read(data_file_t *file, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);

  assert_true(fd >= 0);
  assert_int_equal(data_file_read_fd(file, fd), 1);
  close(fd);
}

void data_file_free(data_file_t *file) {
  free(file->bytes);
  memset(file, 0, sizeof(*file));
}

size_t data_file_nr_attrs(const data_file_t *file) {
  return (size_t)(file->header.attrs.size / file->header.attr_size);
}

const struct perf_event_attr *data_file_attr_at(const data_file_t *file,
                                                size_t index) {
  return (const void *)(file->bytes + file->header.attrs.offset +
                        index * file->header.attr_size);
}

void data_file_attr(const data_file_t *file, size_t index,
                    struct perf_event_attr *attr) {
  size_t size = (size_t)file->header.attr_size - sizeof(data_section_t);

  memset(attr, 0, sizeof(*attr));
  memcpy(attr, data_file_attr_at(file, index),
         size < sizeof(*attr) ? size : sizeof(*attr));
}

const uint64_t *data_file_ids(const data_file_t *file, size_t index,
                              size_t *nr) {
  data_section_t ids = ids_of(file, index);

  *nr = (size_t)(ids.size / sizeof(uint64_t));
  return (const uint64_t *)(const void *)(file->bytes + ids.offset);
}

const struct perf_event_header *
data_file_next(const data_file_t *file,
               const struct perf_event_header *record) {
  uint64_t end = file->header.data.offset + file->header.data.size;
  uint64_t at = file->header.data.offset;

  if (record != NULL)
    at = (uint64_t)((const unsigned char *)record - file->bytes) + record->size;
  if (at == end)
    return NULL;
  assert_true(end - at >= sizeof(*record));
  record = (const void *)(file->bytes + at);
  assert_true(record->size >= sizeof(*record));
  assert_true(record->size <= end - at);
  assert_int_equal(record->size % sizeof(uint64_t), 0);
  return record;
}

const unsigned char *data_file_feature(const data_file_t *file, unsigned bit,
                                       size_t *size) {
  uint64_t table = file->header.data.offset + file->header.data.size;
  data_section_t section;
  unsigned i, nr = 0;

  *size = 0;
  if ((file->header.features[bit / 64] >> bit % 64 & 1) == 0)
    return NULL;
  for (i = 0; i < bit; i++)
    nr += (unsigned)(file->header.features[i / 64] >> i % 64 & 1);
  table += nr * sizeof(section);
  assert_true(table + sizeof(section) <= file->size);
  memcpy(&section, file->bytes + table, sizeof(section));
  check_section(file, &section);
  *size = (size_t)section.size;
  return file->bytes + section.offset;
}

const char *data_file_string(const unsigned char *bytes,
                             const unsigned char **next) {
  uint32_t size;

  memcpy(&size, bytes, sizeof(size));
  bytes += sizeof(size);
  assert_non_null(memchr(bytes, '\0', size));
  *next = bytes + size;
  return (const char *)bytes;
}
