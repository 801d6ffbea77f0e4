/* SPDX-License-Identifier: MIT */
/* Which symbols are functions, which of them a name means, and where they are,
 * in files of 32 and 64 bits made by hand. */
#include "elf_image.h"
#include "support.h"
#include "temp_tree.h"

#include <errno.h>
#include <limits.h>

#include "host/elf_symbol.h"

#define HIDDEN 0x8000

static char path[PATH_MAX];

/* The body of a test, of which each is done with 32 and with 64 bits. */
typedef void (*image_body_fn)(elf_image_t *image);

static void with_images(void **state, image_body_fn body) {
  const temp_tree_t *tree = *state;
  elf_image_t image;
  int is_64;

  snprintf(path, sizeof(path), "%s/image", tree->root);
  for (is_64 = 0; is_64 <= 1; is_64++) {
    elf_image_make(&image, is_64);
    body(&image);
  }
}

static void expect(elf_image_t *image, const char *name, uint64_t offset) {
  uvperf__elf_symbol_t symbol;
  int rc;

  elf_image_write(image, path);
  rc = elf_path_symbol(path, name, &symbol);
  if (rc != 0 || symbol.offset != offset)
    fail_msg("%s: %d, offset %#llx, not %#llx", name, rc,
             (unsigned long long)(rc == 0 ? symbol.offset : 0),
             (unsigned long long)offset);
  assert_string_equal(symbol.name, name);
}

static void expect_error(elf_image_t *image, const char *name, int code) {
  uvperf__elf_symbol_t symbol = {"left", 1, 2};

  elf_image_write(image, path);
  assert_int_equal(elf_path_symbol(path, name, &symbol), code);
  assert_string_equal(symbol.name, "left");
  assert_int_equal(symbol.offset, 1);
  assert_int_equal(symbol.size, 2);
}

/* A symbol whose other fields are as in the last one. */
static void set_last(elf_image_t *image, int table, unsigned section,
                     uint64_t value, uint64_t size) {
  Elf64_Sym symbol = elf_image_last(image, table);

  symbol.st_shndx = (Elf64_Section)section;
  symbol.st_value = value;
  symbol.st_size = size;
  elf_image_put_last(image, table, &symbol);
}

/* -- where ---------------------------------------------------------------- */

static void offset_of_each_table(elf_image_t *image) {
  uvperf__elf_symbol_t symbol;

  elf_image_add(image, ELF_IMAGE_SYMTAB, "one", STB_LOCAL, STT_FUNC, 0x10);
  elf_image_add(image, ELF_IMAGE_DYNSYM, "two", STB_GLOBAL, STT_FUNC, 0x20);
  expect(image, "one", ELF_IMAGE_OFFSET(0x10));
  expect(image, "two", ELF_IMAGE_OFFSET(0x20));
  expect_error(image, "three", -ENOENT);
  expect_error(image, "on", -ENOENT);
  expect_error(image, "onet", -ENOENT);
  expect_error(image, "ne", -ENOENT);
  expect_error(image, "", -ENOENT);
  assert_int_equal(elf_path_symbol(path, "one", &symbol), 0);
  assert_int_equal(symbol.size, 16);
  image->header.e_type = ET_EXEC;
  expect(image, "one", ELF_IMAGE_OFFSET(0x10));
}

static void offset_is_found_in_both_tables(void **state) {
  with_images(state, offset_of_each_table);
}

static void places_at_the_edges(elf_image_t *image) {
  uvperf__elf_symbol_t symbol;

  elf_image_add(image, ELF_IMAGE_SYMTAB, "first", STB_GLOBAL, STT_FUNC, 0);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "last", STB_GLOBAL, STT_FUNC,
                ELF_IMAGE_TEXT_BYTES - 1);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "behind", STB_GLOBAL, STT_FUNC,
                ELF_IMAGE_TEXT_BYTES);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "before", STB_GLOBAL, STT_FUNC,
                UINT64_MAX);
  expect(image, "first", ELF_IMAGE_OFFSET(0));
  expect(image, "last", ELF_IMAGE_OFFSET(ELF_IMAGE_TEXT_BYTES - 1));
  expect_error(image, "behind", -ENOENT);
  expect_error(image, "before", -ENOENT);
  /* Its size goes beyond the segment. */
  assert_int_equal(elf_path_symbol(path, "last", &symbol), 0);
  assert_int_equal(symbol.size, 0);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "rest", STB_GLOBAL, STT_FUNC,
                ELF_IMAGE_TEXT_BYTES - 24);
  set_last(image, ELF_IMAGE_SYMTAB, ELF_IMAGE_TEXT_SECTION,
           ELF_IMAGE_TEXT + ELF_IMAGE_TEXT_BYTES - 24, 24);
  expect(image, "rest", ELF_IMAGE_OFFSET(ELF_IMAGE_TEXT_BYTES - 24));
  assert_int_equal(elf_path_symbol(path, "rest", &symbol), 0);
  assert_int_equal(symbol.size, 24);
  /* The next segment begins where this one ends. */
  image->segments[2].p_flags |= PF_X;
  image->segments[2].p_vaddr = ELF_IMAGE_TEXT + ELF_IMAGE_TEXT_BYTES;
  expect(image, "behind", ELF_IMAGE_DATA_AT);
}

static void
offset_is_in_the_part_of_a_segment_that_is_in_the_file(void **state) {
  with_images(state, places_at_the_edges);
}

static void data_segment(elf_image_t *image) {
  elf_image_add(image, ELF_IMAGE_SYMTAB, "data", STB_GLOBAL, STT_FUNC, 0);
  set_last(image, ELF_IMAGE_SYMTAB, ELF_IMAGE_DATA_SECTION, ELF_IMAGE_DATA, 8);
  expect_error(image, "data", -ENOENT);
  image->segments[2].p_flags |= PF_X;
  expect(image, "data", ELF_IMAGE_DATA_AT);
  /* If two have one address, the code segment counts. */
  image->segments[2].p_flags = PF_R;
  image->segments[0].p_flags = PF_R | PF_X;
  image->segments[0].p_vaddr = ELF_IMAGE_DATA;
  expect(image, "data", 0);
}

static void no_offset_in_a_segment_of_data(void **state) {
  with_images(state, data_segment);
}

static void thumb(elf_image_t *image) {
  elf_image_add(image, ELF_IMAGE_SYMTAB, "thumb", STB_GLOBAL, STT_FUNC, 0x21);
  expect(image, "thumb", ELF_IMAGE_OFFSET(0x21));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "arm", STB_GLOBAL, STT_FUNC, 0x40);
  image->header.e_machine = EM_ARM;
  expect_error(image, "thumb", -EILSEQ);
  expect(image, "arm", ELF_IMAGE_OFFSET(0x40));
}

static void thumb_function_on_arm_is_eilseq(void **state) {
  with_images(state, thumb);
}

static void set_other(elf_image_t *image, unsigned int other) {
  Elf64_Sym symbol = elf_image_last(image, ELF_IMAGE_SYMTAB);

  symbol.st_other = (unsigned char)other;
  elf_image_put_last(image, ELF_IMAGE_SYMTAB, &symbol);
}

static void local_entry(elf_image_t *image) {
  uvperf__elf_symbol_t symbol;

  elf_image_add(image, ELF_IMAGE_SYMTAB, "entry", STB_GLOBAL, STT_FUNC, 0x20);
  set_other(image, 3 << 5);
  expect(image, "entry", ELF_IMAGE_OFFSET(0x20));
  image->header.e_machine = EM_PPC64;
  image->header.e_flags = 2;
  expect(image, "entry", ELF_IMAGE_OFFSET(0x28));
  assert_int_equal(elf_path_symbol(path, "entry", &symbol), 0);
  assert_int_equal(symbol.size, 8);
  set_other(image, 6 << 5 | STV_PROTECTED);
  expect(image, "entry", ELF_IMAGE_OFFSET(0x60));
  /* One entry only; reserved. */
  set_other(image, 1 << 5);
  expect(image, "entry", ELF_IMAGE_OFFSET(0x20));
  set_other(image, 7 << 5);
  expect(image, "entry", ELF_IMAGE_OFFSET(0x20));
  image->header.e_flags = 1;
  expect_error(image, "entry", -ENOTSUP);
}

static void offset_on_powerpc_is_of_the_local_entry(void **state) {
  with_images(state, local_entry);
}

/* -- what ----------------------------------------------------------------- */

static void others(elf_image_t *image) {
  static const struct {
    const char *name;
    int type;
    unsigned section;
  } symbols[] = {
      {"object", STT_OBJECT, ELF_IMAGE_TEXT_SECTION},
      {"file", STT_FILE, SHN_ABS},
      {"section", STT_SECTION, ELF_IMAGE_TEXT_SECTION},
      {"undefined", STT_FUNC, SHN_UNDEF},
      {"absolute", STT_FUNC, SHN_ABS},
      {"common", STT_FUNC, SHN_COMMON},
      {"label_of_data", STT_NOTYPE, ELF_IMAGE_DATA_SECTION},
      {"label_of_no_section", STT_NOTYPE, 200},
      {"absolute_label", STT_NOTYPE, SHN_ABS},
      {"far_label", STT_NOTYPE, SHN_XINDEX},
  };
  size_t i;

  for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
    elf_image_add(image, ELF_IMAGE_SYMTAB, symbols[i].name, STB_GLOBAL,
                  symbols[i].type, 0x10);
    set_last(image, ELF_IMAGE_SYMTAB, symbols[i].section, ELF_IMAGE_TEXT + 0x10,
             16);
    expect_error(image, symbols[i].name, -ENOENT);
  }
  elf_image_add(image, ELF_IMAGE_SYMTAB, "far", STB_GLOBAL, STT_FUNC, 0x20);
  set_last(image, ELF_IMAGE_SYMTAB, SHN_XINDEX, ELF_IMAGE_TEXT + 0x20, 16);
  expect(image, "far", ELF_IMAGE_OFFSET(0x20));
}

/* Index 0 of the strings means no name, whatever is there. */
static void nameless(elf_image_t *image) {
  Elf64_Sym symbol;

  elf_image_add(image, ELF_IMAGE_SYMTAB, "one", STB_GLOBAL, STT_FUNC, 0x10);
  symbol = elf_image_last(image, ELF_IMAGE_SYMTAB);
  symbol.st_name = 0;
  elf_image_put_last(image, ELF_IMAGE_SYMTAB, &symbol);
  image->tables[ELF_IMAGE_STRTAB][0] = 'z';
  expect_error(image, "zone", -ENOENT);
}

static void symbol_without_a_name_is_not_found(void **state) {
  with_images(state, nameless);
}

static void symbols_that_are_no_functions_are_not_found(void **state) {
  with_images(state, others);
}

static void labels(elf_image_t *image) {
  elf_image_add(image, ELF_IMAGE_SYMTAB, "label", STB_GLOBAL, STT_NOTYPE, 0x30);
  expect(image, "label", ELF_IMAGE_OFFSET(0x30));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "$x", STB_LOCAL, STT_NOTYPE, 0x30);
  expect_error(image, "$x", -ENOENT);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "table", STB_GLOBAL, STT_NOTYPE, 0);
  set_last(image, ELF_IMAGE_SYMTAB, ELF_IMAGE_DATA_SECTION, ELF_IMAGE_TEXT, 0);
  image->sections[ELF_IMAGE_DATA_SECTION].sh_addr = ELF_IMAGE_TEXT;
  expect_error(image, "table", -ENOENT);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "etext", STB_GLOBAL, STT_NOTYPE,
                ELF_IMAGE_TEXT_BYTES);
  image->segments[1].p_filesz += 0x10;
  expect_error(image, "etext", -ENOENT);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "label", STB_LOCAL, STT_FUNC, 0x40);
  expect(image, "label", ELF_IMAGE_OFFSET(0x40));
}

static void global_label_of_code_is_a_function_if_no_other_is(void **state) {
  with_images(state, labels);
}

static void indirect(elf_image_t *image) {
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_GLOBAL, STT_GNU_IFUNC, 0x10);
  expect_error(image, "f", -ENOTSUP);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x20);
  expect_error(image, "f", -ENOTSUP);
  /* Also if another symbol of the name and place is not indirect. */
  elf_image_add(image, ELF_IMAGE_SYMTAB, "g", STB_GLOBAL, STT_FUNC, 0x30);
  expect(image, "g", ELF_IMAGE_OFFSET(0x30));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "g", STB_GLOBAL, STT_GNU_IFUNC, 0x30);
  expect_error(image, "g", -ENOTSUP);
}

static void indirect_function_is_enotsup(void **state) {
  with_images(state, indirect);
}

static void tables_gone(elf_image_t *image) {
  elf_image_add(image, ELF_IMAGE_DYNSYM, "import", STB_GLOBAL, STT_FUNC, 0);
  set_last(image, ELF_IMAGE_DYNSYM, SHN_UNDEF, 0, 0);
  expect_error(image, "f", -ENOENT);
  elf_image_drop(image, ELF_IMAGE_SYMTAB);
  expect_error(image, "f", -ENODATA);
  elf_image_drop(image, ELF_IMAGE_DYNSYM);
  expect_error(image, "f", -ENODATA);
  image->header.e_shoff = 0;
  expect_error(image, "f", -ENODATA);
  image->header.e_phnum = 0;
  expect_error(image, "f", -ENODATA);
}

static void file_without_functions_is_enodata(void **state) {
  with_images(state, tables_gone);
}

/* -- which ---------------------------------------------------------------- */

static void binds(elf_image_t *image) {
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x10);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x10);
  expect(image, "f", ELF_IMAGE_OFFSET(0x10));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x20);
  expect_error(image, "f", -ENOTUNIQ);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_WEAK, STT_FUNC, 0x30);
  expect(image, "f", ELF_IMAGE_OFFSET(0x30));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_WEAK, STT_FUNC, 0x38);
  expect_error(image, "f", -ENOTUNIQ);
  elf_image_add(image, ELF_IMAGE_DYNSYM, "f", STB_GLOBAL, STT_FUNC, 0x40);
  expect(image, "f", ELF_IMAGE_OFFSET(0x40));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_GNU_UNIQUE, STT_FUNC, 0x40);
  expect(image, "f", ELF_IMAGE_OFFSET(0x40));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x50);
  expect(image, "f", ELF_IMAGE_OFFSET(0x40));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_GLOBAL, STT_FUNC, 0x60);
  expect_error(image, "f", -ENOTUNIQ);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "g", STB_WEAK, STT_FUNC, 0x10);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "g", STB_GNU_UNIQUE, STT_FUNC, 0x20);
  expect(image, "g", ELF_IMAGE_OFFSET(0x20));
}

static void global_comes_before_weak_before_local(void **state) {
  with_images(state, binds);
}

static void versions_in_names(elf_image_t *image) {
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f@V_1", STB_GLOBAL, STT_FUNC, 0x10);
  expect(image, "f", ELF_IMAGE_OFFSET(0x10));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f@V_2", STB_GLOBAL, STT_FUNC, 0x20);
  expect_error(image, "f", -ENOTUNIQ);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_LOCAL, STT_FUNC, 0x30);
  expect(image, "f", ELF_IMAGE_OFFSET(0x30));
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f@@V_3", STB_GLOBAL, STT_FUNC, 0x40);
  expect(image, "f", ELF_IMAGE_OFFSET(0x40));
  expect(image, "f@V_1", ELF_IMAGE_OFFSET(0x10));
  expect(image, "f@@V_2", ELF_IMAGE_OFFSET(0x20));
  expect(image, "f@V_3", ELF_IMAGE_OFFSET(0x40));
  expect(image, "f@@V_3", ELF_IMAGE_OFFSET(0x40));
  expect_error(image, "f@V_", -ENOENT);
  expect_error(image, "f@V_33", -ENOENT);
  expect_error(image, "f@", -ENOENT);
  expect_error(image, "f@@", -ENOENT);
  expect_error(image, "f@@@V_3", -ENOENT);
  expect_error(image, "@V_3", -ENOENT);
}

static void version_in_the_name_is_chosen(void **state) {
  with_images(state, versions_in_names);
}

static void versions_by_number(elf_image_t *image) {
  elf_image_define(image, 1, "libf.so");
  elf_image_define(image, 2, "V_1");
  elf_image_define(image, 3, "V_2");
  elf_image_add(image, ELF_IMAGE_DYNSYM, "f", STB_GLOBAL, STT_FUNC, 0x10);
  elf_image_set_version(image, 2 | HIDDEN);
  expect(image, "f", ELF_IMAGE_OFFSET(0x10));
  elf_image_add(image, ELF_IMAGE_DYNSYM, "f", STB_WEAK, STT_FUNC, 0x20);
  elf_image_set_version(image, 3);
  expect(image, "f", ELF_IMAGE_OFFSET(0x20));
  expect(image, "f@V_1", ELF_IMAGE_OFFSET(0x10));
  expect(image, "f@@V_1", ELF_IMAGE_OFFSET(0x10));
  expect(image, "f@V_2", ELF_IMAGE_OFFSET(0x20));
  expect_error(image, "f@V_3", -ENOENT);
  elf_image_add(image, ELF_IMAGE_DYNSYM, "g", STB_GLOBAL, STT_FUNC, 0x30);
  expect(image, "g", ELF_IMAGE_OFFSET(0x30));
  expect_error(image, "g@libf.so", -ENOENT);
  expect_error(image, "g@V_1", -ENOENT);
  /* From a linker that writes no versions into .symtab. */
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_GLOBAL, STT_FUNC, 0x10);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "f", STB_GLOBAL, STT_FUNC, 0x20);
  expect(image, "f", ELF_IMAGE_OFFSET(0x20));
  expect(image, "f@V_1", ELF_IMAGE_OFFSET(0x10));
  elf_image_drop(image, ELF_IMAGE_VERDEF);
  expect_error(image, "f@V_1", -ENOENT);
}

static void version_of_the_dynamic_table_is_chosen(void **state) {
  with_images(state, versions_by_number);
}

/* -- each ----------------------------------------------------------------- */

typedef struct seen_s {
  char text[512];
  int ends_at; /* the call that returns 7 */
  int calls;
} seen_t;

static int see(const uvperf__elf_symbol_t *symbol, void *data) {
  seen_t *seen = data;
  size_t length = strlen(seen->text);

  snprintf(seen->text + length, sizeof(seen->text) - length, "%s %llx %llu, ",
           symbol->name, (unsigned long long)symbol->offset,
           (unsigned long long)symbol->size);
  return ++seen->calls == seen->ends_at ? 7 : 0;
}

static void every(elf_image_t *image) {
  seen_t seen;

  elf_image_add(image, ELF_IMAGE_SYMTAB, "one", STB_LOCAL, STT_FUNC, 0x10);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "two@@V_1", STB_WEAK, STT_FUNC, 0x20);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "three", STB_LOCAL, STT_OBJECT, 0);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "four", STB_LOCAL, STT_GNU_IFUNC, 0);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "label", STB_WEAK, STT_NOTYPE, 0x30);
  elf_image_add(image, ELF_IMAGE_SYMTAB, "", STB_GLOBAL, STT_FUNC, 0x30);
  elf_image_add(image, ELF_IMAGE_DYNSYM, "five", STB_GLOBAL, STT_FUNC, 0x40);
  elf_image_write(image, path);
  memset(&seen, 0, sizeof(seen));
  assert_int_equal(elf_path_each(path, see, &seen), 0);
  assert_string_equal(
      seen.text, "one 1010 16, two 1020 16, label 1030 16, five 1040 16, ");
  memset(&seen, 0, sizeof(seen));
  seen.ends_at = 2;
  assert_int_equal(elf_path_each(path, see, &seen), 7);
  assert_string_equal(seen.text, "one 1010 16, two 1020 16, ");
}

static void each_symbol_is_what_can_be_found(void **state) {
  with_images(state, every);
}

static void each_symbol_fails_as_the_search_does(void **state) {
  elf_image_t image;
  seen_t seen = {0};

  elf_image_make(&image, 1);
  elf_image_drop(&image, ELF_IMAGE_SYMTAB);
  snprintf(path, sizeof(path), "%s/image", ((temp_tree_t *)*state)->root);
  elf_image_write(&image, path);
  assert_int_equal(elf_path_each(path, see, &seen), -ENODATA);
  assert_int_equal(elf_path_each("/nonexistent", see, &seen), -ENOENT);
  assert_int_equal(seen.calls, 0);
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, temp_tree_setup, temp_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(offset_is_found_in_both_tables),
      WITH_TREE(offset_is_in_the_part_of_a_segment_that_is_in_the_file),
      WITH_TREE(no_offset_in_a_segment_of_data),
      WITH_TREE(thumb_function_on_arm_is_eilseq),
      WITH_TREE(offset_on_powerpc_is_of_the_local_entry),
      WITH_TREE(symbols_that_are_no_functions_are_not_found),
      WITH_TREE(symbol_without_a_name_is_not_found),
      WITH_TREE(global_label_of_code_is_a_function_if_no_other_is),
      WITH_TREE(indirect_function_is_enotsup),
      WITH_TREE(file_without_functions_is_enodata),
      WITH_TREE(global_comes_before_weak_before_local),
      WITH_TREE(version_in_the_name_is_chosen),
      WITH_TREE(version_of_the_dynamic_table_is_chosen),
      WITH_TREE(each_symbol_is_what_can_be_found),
      WITH_TREE(each_symbol_fails_as_the_search_does),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
