/* SPDX-License-Identifier: MIT */
/* Damaged or malicious files: an error, never a crash, a hang or a leak. */
#include "make_elf.h"
#include "fake_kernel.h"
#include "support.h"
#include "make_tree.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/elf_symbol.h"

static char path[PATH_MAX];

static make_elf_t image;

static int setup(void **state) {
  int rc = make_tree_setup(state);

  snprintf(path, sizeof(path), "%s/image", ((make_tree_t *)*state)->root);
  fake_kernel_reset();
  return rc;
}

static int search_in(const char *name) {
  make_elf_write(&image, path);
  return make_elf_search(path, name);
}

/* -- one fault ------------------------------------------------------------ */

/* A field of the image that gets another value. */
typedef struct fault_s {
  const char *what;
  void (*make)(make_elf_t *image); /* what else is done; or NULL */
  size_t at, size;                 /* in make_elf_t; size 0: none */
  uint64_t value;
  int code;
} fault_t;

#define FIELD(field)                                                           \
  offsetof(make_elf_t, field), sizeof(((make_elf_t *)0)->field)
#define SECTION(nr, field) FIELD(sections[MAKE_ELF_##nr].field)

/* Of the first definition of a version. */
#define DEFINITION(field)                                                      \
  offsetof(make_elf_t, tables[MAKE_ELF_VERDEF]) +                              \
      offsetof(Elf64_Verdef, field),                                           \
      sizeof(((Elf64_Verdef *)0)->field)

static void make_fault(const fault_t *fault) {
  const uint32_t u32 = (uint32_t)fault->value;
  const uint16_t u16 = (uint16_t)fault->value;
  const uint8_t u8 = (uint8_t)fault->value;
  const void *bytes = fault->size == 8   ? (const void *)&fault->value
                      : fault->size == 4 ? (const void *)&u32
                      : fault->size == 2 ? (const void *)&u16
                                         : &u8;

  if (fault->make != NULL)
    fault->make(&image);
  memcpy((uint8_t *)&image + fault->at, bytes, fault->size);
}

static void check_faults(const fault_t *faults, size_t nr, const char *name) {
  size_t i;
  int is_64;
  int rc;

  for (i = 0; i < nr; i++) {
    for (is_64 = 0; is_64 <= 1; is_64++) {
      make_elf_make_usual(&image, is_64);
      assert_int_equal(search_in(name), 0);
      make_fault(&faults[i]);
      rc = search_in(name);
      if (rc != faults[i].code)
        fail_msg("%s, %d bits: %d, not %d", faults[i].what, is_64 ? 64 : 32, rc,
                 faults[i].code);
    }
  }
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OTHER_ORDER ELFDATA2LSB
#else
#define OTHER_ORDER ELFDATA2MSB
#endif

static void file_of_another_kind_is_enoexec(void **state) {
  static const fault_t faults[] = {
      {"no magic", NULL, FIELD(header.e_ident[1]), 'e', -ENOEXEC},
      {"the other byte order", NULL, FIELD(header.e_ident[EI_DATA]),
       OTHER_ORDER, -ENOEXEC},
      {"no byte order", NULL, FIELD(header.e_ident[EI_DATA]), 0, -ENOEXEC},
      {"another class", NULL, FIELD(header.e_ident[EI_CLASS]), 3, -ENOEXEC},
      {"another version", NULL, FIELD(header.e_ident[EI_VERSION]), 2, -ENOEXEC},
      {"another version below", NULL, FIELD(header.e_version), 2, -ENOEXEC},
      {"an object file", NULL, FIELD(header.e_type), ET_REL, -ENOEXEC},
      {"a core dump", NULL, FIELD(header.e_type), ET_CORE, -ENOEXEC},
  };

  check_faults(faults, COUNT_OF(faults), "one");
}

static void no_number_of_sections(make_elf_t *it) {
  it->header.e_shnum = 0;
}

static void damaged_header_is_ebadmsg(void **state) {
  static const fault_t faults[] = {
      {"sections end beyond the file", NULL, FIELD(header.e_shoff),
       MAKE_ELF_BYTES - 16, -EBADMSG},
      {"sections begin beyond", NULL, FIELD(header.e_shoff), UINT64_MAX - 8,
       -EBADMSG},
      {"sections of 0 bytes", NULL, FIELD(header.e_shentsize), 0, -EBADMSG},
      {"sections of 1 byte more", NULL, FIELD(header.e_shentsize),
       sizeof(Elf64_Shdr) + 1, -EBADMSG},
      {"more sections", NULL, FIELD(header.e_shnum), 0xfeff, -EBADMSG},
      {"extended number of sections", no_number_of_sections,
       FIELD(sections[0].sh_size), UINT64_C(1) << 60 | 0xffffffff, -EFBIG},
      {"segments beyond the file", NULL, FIELD(header.e_phoff), MAKE_ELF_BYTES,
       -EBADMSG},
      {"segments far beyond", NULL, FIELD(header.e_phoff), UINT64_MAX,
       -EBADMSG},
      {"segments of 0 bytes", NULL, FIELD(header.e_phentsize), 0, -EBADMSG},
      {"more segments", NULL, FIELD(header.e_phnum), PN_XNUM, -EBADMSG},
      {"text beyond the file", NULL, FIELD(segments[1].p_offset),
       MAKE_ELF_BYTES, -EBADMSG},
  };

  check_faults(faults, COUNT_OF(faults), "one");
}

static void second_table(make_elf_t *it) {
  it->sections[MAKE_ELF_DATA_SECTION] = it->sections[MAKE_ELF_SYMTAB];
  it->sections[MAKE_ELF_DATA_SECTION].sh_size = 0;
}

static void damaged_table_is_ebadmsg(void **state) {
  static const fault_t faults[] = {
      {"symbols of 0 bytes", NULL, SECTION(SYMTAB, sh_entsize), 0, -EBADMSG},
      {"symbols of 1 byte", NULL, SECTION(DYNSYM, sh_entsize), 1, -EBADMSG},
      {"symbols end beyond the file", NULL, SECTION(SYMTAB, sh_size),
       UINT64_C(24) << 59 | 0xfffffff0, -EFBIG},
      {"symbols begin beyond", NULL, SECTION(SYMTAB, sh_offset),
       UINT64_MAX - 64, -EBADMSG},
      {"symbols end beyond all numbers", NULL, SECTION(SYMTAB, sh_offset),
       INT64_MAX - 8, -EBADMSG},
      {"a table of no symbols before it", second_table, 0, 0, 0, -ENOENT},
      {"strings that are not there", NULL, SECTION(SYMTAB, sh_link),
       MAKE_ELF_SECTIONS, -EBADMSG},
      {"strings that are nowhere", NULL, SECTION(SYMTAB, sh_link), UINT32_MAX,
       -EBADMSG},
      {"strings that are none", NULL, SECTION(SYMTAB, sh_link),
       MAKE_ELF_TEXT_SECTION, -EBADMSG},
      {"strings end beyond the file", NULL, SECTION(STRTAB, sh_offset),
       MAKE_ELF_BYTES - 4, -EBADMSG},
      {"strings begin beyond", NULL, SECTION(STRTAB, sh_offset), UINT64_MAX - 4,
       -EBADMSG},
      {"strings without end", NULL, SECTION(STRTAB, sh_size), UINT64_MAX,
       -EBADMSG},
      {"too few versions", NULL, SECTION(VERSYM, sh_size), 2, -EBADMSG},
      {"versions beyond the file", NULL, SECTION(VERSYM, sh_offset),
       MAKE_ELF_BYTES, -EBADMSG},
  };

  check_faults(faults, COUNT_OF(faults), "one");
}

static Elf64_Verdef *definition(make_elf_t *it) {
  return (Elf64_Verdef *)(void *)it->tables[MAKE_ELF_VERDEF];
}

static void definition_without_flags(make_elf_t *it) {
  definition(it)->vd_flags = 0;
}

static void damaged_definition_of_a_version_is_ebadmsg(void **state) {
  static const fault_t faults[] = {
      {"the next beyond the section", NULL, DEFINITION(vd_next), 0x200,
       -EBADMSG},
      {"the next beyond the file", NULL, DEFINITION(vd_next), UINT32_MAX,
       -EBADMSG},
      {"its name beyond", definition_without_flags, DEFINITION(vd_aux),
       UINT32_MAX, -EBADMSG},
      {"the section beyond", NULL, SECTION(VERDEF, sh_offset), UINT64_MAX,
       -EBADMSG},
      {"no strings", NULL, SECTION(VERDEF, sh_link), MAKE_ELF_DYNSYM, -EBADMSG},
  };
  int rc;

  check_faults(faults, COUNT_OF(faults), "two@V_1");
  make_elf_make_usual(&image, 1);
  definition(&image)->vd_next = 1; /* in itself */
  rc = search_in("two@V_1");
  assert_true(rc == -EBADMSG || rc == -ENOENT);
}

/* -- names ---------------------------------------------------------------- */

static void name_beyond_the_strings_is_ebadmsg(void **state) {
  uint64_t place;
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
  make_elf_make_usual(&image, 1);
  image.header.e_shnum = 0;
  image.sections[0].sh_size = MAKE_ELF_SECTIONS;
  assert_int_equal(search_in("one"), 0);
  image.sections[0].sh_size = MAKE_ELF_STRTAB; /* it is not there any more */
  assert_int_equal(search_in("one"), -EBADMSG);
  image.sections[0].sh_size = 0;
  assert_int_equal(search_in("one"), -ENODATA);
}

/* load_elf_phdrs executes nothing with more. */
static void more_segments_than_are_loaded_is_ebadmsg(void **state) {
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
  make_elf_make_usual(&image, 1);
  image.segments[1].p_filesz = UINT64_MAX - MAKE_ELF_TEXT_AT;
  assert_int_equal(search_in("one"), -EBADMSG);
  image.segments[1].p_filesz = 1;
  image.segments[1].p_offset = UINT64_MAX;
  assert_int_equal(search_in("one"), -EBADMSG);
}

/* -- other kinds of file -------------------------------------------------- */

static void file_cut_anywhere_is_an_error(void **state) {
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
  assert_int_equal(search_in("one"), -ENOTSUP);
  image.header.e_phnum = PN_XNUM;
  assert_int_equal(search_in("one"), -EBADMSG);
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
