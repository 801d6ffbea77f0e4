/* SPDX-License-Identifier: MIT */
/* Live: MMAP2 with build ids, of files with notes that the test writes, and of
 * this program, whose note it reads. */
#include "live_sideband.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 20 /* bytes: BUILD_ID_SIZE_MAX of the kernel */

/* A build id; 0 bytes if there is none. */
typedef struct note_s {
  uint8_t bytes[64];
  size_t size;
} note_t;

/* A mapping that is to come, and whether it has. */
typedef struct mapping_s {
  live_truth_t truth;
  char path[1024];
  note_t note; /* that the record must have */
  uint64_t found;
} mapping_t;

/* -- the values of a record ----------------------------------------------- */

static void check_mapping(live_collector_t *collector,
                          const uvperf_record_t *record) {
  mapping_t *mapping = collector->hook_data;
  const note_t *note = &mapping->note;
  static const uint8_t zero[MOST];

  if (record->type != PERF_RECORD_MMAP2 ||
      record->mmap.pid != (uint32_t)getpid() ||
      strcmp(record->mmap.filename, mapping->path) != 0)
    return;
  live_assert_trailer(collector, record, &mapping->truth);
  assert_int_equal(uvperf_record_has_build_id(record), note->size > 0);
  assert_int_equal(record->mmap.build_id_size, note->size);
  assert_memory_equal(record->mmap.build_id, note->bytes, note->size);
  assert_memory_equal(record->mmap.build_id + note->size, zero,
                      MOST - note->size);
  /* The build id takes the place of device and inode. */
  assert_int_equal(record->mmap.ino == 0, note->size > 0);
  if (note->size > 0)
    assert_true(record->mmap.ino_generation == 0 && record->mmap.maj == 0 &&
                record->mmap.min == 0);
  assert_int_equal(record->mmap.prot, PROT_READ | PROT_EXEC);
  assert_int_equal(record->mmap.flags, MAP_PRIVATE);
  mapping->found += 1;
}

/* Kernels before 5.12 have no build ids. */
static int is_known(uv_loop_t *loop) {
  struct perf_event_attr attr;
  uvperf_event_t event;
  int rc;

  live_sideband_attr(&attr, 1);
  attr.mmap = 1;
  attr.mmap2 = 1;
  /* By its position, because headers before Linux 5.12 lack the bit. */
  assert_int_equal(uvperf_attr_set(&attr, UVPERF_ATTR_BUILD_ID, 1), 0);
  rc = uvperf_event_init(loop, &event, &attr, NULL, NULL);
  if (rc == UV_EINVAL)
    return 0;
  assert_int_equal(rc, 0);
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return 1;
}

static void need_build_ids(const char *test, uv_loop_t *loop) {
  support_need_own_events(test);
  if (!is_known(loop))
    support_skip(test, "MMAP2 with build id, Linux 5.12");
}

/* Maps a file's first page as code, and waits for the record. */
static void map_as_code(uv_loop_t *loop, mapping_t *mapping, int has_trailer,
                        int is_asked) {
  live_collector_t collector;
  struct perf_event_attr attr;
  cpu_set_t old;
  void *memory;
  int fd;

  mapping->found = 0;
  live_truth_pin(&mapping->truth, &old);
  live_sideband_attr(&attr, has_trailer);
  attr.mmap = 1;
  attr.mmap2 = 1;
  assert_int_equal(uvperf_attr_set(&attr, UVPERF_ATTR_BUILD_ID, is_asked != 0),
                   0);
  fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  live_begin(loop, &collector, &attr, NULL, check_mapping, mapping);
  memory = mmap(NULL, support_page_bytes(), PROT_READ | PROT_EXEC, MAP_PRIVATE,
                fd, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  live_end_among_others(&collector, &mapping->found, 1);
  live_unpin(&old);
  assert_int_equal(munmap(memory, support_page_bytes()), 0);
  close(fd);
}

/* -- files made here ------------------------------------------------------ */

typedef struct image_s {
  ElfW(Ehdr) header;
  ElfW(Phdr) segment;
  ElfW(Nhdr) note;
  char owner[4];
  uint8_t bytes[64];
} image_t;

/* The smallest ELF file with a note that the kernel's build_id_parse()
 * accepts. */
static void make_image(image_t *image, const note_t *note) {
  memset(image, 0, sizeof(*image));
  memcpy(image->header.e_ident, ELFMAG, SELFMAG);
  image->header.e_ident[EI_CLASS] =
      sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  image->header.e_ident[EI_DATA] = ELFDATA2LSB;
  image->header.e_ident[EI_VERSION] = EV_CURRENT;
  image->header.e_type = ET_DYN;
  image->header.e_version = EV_CURRENT;
  image->header.e_phoff = offsetof(image_t, segment);
  image->header.e_ehsize = sizeof(image->header);
  image->header.e_phentsize = sizeof(image->segment);
  image->header.e_phnum = 1;
  image->segment.p_type = PT_NOTE;
  image->segment.p_offset = offsetof(image_t, note);
  image->segment.p_filesz = sizeof(*image) - offsetof(image_t, note);
  image->segment.p_align = 4;
  image->note.n_namesz = sizeof(image->owner);
  image->note.n_descsz = (ElfW(Word))note->size;
  image->note.n_type = NT_GNU_BUILD_ID;
  memcpy(image->owner, ELF_NOTE_GNU, sizeof(image->owner));
  memcpy(image->bytes, note->bytes, sizeof(image->bytes));
}

/* A file of one page with these first bytes; the caller unlinks it. */
static void make_file(mapping_t *mapping, const void *bytes, size_t size) {
  static const char name[] = "/tmp/uvperf-XXXXXX";
  int fd;

  memcpy(mapping->path, name, sizeof(name));
  fd = mkostemp(mapping->path, O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, size), size);
  assert_int_equal(ftruncate(fd, (off_t)support_page_bytes()), 0);
  close(fd);
}

/* There is no build id of a size that the kernel does not accept. */
static void map_note(uv_loop_t *loop, size_t size, int has_trailer) {
  mapping_t mapping;
  image_t image;
  size_t i;

  memset(&mapping, 0, sizeof(mapping));
  mapping.note.size = size;
  for (i = 0; i < sizeof(mapping.note.bytes); i++)
    mapping.note.bytes[i] = (uint8_t)(0xa0 + i);
  make_image(&image, &mapping.note);
  if (size > MOST)
    mapping.note.size = 0;
  make_file(&mapping, &image, sizeof(image));
  map_as_code(loop, &mapping, has_trailer, 1);
  assert_int_equal(unlink(mapping.path), 0);
}

static void sideband_build_id_of_each_size_is_the_note(void **state) {
  size_t size;

  need_build_ids(__func__, *state);
  for (size = 0; size <= MOST + 1; size++) {
    map_note(*state, size, 1);
    map_note(*state, size, 0);
  }
}

static void sideband_file_without_build_id_has_device_and_inode(void **state) {
  static const char text[] = "no ELF file";
  mapping_t mapping;

  need_build_ids(__func__, *state);
  memset(&mapping, 0, sizeof(mapping));
  make_file(&mapping, text, sizeof(text));
  map_as_code(*state, &mapping, 1, 1);
  map_as_code(*state, &mapping, 0, 1);
  assert_int_equal(unlink(mapping.path), 0);
}

/* -- this program --------------------------------------------------------- */

/* As the kernel: with a padding of 4 bytes, whatever the segment's alignment.
 */
static void read_notes(const char *notes, size_t size, note_t *note) {
  const ElfW(Nhdr) * header;
  size_t at = 0;

  while (at + sizeof(*header) <= size) {
    header = (const void *)(notes + at);
    at += sizeof(*header);
    if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
        memcmp(notes + at, ELF_NOTE_GNU, 4) == 0) {
      note->size = header->n_descsz;
      assert_true(note->size <= MOST);
      memcpy(note->bytes, notes + at + 4, note->size);
    }
    at += (header->n_namesz + 3u) & ~3u;
    at += (header->n_descsz + 3u) & ~3u;
  }
}

/* The program itself comes first. */
static int read_own_note(struct dl_phdr_info *info, size_t size, void *arg) {
  const ElfW(Phdr) * segment;
  int i;

  for (i = 0; i < info->dlpi_phnum; i++) {
    segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_NOTE)
      read_notes((const char *)info->dlpi_addr + segment->p_vaddr,
                 segment->p_memsz, arg);
  }
  return 1;
}

static void find_own_path(mapping_t *mapping) {
  ssize_t size;

  size = readlink("/proc/self/exe", mapping->path, sizeof(mapping->path));
  assert_in_range(size, 1, sizeof(mapping->path) - 1);
  mapping->path[size] = '\0';
}

static void sideband_build_id_of_this_program_is_its_note(void **state) {
  mapping_t mapping;

  need_build_ids(__func__, *state);
  memset(&mapping, 0, sizeof(mapping));
  find_own_path(&mapping);
  dl_iterate_phdr(read_own_note, &mapping.note);
  assert_true(mapping.note.size > 0);
  map_as_code(*state, &mapping, 1, 1);
  /* None without a request. */
  mapping.note.size = 0;
  map_as_code(*state, &mapping, 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_build_id_of_each_size_is_the_note),
      support_loop_test(sideband_file_without_build_id_has_device_and_inode),
      support_loop_test(sideband_build_id_of_this_program_is_its_note),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
