/* SPDX-License-Identifier: MIT */
/* The modifiers that an event's name can end in. */
#include "check_parse.h"
#include "make_host.h"

#include "name/parse.h"

#define HW(event) .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##event
#define SW(event) .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##event

#define ONLY_USER   .exclude_kernel = 1, .exclude_hv = 1
#define ONLY_KERNEL .exclude_user = 1, .exclude_hv = 1
#define ONLY_HV     .exclude_user = 1, .exclude_kernel = 1

static void attr_parse_knows_modifiers(void **state) {
  static const name_good_t good[] = {
      {"cycles:u", {HW(CPU_CYCLES), ONLY_USER}},
      {"cycles:k", {HW(CPU_CYCLES), ONLY_KERNEL}},
      {"cycles//u", {HW(CPU_CYCLES), ONLY_USER}},
      {"cycles//:u", {HW(CPU_CYCLES), ONLY_USER}},
      {"instructions:h", {HW(INSTRUCTIONS), ONLY_HV}},
      {"instructions:uk", {HW(INSTRUCTIONS), .exclude_hv = 1}},
      {"instructions:ukh", {HW(INSTRUCTIONS)}},
      {"instructions:G", {HW(INSTRUCTIONS), .exclude_host = 1}},
      {"instructions:H", {HW(INSTRUCTIONS), .exclude_guest = 1}},
      {"instructions:GH", {HW(INSTRUCTIONS)}},
      {"instructions:I", {HW(INSTRUCTIONS), .exclude_idle = 1}},
      {"instructions:kIG",
       {HW(INSTRUCTIONS), ONLY_KERNEL, .exclude_idle = 1, .exclude_host = 1}},
      {"instructions:p", {HW(INSTRUCTIONS), .precise_ip = 1}},
      {"instructions:pp", {HW(INSTRUCTIONS), .precise_ip = 2}},
      {"instructions:pkpp", {HW(INSTRUCTIONS), ONLY_KERNEL, .precise_ip = 3}},
      {"instructions:uDp",
       {HW(INSTRUCTIONS), ONLY_USER, .pinned = 1, .precise_ip = 1}},
      {"instructions:uep",
       {HW(INSTRUCTIONS), ONLY_USER, .exclusive = 1, .precise_ip = 1}},
      {"instructions:S", {HW(INSTRUCTIONS), .sample_type = PERF_SAMPLE_READ}},
      {"task-clock:P", {SW(TASK_CLOCK), .precise_ip = 3}},
      {"cycles:P", {HW(CPU_CYCLES), .precise_ip = 3}},
      {"faults:u", {SW(PAGE_FAULTS), ONLY_USER}},
      {"L1-dcache-load-miss:kp",
       {.type = PERF_TYPE_HW_CACHE,
        .config = 0x10000,
        ONLY_KERNEL,
        .precise_ip = 1}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void attr_parse_takes_the_most_precise_from_sysfs(void **state) {
  static const char path[] =
      "/sys/bus/event_source/devices/cpu/caps/max_precise";
  static const name_good_t at_most_2[] = {
      {"cycles:P", {HW(CPU_CYCLES), .precise_ip = 2}},
      {"LLC-loads:P",
       {.type = PERF_TYPE_HW_CACHE, .config = 2, .precise_ip = 2}},
      {"r1:uP",
       {.type = PERF_TYPE_RAW, .config = 1, ONLY_USER, .precise_ip = 2}},
      {"cs:P", {SW(CONTEXT_SWITCHES), .precise_ip = 3}},
  };
  static const name_good_t at_most_3[] = {
      {"cycles:P", {HW(CPU_CYCLES), .precise_ip = 3}},
  };

  make_host_write(path, "2\n");
  check_parse_good(at_most_2, COUNT_OF(at_most_2));
  make_host_write(path, "4\n");
  check_parse_good(at_most_3, 1);
  make_host_write(path, "-1\n");
  check_parse_good(at_most_3, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_parse_knows_modifiers),
      MAKE_HOST_TEST(attr_parse_takes_the_most_precise_from_sysfs),
  };

  return cmocka_run_group_tests(tests, fake_host_empty, fake_host_real);
}
