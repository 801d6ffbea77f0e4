/* SPDX-License-Identifier: MIT */
/* Programs from this machine's compilers and strip(1). Names are found where a
 * debugger finds them. */
#include "support.h"

#include <unistd.h>

#include "ask_names.h"

static const char c_source[] =
    "#include <stdio.h>\n"
    "static inline __attribute__((always_inline)) int inner(int x) {\n"
    "  for (int i = 0; i < x; i++)\n"
    "    x += puts(\"inner\");\n"
    "  return x * 3;\n"
    "}\n"
    "static inline __attribute__((always_inline)) int middle(int x) {\n"
    "  int y = inner(x) + 1;\n"
    "  return y + inner(y);\n"
    "}\n"
    "__attribute__((noinline)) static int hidden(int x) {\n"
    "  return middle(x) + middle(x + 1);\n"
    "}\n"
    "int main(int argc, char **argv) {\n"
    "  (void)argv;\n"
    "  return hidden(argc) + inner(argc);\n"
    "}\n";

static const char cpp_source[] =
    "#include <cstdio>\n"
    "namespace space {\n"
    "template <class T> struct Box {\n"
    "  T value;\n"
    "  inline __attribute__((always_inline)) T twice(T x) const {\n"
    "    std::puts(\"\");\n"
    "    return x * value;\n"
    "  }\n"
    "  __attribute__((noipa)) T spin(long n, const char *) const;\n"
    "};\n"
    "template <class T> T Box<T>::spin(long n, const char *) const {\n"
    "  return twice(n) + twice(n + 1);\n"
    "}\n"
    "__attribute__((noinline)) int work(int a) { return std::puts(\"\") + a; "
    "}\n"
    "}\n"
    "int main(int argc, char **) {\n"
    "  space::Box<int> box{argc};\n"
    "  return box.spin(argc, \"\") + space::work(argc);\n"
    "}\n";

static const char rust_source[] =
    "mod deep { pub struct S(pub u64); impl S {\n"
    "  #[inline(never)] pub fn spin(&self, n: u64) -> u64 {\n"
    "    let mut x = self.0;\n"
    "    for i in 0..n { x += unsafe { std::ptr::read_volatile(&i) }; }\n"
    "    x } } }\n"
    "fn main() { println!(\"{}\", deep::S(3).spin(2)); }\n";

static void need(const char *test, const char *what, const char *command) {
  char line[128];

  snprintf(line, sizeof(line), "%s >/dev/null 2>&1", command);
  if (system(line) != 0)
    support_skip(test, what);
}

static int setup(void **state) {
  if (ask_names_setup(state) != 0)
    return -1;
  ask_names_write("program.c", c_source, strlen(c_source));
  ask_names_write("program.cc", cpp_source, strlen(cpp_source));
  ask_names_write("program.rs", rust_source, strlen(rust_source));
  return 0;
}

/* Checks the name at an address of a file. */
static void expect_name(const char *file, uint64_t address,
                        const char *debug_path, const char *expected) {
  const symbols_options_t options = {.debug_path = debug_path};
  ask_names_t ask;
  uint64_t offset;
  uint32_t object;

  ask_names_begin(&ask, &options);
  object = ask_names_file(&ask, ask_names_in(file));
  assert_int_equal(ask_names_offset(ask_names_in(file), address, &offset), 0);
  assert_string_equal(ask_names_name(&ask, object, offset), expected);
  assert_int_equal(symbols_reason(ask.symbols, object)[0] == '\0',
                   expected[0] != '\0');
  ask_names_end(&ask);
}

/* What is exported has its name in a stripped file, too. */
static void reason_is_kept_when_other_functions_have_names(void **state) {
  uint64_t hidden, exported;
  ask_names_t ask;
  uint32_t object;

  need(__func__, "a compiler", "cc --version");
  assert_int_equal(ask_names_run("cc -O2 -rdynamic program.c -o program"), 0);
  hidden = ask_names_place("program", "hidden");
  exported = ask_names_place("program", "main");
  assert_int_equal(ask_names_run("strip program"), 0);
  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, ask_names_in("program"));
  assert_string_equal(ask_names_name(&ask, object, hidden), "");
  assert_string_not_equal(symbols_reason(ask.symbols, object), "");
  assert_string_equal(ask_names_name(&ask, object, exported), "main");
  assert_string_not_equal(symbols_reason(ask.symbols, object), "");
  ask_names_end(&ask);
}

static uint64_t make_program(const char *flags) {
  assert_int_equal(ask_names_run("cc -O2 -g %s program.c -o program", flags),
                   0);
  return ask_names_symbol(ask_names_in("program"), "hidden");
}

static void static_function_has_its_name_until_it_is_stripped(void **state) {
  uint64_t address;

  need(__func__, "a compiler", "cc --version");
  address = make_program("");
  expect_name("program", address, NULL, "hidden");
  expect_name("program", address + 9, NULL, "hidden");
  assert_int_equal(ask_names_run("strip -o stripped program"), 0);
  expect_name("stripped", address + 9, NULL, "");
}

/* A gap follows `main`. `inner` is inside `outer`. $x is a label as on Arm.
 * `label` has no size, and a function without a symbol follows it. */
static const char symbols_source[] = ".text\n"
                                     ".globl main\n.type main,%function\n"
                                     "main: .space 16\n.size main,16\n"
                                     ".space 16\n"
                                     ".type outer,%function\n"
                                     "outer: .space 4\n"
                                     ".type inner,%function\n"
                                     "inner: .space 8\n.size inner,8\n"
                                     ".space 20\n.size outer,32\n"
                                     ".space 16\n"
                                     "label: .space 4\n"
                                     "\"$x\": .space 12\n"
                                     ".cfi_startproc\n.space 16\n"
                                     ".cfi_endproc\n";

/* The places are asked for one after the other, because an answer also covers
 * later places. */
static void place_has_the_innermost_symbol_that_holds_it(void **state) {
  static const struct place_s {
    uint64_t from_main;
    const char *name;
    int is_covered; /* by an earlier answer */
  } places[] = {
      {48, "outer", 0}, {34, "outer", 0}, {37, "inner", 0}, {49, "outer", 1},
      {15, "main", 0},  {16, "", 0},      {50, "outer", 1}, {63, "outer", 1},
      {64, "", 0},      {80, "label", 0}, {86, "label", 1}, {35, "outer", 1},
      {36, "inner", 1}, {43, "inner", 1}, {97, "", 0},      {95, "label", 1},
  };
  uint64_t first;
  ask_names_t ask;
  uint32_t object;
  size_t i;

  need(__func__, "a compiler", "cc --version");
  ask_names_write("symbols.s", symbols_source, sizeof(symbols_source) - 1);
  assert_int_equal(ask_names_run("cc symbols.s -o symbols 2>/dev/null"), 0);
  first = ask_names_place("symbols", "main");
  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, ask_names_in("symbols"));
  for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
    uint64_t offset = first + places[i].from_main;

    symbols_want(ask.symbols, object, offset);
    assert_int_equal(symbols_find(ask.symbols, object, offset) != NULL,
                     places[i].is_covered);
    assert_string_equal(ask_names_name(&ask, object, offset), places[i].name);
  }
  ask_names_end(&ask);
}

#ifdef __x86_64__
/* Callers are looked up one byte before the place to which a function returns.
 * A signal handler returns to `back`, which nothing has called. But that byte
 * may be a sampled ret of a function without a symbol. */
static void handler_returns_to_sigreturn(void **state) {
  static const char format[] = ".text\n"
                               ".globl main\n.type main,%%function\n"
                               ".balign 16\n"
                               "main: .space 15\n.byte %d\n.size main,%d\n"
                               ".type back,%%function\n"
                               "back: .byte 0x48, 0xc7, 0xc0, 15, 0, 0, 0\n"
                               ".byte 0x0f, 0x05\n.size back,.-back\n";
  static const struct case_s {
    int last, size;
    const char *name;
  } cases[] = {{0xcc, 15, "back"}, {0xcc, 16, "main"}, {0xc3, 15, ""}};
  char source[512];
  ask_names_t ask;
  uint32_t object;
  uint64_t back;
  size_t i;

  need(__func__, "a compiler", "cc --version");
  for (i = 0; i < 3; i++) {
    snprintf(source, sizeof(source), format, cases[i].last, cases[i].size);
    ask_names_write("back.s", source, strlen(source));
    assert_int_equal(ask_names_run("cc back.s -o back 2>/dev/null"), 0);
    back = ask_names_place("back", "back");
    ask_names_begin(&ask, NULL);
    object = ask_names_file(&ask, ask_names_in("back"));
    assert_string_equal(ask_names_name(&ask, object, back - 1), cases[i].name);
    assert_string_equal(ask_names_name(&ask, object, back - 2), "main");
    assert_string_equal(ask_names_name(&ask, object, back), "back");
    ask_names_end(&ask);
  }
}
#endif

/* The answer for the first place covers the second and third place, too. */
static void stripped_function_is_known_by_where_it_begins(void **state) {
  static const uint64_t steps[] = {9, 0, 4};
  uint64_t address, first, offset;
  ask_names_t ask;
  uint32_t object;
  size_t i;

  need(__func__, "a compiler", "cc --version");
  address = make_program("");
  assert_int_equal(ask_names_run("strip program"), 0);
  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, ask_names_in("program"));
  assert_int_equal(ask_names_offset(ask_names_in("program"), address, &first),
                   0);
  for (i = 0; i < 3; i++) {
    offset = first + steps[i];
    assert_int_equal(ask_names_at(&ask, object, offset)->first, first);
    assert_int_equal(ask_names_at(&ask, object, offset)->nr, 0);
    assert_int_equal(ask_names_at(&ask, object, offset)->is_outside, 0);
    assert_int_equal(ask_names_at(&ask, object, offset)->address,
                     address + steps[i]);
  }
  ask_names_end(&ask);
}

/* A function without unwind information behind one that has some: assembler,
 * or code of a compiler that writes none. */
static void code_outside_of_every_function_belongs_to_none(void **state) {
  static const char source[] = "int gap(int x) { return x * 3; }\n";
  uint64_t outside;
  const symbols_place_t *place;
  ask_names_t ask;
  uint32_t object;

  need(__func__, "a compiler", "cc --version");
  ask_names_write("gap.c", source, strlen(source));
  assert_int_equal(ask_names_run("cc -O2 -c program.c && "
                                 "cc -O2 -fno-asynchronous-unwind-tables "
                                 "-fno-unwind-tables -c gap.c && "
                                 "cc program.o gap.o -o program"),
                   0);
  outside = ask_names_place("program", "gap");
  ask_names_begin(&ask, NULL);
  assert_int_equal(ask_names_run("strip program"), 0);
  object = ask_names_file(&ask, ask_names_in("program"));
  place = ask_names_at(&ask, object, outside + 1);
  assert_int_equal(place->nr, 0);
  assert_int_equal(place->first, outside + 1);
  place = ask_names_at(&ask, object, outside);
  assert_int_equal(place->nr, 0);
  assert_int_equal(place->first, outside);
  assert_int_equal(place->is_outside, 1);
  ask_names_end(&ask);
}

static void debug_link_beside_the_program_names_it(void **state) {
  uint64_t address;

  need(__func__, "a compiler", "cc --version");
  address = make_program("-Wl,--build-id=none");
  assert_int_equal(
      ask_names_run("mkdir -p .debug && "
                    "objcopy --only-keep-debug program .debug/linked.debug && "
                    "strip -o linked program && "
                    "objcopy --add-gnu-debuglink=.debug/linked.debug linked"),
      0);
  expect_name("linked", address + 9, NULL, "hidden");
  /* The debug file is from another build: its checksum differs from the one in
   * the link. */
  assert_int_equal(ask_names_run("echo >> .debug/linked.debug"), 0);
  expect_name("linked", address + 9, NULL, "");
}

static void debug_file_of_the_build_id_names_it(void **state) {
  uint64_t address;

  need(__func__, "a compiler", "cc --version");
  address = make_program("-Wl,--build-id=0xabcdef0123456789");
  assert_int_equal(ask_names_run("mkdir -p debug/.build-id/ab && "
                                 "objcopy --only-keep-debug program "
                                 "debug/.build-id/ab/cdef0123456789.debug && "
                                 "strip -o by_id program"),
                   0);
  expect_name("by_id", address + 9, ask_names_in("debug"), "hidden");
  expect_name("by_id", address + 9, NULL, "");
}

static void compressed_symbol_table_in_the_program_names_it(void **state) {
  uint64_t address;

  need(__func__, "a compiler", "cc --version");
  need(__func__, "xz", "xz --version");
  address = make_program("");
  assert_int_equal(
      ask_names_run("objcopy --only-keep-debug program full && "
                    "objcopy -S --keep-symbol=hidden full mini && "
                    "xz -f mini && strip -o small program && "
                    "objcopy --add-section .gnu_debugdata=mini.xz small"),
      0);
  expect_name("small", address + 9, NULL, "hidden");
}

static void entry_of_the_plt_is_named_after_its_function(void **state) {
  char line[256];
  unsigned long address = 0;
  FILE *dump;

  need(__func__, "a compiler", "cc --version");
  make_program("");
  snprintf(line, sizeof(line), "objdump -d '%s' | grep '<puts@plt>:'",
           ask_names_in("program"));
  dump = popen(line, "r");
  assert_non_null(dump);
  assert_int_equal(fscanf(dump, "%lx", &address), 1);
  pclose(dump);
  expect_name("program", address, NULL, "puts@plt");
  expect_name("program", address + 4, NULL, "puts@plt");
}

/* The names are those of perf report: without parameters, hashes and clone
 * suffixes. */
static void mangled_names_are_shown_as_in_the_source(void **state) {
  ask_names_t ask;
  uint64_t offset;
  uint32_t object;
  const symbols_place_t *place;

  need(__func__, "a C++ compiler", "g++ --version");
  assert_int_equal(ask_names_run("g++ -O2 -g program.cc -o cpp"), 0);
  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, ask_names_in("cpp"));
  offset = ask_names_place("cpp", "_ZNK5space3BoxIiE4spinElPKc");
  place = ask_names_at(&ask, object, offset);
  assert_int_equal(place->nr, 1);
  assert_string_equal(place->names[0].name, "space::Box<int>::spin");
  assert_string_equal(place->names[0].linked_name,
                      "_ZNK5space3BoxIiE4spinElPKc");
  ask_names_end(&ask);
}

/* Of several names, the one that is longest as it is shown, as in perf report.
 * As they are linked, _ZdaPv and _ZdlPv have underscores and the same size. */
static void longest_shown_name_of_an_address_is_chosen(void **state) {
  static const char source[] =
      "extern \"C\" __attribute__((noinline)) void release(void *at) {\n"
      "  asm volatile(\"\" : : \"r\"(at));\n"
      "}\n"
      "void operator delete(void *) noexcept __attribute__((alias(\"release\")"
      "));\n"
      "void operator delete[](void *) noexcept "
      "__attribute__((alias(\"release\")));\n"
      "int main() { release(nullptr); }\n";

  need(__func__, "a C++ compiler", "g++ --version");
  ask_names_write("alias.cc", source, strlen(source));
  assert_int_equal(ask_names_run("g++ -O1 alias.cc -o alias"), 0);
  expect_name("alias", ask_names_symbol(ask_names_in("alias"), "release"), NULL,
              "operator delete[]");
}

static uint64_t find_rust(const char *file) {
  char line[256];
  unsigned long address = 0;
  FILE *nm;

  snprintf(line, sizeof(line), "nm '%s' | grep -E '4(deep|spin).*spin'",
           ask_names_in(file));
  nm = popen(line, "r");
  assert_non_null(nm);
  assert_int_equal(fscanf(nm, "%lx", &address), 1);
  pclose(nm);
  return address;
}

static void rust_names_have_no_hash(void **state) {
  need(__func__, "rustc", "rustc --version");
  assert_int_equal(
      ask_names_run("rustc -O -g program.rs -o old && rustc -O -g -C "
                    "symbol-mangling-version=v0 program.rs -o new"),
      0);
  expect_name("old", find_rust("old"), NULL, "program::deep::S::spin");
  expect_name("new", find_rust("new"), NULL, "<program::deep::S>::spin");
}

/* -- inlined functions ----------------------------------------------------- */

/* Reads a line, up to a space or the newline. Returns 0 at the end. */
static int next_line(FILE *file, char line[512]) {
  if (fgets(line, 512, file) == NULL)
    return 0;
  line[strcspn(line, " \n")] = '\0';
  return 1;
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');

  return slash == NULL ? path : slash + 1;
}

/* Compares the place with the lines of addr2line up to the next address. */
static void expect_frames(FILE *lines, const symbols_place_t *place,
                          size_t *nr_inlined) {
  char name[512], at[512], here[512];
  int is_past = 0;
  size_t i;

  for (i = 0; next_line(lines, name); i++) {
    if (strncmp(name, "0x", 2) == 0)
      break;
    assert_int_equal(next_line(lines, at), 1);
    /* This address is after the function. */
    is_past |= strcmp(name, "??") == 0;
    if (is_past)
      continue;
    if (i >= place->nr)
      fail_msg("0x%lx: not %s", (unsigned long)place->address, name);
    if (strcmp(place->names[i].linked_name, name) != 0)
      fail_msg("0x%lx, %zu: %s instead of %s", (unsigned long)place->address, i,
               place->names[i].linked_name, name);
    if (strchr(at, '?') == NULL) {
      snprintf(here, sizeof(here), "%s:%u", place->names[i].file,
               place->names[i].line);
      assert_string_equal(base_of(here), base_of(at));
    }
  }
  if (!is_past)
    assert_int_equal(i, place->nr);
  *nr_inlined += i > 1;
}

/* `same` is a file with the same code, for which addr2line knows more names. */
static void expect_inlined(const char *file, const char *same,
                           const char *function) {
  const symbols_options_t options = {.inlined = 1};
  uint64_t address = ask_names_symbol(ask_names_in(file), function), offset, i;
  char command[8192], line[512];
  size_t used, nr_inlined = 0;
  ask_names_t ask;
  uint32_t object;
  FILE *lines;

  ask_names_begin(&ask, &options);
  object = ask_names_file(&ask, ask_names_in(file));
  assert_int_equal(ask_names_offset(ask_names_in(file), address, &offset), 0);
  used = (size_t)snprintf(command, sizeof(command), "addr2line -a -f -i -e %s",
                          ask_names_in(same));
  for (i = 0; i < 100; i++) {
    symbols_want(ask.symbols, object, offset + i);
    used += (size_t)snprintf(command + used, sizeof(command) - used, " %lx",
                             (unsigned long)(address + i));
  }
  ask_names_wait(&ask);
  lines = popen(command, "r");
  assert_non_null(lines);
  assert_int_equal(next_line(lines, line), 1);
  for (i = 0; i < 100; i++)
    expect_frames(lines, symbols_find(ask.symbols, object, offset + i),
                  &nr_inlined);
  pclose(lines);
  assert_true(nr_inlined > 20);
  ask_names_end(&ask);
}

static void expect_inlined_by(const char *compiler) {
  assert_int_equal(ask_names_run("%s -gdwarf-4 -O2 program.c -o four && "
                                 "%s -gdwarf-5 -O2 program.c -o five",
                                 compiler, compiler),
                   0);
  expect_inlined("four", "four", "hidden");
  /* binutils 2.40 reads indexed lists of ranges wrongly. */
  expect_inlined("five", "four", "hidden");
}

static void inlined_functions_are_those_of_addr2line(void **state) {
  need(__func__, "a compiler", "cc --version");
  need(__func__, "addr2line", "addr2line --version");
  expect_inlined_by("cc");
  if (system("command -v clang >/dev/null") == 0)
    expect_inlined_by("clang");
}

static void inlined_methods_are_those_of_addr2line(void **state) {
  need(__func__, "a C++ compiler", "g++ --version");
  need(__func__, "addr2line", "addr2line --version");
  assert_int_equal(ask_names_run("g++ -O2 -g program.cc -o cpp"), 0);
  expect_inlined("cpp", "cpp", "_ZNK5space3BoxIiE4spinElPKc");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(static_function_has_its_name_until_it_is_stripped),
      cmocka_unit_test(reason_is_kept_when_other_functions_have_names),
      cmocka_unit_test(place_has_the_innermost_symbol_that_holds_it),
#ifdef __x86_64__
      cmocka_unit_test(handler_returns_to_sigreturn),
#endif
      cmocka_unit_test(stripped_function_is_known_by_where_it_begins),
      cmocka_unit_test(code_outside_of_every_function_belongs_to_none),
      cmocka_unit_test(debug_link_beside_the_program_names_it),
      cmocka_unit_test(debug_file_of_the_build_id_names_it),
      cmocka_unit_test(compressed_symbol_table_in_the_program_names_it),
      cmocka_unit_test(entry_of_the_plt_is_named_after_its_function),
      cmocka_unit_test(mangled_names_are_shown_as_in_the_source),
      cmocka_unit_test(longest_shown_name_of_an_address_is_chosen),
      cmocka_unit_test(rust_names_have_no_hash),
      cmocka_unit_test(inlined_functions_are_those_of_addr2line),
      cmocka_unit_test(inlined_methods_are_those_of_addr2line),
  };

  symbols_main(argc, argv);
  return cmocka_run_group_tests(tests, setup, ask_names_teardown);
}
