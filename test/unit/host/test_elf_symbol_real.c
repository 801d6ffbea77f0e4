/* SPDX-License-Identifier: MIT */
/* Files made by the linker: programs that print where their functions are,
 * stripped ones, a library with versions, and the whole C library compared with
 * the dynamic linker. */
#include "make_elf.h"
#include "support.h"

#include <dlfcn.h>
#include <link.h>
#include <limits.h>

#include "host/elf_symbol.h"

/* -- programs ------------------------------------------------------------- */

/* The file offset of a function, as the program prints it. */
static uint64_t place_in(const char *program, const char *function) {
  unsigned long long offset = 0;
  char name[32], line[64];
  FILE *output = popen(program, "re");
  int found = 0;

  assert_non_null(output);
  while (!found && fgets(line, sizeof(line), output) != NULL)
    found = sscanf(line, "%31s %llx", name, &offset) == 2 &&
            strcmp(name, function) == 0;
  pclose(output);
  assert_true(found);
  return offset;
}

static void expect(const char *program, const char *name,
                   const char *function) {
  uint64_t place;

  assert_int_equal(elf_path_symbol(program, name, &place), 0);
  assert_int_equal(place, place_in(program, function));
}

static void expect_error(const char *program, const char *name, int code) {
  uint64_t place;

  assert_int_equal(elf_path_symbol(program, name, &place), code);
}

static void program_function_is_where_the_program_says(void **state) {
  expect(ELF_PIE, "elf_target_exported", "exported");
  expect(ELF_PIE, "elf_target_own", "own");
  expect(ELF_FIXED, "elf_target_exported", "exported");
  expect(ELF_FIXED, "elf_target_own", "own");
  expect_error(ELF_PIE, "elf_target_ow", -ENOENT);
  expect_error(ELF_PIE, "printf", -ENOENT); /* the C library has it */
}

static void stripped_program_has_what_it_exports(void **state) {
  expect(ELF_DYNAMIC, "elf_target_exported", "exported");
  expect_error(ELF_DYNAMIC, "elf_target_own", -ENOENT);
  expect_error(ELF_STRIPPED, "elf_target_exported", -ENODATA);
  expect_error(ELF_STRIPPED, "elf_target_own", -ENODATA);
}

/* -- a library ------------------------------------------------------------ */

/* The file offset of an address of a loaded library. */
typedef struct place_s {
  const char *path; /* how it ends */
  uintptr_t address;
  uint64_t offset;
} place_t;

static int find_place(struct dl_phdr_info *info, size_t size, void *data) {
  const ElfW(Phdr) *segment = info->dlpi_phdr;
  place_t *place = data;
  int i;

  if (strcmp(info->dlpi_name, place->path) != 0)
    return 0;
  for (i = 0; i < info->dlpi_phnum; i++, segment++) {
    uintptr_t start = info->dlpi_addr + segment->p_vaddr;

    if (segment->p_type != PT_LOAD || place->address < start ||
        place->address - start >= segment->p_filesz)
      continue;
    place->offset = place->address - start + segment->p_offset;
    return 1;
  }
  return -1;
}

static uint64_t place_of(const char *path, uintptr_t address) {
  place_t place = {path, address, 0};

  assert_int_equal(dl_iterate_phdr(find_place, &place), 1);
  return place.offset;
}

/* The path of a library that dlopen returned. */
static const char *path_of(void *library) {
  struct link_map *map;

  assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  return map->l_name;
}

static uint64_t offset_of(const char *path, const char *name) {
  uint64_t place;

  assert_int_equal(elf_path_symbol(path, name, &place), 0);
  return place;
}

static void library_function_is_where_the_linker_says(void **state) {
  void *library = dlopen(ELF_LIBRARY, RTLD_NOW);
  const char *path;

  assert_non_null(library);
  path = path_of(library);
  assert_int_equal(
      offset_of(path, "elf_library_plain"),
      place_of(path, (uintptr_t)dlsym(library, "elf_library_plain")));
  assert_int_equal(
      offset_of(path, "elf_library_weak"),
      place_of(path, (uintptr_t)dlsym(library, "elf_library_weak")));
  dlclose(library);
}

/* Where the library reports a version of its function to be. */
static uint64_t version_at(void *library, const char *path, int version) {
  void *symbol = dlsym(library, "elf_library_version_at");
  uintptr_t (*at)(int);

  assert_non_null(symbol);
  memcpy(&at, &symbol, sizeof(at));
  return place_of(path, at(version));
}

static void library_version_is_chosen(void **state) {
  void *library = dlopen(ELF_LIBRARY, RTLD_NOW);
  const char *path;
  uint64_t first, second;

  assert_non_null(library);
  path = path_of(library);
  first = version_at(library, path, 1);
  second = version_at(library, path, 2);
  assert_int_not_equal(first, second);
  assert_int_equal(offset_of(path, "elf_library_versioned"), second);
  assert_int_equal(offset_of(path, "elf_library_versioned@ELF_1"), first);
  assert_int_equal(offset_of(path, "elf_library_versioned@@ELF_2"), second);
  expect_error(path, "elf_library_versioned@ELF_3", -ENOENT);
  dlclose(library);
}

static void library_function_at_two_places_is_enotuniq(void **state) {
  expect_error(ELF_LIBRARY, "elf_library_twin", -ENOTUNIQ);
#ifdef __GLIBC__
  expect_error(ELF_LIBRARY, "elf_library_indirect", -ENOTSUP);
#endif
}

/* -- the C library -------------------------------------------------------- */

#if defined(__arm__)
#define IS_ARM 1
#else
#define IS_ARM 0
#endif

typedef struct comparison_s {
  void *library;
  const char *path;
  unsigned int same;
  unsigned int unknown; /* to dlsym: only old versions, or not exported */
  unsigned int indirect;
  unsigned int thumb; /* for 32-bit ARM: its address has the lowest bit */
} comparison_t;

static int compare(const char *symbol, void *data) {
  comparison_t *comparison = data;
  void *address = dlsym(comparison->library, symbol);
  uint64_t place;
  int rc = elf_path_symbol(comparison->path, symbol, &place);
  uint64_t offset;

  if (rc == -ENOTSUP) {
    comparison->indirect++;
    return 0;
  }
  if (rc == -EILSEQ) {
    assert_true(IS_ARM && (address == NULL || ((uintptr_t)address & 1) != 0));
    comparison->thumb++;
    return 0;
  }
  if (address == NULL) {
    comparison->unknown++;
    return rc == 0 || rc == -ENOTUNIQ ? 0 : rc;
  }
  if (rc != 0)
    fail_msg("%s: %d", symbol, rc);
  offset = place_of(comparison->path, (uintptr_t)address);
  if (place != offset)
    fail_msg("%s: %#llx, the linker says %#llx", symbol,
             (unsigned long long)place, (unsigned long long)offset);
  comparison->same++;
  return 0;
}

static void
c_library_functions_are_found_where_the_linker_has_them(void **state) {
  comparison_t comparison = {dlopen("libc.so.6", RTLD_NOW), NULL, 0, 0, 0, 0};

  if (comparison.library == NULL)
    support_skip(__func__, "a C library that is called libc.so.6");
  comparison.path = path_of(comparison.library);
  assert_int_equal(elf_path_each(comparison.path, compare, &comparison), 0);
  print_message("%u functions are the same, %u are unknown to dlsym, %u are "
                "indirect\n",
                comparison.same, comparison.unknown, comparison.indirect);
  assert_true(comparison.same + comparison.thumb > 1000);
  assert_true(comparison.unknown < comparison.same + comparison.thumb);
  dlclose(comparison.library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(program_function_is_where_the_program_says),
      cmocka_unit_test(stripped_program_has_what_it_exports),
      cmocka_unit_test(library_function_is_where_the_linker_says),
      cmocka_unit_test(library_version_is_chosen),
      cmocka_unit_test(library_function_at_two_places_is_enotuniq),
      cmocka_unit_test(c_library_functions_are_found_where_the_linker_has_them),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
