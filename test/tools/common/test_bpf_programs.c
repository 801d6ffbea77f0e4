/* SPDX-License-Identifier: MIT */
/* The list of loaded BPF programs is the kernel's own. */
#include "live_bpf.h"

#include <linux/btf.h>
#include <unistd.h>

#include "common/bpf_programs.h"

typedef struct wanted_s {
  live_bpf_t program;
  size_t nr;
  common_bpf_function_t function;
} wanted_t;

static int look(void *arg, const common_bpf_function_t *function) {
  wanted_t *wanted = arg;

  if (function->id != wanted->program.id)
    return 0;
  wanted->nr++;
  wanted->function = *function;
  return 0;
}

static int stop_at_once(void *arg, const common_bpf_function_t *function) {
  ++*(size_t *)arg;
  return 7;
}

/* Returns the name of the symbol that is exactly there. */
static void name_at(uint64_t address, char name[256]) {
  FILE *file = fopen("/proc/kallsyms", "re");
  unsigned long long at;
  char line[1024];

  name[0] = '\0';
  assert_non_null(file);
  while (fgets(line, sizeof(line), file) != NULL) {
    if (strstr(line, "[bpf]") != NULL &&
        sscanf(line, "%llx %*c %255s", &at, name) == 2 && at == address)
      break;
    name[0] = '\0';
  }
  fclose(file);
}

static void load(wanted_t *wanted, const char *name, const char *test) {
  memset(wanted, 0, sizeof(*wanted));
  live_bpf_need(test, BPF_PROG_TYPE_SOCKET_FILTER);
  live_bpf_load_shortest(&wanted->program, BPF_PROG_TYPE_SOCKET_FILTER, name);
  if (wanted->program.nr_functions == 0) {
    assert_int_equal(common_bpf_walk(look, wanted), 0);
    live_bpf_close(&wanted->program);
    assert_int_equal(wanted->nr, 0);
    support_skip(test, "a JIT for BPF, and addresses of the kernel");
  }
}

static void live_loaded_program_has_the_name_of_kallsyms(void **state) {
  static const char *const names[] = {"", "short", "fifteen_letters"};
  char expected[256];
  wanted_t wanted;
  size_t i;

  for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
    load(&wanted, names[i], __func__);
    assert_int_equal(common_bpf_walk(look, &wanted), 0);
    name_at(wanted.program.addr[0], expected);
    live_bpf_close(&wanted.program);
    assert_int_equal(wanted.nr, 1);
    assert_int_equal(wanted.function.is_last, 1);
    assert_int_equal(wanted.function.addr, wanted.program.addr[0]);
    assert_int_equal(wanted.function.len, wanted.program.len[0]);
    assert_memory_equal(wanted.function.tag, wanted.program.tag, BPF_TAG_SIZE);
    assert_string_equal(wanted.function.name, expected);
  }
}

/* Two functions with names of more than 15 letters, in BTF, after types of all
 * other kinds: type 1 is int, 2 is int(). */
static const char strings[] = "\0int\0main_function_with_a_name\0"
                              "inner_function_with_a_name\0.data";

#define FIRST_FUNCTION 17

/* A type: struct btf_type, and what follows it. */
typedef struct type_s {
  uint32_t name, kind, vlen, size, more[4];
  size_t nr_more;
} type_t;

/* Returns the number of bytes. */
static uint32_t write_types(uint32_t *words) {
  static const type_t types[] = {
      {1, BTF_KIND_INT, 0, 4, {BTF_INT_SIGNED << 24 | 32}, 1},
      {0, BTF_KIND_FUNC_PROTO, 1, 1, {1, 1}, 2},
      {0, BTF_KIND_PTR, 0, 1, {0}, 0},
      {0, BTF_KIND_ARRAY, 0, 0, {1, 1, 2}, 3},
      {1, BTF_KIND_STRUCT, 1, 4, {1, 1, 0}, 3},
      {1, BTF_KIND_UNION, 1, 4, {1, 1, 0}, 3},
      {1, BTF_KIND_ENUM, 1, 4, {1, 1}, 2},
      {1, BTF_KIND_FWD, 0, 0, {0}, 0},
      {1, BTF_KIND_TYPEDEF, 0, 1, {0}, 0},
      {0, BTF_KIND_CONST, 0, 1, {0}, 0},
      {1, BTF_KIND_VAR, 0, 1, {0}, 1},
      {58, BTF_KIND_DATASEC, 1, 4, {11, 0, 4}, 3},
      {1, 16 /* FLOAT */, 0, 4, {0}, 0},
      {1, 17 /* DECL_TAG */, 0, 9, {UINT32_MAX}, 1},
      {1, 18 /* TYPE_TAG */, 0, 1, {0}, 0},
      {1, 19 /* ENUM64 */, 1, 8, {1, 1, 0}, 3},
      {5, BTF_KIND_FUNC, 0, 2, {0}, 0},
      {31, BTF_KIND_FUNC, 0, 2, {0}, 0},
  };
  uint32_t *at = words;
  size_t i, k;

  for (i = 0; i < COUNT_OF(types); i++) {
    *at++ = types[i].name;
    *at++ = types[i].kind << 24 | types[i].vlen;
    *at++ = types[i].size;
    for (k = 0; k < types[i].nr_more; k++)
      *at++ = types[i].more[k];
  }
  return (uint32_t)((size_t)(at - words) * sizeof(*at));
}

static int load_btf(void) {
  uint32_t types[128], bytes_of_types = write_types(types);
  struct btf_header header = {.magic = BTF_MAGIC,
                              .version = BTF_VERSION,
                              .hdr_len = sizeof(header),
                              .type_len = bytes_of_types,
                              .str_off = bytes_of_types,
                              .str_len = sizeof(strings)};
  unsigned char bytes[sizeof(header) + sizeof(types) + sizeof(strings)];
  union bpf_attr attr;

  memcpy(bytes, &header, sizeof(header));
  memcpy(bytes + sizeof(header), types, bytes_of_types);
  memcpy(bytes + sizeof(header) + bytes_of_types, strings, sizeof(strings));
  memset(&attr, 0, sizeof(attr));
  attr.btf = (uintptr_t)bytes;
  attr.btf_size = (uint32_t)sizeof(header) + bytes_of_types + sizeof(strings);
  return live_bpf_call(BPF_BTF_LOAD, &attr);
}

/* Without BTF if that is negative. */
static int load_two_functions(int btf) {
  const struct bpf_insn insns[] = {
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  const struct bpf_func_info functions[] = {{0, FIRST_FUNCTION},
                                            {2, FIRST_FUNCTION + 1}};
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  attr.insns = (uintptr_t)insns;
  attr.insn_cnt = 4;
  attr.license = (uintptr_t) "GPL";
  memcpy(attr.prog_name, "two", sizeof("two"));
  if (btf >= 0) {
    attr.prog_btf_fd = (uint32_t)btf;
    attr.func_info = (uintptr_t)functions;
    attr.func_info_cnt = 2;
    attr.func_info_rec_size = sizeof(functions[0]);
  }
  return live_bpf_call(BPF_PROG_LOAD, &attr);
}

typedef struct both_s {
  uint32_t id;
  size_t nr;
  common_bpf_function_t functions[2];
} both_t;

static int keep(void *arg, const common_bpf_function_t *function) {
  both_t *both = arg;

  if (function->id != both->id)
    return 0;
  assert_true(both->nr < 2);
  both->functions[both->nr++] = *function;
  return 0;
}

static void expect_names(const char *test, int btf, const char *const *names) {
  both_t both = {.nr = 0};
  int fd = load_two_functions(btf);
  char expected[256];
  size_t i;

  assert_true(fd >= 0);
  both.id = live_bpf_id(fd);
  assert_int_equal(common_bpf_walk(keep, &both), 0);
  if (both.nr == 0) {
    close(fd);
    support_skip(test, "a JIT for BPF, and addresses of the kernel");
  }
  assert_int_equal(both.nr, 2);
  for (i = 0; i < 2; i++) {
    name_at(both.functions[i].addr, expected);
    assert_string_equal(both.functions[i].name, expected);
    assert_non_null(strstr(expected, names[i]));
    assert_int_equal(both.functions[i].is_last, i);
  }
  close(fd);
}

static void live_functions_of_a_program_have_their_names(void **state) {
  static const char *const by_btf[] = {"_main_function_with_a_name",
                                       "_inner_function_with_a_name"};
  static const char *const without[] = {"_two", "_F"};
  int btf;

  live_bpf_need(__func__, BPF_PROG_TYPE_SOCKET_FILTER);
  expect_names(__func__, -1, without);
  btf = load_btf();
  assert_true(btf >= 0);
  expect_names(__func__, btf, by_btf);
  close(btf);
}

static void live_unloaded_program_is_not_listed(void **state) {
  wanted_t wanted;

  load(&wanted, "gone", __func__);
  live_bpf_close(&wanted.program);
  assert_int_equal(common_bpf_walk(look, &wanted), 0);
  assert_int_equal(wanted.nr, 0);
}

static void live_walk_ends_with_the_value_of_its_callback(void **state) {
  wanted_t wanted;
  size_t nr = 0;
  int rc;

  load(&wanted, "any", __func__);
  rc = common_bpf_walk(stop_at_once, &nr);
  live_bpf_close(&wanted.program);
  assert_int_equal(rc, 7);
  assert_int_equal(nr, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_loaded_program_has_the_name_of_kallsyms),
      cmocka_unit_test(live_functions_of_a_program_have_their_names),
      cmocka_unit_test(live_unloaded_program_is_not_listed),
      cmocka_unit_test(live_walk_ends_with_the_value_of_its_callback),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
