/* SPDX-License-Identifier: MIT */
/* How much of a file is read to find a symbol: as much as real programs need,
 * and not as much as a sparse file claims to have. Reads and bytes are
 * counted. */
#include "make_elf.h"
#include "support.h"
#include "make_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "host/elf_file.h"
#include "util/file.h"

#define TEXT_AT     4096
#define TEXT_BYTES  0x100000
#define SECTIONS_AT (64 << 20)
#define STRINGS_AT  (65 << 20)
#define SYMBOLS_AT  (80 << 20)
#define FILE_BYTES  (100 << 20)

#define SYMBOLS    500000
#define NAME_BYTES 16

/* The linker gives the function of the library this name. */
ssize_t __real_uvperf__file_read_at(int fd, void *buffer, size_t size,
                                    uint64_t offset);

static struct {
  uint64_t nr;
  uint64_t bytes;
} reads;

static char path[PATH_MAX];

ssize_t __wrap_uvperf__file_read_at(int fd, void *buffer, size_t size,
                                    uint64_t offset) {
  reads.nr++;
  reads.bytes += size;
  return __real_uvperf__file_read_at(fd, buffer, size, offset);
}

static int setup(void **state) {
  if (make_tree_setup(state) != 0)
    return -1;
  snprintf(path, sizeof(path), "%s/program",
           ((const make_tree_t *)*state)->root);
  memset(&reads, 0, sizeof(reads));
  return 0;
}

/* A program with one segment of code, a table of symbols and its strings. */
typedef struct program_s {
  Elf64_Ehdr header;
  Elf64_Phdr text;
  Elf64_Shdr sections[3];
} program_t;

enum {
  NO_SECTION,
  SYMTAB,
  STRTAB
};

static void make(program_t *program, uint64_t nr_symbols,
                 uint64_t string_bytes) {
  make_elf_t usual;

  make_elf_make_usual(&usual, 1);
  memset(program, 0, sizeof(*program));
  program->header = usual.header;
  program->header.e_phoff = sizeof(program->header);
  program->header.e_phnum = 1;
  program->header.e_phentsize = sizeof(program->text);
  program->header.e_shoff = SECTIONS_AT;
  program->header.e_shnum = 3;
  program->header.e_shentsize = sizeof(program->sections[0]);
  program->text.p_type = PT_LOAD;
  program->text.p_flags = PF_R | PF_X;
  program->text.p_offset = TEXT_AT;
  program->text.p_vaddr = TEXT_AT;
  program->text.p_filesz = TEXT_BYTES;
  program->text.p_memsz = TEXT_BYTES;
  program->sections[SYMTAB].sh_type = SHT_SYMTAB;
  program->sections[SYMTAB].sh_link = STRTAB;
  program->sections[SYMTAB].sh_offset = SYMBOLS_AT;
  program->sections[SYMTAB].sh_size = nr_symbols * sizeof(Elf64_Sym);
  program->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
  program->sections[STRTAB].sh_type = SHT_STRTAB;
  program->sections[STRTAB].sh_offset = STRINGS_AT;
  program->sections[STRTAB].sh_size = string_bytes;
}

static void put(int fd, const void *bytes, size_t size, off_t at) {
  assert_int_equal(pwrite(fd, bytes, size, at), size);
}

/* Writes it and returns an fd. Other parts are a hole. */
static int begin(const program_t *program, off_t size) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

  assert_true(fd >= 0);
  put(fd, &program->header, sizeof(program->header), 0);
  put(fd, &program->text, sizeof(program->text), sizeof(program->header));
  put(fd, program->sections, sizeof(program->sections),
      (off_t)program->header.e_shoff);
  assert_int_equal(ftruncate(fd, size), 0);
  return fd;
}

static void write_sparse(const program_t *program, off_t size) {
  close(begin(program, size));
}

static int search(const char *name) {
  uint64_t place;

  memset(&reads, 0, sizeof(reads));
  return elf_path_symbol(path, name, &place);
}

/* Within what elf_file.h states. */
static void check_reads(void) {
  assert_in_range(reads.bytes, 1, UVPERF__ELF_BYTES_MAX);
  assert_in_range(reads.nr, 1, UVPERF__ELF_BYTES_MAX / 4096);
}

static void sections_without_end_are_efbig_at_once(void **state) {
  const uint64_t nr = 100000000;
  program_t program;

  make(&program, 1, 16);
  program.header.e_shnum = 0;
  program.sections[0].sh_size = nr;
  write_sparse(&program, (off_t)(SECTIONS_AT + nr * sizeof(Elf64_Shdr)));
  assert_int_equal(search("main"), -EFBIG);
  assert_in_range(reads.nr, 1, 10);
  program.sections[0].sh_size = UVPERF__ELF_SECTIONS_MAX + 1;
  write_sparse(&program, FILE_BYTES);
  assert_int_equal(search("main"), -EFBIG);
  program.sections[0].sh_size = UVPERF__ELF_SECTIONS_MAX;
  write_sparse(&program, FILE_BYTES);
  assert_int_equal(search("main"), -ENOENT);
}

static void symbols_without_end_are_efbig_at_once(void **state) {
  const uint64_t nr = UVPERF__ELF_SYMBOLS_MAX + 1;
  program_t program;

  make(&program, nr, 16);
  write_sparse(&program, (off_t)(SYMBOLS_AT + nr * sizeof(Elf64_Sym)));
  assert_int_equal(search("main"), -EFBIG);
  assert_in_range(reads.nr, 1, 10);
  make(&program, nr - 1, 16);
  write_sparse(&program, (off_t)(SYMBOLS_AT + nr * sizeof(Elf64_Sym)));
  assert_int_equal(search("main"), -ENOENT);
  check_reads();
}

static void strings_without_end_are_efbig_in_the_end(void **state) {
  program_t program;

  make(&program, 1, UINT32_MAX);
  program.sections[SYMTAB].sh_offset = TEXT_AT;
  write_sparse(&program, (off_t)1 << 33);
  assert_int_equal(search("main"), -EFBIG);
  check_reads();
}

/* Each symbol is a label of another section, whose header is read again. */
static void symbols_of_many_sections_are_efbig_in_the_end(void **state) {
  const size_t nr = 300000;
  Elf64_Sym *symbols = calloc(nr, sizeof(*symbols));
  program_t program;
  size_t i;
  int fd;

  assert_non_null(symbols);
  for (i = 0; i < nr; i++) {
    symbols[i].st_name = 1;
    symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    symbols[i].st_shndx = (Elf64_Half)(1 + i % 2);
  }
  make(&program, nr, 16);
  fd = begin(&program, FILE_BYTES);
  put(fd, symbols, nr * sizeof(*symbols), SYMBOLS_AT);
  put(fd, "\0main", 6, STRINGS_AT);
  close(fd);
  free(symbols);
  assert_int_equal(search("main"), -EFBIG);
  check_reads();
}

/* Names in another order than symbols, and each ends in "end", as one is
 * called: that is the worst for the search. */
static void write_big(void) {
  Elf64_Sym *symbols = calloc(SYMBOLS, sizeof(*symbols));
  char *names = calloc(SYMBOLS, NAME_BYTES);
  program_t program;
  size_t i, at;
  int fd;

  assert_true(symbols != NULL && names != NULL);
  for (i = 1; i < SYMBOLS; i++) {
    at = i * 7919 % SYMBOLS; /* a prime, so that each is there once */
    snprintf(names + at * NAME_BYTES, NAME_BYTES, "f%06zu_%s", i,
             i % 50 == 0 ? "end" : "go");
    symbols[i].st_name = (Elf64_Word)(at * NAME_BYTES);
    symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbols[i].st_shndx = SYMTAB;
    symbols[i].st_value = TEXT_AT + i;
    symbols[i].st_size = 1;
  }
  make(&program, SYMBOLS, (uint64_t)SYMBOLS * NAME_BYTES);
  fd = begin(&program, FILE_BYTES);
  put(fd, symbols, SYMBOLS * sizeof(*symbols), SYMBOLS_AT);
  put(fd, names, SYMBOLS * NAME_BYTES, STRINGS_AT);
  close(fd);
  free(symbols);
  free(names);
}

static double cpu_seconds(void) {
  struct timespec time;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* 100 MB and 500,000 symbols are to take 0.3 s at most; with sanitizers three
 * times as long. */
static void symbol_of_a_big_program_is_found_soon(void **state) {
  uint64_t place;
  double begun;

  write_big();
  begun = cpu_seconds();
  assert_int_equal(elf_path_symbol(path, "f400001_go", &place), 0);
  assert_true(cpu_seconds() - begun < 0.9);
  assert_int_equal(place, TEXT_AT + 400001);
  assert_in_range(reads.nr, 1, 6000);
  assert_int_equal(search("f499999_end"), -ENOENT);
  assert_in_range(reads.nr, 1, 6000);
  assert_int_equal(search("_end"), -ENOENT); /* 10,000 end so */
  check_reads();
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, setup, make_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(sections_without_end_are_efbig_at_once),
      WITH_TREE(symbols_without_end_are_efbig_at_once),
      WITH_TREE(strings_without_end_are_efbig_in_the_end),
      WITH_TREE(symbols_of_many_sections_are_efbig_in_the_end),
      WITH_TREE(symbol_of_a_big_program_is_found_soon),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
