/* SPDX-License-Identifier: MIT */
/* Numbers, strings and addresses as the kernel writes them. */
#include "check_tracepoint_values.h"

#include <sys/socket.h>

static void text_has_the_conversions_of_the_kernel(void **state) {
  static const sample_t samples[] = {
      {"\"%#x %#X %#o %#o %#llx\", REC->z, 10, 0, 8, REC->g",
       "0x0 0XA 0 010 0xa"},
      {"\"%#06x|%-4d|%4d|%04d|%.3d\", 10, 1, -1, -1, 7",
       "0x000a|1   |  -1|-001|007"},
      {"\"%+d % d %hhd %hu %i\", 1, 1, 255, REC->n, REC->f",
       "+1  1 -1 65535 -7"},
      {"\"%c%c%%\", 'a', REC->a ? 'b' : ' '", "ab%"},
      {"\"%s|%.*s|%-9s|%10s\", REC->s, 3, REC->s, REC->s, REC->s",
       "eightchr|eig|eightchr |  eightchr"},
      {"\"%*d|%-*d|%*d|\", 3, 1, 3, 1, -3, 1", "  1|1  |1  |"},
      {"\"%s\" \"%d\", REC->a ? \"a\\\"b\" : \"\", 1", "a\"b1"},
      {"\"a\\tb\\\\\"", "a\tb\\"},
      {"\"%pK %px\", (void *)REC->g, (void *)REC->g", "0xa 0xa"},
      {"\"%s\", REC->z ? REC->s : ((void *)0)", "(null)"},
  };

  EXPECT_SAMPLES(samples);
}

static void text_has_addresses(void **state) {
  static const sample_t samples[] = {
      {"\"%pI4 %pi4\", REC->u, &REC->u", "254.128.0.0 254.128.000.000"},
      {"\"%pI6c\", REC->u", "fe80::12"},
      {"\"%pI6\", REC->u", "fe80:0000:0000:0000:0000:0000:0000:0012"},
      {"\"%pU\", REC->u", "fe800000-0000-0000-0000-000000000012"},
      {"\"%pUL\", REC->u", "000080FE-0000-0000-0000-000000000012"},
      {"\"%pM %pMF %pm\", REC->s, REC->s, REC->s",
       "65:69:67:68:74:63 65-69-67-68-74-63 656967687463"},
      {"\"%*phC %3phN\", 2, REC->s, REC->s", "65:69 656967"},
  };

  EXPECT_SAMPLES(samples);
}

static void text_has_widths_of_up_to_255(void **state) {
  char wanted[256];
  const sample_t samples[] = {{"\"%255d\", 7", wanted},
                              {"\"%*d\", 255, 7", wanted}};

  snprintf(wanted, sizeof(wanted), "%255d", 7);
  EXPECT_SAMPLES(samples);
}

/* Prints bytes by a conversion. Returns what the print returns. */
static int print_bytes(const char *conversion, const void *bytes, size_t size,
                       char *text, size_t room) {
  uvperf_tracepoint_t *tracepoint;
  unsigned char raw[128] = {0};
  char format[400];
  int rc;

  snprintf(format, sizeof(format),
           TEXT_HEAD("bytes", 9) "\tfield:u8 x[%zu];\toffset:8;\tsize:%zu;"
                                 "\tsigned:0;\n\nprint fmt: \"%s\", REC->x\n",
           size, size, conversion);
  put_short(raw, 0, 9);
  memcpy(raw + 8, bytes, size);
  tracepoint = parsed(format);
  rc = uvperf_tracepoint_print(tracepoint, raw, 8 + size, text, &room);
  uvperf_tracepoint_free(tracepoint);
  return rc;
}

/* The first of the longest runs of zeros is left out, but no single zero. */
static void text_of_ip6_leaves_out_zeros(void **state) {
  static const struct {
    unsigned char bytes[16];
    const char *text;
  } rows[] = {
      {{0}, "::"},
      {{[15] = 1}, "::1"},
      {{[1] = 1, [7] = 2, [13] = 3, [15] = 4}, "1::2:0:0:3:4"},
      {{[1] = 1, [3] = 2, [7] = 3, [15] = 4}, "1:2:0:3::4"},
      {{[1] = 1, [5] = 2, [7] = 3, [9] = 4, [11] = 5, [13] = 6, [15] = 7},
       "1:0:2:3:4:5:6:7"},
      {{[10] = 255, 255, 10, 0, 0, 1}, "::ffff:10.0.0.1"},
      {{254, 128, [10] = 0x5e, 0xfe, 10, 0, 0, 1}, "fe80::5efe:10.0.0.1"},
      {{254, 128, [8] = 2, 0, 0x5e, 0xfe, 1, 2, 3, 4},
       "fe80::200:5efe:1.2.3.4"},
      {{254, 128, [8] = 1, 0, 0x5e, 0xfe, 1, 2, 3, 4},
       "fe80::100:5efe:102:304"},
  };
  char text[100];
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    assert_int_equal(
        print_bytes("%pI6c", rows[i].bytes, 16, text, sizeof(text)), 0);
    assert_string_equal(text, rows[i].text);
  }
}

/* Of IPv6 the scope is not printed and may be missing. */
static void text_of_a_socket_address_needs_its_bytes(void **state) {
  static const struct {
    unsigned short family;
    size_t least;
    const char *text;
  } rows[] = {{AF_INET, 8, "0.0.0.0:258"},
              {AF_INET6, 24, "[::]:258"},
              {AF_UNIX, 2, "(einval)"}};
  unsigned char bytes[28] = {0, 0, 1, 2};
  char text[100];
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    memcpy(bytes, &rows[i].family, sizeof(rows[i].family));
    assert_int_equal(print_bytes("%pISpc", bytes, rows[i].least - 1, text, 100),
                     -EPROTO);
    assert_int_equal(print_bytes("%pISpc", bytes, rows[i].least, text, 100), 0);
    assert_string_equal(text, rows[i].text);
  }
}

static void text_dumps_at_most_64_bytes(void **state) {
  char text[200], wanted[129], zeros[80] = {0};

  memset(wanted, '0', 128);
  wanted[128] = '\0';
  assert_int_equal(print_bytes("%80phN", zeros, 80, text, sizeof(text)), 0);
  assert_string_equal(text, wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_has_the_conversions_of_the_kernel),
      cmocka_unit_test(text_has_addresses),
      cmocka_unit_test(text_has_widths_of_up_to_255),
      cmocka_unit_test(text_of_ip6_leaves_out_zeros),
      cmocka_unit_test(text_of_a_socket_address_needs_its_bytes),
      cmocka_unit_test(text_dumps_at_most_64_bytes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
