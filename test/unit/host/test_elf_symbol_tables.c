/* SPDX-License-Identifier: MIT */
/* Tables and strings that are longer than one read, and names at more places
 * than are remembered. */
#include "make_elf.h"
#include "support.h"
#include "make_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "host/elf_symbol.h"

static char path[PATH_MAX];

static make_elf_t image;

static int setup(void **state) {
  int rc = make_tree_setup(state);

  snprintf(path, sizeof(path), "%s/image", ((make_tree_t *)*state)->root);
  return rc;
}

/* More than is read at once of each table, names of every length up to the
 * longest and beyond it, and the same one at the end of many others. */
#define MANY 3000

static size_t long_name(char *name, int i) {
  size_t length = i % 100 == 0 ? 2048 + (size_t)(i / 100) * 80 : 20;

  memset(name, 'n', length);
  snprintf(name + length, 16, "_%d", i);
  return strlen(name);
}

static void write_many(void) {
  static char strings[1 << 20];
  static Elf64_Sym symbols[MANY];
  size_t used = 1;
  FILE *file;
  int i;

  memset(strings, 0, sizeof(strings));
  for (i = 0; i < MANY; i++) {
    symbols[i].st_name = (uint32_t)used;
    symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbols[i].st_shndx = MAKE_ELF_TEXT_SECTION;
    symbols[i].st_value = MAKE_ELF_TEXT + (uint64_t)i % 0x700;
    used += long_name(strings + used, i) + 1;
  }
  image.sections[MAKE_ELF_SYMTAB].sh_offset = MAKE_ELF_BYTES;
  image.sections[MAKE_ELF_SYMTAB].sh_size = sizeof(symbols);
  image.sections[MAKE_ELF_STRTAB].sh_offset = MAKE_ELF_BYTES + sizeof(symbols);
  image.sections[MAKE_ELF_STRTAB].sh_size = used;
  make_elf_write(&image, path);
  file = fopen(path, "ae");
  assert_non_null(file);
  assert_int_equal(fwrite(symbols, sizeof(symbols), 1, file), 1);
  assert_int_equal(fwrite(strings, used, 1, file), 1);
  assert_int_equal(fclose(file), 0);
}

static int count(const char *symbol, void *data) {
  int *seen = data;

  assert_non_null(strrchr(symbol, '_'));
  *seen += 1;
  return 0;
}

static void tables_longer_than_a_piece_are_read_whole(void **state) {
  uint64_t place;
  char name[8192];
  int too_long = 0;
  int seen = 0;
  int i;

  make_elf_make(&image, 1);
  write_many();
  for (i = 0; i < MANY; i += i % 100 == 0 ? 1 : 11) {
    size_t length = long_name(name, i);
    int rc = elf_path_symbol(path, name, &place);

    assert_int_equal(rc, length < 4096 ? 0 : -ENOENT);
    if (length < 4096)
      assert_int_equal(place, MAKE_ELF_OFFSET(i % 0x700));
  }
  for (i = 0; i < MANY; i++)
    too_long += long_name(name, i) >= 4096;
  assert_true(too_long > 0);
  assert_int_equal(elf_path_each(path, count, &seen), 0);
  assert_int_equal(seen, MANY - too_long);
}

/* A name that is the end of more others than are remembered. */
static void name_at_the_end_of_many_others_is_found(void **state) {
  uint64_t place;
  char name[16];
  int i;

  make_elf_make(&image, 0);
  for (i = 0; i < 28; i++) {
    snprintf(name, sizeof(name), "x%cff@@Vff", 'a' + i);
    make_elf_add(&image, MAKE_ELF_DYNSYM, name, STB_LOCAL, STT_FUNC,
                 0x100 + (uint64_t)i);
  }
  make_elf_add(&image, MAKE_ELF_DYNSYM, "f", STB_GLOBAL, STT_FUNC, 0x10);
  make_elf_write(&image, path);
  assert_int_equal(elf_path_symbol(path, "f", &place), 0);
  assert_int_equal(place, MAKE_ELF_OFFSET(0x10));
  assert_int_equal(elf_path_symbol(path, "xcff", &place), 0);
  assert_int_equal(place, MAKE_ELF_OFFSET(0x102));
}

/* So many sections that the index of one is SHN_XINDEX itself. */
static void label_whose_section_is_elsewhere_is_not_found(void **state) {
  const int sections = SHN_XINDEX + 1;
  uint64_t place;
  Elf64_Sym last;
  int fd;

  make_elf_make(&image, 1);
  make_elf_add(&image, MAKE_ELF_SYMTAB, "f", STB_GLOBAL, STT_NOTYPE, 0x10);
  last = make_elf_last(&image, MAKE_ELF_SYMTAB);
  last.st_shndx = SHN_XINDEX;
  make_elf_put_last(&image, MAKE_ELF_SYMTAB, &last);
  image.header.e_shoff = MAKE_ELF_BYTES;
  image.header.e_shnum = 0;
  image.sections[0].sh_size = (uint64_t)sections;
  make_elf_write(&image, path);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(
      pwrite(fd, image.sections, sizeof(image.sections), MAKE_ELF_BYTES),
      sizeof(image.sections));
  assert_int_equal(
      pwrite(fd, &image.sections[MAKE_ELF_TEXT_SECTION], sizeof(Elf64_Shdr),
             MAKE_ELF_BYTES + SHN_XINDEX * (off_t)sizeof(Elf64_Shdr)),
      sizeof(Elf64_Shdr));
  close(fd);
  assert_int_equal(elf_path_symbol(path, "f", &place), -ENOENT);
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, setup, make_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(tables_longer_than_a_piece_are_read_whole),
      WITH_TREE(label_whose_section_is_elsewhere_is_not_found),
      WITH_TREE(name_at_the_end_of_many_others_is_found),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
