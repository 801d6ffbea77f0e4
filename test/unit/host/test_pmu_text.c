/* SPDX-License-Identifier: MIT */
/* The contents of the terms and the named events of a PMU. */
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <limits.h>
#include <locale.h>

#include "host/pmu.h"

#define PMUS "/sys/bus/event_source/devices"
#define CPU  PMUS "/cpu"

/* -- Terms ---------------------------------------------------------------- */

static void pmu_format_returns_field_and_mask(void **state) {
  static const struct {
    const char *text;
    enum uvperf_attr_field field;
    uint64_t mask;
  } formats[] = {
      {"config:0-7\n", UVPERF_ATTR_CONFIG, 0xff},
      {"config:0-7,32-35\n", UVPERF_ATTR_CONFIG, 0xf000000ff},
      {"config:8-15,40-47", UVPERF_ATTR_CONFIG, 0xff000000ff00},
      {"config1:0\n", UVPERF_ATTR_CONFIG1, 1},
      {"config:21\n", UVPERF_ATTR_CONFIG, 1 << 21},
      {"config:63", UVPERF_ATTR_CONFIG, UINT64_C(1) << 63},
      {"config:0-63\n", UVPERF_ATTR_CONFIG, UINT64_MAX},
      {"config2:1-62\n", UVPERF_ATTR_CONFIG2, UINT64_MAX / 2 - 1},
      {"config3:0-15\n", UVPERF_ATTR_CONFIG3, 0xffff},
      {"config4:4\n", UVPERF_ATTR_CONFIG4, 0x10},
      {" config1 : 0 - 3 ,\n 8\n", UVPERF_ATTR_CONFIG1, 0x10f},
      {"config:4-7,0-5", UVPERF_ATTR_CONFIG, 0xff},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(formats); i++) {
    uvperf__pmu_format_t format;

    make_host_write(CPU "/format/umask", formats[i].text);
    assert_int_equal(uvperf__pmu_format("cpu", "umask", &format), 0);
    assert_int_equal(format.field, formats[i].field);
    assert_true(format.mask == formats[i].mask);
  }
}

static void pmu_format_of_garbage_is_einval(void **state) {
  static const char *const bad[] = {"",
                                    "\n",
                                    "config\n",
                                    "config:\n",
                                    "config 0-7\n",
                                    "config 00-7\n",
                                    ":0-7\n",
                                    "0-7\n",
                                    "config0:0-7\n",
                                    "config5:0-7\n",
                                    "config11:0-7\n",
                                    "Config:0-7\n",
                                    "conf:0-7\n",
                                    "config:7-0\n",
                                    "config:0-64\n",
                                    "config:64\n",
                                    "config:0-7,\n",
                                    "config:,0\n",
                                    "config:-1\n",
                                    "config:0x7\n",
                                    "config:0-99999999999999999999\n",
                                    "config:0-7 config1:0\n",
                                    "config::0\n",
                                    "\177ELF\xff"};
  size_t i;

  for (i = 0; i < COUNT_OF(bad); i++) {
    uvperf__pmu_format_t format;

    make_host_write(CPU "/format/umask", bad[i]);
    assert_int_equal(uvperf__pmu_format("cpu", "umask", &format), -EINVAL);
  }
}

static void pmu_format_that_cannot_be_read_is_errno(void **state) {
  char huge[UVPERF__PMU_TEXT_BYTES + 1];
  uvperf__pmu_format_t format;

  memset(huge, '0', sizeof(huge));
  memcpy(huge, "config:", 7);
  huge[UVPERF__PMU_TEXT_BYTES] = '\0';
  make_host_write(CPU "/format/huge", huge);
  make_host_write_bytes(CPU "/format/zero", "config:0\0-7", 11);
  make_host_write(CPU "/format/directory/x", "config:0\n");
  make_host_link(CPU "/format/loop", "loop");
  make_host_write(PMUS "/file", "no PMU\n");
  assert_int_equal(uvperf__pmu_format("cpu", "huge", &format), -EFBIG);
  assert_int_equal(uvperf__pmu_format("cpu", "zero", &format), -EINVAL);
  assert_int_equal(uvperf__pmu_format("cpu", "directory", &format), -EISDIR);
  assert_int_equal(uvperf__pmu_format("cpu", "loop", &format), -ELOOP);
  assert_int_equal(uvperf__pmu_format("cpu", "none", &format), -ENOENT);
  assert_int_equal(uvperf__pmu_format("gpu", "umask", &format), -ENOENT);
  assert_int_equal(uvperf__pmu_format("file", "umask", &format), -ENOENT);
}

static void pmu_spread_puts_the_lowest_bit_first(void **state) {
  static const struct {
    uint64_t mask, value, bits;
  } spreads[] = {
      {0xff, 0x3c, 0x3c},
      {0xf000000ff, 0x1c2, 0x1000000c2},
      {0xff000000ff00, 0xabcd, 0xab000000cd00},
      {1 << 21, 1, 1 << 21},
      {UINT64_C(1) << 63, 1, UINT64_C(1) << 63},
      {UINT64_MAX, UINT64_MAX, UINT64_MAX},
      {UINT64_MAX, 0x123456789abcdef0, 0x123456789abcdef0},
      {0x8000000000000001, 2, UINT64_C(1) << 63},
      {0xff00, 0, 0},
      {0, 0, 0},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(spreads); i++) {
    uint64_t bits = 99;

    assert_int_equal(
        uvperf__pmu_spread(spreads[i].mask, spreads[i].value, &bits), 0);
    assert_true(bits == spreads[i].bits);
    assert_true(uvperf__pmu_gather(spreads[i].mask, bits) == spreads[i].value);
  }
  /* Bits of other terms are not this one's. */
  assert_true(uvperf__pmu_gather(0xff00, 0x12ab34) == 0xab);
}

static void pmu_spread_of_too_large_a_value_is_erange(void **state) {
  uint64_t bits;

  assert_int_equal(uvperf__pmu_spread(0xff, 0x100, &bits), -ERANGE);
  assert_int_equal(uvperf__pmu_spread(1 << 21, 2, &bits), -ERANGE);
  assert_int_equal(uvperf__pmu_spread(0, 1, &bits), -ERANGE);
  assert_int_equal(uvperf__pmu_spread(UINT64_MAX / 2, UINT64_MAX, &bits),
                   -ERANGE);
}

/* -- Named events --------------------------------------------------------- */

static void pmu_event_returns_its_terms(void **state) {
  char terms[UVPERF__PMU_TEXT_BYTES];

  make_host_write(CPU "/events/cycles", "event=0x3c,umask=0x1\n");
  make_host_write(CPU "/events/empty", "\n");
  assert_int_equal(uvperf__pmu_event("cpu", "cycles", terms), 0);
  assert_string_equal(terms, "event=0x3c,umask=0x1");
  assert_int_equal(uvperf__pmu_event("cpu", "empty", terms), -EINVAL);
  assert_int_equal(uvperf__pmu_event("cpu", "none", terms), -ENOENT);
  assert_string_equal(terms, "");
}

static uvperf__pmu_measure_t measure;

/* Writes an event with its other files, NULL for those that stay as they are,
 * and reads its measure. */
static int measure_of(const char *scale, const char *unit) {
  make_host_write(CPU "/events/energy", "event=0x2\n");
  if (scale != NULL)
    make_host_write(CPU "/events/energy.scale", scale);
  if (unit != NULL)
    make_host_write(CPU "/events/energy.unit", unit);
  return uvperf__pmu_measure("cpu", "energy", &measure);
}

static void pmu_measure_without_files_is_one_count(void **state) {
  assert_int_equal(measure_of(NULL, NULL), 0);
  assert_true(measure.scale == 1);
  assert_string_equal(measure.unit, "");
  assert_int_equal(measure.is_per_package, 0);
  assert_int_equal(measure.is_snapshot, 0);
}

/* A further file could not have such a long name. */
static void pmu_measure_of_the_longest_name_is_one_count(void **state) {
  char name[NAME_MAX + 1], path[PATH_MAX];

  memset(name, 'e', NAME_MAX);
  name[NAME_MAX] = '\0';
  snprintf(path, sizeof(path), CPU "/events/%s", name);
  make_host_write(path, "event=1\n");
  assert_int_equal(uvperf__pmu_measure("cpu", name, &measure), 0);
  assert_true(measure.scale == 1);
}

static void pmu_measure_reads_all_four_files(void **state) {
  assert_int_equal(measure_of("2.3283064365386962890625e-10\n", "Joules\n"), 0);
  assert_true(measure.scale == 0x1p-32);
  assert_string_equal(measure.unit, "Joules");
  assert_int_equal(measure.is_per_package, 0);
  make_host_write(CPU "/events/energy.per-pkg", "1\n");
  assert_int_equal(measure_of(NULL, NULL), 0);
  assert_int_equal(measure.is_per_package, 1);
  assert_int_equal(measure.is_snapshot, 0);
  make_host_write(CPU "/events/energy.snapshot", "1\n");
  assert_int_equal(measure_of(NULL, NULL), 0);
  assert_int_equal(measure.is_snapshot, 1);
}

static const char *const scales[] = {
    "2.3283064365386962890625e-10\n",
    "6.103515625e-5\n",
    "1\n",
    "0.1",
    "1e3 \n",
    ".5\n",
    "0.000000000000000000000000000000000000000000000000001\n",
    "179769313486231570814527423731704356798070.5\n",
    "123456789.123456789123456789\n",
};

/* The tests run in the C locale, where strtod(3) is right. */
static void pmu_scale_is_exactly_the_kernels(void **state) {
  size_t i;

  for (i = 0; i < COUNT_OF(scales); i++) {
    assert_int_equal(measure_of(scales[i], NULL), 0);
    assert_true(measure.scale == strtod(scales[i], NULL));
  }
}

/* Machines without a desktop have the C locale alone: makes one with a decimal
 * comma, xx_XX. */
static void make_comma_locale(void) {
  char command[512];
  int rc;

  make_host_write("/ascii", "CHARMAP\n<U0000>..<U007F> /x00 x\nEND CHARMAP\n");
  make_host_write("/comma",
                  "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\n"
                  "grouping -1\nEND LC_NUMERIC\n");
  snprintf(command, sizeof(command),
           "localedef -c -f %s/ascii -i %s/comma %s/xx_XX >%s/said 2>&1",
           make_host_root(), make_host_root(), make_host_root(),
           make_host_root());
  rc = system(command); /* it warns about everything that the locale lacks */
  (void)rc;
}

#define NO_LOCALE 77

/* In a child, because glibc leaks the memory that it takes for LOCPATH. */
static int read_scales_with_comma(void *arg) {
  char event[32];
  locale_t comma;
  size_t i;

  setenv("LOCPATH", make_host_root(), 1);
  comma = newlocale(LC_NUMERIC_MASK, "xx_XX", (locale_t)0);
  if (comma == (locale_t)0)
    return NO_LOCALE;
  for (i = 0; i < COUNT_OF(scales); i++) {
    double expected = strtod(scales[i], NULL);

    uselocale(comma);
    if (strtod("0.5", NULL) != 0)
      return NO_LOCALE;
    snprintf(event, sizeof(event), "scale_%zu", i);
    if (uvperf__pmu_measure("cpu", event, &measure) != 0 ||
        measure.scale != expected)
      return 1 + (int)i;
    uselocale(LC_GLOBAL_LOCALE);
  }
  return 0;
}

static void pmu_scale_does_not_depend_on_the_locale(void **state) {
  char path[128];
  size_t i;
  int rc;

  make_comma_locale();
  for (i = 0; i < COUNT_OF(scales); i++) {
    snprintf(path, sizeof(path), CPU "/events/scale_%zu", i);
    make_host_write(path, "event=1\n");
    strcat(path, ".scale");
    make_host_write(path, scales[i]);
  }
  rc = support_wait(support_fork(read_scales_with_comma, NULL));
  if (rc == NO_LOCALE)
    support_skip(__func__, "localedef(1), for a locale with a decimal comma");
  assert_int_equal(rc, 0);
}

static void pmu_measure_of_garbage_is_an_error(void **state) {
  static const char *const bad[] = {"",        "\n",    "x\n",   "0,5\n",
                                    "1e999\n", "inf\n", "nan\n", "1 2\n"};
  char unit[65];
  size_t i;

  memset(unit, 'u', 64);
  unit[64] = '\0';
  for (i = 0; i < COUNT_OF(bad); i++)
    assert_int_equal(measure_of(bad[i], "s\n"), -EINVAL);
  assert_int_equal(measure_of("1\n", unit), -EINVAL);
  assert_int_equal(measure_of("1\n", unit + 1), 0);
  assert_string_equal(measure.unit, unit + 1);
  make_host_link(CPU "/events/energy.snapshot", "energy.snapshot");
  assert_int_equal(measure_of("1\n", "s\n"), -ELOOP);
  assert_int_equal(uvperf__pmu_measure("cpu", "none", &measure), -ENOENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(pmu_format_returns_field_and_mask),
      MAKE_HOST_TEST(pmu_format_of_garbage_is_einval),
      MAKE_HOST_TEST(pmu_format_that_cannot_be_read_is_errno),
      MAKE_HOST_TEST(pmu_spread_puts_the_lowest_bit_first),
      MAKE_HOST_TEST(pmu_spread_of_too_large_a_value_is_erange),
      MAKE_HOST_TEST(pmu_event_returns_its_terms),
      MAKE_HOST_TEST(pmu_measure_without_files_is_one_count),
      MAKE_HOST_TEST(pmu_measure_of_the_longest_name_is_one_count),
      MAKE_HOST_TEST(pmu_measure_reads_all_four_files),
      MAKE_HOST_TEST(pmu_scale_is_exactly_the_kernels),
      MAKE_HOST_TEST(pmu_scale_does_not_depend_on_the_locale),
      MAKE_HOST_TEST(pmu_measure_of_garbage_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
