/* SPDX-License-Identifier: MIT */
/* Names of stripped Go programs: from a Go compiler, and from tables of each of
 * Go's formats, whole and damaged. */
#include "support.h"

#include <elf.h>
#include <unistd.h>

#include "ask_names.h"
#include "profile/symbols/gopclntab.h"

/* -- programs -------------------------------------------------------------- */

static const char go_source[] =
    "package main\n"
    "import \"sort\"\n"
    "type shape struct{ sides int }\n"
    "//go:noinline\n"
    "func (s *shape) spin(n int) { s.sides += n }\n"
    "//go:noinline\n"
    "func sum[T int | float64](values []T) (all T) {\n"
    "  for _, v := range values { all += v }\n"
    "  return\n"
    "}\n"
    "func main() {\n"
    "  values := []int{3, 1, 2}\n"
    "  sort.Slice(values, func(i, j int) bool { return i < j })\n"
    "  (&shape{}).spin(sum(values))\n"
    "}\n";

/* Reads the next function that `go tool nm -size` prints. Names in the table
 * lack ".abi0", and what is between brackets. Returns 0 at the end. */
static int next_function(FILE *nm, uint64_t *address, uint64_t *size,
                         char name[512]) {
  unsigned long start, bytes;
  char line[1024], type;
  char *bracket, *last;

  while (fgets(line, sizeof(line), nm) != NULL) {
    if (sscanf(line, "%lx %lu %c %511[^\n]", &start, &bytes, &type, name) !=
            4 ||
        (type != 'T' && type != 't') || bytes == 0)
      continue;
    *address = start;
    *size = bytes;
    if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".abi0") == 0)
      name[strlen(name) - 5] = '\0';
    bracket = strchr(name, '[');
    last = strrchr(name, ']');
    if (bracket != NULL && last > bracket) {
      snprintf(line, sizeof(line), "[...]%s", last + 1);
      snprintf(bracket, 512 - (size_t)(bracket - name), "%s", line);
    }
    return 1;
  }
  return 0;
}

/* Returns 1 if `name` is the name at an address, or lacks only what is between
 * the brackets of `found`. */
static int same_name(const char *found, const char *name) {
  const char *bracket = strchr(found, '[');
  size_t head = bracket == NULL ? 0 : (size_t)(bracket - found);

  return strcmp(found, name) == 0 ||
         (bracket != NULL && strncmp(found, name, head) == 0 &&
          strncmp(name + head, "[...]", 5) == 0);
}

/* Compares the first, a middle and the last byte of each function. Code that is
 * not Go's has no names. */
static void expect_names(const char *stripped, const char *whole, int is_all) {
  size_t nr = 0, named = 0;
  uint64_t address, size, offset, steps[3];
  const symbols_place_t *place;
  char name[512];
  ask_names_t ask;
  uint32_t object;
  int i, pass;
  FILE *nm;

  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, ask_names_in(stripped));
  for (pass = 0; pass < 2; pass++) {
    snprintf(name, sizeof(name), "go tool nm -size '%s'", ask_names_in(whole));
    nm = popen(name, "r");
    assert_non_null(nm);
    while (next_function(nm, &address, &size, name)) {
      steps[0] = 0;
      steps[1] = size / 2;
      steps[2] = size - 1;
      for (i = 0; i < 3; i++) {
        if (ask_names_offset(ask_names_in(stripped), address + steps[i],
                             &offset) != 0)
          continue;
        if (pass == 0) {
          symbols_want(ask.symbols, object, offset);
          continue;
        }
        nr++;
        place = symbols_find(ask.symbols, object, offset);
        if (place->nr == 0)
          continue;
        named++;
        assert_int_equal(place->first, offset - steps[i]);
        if (!same_name(place->names[0].name, name))
          fail_msg("%s: %s instead of %s", stripped, place->names[0].name,
                   name);
      }
    }
    pclose(nm);
    ask_names_wait(&ask);
  }
  assert_int_equal(symbols_reason(ask.symbols, object)[0] == '\0', named == nr);
  assert_true(named > 3000);
  assert_true(is_all ? named == nr : named > nr - nr / 10);
  ask_names_end(&ask);
}

/* Linkers of C put the table elsewhere and the Go code after other code. lld
 * leaves addresses of a PIE to the relocations. */
static void stripped_go_programs_have_the_names_of_nm(void **state) {
  static const struct {
    const char *name, *flags;
    int is_all;
  } ways[] = {
      {"fixed", "", 1},
      {"pie", "-buildmode=pie", 1},
      {"external", "-ldflags=-linkmode=external", 0},
      {"external-pie", "-buildmode=pie -ldflags=-linkmode=external", 0},
      {"lld-pie",
       "-buildmode=pie -ldflags='-linkmode=external -extldflags=-fuse-ld=lld'",
       0},
  };
  char whole[64];
  size_t i;

  if (system("go version >/dev/null 2>&1") != 0)
    support_skip(__func__, "Go");
  ask_names_write("main.go", go_source, strlen(go_source));
  for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
    if (!ways[i].is_all && ask_names_run("cc --version >/dev/null 2>&1") != 0)
      continue;
    if (strncmp(ways[i].name, "lld", 3) == 0 &&
        ask_names_run("ld.lld --version >/dev/null 2>&1") != 0)
      continue;
    snprintf(whole, sizeof(whole), "%s.whole", ways[i].name);
    assert_int_equal(
        ask_names_run("GOCACHE=\"$PWD/cache\" GO111MODULE=off "
                      "go build -o %s %s main.go && strip -o %s %s",
                      whole, ways[i].flags, ways[i].name, whole),
        0);
    expect_names(ways[i].name, whole, ways[i].is_all);
  }
  /* Go's own linker leaves the symbols out. */
  assert_int_equal(ask_names_run("GOCACHE=\"$PWD/cache\" GO111MODULE=off "
                                 "go build -o bare -ldflags='-s -w' main.go"),
                   0);
  expect_names("bare", "fixed.whole", 1);
}

/* -- tables ---------------------------------------------------------------- */

#define TEXT      0x401000u
#define TEXT_SIZE 0x40u
#define DATA      0x500000u
#define TABLE     0x600000u

#define AT_HEADERS  0x40u /* of segments */
#define AT_SECTIONS 0x100u
#define AT_NAMES    0x280u
#define AT_TEXT     0x300u
#define AT_DATA     0x340u
#define AT_MOVES    0x420u
#define AT_TABLE    0x500u
#define MAX_IMAGE   0x800u
#define NR_DECOYS   5u
#define DECOY_BYTES 32u

static const char section_names[] = "\0.text\0.gopclntab\0.rela\0.names\0"
                                    ".data.rel.ro\0.note.go.buildid";
static const uint32_t starts[] = {0, 0x10, 0x28, TEXT_SIZE};
static const char *const functions[] = {"main.main", "main.(*T).spin",
                                        "runtime.goexit"};
#define NR_FUNCTIONS 3u

/* How a table is made. */
typedef struct format_s {
  uint32_t magic;
  int is_big;
  size_t word;
  int has_moves; /* the words of moduledata are in relocations */
  int is_rel_ro; /* in another section, after other data */
} format_t;

typedef struct image_s {
  format_t format;
  unsigned char bytes[MAX_IMAGE];
  size_t size;
  size_t table; /* offset */
  size_t texts; /* offset of the names, to the end */
  size_t records[NR_FUNCTIONS];
} image_t;

static void put(image_t *image, size_t at, size_t width, uint64_t value) {
  size_t i;

  assert_true(at + width <= MAX_IMAGE);
  for (i = 0; i < width; i++)
    image->bytes[at + (image->format.is_big ? width - 1 - i : i)] =
        (unsigned char)(value >> 8 * i);
}

/* Puts numbers one after the other: 'w' words, '4' and '2' bytes. */
static void put_all(image_t *image, size_t at, const char *widths,
                    const uint64_t *values) {
  size_t width;

  for (; *widths != '\0'; widths++) {
    width = *widths == 'w' ? image->format.word : (size_t)(*widths - '0');
    put(image, at, width, *values++);
    at += width;
  }
}

static void put_section(image_t *image, size_t i, const char *name,
                        uint32_t type, uint64_t flags, uint64_t address,
                        uint64_t offset, uint64_t size) {
  size_t bytes = image->format.word == 8 ? 64 : 40, k = 1;
  uint64_t values[10] = {0, type, flags, address, offset, size, 0, 0, 1, 0};

  while (strcmp(section_names + k, name) != 0)
    k += strlen(section_names + k) + 1;
  values[0] = k;
  put_all(image, AT_SECTIONS + i * bytes, "44wwww44ww", values);
}

static void put_segment(image_t *image, size_t i, uint32_t flags,
                        uint64_t offset, uint64_t address, uint64_t size) {
  const uint64_t wide[] = {PT_LOAD, flags, offset, address,
                           address, size,  size,   1};
  const uint64_t narrow[] = {PT_LOAD, offset, address, address,
                             size,    size,   flags,   1};

  if (image->format.word == 8)
    put_all(image, AT_HEADERS + i * 56, "44wwwwww", wide);
  else
    put_all(image, AT_HEADERS + i * 32, "4wwwww4w", narrow);
}

/* Puts the part of the table after its header: the list, the records and the
 * names. `list` is an offset in the table. */
static void put_functions(image_t *image, size_t list, size_t records,
                          size_t names) {
  int is_relative =
      image->format.magic >= 0xfffffff0 && image->format.magic <= 0xfffffff1;
  size_t field = is_relative ? 4 : image->format.word, i, used = 0;
  size_t record = list + (2 * NR_FUNCTIONS + 1) * field;
  uint64_t base = is_relative ? 0 : TEXT;

  for (i = 0; i < NR_FUNCTIONS; i++) {
    image->records[i] = image->table + record;
    put(image, image->table + list + 2 * i * field, field, base + starts[i]);
    put(image, image->table + list + (2 * i + 1) * field, field,
        record - records);
    put(image, image->table + record, field, base + starts[i]);
    put(image, image->table + record + field, 4,
        (size_t)(image->texts - image->table) + used - names);
    memcpy(image->bytes + image->texts + used, functions[i],
           strlen(functions[i]) + 1);
    used += strlen(functions[i]) + 1;
    record += field + 4;
  }
  put(image, image->table + list + 2 * i * field, field, base + starts[i]);
  if (image->texts + used > image->size)
    image->size = image->texts + used;
}

/* A relocation with a symbol is not to the program's own address. */
static void put_moduledata(image_t *image, size_t names) {
  size_t word = image->format.word, i, k = 0;
  uint64_t address = TABLE + image->table - AT_TABLE, values[23] = {0};

  values[0] = address;
  values[1] = address + names;
  values[20] = values[22] = TEXT;
  values[21] = TEXT + TEXT_SIZE;
  for (i = 0; i < 23; i++) {
    if (!image->format.has_moves) {
      put(image, AT_DATA + 8 + i * word, word, values[i]);
    } else if (values[i] != 0) {
      put(image, AT_MOVES + 3 * k * word, word, DATA + 8 + i * word);
      put(image, AT_MOVES + (3 * k + 1) * word, word, R_X86_64_RELATIVE);
      put(image, AT_MOVES + (3 * k++ + 2) * word, word, values[i]);
    }
  }
  put(image, AT_MOVES + 3 * k * word, word, DATA + 8 + 20 * word);
  put(image, AT_MOVES + (3 * k + 1) * word, word, word == 8 ? 1ull << 32 : 256);
}

/* Other data that begin as a table of Go 1.2, but are none. */
static void put_decoys(image_t *image) {
  static const struct {
    unsigned char bytes[3], other_word;
    uint32_t nr;
  } decoys[NR_DECOYS] = {
      {{1, 0, 1}, 0, 1}, {{0, 1, 1}, 0, 1},          {{0, 0, 1}, 1, 1},
      {{0, 0, 1}, 0, 0}, {{0, 0, 1}, 0, 0x7fffffff},
  };
  size_t i, at = AT_TABLE;

  for (i = 0; i < NR_DECOYS; i++, at += DECOY_BYTES) {
    put(image, at, 4, 0xfffffffb);
    memcpy(image->bytes + at + 4, decoys[i].bytes, 3);
    image->bytes[at + 7] =
        (unsigned char)(image->format.word ^ decoys[i].other_word);
    put(image, at + 8, image->format.word, decoys[i].nr);
  }
}

/* The order of a table is a header, names, the list, and records. In Go 1.2 the
 * names are at the end. */
static void put_table(image_t *image) {
  size_t word = image->format.word, list, names, i;
  size_t nr_words = image->format.magic == 0xfffffffa ? 7 : 8;
  const size_t names_word = nr_words - 5;

  image->table = AT_TABLE;
  if (image->format.is_rel_ro) {
    put_decoys(image);
    image->table += NR_DECOYS * DECOY_BYTES;
  }
  put(image, image->table, 4, image->format.magic);
  image->bytes[image->table + 6] = 1;
  image->bytes[image->table + 7] = (unsigned char)word;
  put(image, image->table + 8, word, NR_FUNCTIONS);
  if (image->format.magic == 0xfffffffb) {
    image->texts = image->table + 0x100;
    put_functions(image, 8 + word, 0, 0);
    return;
  }
  names = 8 + nr_words * word;
  list = names + 48;
  image->texts = image->table + names;
  put_functions(image, list, list, names);
  image->size = image->records[2] + 8;
  if (word == 8 && nr_words == 7)
    image->size += 4;
  put(image, image->table + 8 + names_word * word, word, names);
  for (i = names_word + 1; i < nr_words; i++)
    put(image, image->table + 8 + i * word, word, list);
  put_moduledata(image, names);
}

static void make_image(image_t *image, const format_t *format) {
  int is_wide = format->word == 8;
  const uint64_t head[] = {ET_DYN,
                           is_wide ? EM_X86_64 : EM_386,
                           1,
                           TEXT,
                           AT_HEADERS,
                           AT_SECTIONS,
                           0,
                           is_wide ? 64 : 52,
                           is_wide ? 56 : 32,
                           3,
                           is_wide ? 64 : 40,
                           6,
                           4};

  memset(image, 0, sizeof(*image));
  image->format = *format;
  memcpy(image->bytes, ELFMAG, 4);
  image->bytes[EI_CLASS] = is_wide ? ELFCLASS64 : ELFCLASS32;
  image->bytes[EI_DATA] = format->is_big ? ELFDATA2MSB : ELFDATA2LSB;
  image->bytes[EI_VERSION] = 1;
  put_all(image, 16, "224www4222222", head);
  put_table(image);
  put_segment(image, 0, PF_R | PF_X, AT_TEXT, TEXT, TEXT_SIZE);
  put_segment(image, 1, PF_R | PF_W, AT_DATA, DATA, AT_MOVES - AT_DATA);
  put_segment(image, 2, PF_R, AT_TABLE, TABLE, image->size - AT_TABLE);
  put_section(image, 1, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT,
              AT_TEXT, TEXT_SIZE);
  put_section(image, 2, format->is_rel_ro ? ".data.rel.ro" : ".gopclntab",
              SHT_PROGBITS, SHF_ALLOC, TABLE, AT_TABLE, image->size - AT_TABLE);
  put_section(image, 3, ".rela", SHT_RELA, SHF_ALLOC, 0, AT_MOVES,
              format->has_moves ? 6 * 3 * format->word : 0);
  put_section(image, 4, ".names", SHT_STRTAB, 0, 0, AT_NAMES,
              sizeof(section_names));
  put_section(image, 5, ".note.go.buildid", SHT_NOTE, SHF_ALLOC, 0, 0, 0);
  memcpy(image->bytes + AT_NAMES, section_names, sizeof(section_names));
}

/* Runs a check for each format. */
static void for_each_format(void (*check)(image_t *image)) {
  static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0,
                                    0xfffffff1};
  image_t image;
  size_t i, way;

  for (i = 0; i < 4; i++) {
    for (way = 0; way < 16; way++) {
      const format_t format = {magics[i], (way & 1) != 0, way & 2 ? 8 : 4,
                               (way & 4) != 0, (way & 8) != 0};

      make_image(&image, &format);
      check(&image);
    }
  }
}

#define NR_ADDRESSES (2u * NR_FUNCTIONS + 2u)
#define IS_KNOWN     4u /* the address that has a name already */

/* Finds the names of the first and last bytes of the functions, and of a byte
 * before and after them. The file is on the heap, so that the sanitizer sees
 * each byte that is read after its end. */
static size_t
find(const image_t *image, size_t size, symbols_function_t found[NR_ADDRESSES],
     void (*check)(const image_t *image, const symbols_function_t *found)) {
  uint64_t addresses[NR_ADDRESSES] = {TEXT - 1};
  symbols_elf_file_t file = {0};
  char *bytes = malloc(size);
  size_t i, nr;

  for (i = 0; i < NR_FUNCTIONS; i++) {
    addresses[2 * i + 1] = TEXT + starts[i];
    addresses[2 * i + 2] = TEXT + starts[i + 1] - 1;
  }
  addresses[NR_ADDRESSES - 1] = TEXT + TEXT_SIZE;
  assert_non_null(bytes);
  memcpy(bytes, image->bytes, size);
  memset(found, 0, NR_ADDRESSES * sizeof(*found));
  found[IS_KNOWN].name = "known";
  elf_version(EV_CURRENT);
  file.elf = elf_memory(bytes, size);
  nr = file.elf == NULL || elf_getident(file.elf, NULL) == NULL
           ? 0
           : symbols_gopclntab_find(&file, addresses, NR_ADDRESSES, found);
  if (check != NULL)
    check(image, found);
  elf_end(file.elf);
  free(bytes);
  return nr;
}

static void expect_all(const image_t *image, const symbols_function_t *found) {
  size_t i;

  assert_null(found[0].name);
  assert_null(found[NR_ADDRESSES - 1].name);
  assert_string_equal(found[IS_KNOWN].name, "known");
  for (i = 1; i < NR_ADDRESSES - 1; i++) {
    if (i == IS_KNOWN)
      continue;
    assert_non_null(found[i].name);
    assert_string_equal(found[i].name, functions[(i - 1) / 2]);
    assert_int_equal(found[i].start, TEXT + starts[(i - 1) / 2]);
    assert_int_equal(found[i].end, TEXT + starts[(i - 1) / 2 + 1]);
  }
}

static void expect_whole(image_t *image) {
  symbols_function_t found[NR_ADDRESSES];

  assert_int_equal(find(image, image->size, found, expect_all), NR_FUNCTIONS);
  /* Go's linker did not make this file. */
  put_section(image, 5, ".names", SHT_NOTE, SHF_ALLOC, 0, 0, 0);
  assert_int_equal(find(image, image->size, found, NULL),
                   image->format.is_rel_ro ? 0 : NR_FUNCTIONS);
}

static void every_format_names_first_and_last_bytes(void **state) {
  for_each_format(expect_whole);
}

static void expect_none(const image_t *image, const symbols_function_t *found) {
  size_t i;

  for (i = 0; i < NR_ADDRESSES; i++)
    assert_true(found[i].name == NULL || i == IS_KNOWN);
}

/* The names are right, or there are none. Go 1.2 has the end of the last
 * function in one place only. */
static void expect_true(const image_t *image, const symbols_function_t *found) {
  size_t i;

  assert_null(found[0].name);
  if (image->format.magic != 0xfffffffb)
    assert_null(found[NR_ADDRESSES - 1].name);
  for (i = 1; i < NR_ADDRESSES - 1; i++) {
    if (found[i].name != NULL && i != IS_KNOWN)
      assert_string_equal(found[i].name, functions[(i - 1) / 2]);
  }
}

static void cut_everywhere(image_t *image) {
  symbols_function_t found[NR_ADDRESSES];
  size_t size;

  for (size = 1; size < image->size; size++)
    find(image, size, found, expect_true);
  /* The section ends early too. */
  for (size = AT_TABLE; size < image->size; size++) {
    put_section(image, 2,
                image->format.is_rel_ro ? ".data.rel.ro" : ".gopclntab",
                SHT_PROGBITS, SHF_ALLOC, TABLE, AT_TABLE, size - AT_TABLE);
    find(image, size, found, expect_true);
  }
}

static void table_cut_anywhere_has_no_wrong_names(void **state) {
  for_each_format(cut_everywhere);
}

/* The end of the names and the places of the names are outside. */
static void move_names(image_t *image) {
  uint32_t magic = image->format.magic;
  size_t word = image->format.word, i;
  size_t names_end = image->table + 8 + (magic == 0xfffffffa ? 3 : 4) * word;
  size_t field = magic >= 0xfffffff0 && magic <= 0xfffffff1 ? 4 : word;
  symbols_function_t found[NR_ADDRESSES];

  if (magic != 0xfffffffb)
    put(image, names_end, word, 0x7fffffff);
  for (i = 0; i < NR_FUNCTIONS; i++)
    put(image, image->records[i] + field, 4, 0x1000);
  find(image, image->size, found, expect_none);
}

static void names_outside_of_the_table_are_not_read(void **state) {
  for_each_format(move_names);
}

/* A byte of a name itself can be wrong, and in Go 1.2 where it is. */
static int is_checked(const image_t *image, size_t at) {
  size_t i, field = image->format.word;

  if (at < AT_DATA || (at >= image->texts && at < image->texts + 48))
    return 0;
  for (i = 0; image->format.magic == 0xfffffffb && i < NR_FUNCTIONS; i++) {
    if (at >= image->records[i] + field && at < image->records[i] + field + 4)
      return 0;
  }
  return 1;
}

static void flip_everywhere(image_t *image) {
  static const unsigned char flips[] = {0x01, 0x80, 0xff};
  symbols_function_t found[NR_ADDRESSES];
  size_t at, i;

  for (at = 0; at < image->size; at++) {
    for (i = 0; i < sizeof(flips); i++) {
      image->bytes[at] ^= flips[i];
      find(image, image->size, found,
           is_checked(image, at) ? expect_true : NULL);
      image->bytes[at] ^= flips[i];
    }
  }
}

static void table_with_any_byte_changed_has_no_wrong_names(void **state) {
  for_each_format(flip_everywhere);
}

/* The worker asks the table, and knows then that the file is not without
 * symbols. */
static void file_with_a_table_is_named_by_it(void **state) {
  const format_t format = {0xfffffff1, 0, 8, 0, 0};
  image_t image;
  ask_names_t ask;
  uint32_t object;

  make_image(&image, &format);
  ask_names_write("table", (char *)image.bytes, image.size);
  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, ask_names_in("table"));
  assert_string_equal(ask_names_name(&ask, object, AT_TEXT + 0x12),
                      "main.(*T).spin");
  assert_int_equal(ask_names_at(&ask, object, AT_TEXT + 0x12)->first,
                   AT_TEXT + 0x10);
  assert_string_equal(symbols_reason(ask.symbols, object), "");
  ask_names_end(&ask);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stripped_go_programs_have_the_names_of_nm),
      cmocka_unit_test(every_format_names_first_and_last_bytes),
      cmocka_unit_test(table_cut_anywhere_has_no_wrong_names),
      cmocka_unit_test(names_outside_of_the_table_are_not_read),
      cmocka_unit_test(table_with_any_byte_changed_has_no_wrong_names),
      cmocka_unit_test(file_with_a_table_is_named_by_it),
  };

  symbols_main(argc, argv);
  return cmocka_run_group_tests(tests, ask_names_setup, ask_names_teardown);
}
