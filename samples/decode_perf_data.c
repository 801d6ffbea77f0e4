/* SPDX-License-Identifier: MIT */
/* Decodes the records of a perf.data file, as perf record and uvperf-record
 * write it, and prints each record as a line that begins with the number of its
 * event. Needs neither privileges nor a loop. The file is not trusted: all
 * offsets and sizes in it are checked. */
#include <stdint.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uvperf/record.h>

/* Source: tools/perf/Documentation/perf.data-file-format.txt of Linux. */
typedef struct section_s {
  uint64_t offset, size;
} section_t;

typedef struct file_header_s {
  char magic[8];
  uint64_t size;      /* of this header */
  uint64_t attr_size; /* of an attr and the section of its ids */
  section_t attrs, data, event_types;
  uint64_t features[4];
} file_header_t;

/* Types of records that perf itself makes; all are from 64 on. */
enum {
  OWN = 64,
  AUXTRACE = 71,
  COMPRESSED = 81,
  COMPRESSED2 = 83
};

static char *bytes; /* the whole file */
static size_t nr_bytes;
static uvperf_source_t *sources;

_Noreturn static void fail(const char *why) {
  fprintf(stderr, "decode_perf_data: %s\n", why);
  exit(1);
}

static void read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  long size;

  /* LONG_MAX is the end of a directory. */
  if (file == NULL || fseek(file, 0, SEEK_END) != 0 ||
      (size = ftell(file)) < 0 || size == LONG_MAX)
    fail("cannot open the file, or it is no regular file");
  nr_bytes = (size_t)size;
  bytes = malloc(nr_bytes + 1);
  rewind(file);
  if (bytes == NULL || fread(bytes, 1, nr_bytes, file) != nr_bytes)
    fail("cannot read the file");
  fclose(file);
}

/* Everything in the file begins at a multiple of 8 bytes. */
static void *at(uint64_t offset, uint64_t size) {
  if (offset > nr_bytes || size > nr_bytes - offset || offset % 8 != 0)
    fail("the file is cut or damaged");
  return bytes + offset;
}

static const file_header_t *find_header(void) {
  const file_header_t *header = at(0, sizeof(*header));

  if (memcmp(header->magic, "2ELIFREP", 8) == 0)
    fail("the file is of a machine with the other byte order");
  if (memcmp(header->magic, "PERFILE2", 8) != 0)
    fail("not a perf.data file");
  if (header->size == 16)
    fail("perf record wrote into a pipe: use perf record -o FILE");
  if (header->size != sizeof(*header) || header->attr_size % 8 != 0 ||
      header->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(section_t) ||
      header->attrs.size % header->attr_size != 0)
    fail("the header is damaged");
  return header;
}

/* Each attr, with its ids, is a source of records. */
static uvperf_decoder_t *new_decoder(const file_header_t *header) {
  size_t nr = (size_t)(header->attrs.size / header->attr_size);
  const uvperf_source_t **list = calloc(nr, sizeof(*list));
  char *attr = at(header->attrs.offset, header->attrs.size);
  uvperf_decoder_t *decoder;
  section_t ids;
  size_t i;

  sources = calloc(nr, sizeof(*sources));
  for (i = 0; i < nr && sources != NULL && list != NULL; i++) {
    list[i] = &sources[i];
    sources[i].size = sizeof(*sources);
    sources[i].attr = (struct perf_event_attr *)(void *)attr;
    sources[i].attr_index = (uint32_t)i;
    attr += header->attr_size;
    memcpy(&ids, attr - sizeof(ids), sizeof(ids));
    if (sources[i].attr->size > header->attr_size - sizeof(ids))
      fail("an attr is damaged");
    sources[i].ids = at(ids.offset, ids.size);
    sources[i].nr_ids = (size_t)ids.size / sizeof(uint64_t);
  }
  if (i < nr || uvperf_decoder_new(&decoder, list, nr) != 0)
    fail("an attr is damaged, or the records of several cannot be told apart");
  free(list);
  return decoder;
}

int main(int argc, char **argv) {
  const struct perf_event_header *raw;
  const uvperf_record_t *record;
  const file_header_t *header;
  uvperf_decoder_t *decoder;
  uint64_t place, end;
  char line[4096]; /* a longer one is cut */
  int rc;

  if (argc != 2)
    fail("usage: decode_perf_data perf.data");
  read_file(argv[1]);
  header = find_header();
  decoder = new_decoder(header);
  place = header->data.offset;
  at(place, header->data.size);
  /* The size is 0 if the recording was killed. */
  end = header->data.size != 0 ? place + header->data.size : nr_bytes;
  for (; end - place >= sizeof(*raw); place += raw->size) {
    raw = at(place, sizeof(*raw));
    if (raw->size < sizeof(*raw) || raw->size > end - place)
      fail("a record is damaged");
    if (raw->type == COMPRESSED || raw->type == COMPRESSED2)
      fail("the records are compressed: use perf record without -z");
    if (raw->type == AUXTRACE) /* it is longer than its size */
      fail("the file has traces of instructions");
    if (raw->type >= OWN)
      continue;
    rc = uvperf_decode(decoder, raw, raw->size, &record);
    if (record == NULL)
      fail("a record is damaged");
    uvperf_record_format(record, rc, line, sizeof(line));
    if (record->source != NULL)
      printf("[%u] ", record->source->attr_index);
    printf("%s%s\n", line,
           uvperf_record_is_fork_exec(record) ? " (made by perf)" : "");
  }
  uvperf_decoder_free(decoder);
  free(sources); /* the decoder has used them */
  free(bytes);
  if (fflush(stdout) != 0 || ferror(stdout))
    fail("stdout could not be written");
  return 0;
}
