/* SPDX-License-Identifier: MIT */
/* Names of kernel functions, from files like /proc/kallsyms. */
#include "support.h"

#include <unistd.h>

#include "profile/symbols/kallsyms.h"

static void load_symbols(symbols_kallsyms_t *symbols, const char *text) {
  char path[] = "/tmp/uvperf-kallsyms-XXXXXX";
  int fd = mkstemp(path);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  symbols_kallsyms_load(symbols, path);
  unlink(path);
}

static const char *name_at(const symbols_kallsyms_t *symbols,
                           uint64_t address) {
  const symbols_kallsym_t *symbol = symbols_kallsyms_find(symbols, address);

  return symbol == NULL ? "" : symbols_kallsyms_name(symbols, symbol);
}

static void symbol_before_an_address_names_it(void **state) {
  symbols_kallsyms_t symbols;

  load_symbols(&symbols, "ffffffff81000200 T second\n"
                         "ffffffff81000100 t first\n"
                         "ffffffff81000180 D data\n"
                         "ffffffff81000200 T __alias\n"
                         "ffffffff81000300 t __do_sys_getpid\n"
                         "ffffffff81000300 T __ia32_sys_getpid\n"
                         "ffffffff81000300 T __x64_sys_getpid\n"
                         "ffffffff81000400 W weak\n"
                         "ffffffff81000500 w local_weak\n"
                         "ffffffff81000600 B variable\n"
                         "ffffffffc0000000 t third\t[module]\n");
  assert_string_equal(symbols.reason, "");
  assert_string_equal(name_at(&symbols, 0xffffffff81000400), "weak");
  assert_string_equal(name_at(&symbols, 0xffffffff81000600), "local_weak");
  assert_string_equal(name_at(&symbols, 0xffffffff810000ff), "");
  assert_string_equal(name_at(&symbols, 0xffffffff81000100), "first");
  assert_string_equal(name_at(&symbols, 0xffffffff810001ff), "first");
  assert_string_equal(name_at(&symbols, 0xffffffff81000200), "__alias");
  assert_string_equal(name_at(&symbols, 0xffffffff81000300),
                      "__x64_sys_getpid");
  assert_string_equal(name_at(&symbols, 0xffffffffc0000010), "third [module]");
  symbols_kallsyms_free(&symbols);
}

/* What comes after the kernel's text or a module has no name. The kernel does
 * not say where the last function of a module ends; it owns its page. */
static void address_outside_of_every_range_has_no_name(void **state) {
  symbols_kallsyms_t symbols;

  load_symbols(&symbols,
               "ffffffff81000000 T _stext\n"
               "ffffffff81000100 T last\n"
               "ffffffff81000500 T _etext\n"
               "ffffffff82000000 T _sinittext\n"
               "ffffffff82000100 T _einittext\n"
               "ffffffffc0001000 t one\t[a]\n"
               "ffffffffc0002f00 t two\t[a]\n"
               "ffffffffc0003000 t only\t[b]\n"
               "ffffffffc0005000 t slot\t[__builtin__kprobes]\n"
               "ffffffffc0009000 t slot\t[__builtin__kprobes]\n"
               "ffffffffc000a000 t bpf_prog_1234567812345678\t[bpf]\n");
  assert_string_equal(name_at(&symbols, 0xffffffff810004ff), "last");
  assert_string_equal(name_at(&symbols, 0xffffffff81000500), "");
  assert_string_equal(name_at(&symbols, 0xffffffff82000010), "");
  assert_string_equal(name_at(&symbols, 0xffffffffc0000000), "");
  assert_string_equal(name_at(&symbols, 0xffffffffc0002000), "one [a]");
  assert_string_equal(name_at(&symbols, 0xffffffffc0002fff), "two [a]");
  assert_string_equal(name_at(&symbols, 0xffffffffc0003fff), "only [b]");
  assert_string_equal(name_at(&symbols, 0xffffffffc0004000), "");
  assert_string_equal(name_at(&symbols, 0xffffffffc0005fff),
                      "slot [__builtin__kprobes]");
  assert_string_equal(name_at(&symbols, 0xffffffffc0006000), "");
  assert_string_equal(name_at(&symbols, 0xffffffffc000a000), "");
  symbols_kallsyms_free(&symbols);
}

static void hidden_symbols_are_reported_with_the_setting(void **state) {
  symbols_kallsyms_t symbols;

  load_symbols(&symbols, "0000000000000000 T first\n"
                         "0000000000000000 T second\n");
  assert_int_equal(symbols.nr, 0);
  assert_non_null(strstr(symbols.reason, "kptr_restrict"));
  assert_null(symbols_kallsyms_find(&symbols, 0xffffffff81000100));
  symbols_kallsyms_free(&symbols);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(symbol_before_an_address_names_it),
      cmocka_unit_test(address_outside_of_every_range_has_no_name),
      cmocka_unit_test(hidden_symbols_are_reported_with_the_setting),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
