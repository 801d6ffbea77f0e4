/* SPDX-License-Identifier: MIT */
/* The build ids in a perf.data file are those of the files that were mapped,
 * not of other files that have the same names now. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/build_ids.h"
#include "common/elf_note.h"
#include "make_record.h"
#include "support.h"
#include "make_tree.h"

#define ID_BYTES COMMON_BUILD_ID_BYTES

/* -- files ----------------------------------------------------------------- */

/* A program with one segment: its notes, one of which is a build id. */
typedef struct image_s {
  Elf64_Ehdr elf;
  Elf64_Phdr segment;
  Elf64_Nhdr other;
  char other_name[8];
  char other_desc[4];
  Elf64_Nhdr note;
  char name[4];
  unsigned char id[ID_BYTES];
} image_t;

static void make_image(image_t *it, unsigned char first) {
  const uint16_t one = 1;
  size_t i;

  memset(it, 0, sizeof(*it));
  memcpy(it->elf.e_ident, ELFMAG, SELFMAG);
  it->elf.e_ident[EI_CLASS] = ELFCLASS64;
  it->elf.e_ident[EI_DATA] =
      *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
  it->elf.e_phoff = offsetof(image_t, segment);
  it->elf.e_phnum = 1;
  it->elf.e_phentsize = sizeof(it->segment);
  it->segment.p_type = PT_NOTE;
  it->segment.p_offset = offsetof(image_t, other);
  it->segment.p_filesz = sizeof(*it) - offsetof(image_t, other);
  it->other.n_namesz = 5;
  it->other.n_descsz = 3;
  it->other.n_type = NT_GNU_BUILD_ID;
  memcpy(it->other_name, "Some", 5);
  it->note.n_namesz = 4;
  it->note.n_descsz = ID_BYTES;
  it->note.n_type = NT_GNU_BUILD_ID;
  memcpy(it->name, "GNU", 4);
  for (i = 0; i < ID_BYTES; i++)
    it->id[i] = (unsigned char)(first + i);
}

static image_t image;

static size_t note_of(const make_tree_t *tree, const void *bytes, size_t size,
                      unsigned char id[ID_BYTES]) {
  char path[128];
  size_t nr;
  int fd;

  make_tree_write_bytes(tree, "/image", bytes, size);
  snprintf(path, sizeof(path), "%s/image", tree->root);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  nr = common_elf_note_of_file(fd, id);
  close(fd);
  assert_true(nr <= ID_BYTES);
  return nr;
}

static void build_id_is_that_of_gnus_note(void **state) {
  unsigned char id[ID_BYTES];

  make_image(&image, 3);
  assert_int_equal(note_of(*state, &image, sizeof(image), id), ID_BYTES);
  assert_memory_equal(id, image.id, ID_BYTES);
}

static void short_build_id_is_written_as_it_is(void **state) {
  unsigned char id[ID_BYTES];

  make_image(&image, 3);
  image.note.n_descsz = 8; /* like ld's --build-id=fast */
  assert_int_equal(note_of(*state, &image, sizeof(image), id), 8);
  assert_memory_equal(id, image.id, 8);
}

/* Finds the build id of this program in memory. */
static int find_own(struct dl_phdr_info *info, size_t size, void *arg) {
  int i;

  for (i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_NOTE &&
        common_elf_note_find((const char *)info->dlpi_addr +
                                 info->dlpi_phdr[i].p_vaddr,
                             info->dlpi_phdr[i].p_memsz, arg) > 0)
      return 1;
  }
  return -1; /* only the first is this program */
}

static void live_build_id_of_this_program_is_that_in_memory(void **state) {
  unsigned char id[ID_BYTES], loaded[ID_BYTES] = {0};
  int fd;

  assert_int_equal(dl_iterate_phdr(find_own, loaded), 1);
  fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_true(common_elf_note_of_file(fd, id) > 0);
  close(fd);
  assert_memory_equal(id, loaded, ID_BYTES);
}

/* Nothing is read outside of a file, whatever it contains. ASan checks that. */
static void damaged_program_has_a_build_id_or_none(void **state) {
  unsigned char id[ID_BYTES];
  uint64_t random = 1;
  size_t size, i, at;

  make_image(&image, 3);
  for (size = 0; size < offsetof(image_t, id) + ID_BYTES; size++)
    assert_int_equal(note_of(*state, &image, size, id), 0);
  for (i = 0; i < 3000; i++) {
    make_image(&image, 3);
    at = (size_t)(record_random(&random) % sizeof(image));
    ((unsigned char *)&image)[at] = (unsigned char)record_random(&random);
    note_of(*state, &image, sizeof(image), id);
  }
}

static void damaged_notes_end_where_they_end(void **state) {
  unsigned char id[ID_BYTES], *notes;
  uint64_t random = 2;
  size_t size = sizeof(image) - offsetof(image_t, other), i, cut;

  for (i = 0; i < 20000; i++) {
    make_image(&image, 3);
    cut = (size_t)(record_random(&random) % (size + 1));
    notes = malloc(cut + 1);
    assert_non_null(notes);
    memcpy(notes + 1, (unsigned char *)&image + offsetof(image_t, other), cut);
    if (cut > 0)
      notes[1 + record_random(&random) % cut] =
          (unsigned char)record_random(&random);
    common_elf_note_find(notes + 1, cut, id);
    free(notes);
  }
}

/* -- mappings -------------------------------------------------------------- */

typedef struct maps_s {
  record_build_ids_t *ids;
  common_buffer_t bytes;
} maps_t;

static void map(maps_t *maps, uint32_t type, uint16_t misc, int32_t pid,
                uint64_t inode, const char *name) {
  record_builder_t *builder = malloc(sizeof(*builder));
  void *record;

  assert_non_null(builder);
  record_begin(builder, type, misc);
  record_put_u32(builder, (uint32_t)pid);
  record_put_u32(builder, (uint32_t)pid);
  record_put_u64(builder, 0x1000);
  record_put_u64(builder, 0x1000);
  record_put_u64(builder, 0);
  if (type == PERF_RECORD_MMAP2) {
    record_put_u64(builder, 0);
    record_put_u64(builder, inode);
    record_put_u64(builder, 0);
    record_put_u64(builder, 0);
  }
  record_put(builder, name, strlen(name) + 1);
  while (builder->size % 8 != 0)
    record_put(builder, "", 1);
  record_end(builder);
  record = record_cut(builder, builder->size);
  record_build_ids_map(maps->ids, record, builder->size);
  free(record);
  free(builder);
}

static maps_t kept; /* of the last begin() */

static void begin(maps_t *maps) {
  if (maps->ids != NULL)
    record_build_ids_free(maps->ids);
  common_buffer_free(&maps->bytes);
  memset(maps, 0, sizeof(*maps));
  maps->ids = record_build_ids_new();
}

/* Returns the build id that is recorded for a name, or NULL. */
static const unsigned char *id_of(maps_t *maps, const char *name) {
  const unsigned char *found = NULL;
  struct perf_event_header header;
  size_t at = 0;

  maps->bytes.used = 0;
  record_build_ids_put(maps->ids, &maps->bytes);
  while (at < maps->bytes.used) {
    memcpy(&header, maps->bytes.text + at, sizeof(header));
    assert_true(header.size >= 36 + 64);
    assert_int_equal(header.size % 4, 0);
    if (strcmp(maps->bytes.text + at + 36, name) == 0) {
      assert_null(found); /* once only */
      found = (unsigned char *)maps->bytes.text + at + 12;
    }
    at += header.size;
  }
  assert_int_equal(at, maps->bytes.used);
  return found;
}

static pid_t dead_process(void) {
  pid_t pid = fork();

  assert_true(pid >= 0);
  if (pid == 0)
    _exit(0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  return pid;
}

static uint64_t write_image(void **state, unsigned char first, char path[128]) {
  struct stat stat_of;

  make_image(&image, first);
  snprintf(path, 128, "%s/program", ((make_tree_t *)*state)->root);
  unlink(path);
  make_tree_write_bytes(*state, "/program", &image, sizeof(image));
  assert_int_equal(stat(path, &stat_of), 0);
  return stat_of.st_ino;
}

static void build_id_is_read_when_the_file_is_first_mapped(void **state) {
  char path[128];
  uint64_t inode;

  inode = write_image(state, 1, path);
  begin(&kept);
  map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, getpid(), inode, path);
  write_image(state, 101, path); /* another */
  map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, getpid(), inode, path);
  assert_non_null(id_of(&kept, path));
  assert_int_equal(id_of(&kept, path)[0], 1);
  assert_int_equal(id_of(&kept, path)[ID_BYTES], ID_BYTES);
}

/* The name may belong to another file now. If the record has an inode, the file
 * must have the same one. */
static void process_that_is_gone_has_the_file_of_its_inode(void **state) {
  pid_t pid = dead_process();
  char path[128];
  uint64_t inode;

  inode = write_image(state, 1, path);
  begin(&kept);
  map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, pid, inode, path);
  assert_non_null(id_of(&kept, path));
  begin(&kept);
  map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, pid, inode + 1, path);
  assert_null(id_of(&kept, path));
  begin(&kept);
  map(&kept, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, pid, 0, path);
  assert_non_null(id_of(&kept, path));
}

static int live_in(void *root) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || chroot(root) != 0)
    return 1;
  for (;;)
    pause();
}

/* Starts a process in this root, and waits until it has entered it. */
static pid_t process_in(char *root) {
  pid_t pid = support_fork(live_in, root);
  char path[64], has[128] = "";

  snprintf(path, sizeof(path), "/proc/%d/root", pid);
  while (strcmp(has, root) != 0) {
    ssize_t nr = readlink(path, has, sizeof(has) - 1);

    assert_true(nr > 0);
    has[nr] = '\0';
    usleep(1000);
  }
  return pid;
}

/* The owner of a container may replace a mapped file by a link. */
static void links_of_a_container_stay_in_its_root(void **state) {
  const make_tree_t *tree = *state;
  char path[128], root[96], ours[128];
  pid_t pid;

  support_need_root(__func__);
  write_image(state, 1, path);
  snprintf(root, sizeof(root), "%s/root", tree->root);
  make_tree_write(tree, "/root/usr/empty", "");
  snprintf(ours, sizeof(ours), "%s/root/usr/program", tree->root);
  assert_int_equal(link(path, ours), 0);
  make_tree_link(tree, "/root/lib", "/usr");
  make_tree_link(tree, "/root/out", path);
  pid = process_in(root);
  begin(&kept);
  map(&kept, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, pid, 0, "/lib/program");
  map(&kept, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, pid, 0, "/out");
  assert_non_null(id_of(&kept, "/lib/program"));
  assert_null(id_of(&kept, "/out"));
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_is_no_program_has_none(void **state) {
  static const char *const names[] = {
      "//anon",    "[heap]",        "[stack]",           "/dev/zero (deleted)",
      "/dev/null", "/proc/cpuinfo", "/no/such/program",  "",
      "/",         "relative",      "/memfd:x (deleted)"};
  char path[128];
  size_t i;

  begin(&kept);
  for (i = 0; i < sizeof(names) / sizeof(*names); i++)
    map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, getpid(), 0, names[i]);
  snprintf(path, sizeof(path), "%s/fifo", ((make_tree_t *)*state)->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, getpid(), 0, path);
  assert_int_equal(record_build_ids_put(kept.ids, &kept.bytes), 0);
  assert_int_equal(kept.bytes.used, 0);
}

/* Opening such a file may have side effects. */
static void what_is_no_program_is_not_opened(void **state) {
  static const char *const names[] = {"/fifo", "/empty", "/other"};
  char path[128], events[4096];
  int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  size_t i;

  assert_true(fd >= 0);
  snprintf(path, sizeof(path), "%s/fifo", ((make_tree_t *)*state)->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  make_tree_write_bytes(*state, "/empty", "", 0);
  make_tree_write_bytes(*state, "/other", "other", 5);
  begin(&kept);
  for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
    snprintf(path, sizeof(path), "%s%s", ((make_tree_t *)*state)->root,
             names[i]);
    assert_true(inotify_add_watch(fd, path, IN_OPEN) >= 0);
    map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, dead_process(),
        UINT64_MAX, path);
  }
  assert_int_equal(read(fd, events, sizeof(events)), -1);
  assert_int_equal(errno, EAGAIN);
  assert_int_equal(record_build_ids_put(kept.ids, &kept.bytes), 0);
  close(fd);
}

static void mapping_of_data_is_not_looked_at(void **state) {
  char path[128];

  write_image(state, 1, path);
  begin(&kept);
  map(&kept, PERF_RECORD_MMAP2,
      PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, getpid(), 0, path);
  assert_null(id_of(&kept, path));
}

/* The name in the record is not terminated. */
static void record_without_a_name_is_not_looked_at(void **state) {
  struct perf_event_header header = {PERF_RECORD_MMAP2, 2, 80};
  unsigned char *record;
  size_t size;

  begin(&kept);
  for (size = sizeof(header); size <= 80; size += 8) {
    record = malloc(size);
    assert_non_null(record);
    memset(record, '/', size);
    header.size = (uint16_t)size;
    memcpy(record, &header, sizeof(header));
    record_build_ids_map(kept.ids, record, size);
    free(record);
  }
  assert_int_equal(record_build_ids_put(kept.ids, &kept.bytes), 0);
}

static void live_kernel_and_vdso_have_theirs(void **state) {
  unsigned char id[ID_BYTES];
  char notes[65536];
  ssize_t size;
  int fd;

  fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    support_skip(__func__, "/sys/kernel/notes");
  size = read(fd, notes, sizeof(notes));
  close(fd);
  assert_true(size > 0);
  assert_int_equal(common_elf_note_find(notes, (size_t)size, id), ID_BYTES);
  begin(&kept);
  map(&kept, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, -1, 0,
      "[kernel.kallsyms]_text");
  map(&kept, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, -1, 0,
      "[kernel.kallsyms]_stext");
  map(&kept, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, -1, 0,
      "[no_such_module]");
  map(&kept, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, getpid(), 0, "[vdso]");
  assert_non_null(id_of(&kept, "[kernel.kallsyms]"));
  assert_memory_equal(id_of(&kept, "[kernel.kallsyms]"), id, ID_BYTES);
  assert_null(id_of(&kept, "[no_such_module]"));
  if (common_elf_note_of_vdso(id) > 0)
    assert_memory_equal(id_of(&kept, "[vdso]"), id, ID_BYTES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(build_id_is_that_of_gnus_note),
      MAKE_TREE_TEST(short_build_id_is_written_as_it_is),
      MAKE_TREE_TEST(live_build_id_of_this_program_is_that_in_memory),
      MAKE_TREE_TEST(damaged_program_has_a_build_id_or_none),
      MAKE_TREE_TEST(damaged_notes_end_where_they_end),
      MAKE_TREE_TEST(build_id_is_read_when_the_file_is_first_mapped),
      MAKE_TREE_TEST(process_that_is_gone_has_the_file_of_its_inode),
      MAKE_TREE_TEST(links_of_a_container_stay_in_its_root),
      MAKE_TREE_TEST(what_is_no_program_has_none),
      MAKE_TREE_TEST(what_is_no_program_is_not_opened),
      MAKE_TREE_TEST(mapping_of_data_is_not_looked_at),
      MAKE_TREE_TEST(record_without_a_name_is_not_looked_at),
      MAKE_TREE_TEST(live_kernel_and_vdso_have_theirs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
