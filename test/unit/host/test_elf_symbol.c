/* SPDX-License-Identifier: MIT */
/* Which symbols are functions, which of them a name means, and where they are,
 * in files of 32 and 64 bits made by hand. */
#include "make_elf.h"
#include "support.h"
#include "make_tree.h"

#include <limits.h>

#include "host/elf_symbol.h"

#define HIDDEN 0x8000

static char path[PATH_MAX];

static void set_path(const make_tree_t *tree) {
  snprintf(path, sizeof(path), "%s/image", tree->root);
}

static void expect(make_elf_t *image, const char *name, uint64_t offset) {
  uint64_t place;
  int rc;

  make_elf_write(image, path);
  rc = elf_path_symbol(path, name, &place);
  if (rc != 0 || place != offset)
    fail_msg("%s: %d, offset %#llx, not %#llx", name, rc,
             (unsigned long long)(rc == 0 ? place : 0),
             (unsigned long long)offset);
}

static void expect_error(make_elf_t *image, const char *name, int code) {
  uint64_t place = 1;

  make_elf_write(image, path);
  assert_int_equal(elf_path_symbol(path, name, &place), code);
  assert_int_equal(place, 1);
}

/* A symbol whose other fields are as in the last one. */
static void set_last(make_elf_t *image, int table, unsigned section,
                     uint64_t value, uint64_t size) {
  Elf64_Sym symbol = make_elf_last(image, table);

  symbol.st_shndx = (Elf64_Section)section;
  symbol.st_value = value;
  symbol.st_size = size;
  make_elf_put_last(image, table, &symbol);
}

/* -- where ---------------------------------------------------------------- */

static void offset_of_each_table(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "one", STB_LOCAL, STT_FUNC, 0x10);
  make_elf_add(image, MAKE_ELF_DYNSYM, "two", STB_GLOBAL, STT_FUNC, 0x20);
  expect(image, "one", MAKE_ELF_OFFSET(0x10));
  expect(image, "two", MAKE_ELF_OFFSET(0x20));
  expect_error(image, "three", -ENOENT);
  expect_error(image, "on", -ENOENT);
  expect_error(image, "onet", -ENOENT);
  expect_error(image, "ne", -ENOENT);
  expect_error(image, "", -ENOENT);
  image->header.e_type = ET_EXEC;
  expect(image, "one", MAKE_ELF_OFFSET(0x10));
}

static void places_at_the_edges(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "first", STB_GLOBAL, STT_FUNC, 0);
  make_elf_add(image, MAKE_ELF_SYMTAB, "last", STB_GLOBAL, STT_FUNC,
               MAKE_ELF_TEXT_BYTES - 1);
  make_elf_add(image, MAKE_ELF_SYMTAB, "behind", STB_GLOBAL, STT_FUNC,
               MAKE_ELF_TEXT_BYTES);
  make_elf_add(image, MAKE_ELF_SYMTAB, "before", STB_GLOBAL, STT_FUNC,
               UINT64_MAX);
  expect(image, "first", MAKE_ELF_OFFSET(0));
  expect(image, "last", MAKE_ELF_OFFSET(MAKE_ELF_TEXT_BYTES - 1));
  expect_error(image, "behind", -ENOENT);
  expect_error(image, "before", -ENOENT);
  make_elf_add(image, MAKE_ELF_SYMTAB, "rest", STB_GLOBAL, STT_FUNC,
               MAKE_ELF_TEXT_BYTES - 24);
  set_last(image, MAKE_ELF_SYMTAB, MAKE_ELF_TEXT_SECTION,
           MAKE_ELF_TEXT + MAKE_ELF_TEXT_BYTES - 24, 24);
  expect(image, "rest", MAKE_ELF_OFFSET(MAKE_ELF_TEXT_BYTES - 24));
  /* The next segment begins where this one ends. */
  image->segments[2].p_flags |= PF_X;
  image->segments[2].p_vaddr = MAKE_ELF_TEXT + MAKE_ELF_TEXT_BYTES;
  expect(image, "behind", MAKE_ELF_DATA_AT);
}

static void data_segment(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "data", STB_GLOBAL, STT_FUNC, 0);
  set_last(image, MAKE_ELF_SYMTAB, MAKE_ELF_DATA_SECTION, MAKE_ELF_DATA, 8);
  expect_error(image, "data", -ENOENT);
  image->segments[2].p_flags |= PF_X;
  expect(image, "data", MAKE_ELF_DATA_AT);
  /* If two have one address, the code segment counts. */
  image->segments[2].p_flags = PF_R;
  image->segments[0].p_flags = PF_R | PF_X;
  image->segments[0].p_vaddr = MAKE_ELF_DATA;
  expect(image, "data", 0);
}

static void thumb(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "thumb", STB_GLOBAL, STT_FUNC, 0x21);
  expect(image, "thumb", MAKE_ELF_OFFSET(0x21));
  make_elf_add(image, MAKE_ELF_SYMTAB, "arm", STB_GLOBAL, STT_FUNC, 0x40);
  image->header.e_machine = EM_ARM;
  expect_error(image, "thumb", -EILSEQ);
  expect(image, "arm", MAKE_ELF_OFFSET(0x40));
}

static void set_other(make_elf_t *image, unsigned int other) {
  Elf64_Sym symbol = make_elf_last(image, MAKE_ELF_SYMTAB);

  symbol.st_other = (unsigned char)other;
  make_elf_put_last(image, MAKE_ELF_SYMTAB, &symbol);
}

static void local_entry(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "entry", STB_GLOBAL, STT_FUNC, 0x20);
  set_other(image, 3 << 5);
  expect(image, "entry", MAKE_ELF_OFFSET(0x20));
  image->header.e_machine = EM_PPC64;
  image->header.e_flags = 2;
  expect(image, "entry", MAKE_ELF_OFFSET(0x28));
  set_other(image, 6 << 5 | STV_PROTECTED);
  expect(image, "entry", MAKE_ELF_OFFSET(0x60));
  /* One entry only; reserved. */
  set_other(image, 1 << 5);
  expect(image, "entry", MAKE_ELF_OFFSET(0x20));
  set_other(image, 7 << 5);
  expect(image, "entry", MAKE_ELF_OFFSET(0x20));
  image->header.e_flags = 1;
  expect_error(image, "entry", -ENOTSUP);
}

/* -- what ----------------------------------------------------------------- */

static void others(make_elf_t *image) {
  static const struct {
    const char *name;
    int type;
    unsigned section;
  } symbols[] = {
      {"object", STT_OBJECT, MAKE_ELF_TEXT_SECTION},
      {"file", STT_FILE, SHN_ABS},
      {"section", STT_SECTION, MAKE_ELF_TEXT_SECTION},
      {"undefined", STT_FUNC, SHN_UNDEF},
      {"absolute", STT_FUNC, SHN_ABS},
      {"common", STT_FUNC, SHN_COMMON},
      {"label_of_data", STT_NOTYPE, MAKE_ELF_DATA_SECTION},
      {"label_of_no_section", STT_NOTYPE, 200},
      {"absolute_label", STT_NOTYPE, SHN_ABS},
      {"far_label", STT_NOTYPE, SHN_XINDEX},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(symbols); i++) {
    make_elf_add(image, MAKE_ELF_SYMTAB, symbols[i].name, STB_GLOBAL,
                 symbols[i].type, 0x10);
    set_last(image, MAKE_ELF_SYMTAB, symbols[i].section, MAKE_ELF_TEXT + 0x10,
             16);
    expect_error(image, symbols[i].name, -ENOENT);
  }
  make_elf_add(image, MAKE_ELF_SYMTAB, "far", STB_GLOBAL, STT_FUNC, 0x20);
  set_last(image, MAKE_ELF_SYMTAB, SHN_XINDEX, MAKE_ELF_TEXT + 0x20, 16);
  expect(image, "far", MAKE_ELF_OFFSET(0x20));
}

/* Index 0 of the strings means no name, whatever is there. */
static void nameless(make_elf_t *image) {
  Elf64_Sym symbol;

  make_elf_add(image, MAKE_ELF_SYMTAB, "one", STB_GLOBAL, STT_FUNC, 0x10);
  symbol = make_elf_last(image, MAKE_ELF_SYMTAB);
  symbol.st_name = 0;
  make_elf_put_last(image, MAKE_ELF_SYMTAB, &symbol);
  image->tables[MAKE_ELF_STRTAB][0] = 'z';
  expect_error(image, "zone", -ENOENT);
}

static void labels(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "label", STB_GLOBAL, STT_NOTYPE, 0x30);
  expect(image, "label", MAKE_ELF_OFFSET(0x30));
  make_elf_add(image, MAKE_ELF_SYMTAB, "$x", STB_LOCAL, STT_NOTYPE, 0x30);
  expect_error(image, "$x", -ENOENT);
  make_elf_add(image, MAKE_ELF_SYMTAB, "table", STB_GLOBAL, STT_NOTYPE, 0);
  set_last(image, MAKE_ELF_SYMTAB, MAKE_ELF_DATA_SECTION, MAKE_ELF_TEXT, 0);
  image->sections[MAKE_ELF_DATA_SECTION].sh_addr = MAKE_ELF_TEXT;
  expect_error(image, "table", -ENOENT);
  make_elf_add(image, MAKE_ELF_SYMTAB, "etext", STB_GLOBAL, STT_NOTYPE,
               MAKE_ELF_TEXT_BYTES);
  image->segments[1].p_filesz += 0x10;
  expect_error(image, "etext", -ENOENT);
  make_elf_add(image, MAKE_ELF_SYMTAB, "label", STB_LOCAL, STT_FUNC, 0x40);
  expect(image, "label", MAKE_ELF_OFFSET(0x40));
}

static void indirect(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_GLOBAL, STT_GNU_IFUNC, 0x10);
  expect_error(image, "f", -ENOTSUP);
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x20);
  expect_error(image, "f", -ENOTSUP);
  /* Also if another symbol of the name and place is not indirect. */
  make_elf_add(image, MAKE_ELF_SYMTAB, "g", STB_GLOBAL, STT_FUNC, 0x30);
  expect(image, "g", MAKE_ELF_OFFSET(0x30));
  make_elf_add(image, MAKE_ELF_SYMTAB, "g", STB_GLOBAL, STT_GNU_IFUNC, 0x30);
  expect_error(image, "g", -ENOTSUP);
}

static void tables_gone(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_DYNSYM, "import", STB_GLOBAL, STT_FUNC, 0);
  set_last(image, MAKE_ELF_DYNSYM, SHN_UNDEF, 0, 0);
  expect_error(image, "f", -ENOENT);
  make_elf_drop(image, MAKE_ELF_SYMTAB);
  expect_error(image, "f", -ENODATA);
  make_elf_drop(image, MAKE_ELF_DYNSYM);
  expect_error(image, "f", -ENODATA);
  image->header.e_shoff = 0;
  expect_error(image, "f", -ENODATA);
  image->header.e_phnum = 0;
  expect_error(image, "f", -ENODATA);
}

/* -- which ---------------------------------------------------------------- */

static void binds(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x10);
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x10);
  expect(image, "f", MAKE_ELF_OFFSET(0x10));
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x20);
  expect_error(image, "f", -ENOTUNIQ);
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_WEAK, STT_FUNC, 0x30);
  expect(image, "f", MAKE_ELF_OFFSET(0x30));
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_WEAK, STT_FUNC, 0x38);
  expect_error(image, "f", -ENOTUNIQ);
  make_elf_add(image, MAKE_ELF_DYNSYM, "f", STB_GLOBAL, STT_FUNC, 0x40);
  expect(image, "f", MAKE_ELF_OFFSET(0x40));
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_GNU_UNIQUE, STT_FUNC, 0x40);
  expect(image, "f", MAKE_ELF_OFFSET(0x40));
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x50);
  expect(image, "f", MAKE_ELF_OFFSET(0x40));
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_GLOBAL, STT_FUNC, 0x60);
  expect_error(image, "f", -ENOTUNIQ);
  make_elf_add(image, MAKE_ELF_SYMTAB, "g", STB_WEAK, STT_FUNC, 0x10);
  make_elf_add(image, MAKE_ELF_SYMTAB, "g", STB_GNU_UNIQUE, STT_FUNC, 0x20);
  expect(image, "g", MAKE_ELF_OFFSET(0x20));
}

static void versions_in_names(make_elf_t *image) {
  make_elf_add(image, MAKE_ELF_SYMTAB, "f@V_1", STB_GLOBAL, STT_FUNC, 0x10);
  expect(image, "f", MAKE_ELF_OFFSET(0x10));
  make_elf_add(image, MAKE_ELF_SYMTAB, "f@V_2", STB_GLOBAL, STT_FUNC, 0x20);
  expect_error(image, "f", -ENOTUNIQ);
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x30);
  expect(image, "f", MAKE_ELF_OFFSET(0x30));
  make_elf_add(image, MAKE_ELF_SYMTAB, "f@@V_3", STB_GLOBAL, STT_FUNC, 0x40);
  expect(image, "f", MAKE_ELF_OFFSET(0x40));
  expect(image, "f@V_1", MAKE_ELF_OFFSET(0x10));
  expect(image, "f@@V_2", MAKE_ELF_OFFSET(0x20));
  expect(image, "f@V_3", MAKE_ELF_OFFSET(0x40));
  expect(image, "f@@V_3", MAKE_ELF_OFFSET(0x40));
  expect_error(image, "f@V_", -ENOENT);
  expect_error(image, "f@V_33", -ENOENT);
  expect_error(image, "f@", -ENOENT);
  expect_error(image, "f@@", -ENOENT);
  expect_error(image, "f@@@V_3", -ENOENT);
  expect_error(image, "@V_3", -ENOENT);
}

static void versions_by_number(make_elf_t *image) {
  make_elf_define(image, 1, "libf.so");
  make_elf_define(image, 2, "V_1");
  make_elf_define(image, 3, "V_2");
  make_elf_add(image, MAKE_ELF_DYNSYM, "f", STB_GLOBAL, STT_FUNC, 0x10);
  make_elf_set_version(image, 2 | HIDDEN);
  expect(image, "f", MAKE_ELF_OFFSET(0x10));
  make_elf_add(image, MAKE_ELF_DYNSYM, "f", STB_WEAK, STT_FUNC, 0x20);
  make_elf_set_version(image, 3);
  expect(image, "f", MAKE_ELF_OFFSET(0x20));
  expect(image, "f@V_1", MAKE_ELF_OFFSET(0x10));
  expect(image, "f@@V_1", MAKE_ELF_OFFSET(0x10));
  expect(image, "f@V_2", MAKE_ELF_OFFSET(0x20));
  expect_error(image, "f@V_3", -ENOENT);
  make_elf_add(image, MAKE_ELF_DYNSYM, "g", STB_GLOBAL, STT_FUNC, 0x30);
  expect(image, "g", MAKE_ELF_OFFSET(0x30));
  expect_error(image, "g@libf.so", -ENOENT);
  expect_error(image, "g@V_1", -ENOENT);
  /* From a linker that writes no versions into .symtab. */
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_GLOBAL, STT_FUNC, 0x10);
  make_elf_add(image, MAKE_ELF_SYMTAB, "f", STB_GLOBAL, STT_FUNC, 0x20);
  expect(image, "f", MAKE_ELF_OFFSET(0x20));
  expect(image, "f@V_1", MAKE_ELF_OFFSET(0x10));
  make_elf_drop(image, MAKE_ELF_VERDEF);
  expect_error(image, "f@V_1", -ENOENT);
}

/* -- each ----------------------------------------------------------------- */

typedef struct seen_s {
  char text[512];
  int ends_at; /* the call that returns 7 */
  int calls;
} seen_t;

static int see(const char *symbol, void *data) {
  seen_t *seen = data;
  size_t length = strlen(seen->text);

  snprintf(seen->text + length, sizeof(seen->text) - length, "%s, ", symbol);
  return ++seen->calls == seen->ends_at ? 7 : 0;
}

static void every(make_elf_t *image) {
  seen_t seen;

  make_elf_add(image, MAKE_ELF_SYMTAB, "one", STB_LOCAL, STT_FUNC, 0x10);
  make_elf_add(image, MAKE_ELF_SYMTAB, "two@@V_1", STB_WEAK, STT_FUNC, 0x20);
  make_elf_add(image, MAKE_ELF_SYMTAB, "three", STB_LOCAL, STT_OBJECT, 0);
  make_elf_add(image, MAKE_ELF_SYMTAB, "four", STB_LOCAL, STT_GNU_IFUNC, 0);
  make_elf_add(image, MAKE_ELF_SYMTAB, "label", STB_WEAK, STT_NOTYPE, 0x30);
  make_elf_add(image, MAKE_ELF_SYMTAB, "", STB_GLOBAL, STT_FUNC, 0x30);
  make_elf_add(image, MAKE_ELF_DYNSYM, "five", STB_GLOBAL, STT_FUNC, 0x40);
  make_elf_write(image, path);
  memset(&seen, 0, sizeof(seen));
  assert_int_equal(elf_path_each(path, see, &seen), 0);
  assert_string_equal(seen.text, "one, two, label, five, ");
  memset(&seen, 0, sizeof(seen));
  seen.ends_at = 2;
  assert_int_equal(elf_path_each(path, see, &seen), 7);
  assert_string_equal(seen.text, "one, two, ");
}

static void each_symbol_fails_as_the_search_does(void **state) {
  make_elf_t image;
  seen_t seen = {0};

  make_elf_make(&image, 1);
  make_elf_drop(&image, MAKE_ELF_SYMTAB);
  set_path(*state);
  make_elf_write(&image, path);
  assert_int_equal(elf_path_each(path, see, &seen), -ENODATA);
  assert_int_equal(elf_path_each("/nonexistent", see, &seen), -ENOENT);
  assert_int_equal(seen.calls, 0);
}

/* Each is done with a file of 32 and of 64 bits. */
typedef struct image_row_s {
  const char *name;
  void (*body)(make_elf_t *image);
} image_row_t;

static const image_row_t rows[] = {
    {"offset_is_found_in_both_tables", offset_of_each_table},
    {"offset_is_in_the_part_of_a_segment_that_is_in_the_file",
     places_at_the_edges},
    {"no_offset_in_a_segment_of_data", data_segment},
    {"thumb_function_on_arm_is_eilseq", thumb},
    {"offset_on_powerpc_is_of_the_local_entry", local_entry},
    {"symbol_without_a_name_is_not_found", nameless},
    {"symbols_that_are_no_functions_are_not_found", others},
    {"global_label_of_code_is_a_function_if_no_other_is", labels},
    {"indirect_function_is_enotsup", indirect},
    {"file_without_functions_is_enodata", tables_gone},
    {"global_comes_before_weak_before_local", binds},
    {"version_in_the_name_is_chosen", versions_in_names},
    {"version_of_the_dynamic_table_is_chosen", versions_by_number},
    {"each_symbol_is_what_can_be_found", every},
};

static void run_row(void **state) {
  const image_row_t *row = *state;
  make_elf_t image;
  void *tree;
  int is_64;

  assert_int_equal(make_tree_setup(&tree), 0);
  set_path(tree);
  for (is_64 = 0; is_64 <= 1; is_64++) {
    make_elf_make(&image, is_64);
    row->body(&image);
  }
  make_tree_teardown(&tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(each_symbol_fails_as_the_search_does),
  };

  return SUPPORT_RUN_ROWS_AND_TESTS(rows, run_row, tests);
}
