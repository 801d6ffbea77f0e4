/* SPDX-License-Identifier: MIT */
/* The table has a header, a list of functions with their starts, a record of
 * each function, and names. The header begins with a magic number:
 *
 *   0xfffffffb  Go 1.2    starts are addresses; all is relative to the table
 *   0xfffffffa  Go 1.16   names and records have sections of their own
 *   0xfffffff0  Go 1.18   starts are relative to the first instruction
 *   0xfffffff1  Go 1.20
 *
 * The linker's record of the program, "moduledata", has the first instruction:
 * the header lacks it in Go 1.26. moduledata also repeats where the names and
 * the functions are. Since Go 1.16 a table counts only if both agree. Source:
 * Go's debug/gosym, and moduledata in its runtime. */
#include "profile/symbols/gopclntab.h"

#include <string.h>

/* A search for the table and for moduledata reads no more bytes. Each place
 * where moduledata could be counts as MODULE_COSTS. */
#define MAX_SEARCH   ((uint64_t)512 << 20)
#define MODULE_COSTS ((uint64_t)1 << 20)
/* Longer names are damage. */
#define MAX_NAME (64 << 10)
/* Words of moduledata that are read. */
#define MODULE_WORDS 23

typedef struct span_s {
  const unsigned char *bytes;
  uint64_t size;
  uint64_t address;
} span_t;

typedef struct table_s {
  Elf *elf;
  const unsigned char *ident; /* e_ident of the file */
  size_t word;                /* bytes of a pointer */
  uint64_t left;              /* bytes that may still be searched */
  span_t span;                /* from the header to the end of its section */
  int is_relative;            /* starts are relative to `text` */
  uint64_t text;
  size_t field;     /* bytes of a number in the list */
  uint64_t nr;      /* functions */
  uint64_t list;    /* where the list begins */
  uint64_t records; /* to which offsets of records are relative */
  uint64_t names;   /* to which offsets of names are relative */
  uint64_t names_end;
} table_t;

static int get_span(const table_t *table, uint64_t offset, uint64_t size,
                    uint64_t address, span_t *span) {
  Elf_Data *data = elf_getdata_rawchunk(table->elf, (int64_t)offset,
                                        (size_t)size, ELF_T_BYTE);

  if (size == 0 || data == NULL)
    return -1;
  span->bytes = data->d_buf;
  span->size = data->d_size;
  span->address = address;
  return 0;
}

/* Reads a number of `width` bytes. Returns 0, or -1 if it is outside. */
static int read_at(const table_t *table, const span_t *span, uint64_t offset,
                   size_t width, uint64_t *number) {
  if (offset > span->size || width > span->size - offset)
    return -1;
  *number = symbols_elf_number(table->ident, span->bytes + offset, width);
  return 0;
}

/* -- the list of functions ------------------------------------------------- */

/* Reads the start of a function, or for i == nr the end of the last one. */
static int read_start(const table_t *table, uint64_t i, uint64_t *start) {
  if (read_at(table, &table->span, table->list + 2 * i * table->field,
              table->field, start) != 0)
    return -1;
  *start += table->text;
  return 0;
}

/* Finds the record of a function. The record repeats the function's start.
 * Returns 0, or -1 if the table is damaged there. */
static int find_record(const table_t *table, uint64_t i, uint64_t *record) {
  uint64_t start, again;

  if (read_start(table, i, &start) != 0 ||
      read_at(table, &table->span, table->list + (2 * i + 1) * table->field,
              table->field, record) != 0)
    return -1;
  *record += table->records;
  return read_at(table, &table->span, *record, table->field, &again) == 0 &&
                 again + table->text == start
             ? 0
             : -1;
}

/* Finds the last function that starts at or before an address. Returns 0 or
 * -1. */
static int find_entry(const table_t *table, uint64_t address, uint64_t *entry) {
  uint64_t low = 0, high = table->nr, middle, start;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (read_start(table, middle, &start) != 0)
      return -1;
    if (start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  *entry = low - 1;
  return low > 0 ? 0 : -1;
}

/* Returns a name that ends within the table, or NULL. Since Go 1.16 the names
 * are together, so another one ends before it. */
static const char *name_of(const table_t *table, uint64_t record) {
  uint64_t offset, most;
  const char *name;

  if (read_at(table, &table->span, record + table->field, 4, &offset) != 0 ||
      offset >= table->names_end - table->names)
    return NULL;
  name = (const char *)table->span.bytes + table->names + offset;
  most = table->names_end - table->names - offset;
  if (table->names > 0 && offset > 0 && name[-1] != '\0')
    return NULL;
  return name[0] != '\0' &&
                 memchr(name, '\0',
                        (size_t)(most < MAX_NAME ? most : MAX_NAME)) != NULL
             ? name
             : NULL;
}

static void find_function(const table_t *table, uint64_t address,
                          symbols_function_t *function) {
  uint64_t entry, record, next, start, end;
  const char *name;

  if (find_entry(table, address, &entry) != 0 ||
      find_record(table, entry, &record) != 0 ||
      (entry + 1 < table->nr && find_record(table, entry + 1, &next) != 0) ||
      read_start(table, entry, &start) != 0 ||
      read_start(table, entry + 1, &end) != 0 || address < start ||
      address >= end)
    return;
  name = name_of(table, record);
  if (name == NULL)
    return;
  function->name = name;
  function->start = start;
  function->end = end;
}

/* -- moduledata ------------------------------------------------------------ */

/* An entry of a section of relocations. */
typedef struct move_s {
  uint64_t address, value;
} move_t;

/* Reads a relocation that adds the address where the program is loaded: it has
 * no symbol. Returns 0 or -1. */
static int read_move(const table_t *table, const span_t *span, uint64_t i,
                     move_t *move) {
  uint64_t at = 3 * i * table->word, info;

  if (read_at(table, span, at, table->word, &move->address) != 0 ||
      read_at(table, span, at + table->word, table->word, &info) != 0 ||
      read_at(table, span, at + 2 * table->word, table->word, &move->value) !=
          0)
    return -1;
  return info >> (table->word == 8 ? 32 : 8) == 0 ? 0 : -1;
}

/* Returns the next section of relocations with addends, or NULL. */
static Elf_Scn *next_moves(const table_t *table, Elf_Scn *section,
                           span_t *span) {
  GElf_Shdr header;

  while ((section = elf_nextscn(table->elf, section)) != NULL) {
    if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_RELA &&
        (header.sh_flags & SHF_ALLOC) != 0 &&
        get_span(table, header.sh_offset, header.sh_size, 0, span) == 0)
      return section;
  }
  return NULL;
}

/* Finds the next segment of data from header *i on, and sets *i to the one
 * after it. Returns 0 or -1. */
static int next_data(const table_t *table, size_t *i, span_t *span) {
  GElf_Phdr header;
  size_t nr;

  if (elf_getphdrnum(table->elf, &nr) != 0)
    return -1;
  while (*i < nr) {
    if (gelf_getphdr(table->elf, (int)(*i)++, &header) != NULL &&
        header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0 &&
        get_span(table, header.p_offset, header.p_filesz, header.p_vaddr,
                 span) == 0)
      return 0;
  }
  return -1;
}

static int may_search(table_t *table, uint64_t bytes) {
  if (bytes > table->left)
    return 0;
  table->left -= bytes;
  return 1;
}

/* Reads words of data as they are when the program is loaded. Returns 0 or
 * -1. */
static int read_words(table_t *table, uint64_t address,
                      uint64_t words[MODULE_WORDS]) {
  uint64_t size = MODULE_WORDS * table->word, k;
  Elf_Scn *section = NULL;
  size_t i = 0;
  span_t span;
  move_t move;

  do {
    if (next_data(table, &i, &span) != 0)
      return -1;
  } while (address < span.address || address - span.address > span.size ||
           size > span.size - (address - span.address));
  for (k = 0; k < MODULE_WORDS; k++)
    read_at(table, &span, address - span.address + k * table->word, table->word,
            &words[k]);
  while ((section = next_moves(table, section, &span)) != NULL &&
         may_search(table, span.size)) {
    for (k = 0; k < span.size / (3 * table->word); k++) {
      if (read_move(table, &span, k, &move) == 0 && move.address >= address &&
          move.address - address < size)
        words[(move.address - address) / table->word] = move.value;
    }
  }
  return 0;
}

/* moduledata begins with the addresses of the table and its names. It also has
 * the first address of the program's functions, the first one after them, and
 * the first instruction. */
static int is_module(table_t *table, uint64_t address) {
  uint64_t words[MODULE_WORDS], start, end, text;

  table->text = 0;
  if (!may_search(table, MODULE_COSTS) ||
      read_words(table, address, words) != 0 ||
      read_start(table, 0, &start) != 0 ||
      read_start(table, table->nr, &end) != 0)
    return 0;
  text = table->is_relative ? words[22] : 0;
  if (words[0] != table->span.address ||
      words[1] != table->span.address + table->names ||
      words[20] != text + start || words[21] != text + end)
    return 0;
  table->text = text;
  return 1;
}

/* Finds moduledata by the address of the table, which is in the data or in a
 * relocation. Returns 0 or -1. */
static int find_module(table_t *table) {
  Elf_Scn *section = NULL;
  uint64_t k, word;
  size_t i = 0;
  span_t span;
  move_t move;

  while (next_data(table, &i, &span) == 0 && may_search(table, span.size)) {
    for (k = 0; read_at(table, &span, k, table->word, &word) == 0;
         k += table->word) {
      if (word == table->span.address && is_module(table, span.address + k))
        return 0;
    }
  }
  while ((section = next_moves(table, section, &span)) != NULL &&
         may_search(table, span.size)) {
    for (k = 0; k < span.size / (3 * table->word); k++) {
      if (read_move(table, &span, k, &move) == 0 &&
          move.value == table->span.address && is_module(table, move.address))
        return 0;
    }
  }
  return -1;
}

/* -- the table ------------------------------------------------------------- */

/* The header has the magic, two zeros, the bytes of an instruction and of a
 * word, and words. The first one is the number of functions. */
static int read_word(const table_t *table, size_t i, uint64_t *word) {
  return read_at(table, &table->span, 8 + i * table->word, table->word, word);
}

/* Finds the parts of the table. The names are followed by numbers of files.
 * Returns 0 or -1. */
static int find_parts(table_t *table, uint64_t magic) {
  size_t first = magic == 0xfffffffa ? 2 : 3;

  table->is_relative = magic == 0xfffffff0 || magic == 0xfffffff1;
  table->field = table->is_relative ? 4 : table->word;
  if (magic == 0xfffffffb) {
    table->names = table->records = 0;
    table->names_end = table->span.size;
    table->list = 8 + table->word;
    return 0;
  }
  if ((magic != 0xfffffffa && !table->is_relative) ||
      read_word(table, first, &table->names) != 0 ||
      read_word(table, first + 1, &table->names_end) != 0 ||
      read_word(table, first + 4, &table->records) != 0)
    return -1;
  table->list = table->records;
  return table->names > 0 && table->names < table->names_end &&
                 table->names_end <= table->span.size
             ? 0
             : -1;
}

/* Returns 1 if the span begins with a table. */
static int is_table(table_t *table) {
  const unsigned char *bytes = table->span.bytes;
  uint64_t magic;

  if (read_at(table, &table->span, 0, 4, &magic) != 0 ||
      read_word(table, 0, &table->nr) != 0 || bytes[4] != 0 || bytes[5] != 0 ||
      bytes[7] != table->word || find_parts(table, magic) != 0 ||
      table->list > table->span.size)
    return 0;
  table->text = 0;
  return table->nr > 0 &&
         table->nr <= (table->span.size - table->list) / (2 * table->field) &&
         (table->names == 0 || find_module(table) == 0);
}

/* The external linker puts the table of a PIE into .data.rel.ro. */
static int search_table(table_t *table) {
  const span_t all = table->span;
  uint64_t at;

  if (!may_search(table, all.size))
    return 0;
  for (at = 0; at + 8 <= all.size; at += table->word) {
    table->span.bytes = all.bytes + at;
    table->span.size = all.size - at;
    table->span.address = all.address + at;
    if (is_table(table))
      return 1;
  }
  return 0;
}

static const char *name_of_section(const symbols_elf_file_t *file,
                                   Elf_Scn *section, GElf_Shdr *header) {
  const char *name;
  size_t names;

  if (elf_getshdrstrndx(file->elf, &names) != 0 ||
      gelf_getshdr(section, header) == NULL)
    return "";
  name = elf_strptr(file->elf, names, header->sh_name);
  return name != NULL ? name : "";
}

/* Go's linker makes .go.buildinfo and .note.go.buildid. All other files need
 * not be searched. */
static int is_of_go(const symbols_elf_file_t *file) {
  Elf_Scn *section = NULL;
  GElf_Shdr header;

  while ((section = elf_nextscn(file->elf, section)) != NULL) {
    if (strstr(name_of_section(file, section, &header), ".go.") != NULL)
      return 1;
  }
  return 0;
}

static int find_table(const symbols_elf_file_t *file, table_t *table) {
  int is_go = is_of_go(file);
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  const char *name;

  memset(table, 0, sizeof(*table));
  table->elf = file->elf;
  table->ident = (const unsigned char *)elf_getident(file->elf, NULL);
  table->word = table->ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
  table->left = MAX_SEARCH;
  while ((section = elf_nextscn(file->elf, section)) != NULL) {
    name = name_of_section(file, section, &header);
    if (header.sh_type != SHT_NOBITS &&
        (strcmp(name, ".gopclntab") == 0 ||
         strcmp(name, ".data.rel.ro.gopclntab") == 0 ||
         (is_go && strcmp(name, ".data.rel.ro") == 0)) &&
        get_span(table, header.sh_offset, header.sh_size, header.sh_addr,
                 &table->span) == 0 &&
        search_table(table))
      return 0;
  }
  return -1;
}

size_t symbols_gopclntab_find(const symbols_elf_file_t *file,
                              const uint64_t *addresses, size_t nr,
                              symbols_function_t *functions) {
  table_t table;
  size_t i = 0;

  while (i < nr && functions[i].name != NULL)
    i++;
  if (i == nr || find_table(file, &table) != 0)
    return 0;
  for (; i < nr; i++) {
    if (functions[i].name == NULL)
      find_function(&table, addresses[i], &functions[i]);
  }
  return (size_t)table.nr;
}
