/* SPDX-License-Identifier: MIT */
/* Makes the names as the kernel does: bpf_prog_ksym_set_name() in
 * kernel/bpf/core.c. */
#include "common/bpf_programs.h"

#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/memory.h"

/* The verifier's limit is 256 functions. */
#define MAX_FUNCTIONS 256
#define MAX_BTF_BYTES ((uint32_t)64 << 20)

typedef struct program_s {
  struct bpf_prog_info info;
  uint64_t addrs[MAX_FUNCTIONS];
  uint32_t lens[MAX_FUNCTIONS];
  uint8_t tags[MAX_FUNCTIONS][BPF_TAG_SIZE];
  struct bpf_func_info functions[MAX_FUNCTIONS];
  char *btf; /* NULL: functions have no names */
  uint32_t btf_bytes;
} program_t;

static int call_bpf(int command, union bpf_attr *attr) {
  return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int read_info(int fd, void *info, size_t size) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.info.bpf_fd = (uint32_t)fd;
  attr.info.info_len = (uint32_t)size;
  attr.info.info = (uintptr_t)info;
  return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* -- names in BTF ---------------------------------------------------------- */

static void read_btf(program_t *program) {
  struct bpf_btf_info info;
  union bpf_attr attr;
  int fd;

  memset(&attr, 0, sizeof(attr));
  attr.btf_id = program->info.btf_id;
  fd = attr.btf_id == 0 ? -1 : call_bpf(BPF_BTF_GET_FD_BY_ID, &attr);
  if (fd < 0)
    return;
  memset(&info, 0, sizeof(info));
  if (read_info(fd, &info, sizeof(info)) == 0 &&
      info.btf_size >= sizeof(struct btf_header) &&
      info.btf_size <= MAX_BTF_BYTES) {
    program->btf_bytes = info.btf_size;
    program->btf = common_calloc(info.btf_size + 1, 1);
    memset(&info, 0, sizeof(info));
    info.btf = (uintptr_t)program->btf;
    info.btf_size = program->btf_bytes;
    if (read_info(fd, &info, sizeof(info)) != 0)
      program->btf_bytes = 0;
  }
  close(fd);
}

/* Returns the bytes of a type after its struct btf_type; SIZE_MAX for a kind
 * that is not known. The numbers are kinds that older headers lack. */
static size_t bytes_after(const struct btf_type *type) {
  size_t nr = BTF_INFO_VLEN(type->info);

  switch (type->info >> 24 & 0x1f) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case 17: /* DECL_TAG */
      return 4;
    case BTF_KIND_ARRAY:
      return sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      return nr * sizeof(struct btf_member);
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
      return nr * 8;
    case BTF_KIND_DATASEC:
    case 19: /* ENUM64 */
      return nr * 12;
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case 16: /* FLOAT */
    case 18: /* TYPE_TAG */
      return 0;
    default:
      return SIZE_MAX;
  }
}

/* Returns the name of a type, or "". */
static const char *find_name(const program_t *program, uint32_t id) {
  const struct btf_header *header = (const void *)program->btf;
  uint64_t at, end, text;
  struct btf_type type;
  size_t more;
  uint32_t i;

  if (program->btf_bytes < sizeof(*header))
    return "";
  at = (uint64_t)header->hdr_len + header->type_off;
  end = at + header->type_len;
  text = (uint64_t)header->hdr_len + header->str_off;
  for (i = 1; end <= program->btf_bytes && at + sizeof(type) <= end; i++) {
    memcpy(&type, program->btf + at, sizeof(type));
    more = bytes_after(&type);
    if (i == id && text + type.name_off < program->btf_bytes)
      return program->btf + text + type.name_off;
    if (i == id || more == SIZE_MAX)
      break;
    at += sizeof(type) + more;
  }
  return "";
}

/* -- programs -------------------------------------------------------------- */

static uint32_t at_most(uint32_t nr) {
  return nr < MAX_FUNCTIONS ? nr : MAX_FUNCTIONS;
}

/* The kernel reports the sizes first. It refuses room for entries that it does
 * not have, and an array that it cannot fill. */
static int read_program(int fd, program_t *program) {
  struct bpf_prog_info *info = &program->info, sizes;

  memset(info, 0, sizeof(*info));
  if (read_info(fd, info, sizeof(*info)) != 0)
    return -1;
  sizes = *info;
  memset(info, 0, sizeof(*info));
  info->nr_jited_ksyms = at_most(sizes.nr_jited_ksyms);
  info->jited_ksyms = (uintptr_t)program->addrs;
  info->nr_jited_func_lens = at_most(sizes.nr_jited_func_lens);
  info->jited_func_lens = (uintptr_t)program->lens;
  info->nr_prog_tags = at_most(sizes.nr_prog_tags);
  info->prog_tags = (uintptr_t)program->tags;
  if (sizes.func_info_rec_size == sizeof(program->functions[0])) {
    info->nr_func_info = at_most(sizes.nr_func_info);
    info->func_info_rec_size = sizes.func_info_rec_size;
    info->func_info = (uintptr_t)program->functions;
  }
  return read_info(fd, info, sizeof(*info));
}

/* The main function has the program's tag; perf(1) takes another one. Without
 * BTF, the kernel calls each function but the first one "F". */
static void name_function(const program_t *program, uint32_t i,
                          common_bpf_function_t *function) {
  const struct bpf_prog_info *info = &program->info;
  const uint8_t *tag =
      i > 0 && i < info->nr_prog_tags ? program->tags[i] : info->tag;
  const char *name = "";
  char hex[2 * BPF_TAG_SIZE + 1];
  size_t k;

  for (k = 0; k < BPF_TAG_SIZE; k++)
    snprintf(hex + 2 * k, 3, "%02x", tag[k]);
  if (i < info->nr_func_info)
    name = find_name(program, program->functions[i].type_id);
  if (name[0] == '\0')
    name = i == 0 ? info->name : "F";
  snprintf(function->name, sizeof(function->name), "bpf_prog_%s%s%s", hex,
           name[0] == '\0' ? "" : "_", name);
}

/* Without a JIT there is one function, of 0 bytes: the interpreter. */
static int walk_program(const program_t *program, common_bpf_cb cb, void *arg) {
  const struct bpf_prog_info *info = &program->info;
  uint32_t i, nr = at_most(info->nr_jited_ksyms);
  common_bpf_function_t function;
  int rc = 0;

  if (nr > info->nr_jited_func_lens)
    nr = info->nr_jited_func_lens;
  for (i = 0; rc == 0 && i < nr; i++) {
    if (program->addrs[i] == 0 || program->lens[i] == 0)
      break;
    memset(&function, 0, sizeof(function));
    function.addr = program->addrs[i];
    function.len = program->lens[i];
    function.id = info->id;
    memcpy(function.tag, info->tag, sizeof(function.tag));
    function.is_last = i + 1 == nr;
    name_function(program, i, &function);
    rc = cb(arg, &function);
  }
  return rc;
}

int common_bpf_walk(common_bpf_cb cb, void *arg) {
  program_t *program = NULL;
  union bpf_attr attr;
  uint32_t id = 0;
  int fd, rc = 0;

  while (rc == 0) {
    memset(&attr, 0, sizeof(attr));
    attr.start_id = id;
    if (call_bpf(BPF_PROG_GET_NEXT_ID, &attr) != 0)
      break;
    id = attr.next_id;
    memset(&attr, 0, sizeof(attr));
    attr.prog_id = id;
    fd = call_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
    if (fd < 0)
      continue;
    if (program == NULL)
      program = common_calloc(1, sizeof(*program));
    if (read_program(fd, program) == 0) {
      read_btf(program);
      rc = walk_program(program, cb, arg);
    }
    close(fd);
    free(program->btf);
    program->btf = NULL;
    program->btf_bytes = 0;
  }
  free(program);
  return rc;
}
