/* SPDX-License-Identifier: MIT */
#include "ask_names.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/proc.h"
#include "support.h"

void ask_names_begin(ask_names_t *ask, const symbols_options_t *options) {
  symbols_options_t copy = {.inlined = 0};
  static uv_loop_t loops[64]; /* each is used once */
  static size_t nr;

  assert_true(nr < sizeof(loops) / sizeof(loops[0]));
  ask->loop = &loops[nr++];
  assert_int_equal(uv_loop_init(ask->loop), 0);
  if (options != NULL)
    copy = *options;
  if (copy.timeout_ms == 0)
    copy.timeout_ms = 120000; /* long enough for any machine */
  ask->symbols = symbols_new(ask->loop, &copy);
}

static void count(void *arg) {
  ++*(int *)arg;
}

void ask_names_end(ask_names_t *ask) {
  int nr = 0;

  symbols_close(ask->symbols, count, &nr);
  assert_int_equal(nr, 0);
  uv_run(ask->loop, UV_RUN_DEFAULT);
  assert_int_equal(nr, 1);
  symbols_free(ask->symbols);
  assert_int_equal(uv_loop_close(ask->loop), 0);
}

uint32_t ask_names_file(ask_names_t *ask, const char *path) {
  symbols_mapping_t mapping = {.kind = SYMBOLS_FILE, .path = path};
  struct stat info;

  assert_int_equal(stat(path, &info), 0);
  mapping.inode = info.st_ino;
  mapping.major = major(info.st_dev);
  mapping.minor = minor(info.st_dev);
  return symbols_object(ask->symbols, &mapping);
}

typedef struct find_s {
  ask_names_t *ask;
  uint32_t pid, object;
  uint64_t address, offset;
} find_t;

static int find_map(void *arg, const common_proc_map_t *map) {
  find_t *find = arg;
  symbols_mapping_t mapping = {.kind = SYMBOLS_FILE, .path = map->path};

  if (find->address < map->start || find->address >= map->end)
    return 0;
  if (strcmp(map->path, "[vdso]") == 0)
    mapping.kind = SYMBOLS_VDSO;
  mapping.pid = find->pid;
  mapping.start = map->start;
  mapping.end = map->end;
  mapping.inode = map->inode;
  mapping.major = map->major;
  mapping.minor = map->minor;
  find->offset = find->address - map->start + map->pgoff;
  find->object = symbols_object(find->ask->symbols, &mapping);
  return 1;
}

uint32_t ask_names_mapped(ask_names_t *ask, uint32_t pid, uint64_t address,
                          uint64_t *offset) {
  find_t find = {ask, pid == 0 ? (uint32_t)getpid() : pid, 0, address, 0};

  assert_int_equal(common_proc_maps((int32_t)find.pid, find_map, &find), 1);
  *offset = find.offset;
  return find.object;
}

void ask_names_wait(ask_names_t *ask) {
  int nr = 0;

  symbols_wait(ask->symbols, count, &nr);
  assert_int_equal(nr, 0);
  while (nr == 0 && uv_run(ask->loop, UV_RUN_ONCE) != 0)
    continue;
  assert_int_equal(nr, 1);
}

const symbols_place_t *ask_names_at(ask_names_t *ask, uint32_t object,
                                    uint64_t offset) {
  const symbols_place_t *place;

  symbols_want(ask->symbols, object, offset);
  ask_names_wait(ask);
  place = symbols_find(ask->symbols, object, offset);
  assert_non_null(place);
  return place;
}

const char *ask_names_name(ask_names_t *ask, uint32_t object, uint64_t offset) {
  const symbols_place_t *place = ask_names_at(ask, object, offset);

  return place->nr == 0 ? "" : place->names[0].name;
}

int ask_names_offset(const char *path, uint64_t address, uint64_t *offset) {
  int fd = open(path, O_RDONLY | O_CLOEXEC), i, rc = -1;
  ElfW(Ehdr) header;
  ElfW(Phdr) segment;

  assert_true(fd >= 0);
  assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
  for (i = 0; i < header.e_phnum && rc != 0; i++) {
    assert_int_equal(
        pread(fd, &segment, sizeof(segment),
              (off_t)(header.e_phoff + (size_t)i * sizeof(segment))),
        sizeof(segment));
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
        address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      *offset = address - segment.p_vaddr + segment.p_offset;
      rc = 0;
    }
  }
  close(fd);
  return rc;
}

uint64_t ask_names_symbol(const char *path, const char *name) {
  char command[512], line[4096], symbol[4096], type;
  unsigned long address, found = 0;
  FILE *nm;

  snprintf(command, sizeof(command), "nm '%s'", path);
  nm = popen(command, "r");
  assert_non_null(nm);
  while (fgets(line, sizeof(line), nm) != NULL) {
    if (sscanf(line, "%lx %c %4095s", &address, &type, symbol) == 3 &&
        strcmp(symbol, name) == 0)
      found = address;
  }
  pclose(nm);
  assert_true(found != 0);
  return found;
}

static char directory[64];

int ask_names_setup(void **state) {
  snprintf(directory, sizeof(directory), "/tmp/uvperf-symbols-XXXXXX");
  return mkdtemp(directory) == NULL || chmod(directory, 0755) != 0;
}

int ask_names_teardown(void **state) {
  return ask_names_run("rm -rf '%s'", directory);
}

const char *ask_names_in(const char *name) {
  static char paths[4][128];
  static int next;
  char *path = paths[next++ % 4];

  snprintf(path, 128, "%s/%s", directory, name);
  return path;
}

void ask_names_write(const char *name, const char *bytes, size_t size) {
  FILE *file = fopen(ask_names_in(name), "w");

  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

int ask_names_run(const char *format, ...) {
  char command[2048];
  va_list args;
  size_t used;

  used = (size_t)snprintf(command, sizeof(command), "cd '%s' && ", directory);
  va_start(args, format);
  vsnprintf(command + used, sizeof(command) - used, format, args);
  va_end(args);
  return system(command);
}

uint64_t ask_names_place(const char *file, const char *function) {
  const char *path = ask_names_in(file);
  uint64_t offset = 0;

  assert_int_equal(
      ask_names_offset(path, ask_names_symbol(path, function), &offset), 0);
  return offset;
}
