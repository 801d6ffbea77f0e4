/* SPDX-License-Identifier: MIT */
/* The names of all functions of real files, at their start and in their middle,
 * match nm. */
#include "support.h"

#include <dlfcn.h>
#include <unistd.h>

#include "ask_names.h"

typedef struct symbol_s {
  uint64_t address, size;
  char *name;
} symbol_t;

typedef struct list_s {
  symbol_t *symbols;
  size_t nr, capacity;
} list_t;

static int compare(const void *a, const void *b) {
  const symbol_t *left = a, *right = b;

  return (left->address > right->address) - (left->address < right->address);
}

/* Lists all functions that have a size, ordered by address. They are from the
 * file and from its debug file, if that is installed. Versions are cut off the
 * names. */
static void read_symbols(list_t *list, const char *path, const char *options) {
  char command[1024], *line = NULL, *at;
  unsigned long address, size;
  size_t room = 0;
  symbol_t *symbol;
  FILE *nm;
  int used;
  char type;

  memset(list, 0, sizeof(*list));
  snprintf(command, sizeof(command),
           "nm %s -S --defined-only '%s'; debug=$(readelf -n '%s' | "
           "sed -n 's/.*Build ID: \\(..\\)/\\1\\//p'); "
           "debug=/usr/lib/debug/.build-id/$debug.debug; "
           "test ! -f $debug || nm -S --defined-only $debug",
           options, path, path);
  nm = popen(command, "r");
  assert_non_null(nm);
  while (getline(&line, &room, nm) > 0) {
    if (sscanf(line, "%lx %lx %c %n", &address, &size, &type, &used) != 3 ||
        strchr("tTwWi", type) == NULL || size == 0)
      continue;
    if (list->nr == list->capacity) {
      list->capacity = list->capacity == 0 ? 1024 : list->capacity * 2;
      list->symbols =
          realloc(list->symbols, list->capacity * sizeof(*list->symbols));
    }
    symbol = &list->symbols[list->nr++];
    symbol->address = address;
    symbol->size = size;
    at = line + used;
    at[strcspn(at, "@\n")] = '\0';
    symbol->name = strdup(at);
  }
  free(line);
  pclose(nm);
  if (list->nr > 0)
    qsort(list->symbols, list->nr, sizeof(*list->symbols), compare);
}

static void free_symbols(list_t *list) {
  size_t i;

  for (i = 0; i < list->nr; i++)
    free(list->symbols[i].name);
  free(list->symbols);
}

/* Returns whether `name` is a name of the innermost symbol at the address. It
 * can have several names. */
static int is_right(const list_t *list, size_t i, uint64_t address,
                    const char *name) {
  size_t bytes = strcspn(name, "@");
  uint64_t start = 0;

  while (i + 1 < list->nr && list->symbols[i + 1].address <= address)
    i++;
  for (i++; i-- > 0;) {
    const symbol_t *symbol = &list->symbols[i];

    if (start != 0 && symbol->address != start)
      return 0;
    if (address - symbol->address >= symbol->size)
      continue;
    start = symbol->address;
    if (strlen(symbol->name) == bytes && memcmp(symbol->name, name, bytes) == 0)
      return 1;
  }
  return 0;
}

static void check_place(ask_names_t *ask, uint32_t object, const list_t *list,
                        size_t i, const char *path, uint64_t address,
                        int is_first) {
  const symbols_place_t *place;
  uint64_t offset;

  if (ask_names_offset(path, address, &offset) != 0)
    return;
  if (is_first) {
    symbols_want(ask->symbols, object, offset);
    return;
  }
  place = symbols_find(ask->symbols, object, offset);
  assert_non_null(place);
  assert_true(place->address == address);
  if (place->nr != 1 ||
      !is_right(list, i, address, place->names[0].linked_name))
    fail_msg("%s: 0x%lx (%s) is called %s", path, (unsigned long)address,
             list->symbols[i].name,
             place->nr == 0 ? "nothing" : place->names[0].linked_name);
}

static void check_file(const char *path, const char *options, size_t at_least) {
  ask_names_t ask;
  uint64_t begin;
  uint32_t object;
  list_t list;
  int is_first;
  size_t i;

  read_symbols(&list, path, options);
  assert_true(list.nr >= at_least);
  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, path);
  begin = uv_hrtime();
  for (is_first = 1; is_first >= 0; is_first--) {
    for (i = 0; i < list.nr; i++) {
      const symbol_t *symbol = &list.symbols[i];

      check_place(&ask, object, &list, i, path, symbol->address, is_first);
      check_place(&ask, object, &list, i, path,
                  symbol->address + symbol->size / 2, is_first);
    }
    if (is_first)
      ask_names_wait(&ask);
  }
  print_message("%s: %zu functions, %.3f s\n", path, list.nr,
                (double)(uv_hrtime() - begin) / 1e9);
  assert_string_equal(symbols_reason(ask.symbols, object), "");
  ask_names_end(&ask);
  free_symbols(&list);
}

static void every_function_of_the_c_library_has_its_name(void **state) {
  Dl_info info;

  assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info) != 0);
  check_file(info.dli_fname, "-D", 1500);
}

static void every_function_of_this_program_has_its_name(void **state) {
  char path[512];
  ssize_t nr = readlink("/proc/self/exe", path, sizeof(path) - 1);

  assert_true(nr > 0);
  path[nr] = '\0';
  check_file(path, "", 300);
}

static void every_function_of_a_large_library_has_its_name(void **state) {
  static const char *const paths[] = {
      "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
      "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
      "/usr/lib/aarch64-linux-gnu/libstdc++.so.6"};
  size_t i;

  for (i = 0; i < 3; i++) {
    if (access(paths[i], R_OK) == 0) {
      check_file(paths[i], "-D", 3000);
      return;
    }
  }
  support_skip(__func__, "a large library with symbols");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_of_the_c_library_has_its_name),
      cmocka_unit_test(every_function_of_this_program_has_its_name),
      cmocka_unit_test(every_function_of_a_large_library_has_its_name),
  };

  symbols_main(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
