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
  (void)function;
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
    live_bpf_close(&wanted->program);
    support_skip(test, "a JIT for BPF, and addresses of the kernel");
  }
}

static void live_loaded_program_has_the_name_of_kallsyms(void **state) {
  static const char *const names[] = {"", "short", "fifteen_letters"};
  char expected[256];
  wanted_t wanted;
  size_t i;

  (void)state;
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

/* Two functions with names of more than 15 letters, in BTF: type 1 is int, 2 is
 * int(), 3 and 4 are the functions. */
static const char strings[] = "\0int\0main_function_with_a_name\0"
                              "inner_function_with_a_name";

static int load_btf(void) {
  const uint32_t types[] = {
      1,  BTF_KIND_INT << 24,        4, BTF_INT_SIGNED << 24 | 32, /* 1 */
      0,  BTF_KIND_FUNC_PROTO << 24, 1,                            /* 2 */
      5,  BTF_KIND_FUNC << 24,       2,                            /* 3 */
      31, BTF_KIND_FUNC << 24,       2,                            /* 4 */
  };
  struct btf_header header = {.magic = BTF_MAGIC,
                              .version = BTF_VERSION,
                              .hdr_len = sizeof(header),
                              .type_len = sizeof(types),
                              .str_off = sizeof(types),
                              .str_len = sizeof(strings)};
  unsigned char bytes[sizeof(header) + sizeof(types) + sizeof(strings)];
  union bpf_attr attr;

  memcpy(bytes, &header, sizeof(header));
  memcpy(bytes + sizeof(header), types, sizeof(types));
  memcpy(bytes + sizeof(header) + sizeof(types), strings, sizeof(strings));
  memset(&attr, 0, sizeof(attr));
  attr.btf = (uintptr_t)bytes;
  attr.btf_size = sizeof(bytes);
  return live_bpf_call(BPF_BTF_LOAD, &attr);
}

static int load_two_functions(int btf) {
  const struct bpf_insn insns[] = {
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  const struct bpf_func_info functions[] = {{0, 3}, {2, 4}};
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  attr.insns = (uintptr_t)insns;
  attr.insn_cnt = 4;
  attr.license = (uintptr_t) "GPL";
  attr.prog_btf_fd = (uint32_t)btf;
  attr.func_info = (uintptr_t)functions;
  attr.func_info_cnt = 2;
  attr.func_info_rec_size = sizeof(functions[0]);
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

static void live_functions_of_a_program_have_their_names_of_btf(void **state) {
  both_t both = {.nr = 0};
  char expected[256];
  int btf, fd;
  size_t i;

  (void)state;
  live_bpf_need(__func__, BPF_PROG_TYPE_SOCKET_FILTER);
  btf = load_btf();
  assert_true(btf >= 0);
  fd = load_two_functions(btf);
  assert_true(fd >= 0);
  both.id = live_bpf_id(fd);
  assert_int_equal(common_bpf_walk(keep, &both), 0);
  if (both.nr == 0) {
    close(fd);
    close(btf);
    support_skip(__func__, "a JIT for BPF, and addresses of the kernel");
  }
  assert_int_equal(both.nr, 2);
  for (i = 0; i < 2; i++) {
    name_at(both.functions[i].addr, expected);
    assert_string_equal(both.functions[i].name, expected);
    assert_non_null(strstr(expected, i == 0 ? "_main_function_with_a_name"
                                            : "_inner_function_with_a_name"));
    assert_int_equal(both.functions[i].is_last, i);
  }
  close(fd);
  close(btf);
}

static void live_unloaded_program_is_not_listed(void **state) {
  wanted_t wanted;

  (void)state;
  load(&wanted, "gone", __func__);
  live_bpf_close(&wanted.program);
  assert_int_equal(common_bpf_walk(look, &wanted), 0);
  assert_int_equal(wanted.nr, 0);
}

static void live_walk_ends_with_the_value_of_its_callback(void **state) {
  wanted_t wanted;
  size_t nr = 0;
  int rc;

  (void)state;
  load(&wanted, "any", __func__);
  rc = common_bpf_walk(stop_at_once, &nr);
  live_bpf_close(&wanted.program);
  assert_int_equal(rc, 7);
  assert_int_equal(nr, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_loaded_program_has_the_name_of_kallsyms),
      cmocka_unit_test(live_functions_of_a_program_have_their_names_of_btf),
      cmocka_unit_test(live_unloaded_program_is_not_listed),
      cmocka_unit_test(live_walk_ends_with_the_value_of_its_callback),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
