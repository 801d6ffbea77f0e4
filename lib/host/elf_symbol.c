/* SPDX-License-Identifier: MIT */
/* Finds out which symbols of an ELF file are functions, which function a name
 * means, and where in the file the functions begin. elf_file.c reads the
 * file. */
#include "host/elf_symbol.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "host/elf_file.h"
#include "util/alloc.h"

/* Values in .gnu.version: see "Symbol Versioning" in the LSB core
 * specification. <elf.h> defines neither value. */
#define VERSION_HIDDEN 0x8000
#define VERSION_NUMBER 0x7fff

/* The field st_other of 64-bit PowerPC (ELFv2 ABI 3.4.1): from this bit on, it
 * holds log2 of the bytes from the global entry to the local entry. */
#define PPC64_ENTRY_SHIFT 5
#define PPC64_ABI         3 /* in e_flags */

/* A symbol that may be a function, and the parts of its name. */
typedef struct candidate_s {
  uvperf__elf_row_t row;
  const char *name;
  size_t length;
  const char *version; /* after the '@'; NULL: the name has none */
  size_t version_length;
  int is_default;  /* "@@" */
  uint16_t number; /* of .gnu.version: 0 and 1 mean none */
} candidate_t;

/* The struct is too big for the stack, so it comes from uvperf__calloc. */
typedef struct walk_s {
  uvperf__elf_t elf;
  uvperf__elf_rows_t rows;
  uvperf__elf_rows_t versions;
  int has_versions; /* in this table */
  uvperf__elf_strings_t strings;
  const candidate_t *wanted;   /* its name is searched; NULL: every name */
  uvperf__elf_filter_t places; /* of this name in the strings */
  uint64_t functions;          /* number of defined functions so far */
  /* The section of the last label. */
  uint16_t section_index;
  uvperf__elf_section_t section;
  char name[UVPERF__ELF_NAME_MAX];
} walk_t;

/* Called with each candidate. If it returns a value other than 0, the walk
 * ends. */
typedef int (*candidate_fn)(walk_t *walk, const candidate_t *candidate,
                            void *arg);

/* -- its place in the file ------------------------------------------------ */

/* A symbol without a type is a function only if it lies in code. The linker
 * also makes other symbols without a type, such as _end, or etext after the
 * last byte of code. Returns 1, 0 or -errno. */
static int is_label_of_code(walk_t *walk, const uvperf__elf_row_t *row) {
  int rc;

  if (row->section == SHN_XINDEX || row->section >= walk->elf.sections)
    return 0;
  if (row->section != walk->section_index) {
    walk->section_index = 0;
    rc = uvperf__elf_section(&walk->elf, row->section, &walk->section);
    if (rc != 0)
      return rc;
    walk->section_index = row->section;
  }
  return (walk->section.flags & SHF_EXECINSTR) != 0 &&
         row->value >= walk->section.address &&
         row->value - walk->section.address < walk->section.size;
}

/* Finds the segment of code that contains an address. A segment of data is not
 * suitable for a probe: no call reaches the probe, but the kernel would write
 * the breakpoint into the data, because valid_vma in kernel/events/uprobes.c
 * allows it. */
static const uvperf__elf_segment_t *find_segment(const uvperf__elf_t *elf,
                                                 uint64_t address) {
  uint32_t i;

  for (i = 0; i < elf->nr_segments; i++) {
    const uvperf__elf_segment_t *segment = &elf->segments[i];

    if (address >= segment->address &&
        address - segment->address < segment->size)
      return segment;
  }
  return NULL;
}

/* Returns the distance in bytes from the symbol's address to the point that
 * every call passes. */
static uint64_t entry_bytes(const uvperf__elf_t *elf,
                            const uvperf__elf_row_t *row) {
  unsigned int log2 = row->other >> PPC64_ENTRY_SHIFT;

  return elf->machine == EM_PPC64 && log2 >= 2 && log2 < 7 ? 1u << log2 : 0;
}

/* Finds the place of a symbol. Returns 1 with its offset, 0 if the symbol is
 * not in the file or is not a function, or -errno. */
static int symbol_place(walk_t *walk, const uvperf__elf_row_t *row,
                        uint64_t *offset) {
  const uvperf__elf_segment_t *segment;
  uint64_t entry = entry_bytes(&walk->elf, row);
  uint64_t address = row->value;

  if (row->type == STT_NOTYPE) {
    int rc = is_label_of_code(walk, row);

    if (rc != 1)
      return rc;
  } else if (walk->elf.machine == EM_ARM) {
    address &= ~UINT64_C(1);
  }
  segment = find_segment(&walk->elf, address);
  if (segment == NULL)
    return 0;
  if (entry >= segment->size - (address - segment->address))
    return 0;
  *offset = segment->offset + (address - segment->address) + entry;
  return 1;
}

/* -- the walk over the tables --------------------------------------------- */

/* Mapping symbols of ARM and RISC-V ("$x") are excluded, because they are local
 * and have no type. */
static int may_be_function(const uvperf__elf_row_t *row) {
  if (row->name == 0 || row->section == SHN_UNDEF)
    return 0;
  if (row->section >= SHN_LORESERVE && row->section != SHN_XINDEX)
    return 0;
  return row->type == STT_FUNC || row->type == STT_GNU_IFUNC ||
         (row->type == STT_NOTYPE && row->bind != STB_LOCAL);
}

/* GNU ld writes the versions into the names in .symtab. */
static void split_name(candidate_t *candidate) {
  const char *at = candidate->length == 0 ? NULL
                                          : memchr(candidate->name + 1, '@',
                                                   candidate->length - 1);
  const char *end = candidate->name + candidate->length;

  candidate->version = NULL;
  candidate->version_length = 0;
  candidate->is_default = 0;
  if (at == NULL)
    return;
  candidate->length = (size_t)(at - candidate->name);
  at++;
  candidate->is_default = at < end && *at == '@';
  at += candidate->is_default;
  candidate->version = at;
  candidate->version_length = (size_t)(end - at);
}

/* Returns 1 and the next candidate, 0 after the last candidate, or -errno. */
static int next_candidate(walk_t *walk, candidate_t *candidate) {
  const char *number;
  int rc;

  for (;;) {
    rc = uvperf__elf_symbol_rows_next(&walk->rows, &candidate->row);
    if (rc != 1)
      return rc;
    candidate->number = 0;
    if (walk->has_versions) {
      rc = uvperf__elf_rows_next(&walk->versions, &number);
      if (rc != 1) /* fewer versions than symbols */
        return rc == 0 ? -EBADMSG : rc;
      memcpy(&candidate->number, number, sizeof(candidate->number));
    }
    if (!may_be_function(&candidate->row))
      continue;
    walk->functions += candidate->row.type != STT_NOTYPE;
    if (walk->wanted != NULL &&
        !uvperf__elf_filter_has(&walk->places, candidate->row.name))
      continue;
    rc = uvperf__elf_string(&walk->strings, candidate->row.name,
                            &candidate->name, &candidate->length);
    if (rc < 0)
      return rc;
    if (rc == 0 || candidate->length == 0)
      continue;
    split_name(candidate);
    return 1;
  }
}

static int walk_table(walk_t *walk, const uvperf__elf_section_t *table,
                      candidate_fn each, void *arg) {
  const uvperf__elf_section_t *versions = &walk->elf.versions;
  candidate_t candidate;
  int rc;

  if (table->type == SHT_NULL)
    return 0;
  rc = uvperf__elf_symbol_rows(&walk->rows, &walk->elf, table);
  if (rc == 0)
    rc = uvperf__elf_strings(&walk->strings, &walk->elf, table->link);
  if (rc == 0 && walk->wanted != NULL)
    rc = uvperf__elf_strings_find(&walk->strings, walk->wanted->name,
                                  walk->wanted->length, &walk->places);
  if (rc != 0)
    return rc;
  walk->has_versions = table->type == SHT_DYNSYM && versions->type != SHT_NULL;
  uvperf__elf_rows(&walk->versions, &walk->elf, versions->offset,
                   versions->size / sizeof(candidate.number),
                   sizeof(candidate.number));
  while ((rc = next_candidate(walk, &candidate)) == 1) {
    rc = each(walk, &candidate, arg);
    if (rc != 0)
      return rc;
  }
  return rc;
}

static int walk_tables(walk_t *walk, candidate_fn each, void *arg) {
  int rc = walk_table(walk, &walk->elf.symbols, each, arg);

  if (rc == 0)
    rc = walk_table(walk, &walk->elf.dynamic_symbols, each, arg);
  if (rc == 0 && walk->elf.symbols.type == SHT_NULL && walk->functions == 0)
    rc = -ENODATA;
  return rc;
}

/* Without a mark in e_flags, big-endian files are ELFv1. */
static int has_descriptors(const uvperf__elf_t *elf) {
  uint32_t abi = elf->flags & PPC64_ABI;

  return elf->machine == EM_PPC64 &&
         (abi == 1 || (abi == 0 && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__));
}

static int walk_new(walk_t **walk, int fd) {
  walk_t *new_walk = uvperf__calloc(1, sizeof(*new_walk));
  int rc;

  if (new_walk == NULL)
    return -ENOMEM;
  rc = uvperf__elf_open(&new_walk->elf, fd);
  if (rc == 0 && has_descriptors(&new_walk->elf)) {
    uvperf__elf_close(&new_walk->elf);
    rc = -ENOTSUP;
  }
  if (rc != 0) {
    uvperf__free(new_walk);
    return rc;
  }
  *walk = new_walk;
  return 0;
}

static void walk_free(walk_t *walk) {
  uvperf__elf_close(&walk->elf);
  uvperf__free(walk);
}

/* -- the version that is meant -------------------------------------------- */

typedef struct search_s {
  candidate_t wanted;
  uint16_t number; /* of the wanted version in .gnu.version_d; 0: not found */
  int rank;        /* of the best candidate so far, 0: none */
  int fault;       /* see probe_fault */
  int is_ambiguous;
  uint64_t offset;
} search_t;

/* Whether a definition defines the wanted version. Returns 1, 0 or -errno. */
static int is_wanted_version(walk_t *walk, const search_t *search,
                             const Elf64_Verdef *definition, uint64_t at) {
  const candidate_t *wanted = &search->wanted;
  Elf64_Verdaux first;
  const char *name;
  size_t length;
  int rc;

  rc = uvperf__elf_read(&walk->elf, &first, sizeof(first),
                        at + definition->vd_aux);
  if (rc != 0)
    return rc;
  rc = uvperf__elf_string(&walk->strings, first.vda_name, &name, &length);
  if (rc != 1)
    return rc;
  return length == wanted->version_length &&
         memcmp(name, wanted->version, length) == 0;
}

/* Finds the number of the wanted version. 32-bit files have the same structs.
 * The loop makes at most as many steps as there can be version numbers, so even
 * a bad chain of definitions ends. */
static int find_version(walk_t *walk, search_t *search) {
  const uvperf__elf_section_t *section = &walk->elf.definitions;
  Elf64_Verdef definition;
  uint64_t at = section->offset;
  int left;
  int rc;

  if (search->wanted.version == NULL || section->type == SHT_NULL ||
      section->size == 0)
    return 0;
  rc = uvperf__elf_strings(&walk->strings, &walk->elf, section->link);
  for (left = VERSION_NUMBER; rc == 0 && left > 0; left--) {
    if (at > INT64_MAX || at - section->offset >= section->size)
      return -EBADMSG;
    rc = uvperf__elf_read(&walk->elf, &definition, sizeof(definition), at);
    if (rc != 0)
      return rc;
    rc = is_wanted_version(walk, search, &definition, at);
    if (rc == 1)
      search->number = definition.vd_ndx & VERSION_NUMBER;
    if (rc != 0 || definition.vd_next == 0)
      return rc < 0 ? rc : 0;
    at += definition.vd_next;
  }
  return rc;
}

/* The ranks of how well a version matches, from the worst to the best. */
enum {
  FITS_NOT,
  FITS_AS_HIDDEN,
  FITS_WITHOUT,
  FITS
};

static int version_rank(const search_t *search, const candidate_t *candidate) {
  const candidate_t *wanted = &search->wanted;
  int number = candidate->number & VERSION_NUMBER;

  if (wanted->version != NULL && candidate->version != NULL)
    return wanted->version_length == candidate->version_length &&
                   memcmp(wanted->version, candidate->version,
                          wanted->version_length) == 0
               ? FITS
               : FITS_NOT;
  if (wanted->version != NULL)
    return number > VER_NDX_GLOBAL && number == search->number ? FITS
                                                               : FITS_NOT;
  if (candidate->version != NULL)
    return candidate->is_default ? FITS : FITS_AS_HIDDEN;
  if ((candidate->number & VERSION_HIDDEN) != 0)
    return FITS_AS_HIDDEN;
  return number > VER_NDX_GLOBAL ? FITS : FITS_WITHOUT;
}

/* -- one function --------------------------------------------------------- */

static int bind_rank(const uvperf__elf_row_t *row) {
  switch (row->bind) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
      return 3;
    case STB_WEAK:
      return 2;
    default:
      return 1;
  }
}

/* Returns 0 if a function can have a uprobe. Otherwise returns the -errno of
 * the reason. In Thumb code arch_uprobe_analyze_insn of arch/arm refuses
 * addresses that are not multiples of 4, and a probe at a multiple of 4 is
 * never hit. */
static int probe_fault(const walk_t *walk, const uvperf__elf_row_t *row) {
  if (row->type == STT_GNU_IFUNC)
    return -ENOTSUP;
  return walk->elf.machine == EM_ARM && row->type == STT_FUNC &&
                 (row->value & 1) != 0
             ? -EILSEQ
             : 0;
}

static int search_candidate(walk_t *walk, const candidate_t *candidate,
                            void *arg) {
  search_t *search = arg;
  int fault = probe_fault(walk, &candidate->row);
  uint64_t offset;
  int rank;
  int rc;

  if (candidate->length != search->wanted.length ||
      memcmp(candidate->name, search->wanted.name, candidate->length) != 0)
    return 0;
  rank = version_rank(search, candidate);
  if (rank == FITS_NOT)
    return 0;
  rank = rank * 16 + (candidate->row.type != STT_NOTYPE) * 8 +
         bind_rank(&candidate->row);
  if (rank < search->rank)
    return 0;
  rc = symbol_place(walk, &candidate->row, &offset);
  if (rc != 1)
    return rc;
  if (rank > search->rank) {
    search->rank = rank;
    search->fault = fault;
    search->is_ambiguous = 0;
    search->offset = offset;
    return 0;
  }
  search->is_ambiguous |= offset != search->offset;
  if (search->fault == 0)
    search->fault = fault;
  return 0;
}

static int end_search(walk_t *walk, const search_t *search) {
  char byte;

  if (search->rank == 0)
    return -ENOENT;
  if (search->is_ambiguous)
    return -ENOTUNIQ;
  if (search->fault != 0)
    return search->fault;
  /* Checks that the file is long enough for the segment. */
  return uvperf__elf_read(&walk->elf, &byte, 1, search->offset);
}

int uvperf__elf_symbol(int fd, const char *name, uint64_t *offset) {
  search_t search;
  walk_t *walk;
  int rc;

  memset(&search, 0, sizeof(search));
  search.wanted.name = name;
  search.wanted.length = strlen(name);
  split_name(&search.wanted);
  rc = walk_new(&walk, fd);
  if (rc != 0)
    return rc;
  walk->wanted = &search.wanted;
  rc = find_version(walk, &search);
  if (rc == 0)
    rc = walk_tables(walk, search_candidate, &search);
  if (rc == 0)
    rc = end_search(walk, &search);
  walk_free(walk);
  if (rc == 0)
    *offset = search.offset;
  return rc;
}

/* -- each function -------------------------------------------------------- */

typedef struct each_s {
  uvperf__name_fn each;
  void *data;
} each_t;

static int pass_candidate(walk_t *walk, const candidate_t *candidate,
                          void *arg) {
  const each_t *pass = arg;
  uint64_t offset;
  int rc;

  if (candidate->row.type == STT_GNU_IFUNC)
    return 0;
  rc = symbol_place(walk, &candidate->row, &offset);
  if (rc != 1)
    return rc;
  memcpy(walk->name, candidate->name, candidate->length);
  walk->name[candidate->length] = '\0';
  return pass->each(walk->name, pass->data);
}

int uvperf__elf_each_symbol(int fd, uvperf__name_fn each, void *data) {
  each_t pass = {each, data};
  walk_t *walk;
  int rc = walk_new(&walk, fd);

  if (rc != 0)
    return rc;
  rc = walk_tables(walk, pass_candidate, &pass);
  walk_free(walk);
  return rc;
}
