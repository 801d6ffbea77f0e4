/* SPDX-License-Identifier: MIT */
/* Damaged or malicious files: an error, never a crash, a hang or a leak. */
#include "make_elf.h"
#include "fake_kernel.h"
#include "support.h"
#include "make_tree.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/elf_symbol.h"

static char path[PATH_MAX];

static int setup(void **state) {
  int rc = make_tree_setup(state);

  snprintf(path, sizeof(path), "%s/image", ((make_tree_t *)*state)->root);
  fake_kernel_reset();
  return rc;
}

static int search_in(make_elf_t *image, const char *name) {
  make_elf_write(image, path);
  return make_elf_search(path, name);
}

/* -- one fault ------------------------------------------------------------ */

typedef struct fault_s {
  const char *what;
  void (*make)(make_elf_t *image);
  int code;
  const char *name;
} fault_t;

static void check_faults(const fault_t *faults, size_t nr) {
  make_elf_t image;
  size_t i;
  int is_64;
  int rc;

  for (i = 0; i < nr; i++) {
    for (is_64 = 0; is_64 <= 1; is_64++) {
      make_elf_make_usual(&image, is_64);
      assert_int_equal(search_in(&image, faults[i].name), 0);
      faults[i].make(&image);
      rc = search_in(&image, faults[i].name);
      if (rc != faults[i].code)
        fail_msg("%s, %d bits: %d, not %d", faults[i].what, is_64 ? 64 : 32, rc,
                 faults[i].code);
    }
  }
}

static void no_magic(make_elf_t *image) {
  image->header.e_ident[1] = 'e';
}

static void other_order(make_elf_t *image) {
  image->header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
}

static void no_order(make_elf_t *image) {
  image->header.e_ident[EI_DATA] = 0;
}

static void other_class(make_elf_t *image) {
  image->header.e_ident[EI_CLASS] = 3;
}

static void other_version(make_elf_t *image) {
  image->header.e_ident[EI_VERSION] = 2;
}

static void other_header_version(make_elf_t *image) {
  image->header.e_version = 2;
}

static void object(make_elf_t *image) {
  image->header.e_type = ET_REL;
}

static void core(make_elf_t *image) {
  image->header.e_type = ET_CORE;
}

static void file_of_another_kind_is_enoexec(void **state) {
  static const fault_t faults[] = {
      {"no magic", no_magic, -ENOEXEC, "one"},
      {"the other byte order", other_order, -ENOEXEC, "one"},
      {"no byte order", no_order, -ENOEXEC, "one"},
      {"another class", other_class, -ENOEXEC, "one"},
      {"another version", other_version, -ENOEXEC, "one"},
      {"another version below", other_header_version, -ENOEXEC, "one"},
      {"an object file", object, -ENOEXEC, "one"},
      {"a core dump", core, -ENOEXEC, "one"},
  };

  check_faults(faults, sizeof(faults) / sizeof(faults[0]));
}

static void sections_beyond(make_elf_t *image) {
  image->header.e_shoff = MAKE_ELF_BYTES - 16;
}

static void sections_far_beyond(make_elf_t *image) {
  image->header.e_shoff = UINT64_MAX - 8;
}

static void section_size_0(make_elf_t *image) {
  image->header.e_shentsize = 0;
}

static void section_size_1_more(make_elf_t *image) {
  image->header.e_shentsize++;
}

static void too_many_sections(make_elf_t *image) {
  image->header.e_shnum = 0xfeff;
}

static void extended_sections(make_elf_t *image) {
  image->header.e_shnum = 0;
  image->sections[0].sh_size = UINT64_C(1) << 60 | 0xffffffff;
}

static void segments_beyond(make_elf_t *image) {
  image->header.e_phoff = MAKE_ELF_BYTES;
}

static void segments_far_beyond(make_elf_t *image) {
  image->header.e_phoff = UINT64_MAX;
}

static void segment_size_0(make_elf_t *image) {
  image->header.e_phentsize = 0;
}

static void too_many_segments(make_elf_t *image) {
  image->header.e_phnum = PN_XNUM;
}

static void text_beyond(make_elf_t *image) {
  image->segments[1].p_offset = MAKE_ELF_BYTES;
}

static void damaged_header_is_ebadmsg(void **state) {
  static const fault_t faults[] = {
      {"sections end beyond the file", sections_beyond, -EBADMSG, "one"},
      {"sections begin beyond", sections_far_beyond, -EBADMSG, "one"},
      {"sections of 0 bytes", section_size_0, -EBADMSG, "one"},
      {"sections of 1 byte more", section_size_1_more, -EBADMSG, "one"},
      {"more sections", too_many_sections, -EBADMSG, "one"},
      {"extended number of sections", extended_sections, -EFBIG, "one"},
      {"segments beyond the file", segments_beyond, -EBADMSG, "one"},
      {"segments far beyond", segments_far_beyond, -EBADMSG, "one"},
      {"segments of 0 bytes", segment_size_0, -EBADMSG, "one"},
      {"more segments", too_many_segments, -EBADMSG, "one"},
      {"text beyond the file", text_beyond, -EBADMSG, "one"},
  };

  check_faults(faults, sizeof(faults) / sizeof(faults[0]));
}

static void rows_of_0(make_elf_t *image) {
  image->sections[MAKE_ELF_SYMTAB].sh_entsize = 0;
}

static void rows_of_1(make_elf_t *image) {
  image->sections[MAKE_ELF_DYNSYM].sh_entsize = 1;
}

static void symbols_beyond(make_elf_t *image) {
  image->sections[MAKE_ELF_SYMTAB].sh_size = UINT64_C(24) << 59 | 0xfffffff0;
}

static void symbols_far_beyond(make_elf_t *image) {
  image->sections[MAKE_ELF_SYMTAB].sh_offset = UINT64_MAX - 64;
}

static void no_strings(make_elf_t *image) {
  image->sections[MAKE_ELF_SYMTAB].sh_link = MAKE_ELF_SECTIONS;
}

static void far_strings(make_elf_t *image) {
  image->sections[MAKE_ELF_SYMTAB].sh_link = UINT32_MAX;
}

static void other_strings(make_elf_t *image) {
  image->sections[MAKE_ELF_SYMTAB].sh_link = MAKE_ELF_TEXT_SECTION;
}

static void strings_beyond(make_elf_t *image) {
  image->sections[MAKE_ELF_STRTAB].sh_offset = MAKE_ELF_BYTES - 4;
}

static void strings_far_beyond(make_elf_t *image) {
  image->sections[MAKE_ELF_STRTAB].sh_offset = UINT64_MAX - 4;
}

static void long_strings(make_elf_t *image) {
  image->sections[MAKE_ELF_STRTAB].sh_size = UINT64_MAX;
}

static void no_versions(make_elf_t *image) {
  image->sections[MAKE_ELF_VERSYM].sh_size = 2;
}

static void versions_beyond(make_elf_t *image) {
  image->sections[MAKE_ELF_VERSYM].sh_offset = MAKE_ELF_BYTES;
}

static void symbols_at_the_end_of_numbers(make_elf_t *image) {
  image->sections[MAKE_ELF_SYMTAB].sh_offset = INT64_MAX - 8;
}

static void second_table(make_elf_t *image) {
  image->sections[MAKE_ELF_DATA_SECTION] = image->sections[MAKE_ELF_SYMTAB];
  image->sections[MAKE_ELF_DATA_SECTION].sh_size = 0;
}

static void damaged_table_is_ebadmsg(void **state) {
  static const fault_t faults[] = {
      {"symbols of 0 bytes", rows_of_0, -EBADMSG, "one"},
      {"symbols of 1 byte", rows_of_1, -EBADMSG, "one"},
      {"symbols end beyond the file", symbols_beyond, -EFBIG, "one"},
      {"symbols begin beyond", symbols_far_beyond, -EBADMSG, "one"},
      {"symbols end beyond all numbers", symbols_at_the_end_of_numbers,
       -EBADMSG, "one"},
      {"a table of no symbols before it", second_table, -ENOENT, "one"},
      {"strings that are not there", no_strings, -EBADMSG, "one"},
      {"strings that are nowhere", far_strings, -EBADMSG, "one"},
      {"strings that are none", other_strings, -EBADMSG, "one"},
      {"strings end beyond the file", strings_beyond, -EBADMSG, "one"},
      {"strings begin beyond", strings_far_beyond, -EBADMSG, "one"},
      {"strings without end", long_strings, -EBADMSG, "one"},
      {"too few versions", no_versions, -EBADMSG, "one"},
      {"versions beyond the file", versions_beyond, -EBADMSG, "one"},
  };

  check_faults(faults, sizeof(faults) / sizeof(faults[0]));
}

static Elf64_Verdef *definition(make_elf_t *image) {
  return (Elf64_Verdef *)(void *)image->tables[MAKE_ELF_VERDEF];
}

static void definition_of_itself(make_elf_t *image) {
  definition(image)->vd_next = 1;
}

static void definition_beyond(make_elf_t *image) {
  definition(image)->vd_next = UINT32_MAX;
}

static void definition_beyond_the_section(make_elf_t *image) {
  definition(image)->vd_next = 0x200;
}

static void definition_name_beyond(make_elf_t *image) {
  definition(image)->vd_flags = 0;
  definition(image)->vd_aux = UINT32_MAX;
}

static void definitions_beyond(make_elf_t *image) {
  image->sections[MAKE_ELF_VERDEF].sh_offset = UINT64_MAX;
}

static void definitions_without_strings(make_elf_t *image) {
  image->sections[MAKE_ELF_VERDEF].sh_link = MAKE_ELF_DYNSYM;
}

static void damaged_definition_of_a_version_is_ebadmsg(void **state) {
  static const fault_t faults[] = {
      {"the next beyond the section", definition_beyond_the_section, -EBADMSG,
       "two@V_1"},
      {"the next beyond the file", definition_beyond, -EBADMSG, "two@V_1"},
      {"its name beyond", definition_name_beyond, -EBADMSG, "two@V_1"},
      {"the section beyond", definitions_beyond, -EBADMSG, "two@V_1"},
      {"no strings", definitions_without_strings, -EBADMSG, "two@V_1"},
  };
  make_elf_t image;
  int rc;

  check_faults(faults, sizeof(faults) / sizeof(faults[0]));
  make_elf_make_usual(&image, 1);
  definition_of_itself(&image);
  rc = search_in(&image, "two@V_1");
  assert_true(rc == -EBADMSG || rc == -ENOENT);
}

/* -- names ---------------------------------------------------------------- */

static void name_beyond_the_strings_is_ebadmsg(void **state) {
  uint64_t place;
  make_elf_t image;
  Elf64_Sym last;

  make_elf_make_usual(&image, 1);
  last = make_elf_last(&image, MAKE_ELF_SYMTAB);
  last.st_name = (uint32_t)image.sections[MAKE_ELF_STRTAB].sh_size;
  make_elf_put_last(&image, MAKE_ELF_SYMTAB, &last);
  make_elf_write(&image, path);
  assert_int_equal(make_elf_walk(path), -EBADMSG);
  last.st_name += 0x100; /* where other strings are */
  make_elf_put_last(&image, MAKE_ELF_SYMTAB, &last);
  make_elf_write(&image, path);
  assert_int_equal(make_elf_walk(path), -EBADMSG);
  last.st_name -= 0x102;
  make_elf_put_last(&image, MAKE_ELF_SYMTAB, &last);
  make_elf_write(&image, path);
  assert_int_equal(make_elf_walk(path), 0);
  /* The strings end before the NUL. */
  image.sections[MAKE_ELF_STRTAB].sh_size--;
  make_elf_write(&image, path);
  assert_int_equal(make_elf_walk(path), -EBADMSG);
  assert_int_equal(elf_path_symbol(path, "one", &place), 0);
  assert_int_equal(elf_path_symbol(path, "l", &place), -ENOENT);
}

/* -- numbers of sections in the first one --------------------------------- */

static void extended_number_of_sections_is_heeded(void **state) {
  make_elf_t image;

  make_elf_make_usual(&image, 1);
  image.header.e_shnum = 0;
  image.sections[0].sh_size = MAKE_ELF_SECTIONS;
  assert_int_equal(search_in(&image, "one"), 0);
  image.sections[0].sh_size = MAKE_ELF_STRTAB; /* it is not there any more */
  assert_int_equal(search_in(&image, "one"), -EBADMSG);
  image.sections[0].sh_size = 0;
  assert_int_equal(search_in(&image, "one"), -ENODATA);
}

/* load_elf_phdrs executes nothing with more. */
static void more_segments_than_are_loaded_is_ebadmsg(void **state) {
  make_elf_t image;
  int more;

  make_elf_make_usual(&image, 1);
  image.header.e_phoff = MAKE_ELF_BYTES;
  for (more = 0; more <= 1; more++) {
    image.header.e_phnum =
        (Elf64_Half)(65536 / sizeof(Elf64_Phdr) + (unsigned)more);
    make_elf_write(&image, path);
    assert_int_equal(truncate(path, 100000), 0);
    assert_int_equal(make_elf_search(path, "one"), more ? -EBADMSG : -ENOENT);
  }
}

static void segment_longer_than_numbers_is_ebadmsg(void **state) {
  make_elf_t image;

  make_elf_make_usual(&image, 1);
  image.segments[1].p_filesz = UINT64_MAX - MAKE_ELF_TEXT_AT;
  assert_int_equal(search_in(&image, "one"), -EBADMSG);
  image.segments[1].p_filesz = 1;
  image.segments[1].p_offset = UINT64_MAX;
  assert_int_equal(search_in(&image, "one"), -EBADMSG);
}

/* -- other kinds of file -------------------------------------------------- */

static void file_cut_anywhere_is_an_error(void **state) {
  make_elf_t image;
  size_t size, end; /* of the sections, which come last */

  make_elf_make_usual(&image, 1);
  make_elf_write(&image, path);
  end = (size_t)image.header.e_shoff + sizeof(image.sections);
  for (size = 0; size < end; size += 61) {
    make_elf_write_bytes(path, image.bytes, size);
    assert_int_equal(make_elf_search(path, "one"),
                     size < sizeof(Elf64_Ehdr) ? -ENOEXEC : -EBADMSG);
  }
}

static void file_that_is_no_regular_one_is_refused(void **state) {
  const make_tree_t *tree = *state;
  uint64_t place;

  assert_int_equal(elf_path_symbol(tree->root, "one", &place), -EISDIR);
  assert_int_equal(elf_path_symbol("/dev/zero", "one", &place), -ENXIO);
  assert_int_equal(elf_path_symbol(path, "one", &place), -ENOENT);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(elf_path_symbol(path, "one", &place), -ENXIO);
}

/* -- leaks ---------------------------------------------------------------- */

static void failed_search_keeps_nothing(void **state) {
  uint64_t place;
  size_t fds = support_count_fds();
  make_elf_t image;
  unsigned int i;

  make_elf_make_usual(&image, 1);
  make_elf_write(&image, path);
  for (i = 1; i <= 2; i++) {
    fake_kernel_reset();
    fake_fail(FAKE_CALLOC, i, -ENOMEM);
    assert_int_equal(elf_path_symbol(path, "one", &place), -ENOMEM);
  }
  fake_kernel_reset();
  assert_int_equal(make_elf_search(path, "one"), 0);
  assert_int_equal(make_elf_search(path, "nothing"), -ENOENT);
  image.header.e_machine = EM_PPC64;
  image.header.e_flags = 1;
  assert_int_equal(search_in(&image, "one"), -ENOTSUP);
  too_many_segments(&image);
  assert_int_equal(search_in(&image, "one"), -EBADMSG);
  assert_int_equal(support_count_fds(), fds);
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, setup, make_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(file_of_another_kind_is_enoexec),
      WITH_TREE(damaged_header_is_ebadmsg),
      WITH_TREE(damaged_table_is_ebadmsg),
      WITH_TREE(damaged_definition_of_a_version_is_ebadmsg),
      WITH_TREE(name_beyond_the_strings_is_ebadmsg),
      WITH_TREE(extended_number_of_sections_is_heeded),
      WITH_TREE(more_segments_than_are_loaded_is_ebadmsg),
      WITH_TREE(segment_longer_than_numbers_is_ebadmsg),
      WITH_TREE(file_cut_anywhere_is_an_error),
      WITH_TREE(file_that_is_no_regular_one_is_refused),
      WITH_TREE(failed_search_keeps_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
