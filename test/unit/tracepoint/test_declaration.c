/* SPDX-License-Identifier: MIT */
/* The meaning of field declarations: arrays, strings, pointers, dynamic
 * ones. */
#include "make_tracepoint_format.h"

/* A declaration, its size, and the expected properties. */
static const struct {
  const char *declaration;
  uint32_t size;
  const char *name;
  const char *type;
  uint32_t element_size;
  uint32_t count;
  uint32_t flags;
} declarations[] = {
    {"bool on", 1, "on", "bool", 1, 1, VALUE},
    {"enum zone_type zone", 4, "zone", "enum zone_type", 4, 1, VALUE},
    {"const char * filename", 8, "filename", "const char *", 8, 1,
     VALUE | POINTER},
    {"const char *const * argv", 8, "argv", "const char *const *", 8, 1,
     VALUE | POINTER},
    {"void *p", 8, "p", "void *", 8, 1, VALUE | POINTER},
    {"struct page * page", 8, "page", "struct page *", 8, 1, VALUE | POINTER},
    {"struct pair pair", 8, "pair", "struct pair", 8, 1, 0},
    {"union u u", 4, "u", "union u", 4, 1, 0},
    {"odd_t odd", 3, "odd", "odd_t", 3, 1, 0},
    {"char comm[16]", 16, "comm", "char[16]", 1, 16, ARRAY | STRING},
    {"char comm[TASK_COMM_LEN]", 16, "comm", "char[TASK_COMM_LEN]", 1, 16,
     ARRAY | STRING},
    {"const char s[4]", 4, "s", "const char[4]", 1, 4, ARRAY | STRING},
    {"signed char s[4]", 4, "s", "signed char[4]", 1, 4, ARRAY | STRING},
    {"unsigned char mac[6]", 6, "mac", "unsigned char[6]", 1, 6, ARRAY},
    {"u8 mac[6]", 6, "mac", "u8[6]", 1, 6, ARRAY},
    {"unsigned long args[6]", 48, "args", "unsigned long[6]", 8, 6, ARRAY},
    {"unsigned int x[2]", 8, "x", "unsigned int[2]", 4, 2, ARRAY},
    {"__u64 x[N]", 24, "x", "__u64[N]", 8, 3, ARRAY},
    {"__u64 x[N]", 23, "x", "__u64[N]", 0, 0, ARRAY},
    {"int x[999999999999]", 8, "x", "int[999999999999]", 4, 2, ARRAY},
    {"odd_t x[4294967298]", 8, "x", "odd_t[4294967298]", 0, 0, ARRAY},
    {"int x[3]", 8, "x", "int[3]", 4, 2, ARRAY},
    {"int x[]", 8, "x", "int[]", 4, 2, ARRAY},
    {"u8 x[2][3]", 6, "x", "u8[2][3]", 1, 6, ARRAY},
    {"char *names[2]", 16, "names", "char *[2]", 8, 2, ARRAY | POINTER},
    {"struct in6_addr a[2]", 32, "a", "struct in6_addr[2]", 16, 2, ARRAY},
    {"struct in6_addr a[N]", 32, "a", "struct in6_addr[N]", 0, 0, ARRAY},
    {"__data_loc char[] name", 4, "name", "__data_loc char[]", 1, 0,
     ARRAY | STRING | DYNAMIC},
    {"__rel_loc char[] name", 4, "name", "__rel_loc char[]", 1, 0,
     ARRAY | STRING | DYNAMIC | RELATIVE},
    {"__data_loc u8[] data", 4, "data", "__data_loc u8[]", 1, 0,
     ARRAY | DYNAMIC},
    {"__data_loc unsigned int[] x", 4, "x", "__data_loc unsigned int[]", 4, 0,
     ARRAY | DYNAMIC},
    {"__data_loc cpumask_t mask", 4, "mask", "__data_loc cpumask_t",
     sizeof(long), 0, DYNAMIC},
    {"__data_loc unsigned long[] mask", 4, "mask", "__data_loc unsigned long[]",
     sizeof(long), 0, ARRAY | DYNAMIC},
    {"__data_loc struct x[] x", 4, "x", "__data_loc struct x[]", 0, 0,
     ARRAY | DYNAMIC},
};

static void format_has_what_declarations_mean(void **state) {
  char text[256];
  size_t i;

  for (i = 0; i < COUNT_OF(declarations); i++) {
    uvperf_field_t wanted = {declarations[i].name,
                             declarations[i].type,
                             8,
                             declarations[i].size,
                             declarations[i].element_size,
                             declarations[i].count,
                             declarations[i].flags,
                             0,
                             {0}};
    uvperf_tracepoint_t *tracepoint;

    snprintf(text, sizeof(text),
             "name: x\nID: 1\nformat:\n\n\tfield:%s;\toffset:8;\tsize:%u;"
             "\tsigned:0;\n",
             declarations[i].declaration, declarations[i].size);
    tracepoint = parsed(text);
    expect_field(&uvperf_tracepoint_info(tracepoint)->fields[0], &wanted);
    uvperf_tracepoint_free(tracepoint);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(format_has_what_declarations_mean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
