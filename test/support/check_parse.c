/* SPDX-License-Identifier: MIT */
#include "check_parse.h"

#include "name/list.h"
#include "name/parse.h"
#include "make_host.h"

int check_parse_pmus_setup(void **state) {
  static const struct {
    const char *path;
    const char *text;
  } files[] = {
      {"cpu/type", "4\n"},
      {"cpu/caps/max_precise", "2\n"},
      {"cpu/format/event", "config:0-7\n"},
      {"cpu/format/umask", "config:8-15\n"},
      {"cpu/format/edge", "config:18\n"},
      {"cpu/format/cmask", "config:24-31\n"},
      {"cpu/format/ldlat", "config1:0-15\n"},
      {"cpu/format/offcore_rsp", "config1:0-63\n"},
      {"cpu/format/far", "config4:0-3\n"},
      {"cpu/events/cpu-cycles", "event=0x3c\n"},
      {"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
      {"cpu/events/el-start", "event=0xc8,umask=0x1\n"},
      {"cpu_core/type", "8\n"},
      {"cpu_core/cpus", "0-3\n"},
      {"cpu_core/caps/max_precise", "1\n"},
      {"cpu_core/format/event", "config:0-7\n"},
      {"cpu_core/events/slots", "event=0,config=0x400\n"},
      {"cpu_atom/type", "10\n"},
      {"cpu_atom/cpus", "4-7\n"},
      {"cpu_atom/format/event", "config:0-7\n"},
      {"uncore_imc_0/type", "14\n"},
      {"uncore_imc_0/cpumask", "0,2\n"},
      {"uncore_imc_0/format/event", "config:0-7\n"},
      {"uncore_imc_0/events/clockticks", "event=0x00\n"},
      {"uncore_imc_0/events/cas_read", "event=0x04\n"},
      {"uncore_imc_0/events/cas_read.scale", "6.103515625e-5\n"},
      {"uncore_imc_0/events/cas_read.unit", "MiB\n"},
      {"uncore_imc_1/type", "15\n"},
      {"uncore_imc_1/cpumask", "0,2\n"},
      {"uncore_imc_1/format/event", "config:0-7\n"},
      {"uncore_imc_1/events/clockticks", "event=0x01\n"},
      {"uncore_imc_1/events/cas_read", "event=0x05\n"},
      {"uncore_imc_1/events/cas_read.scale", "6.103515625e-5\n"},
      {"uncore_imc_1/events/cas_read.unit", "MiB\n"},
      {"uncore_imc_free_running_0/type", "16\n"},
      {"uncore_imc_free_running_0/format/event", "config:0-7\n"},
      {"uncore_imc_free_running_0/events/dclk", "event=0xff\n"},
      {"split/type", "20\n"},
      {"split/format/event", "config:0-7,32-35\n"},
      {"split/format/period", "config1:0-7\n"},
      {"split/format/core", "config2:0-3\n"},
      {"split/format/odd", "config:1-\n"},
      {"split/events/per-core", "event=0x12,core=?\n"},
      {"split/events/whole", "per-core,period=5\n"},
      {"split/events/loop", "loop\n"},
      {"split/events/ring1", "ring2\n"},
      {"split/events/ring2", "ring1,ring1,ring1\n"},
      {"split/events/broad", "wide,wide,wide,wide,wide,wide,wide,wide\n"},
      {"split/events/wide", "deep,deep,deep,deep,deep,deep,deep,deep\n"},
      {"split/events/deep", "event=1\n"},
      {"split/events/named", "event=1,name=x\n"},
      {"split/events/wrong", "event=0x1000\n"},
      {"split/events/noscale", "event=1\n"},
      {"split/events/noscale.scale", "x\n"},
      {"split/events/read", "event=0x66\n"},
      {"split/events/r12", "event=0x77\n"},
      {"software/type", "1\n"},
      {"intel_pt/type", "7\n"},
      {"typeless/format/event", "config:0-7\n"},
      {"badtype/type", "x\n"},
  };
  char path[128];
  size_t i;

  if (make_host_setup(state) != 0)
    return -1;
  for (i = 0; i < COUNT_OF(files); i++) {
    snprintf(path, sizeof(path), CHECK_PARSE_PMUS "/%s", files[i].path);
    make_host_write(path, files[i].text);
  }
  return 0;
}

void check_parse_good(const name_good_t *good, size_t nr) {
  struct perf_event_attr attr, wanted;
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < nr; i++) {
    memset(&error, 0, sizeof(error));
    memset(&attr, 0xa5, sizeof(attr));
    if (uvperf_attr_parse_sized(&attr, sizeof(attr), good[i].name, &error))
      fail_msg("%s: column %u: %s", good[i].name, error.column, error.reason);
    wanted = good[i].attr;
    wanted.size = sizeof(attr);
    if (memcmp(&attr, &wanted, sizeof(attr)) != 0) {
      fprintf(stderr, "%s has type %u, config %#llx, config1 %#llx\n",
              good[i].name, attr.type, attr.config, attr.config1);
      assert_memory_equal(&attr, &wanted, sizeof(attr));
    }
    assert_int_equal(error.code, 0);
  }
}

void check_parse_bad(const name_bad_t *bad, size_t nr) {
  struct perf_event_attr attr, before;
  uvperf_error_t error;
  size_t i;
  int rc;

  memset(&before, 0xa5, sizeof(before));
  for (i = 0; i < nr; i++) {
    attr = before;
    memset(&error, 0xa5, sizeof(error));
    rc = uvperf_attr_parse_sized(&attr, sizeof(attr), bad[i].name, &error);
    if (rc != bad[i].code || error.code != rc || error.cause != bad[i].cause ||
        error.column != bad[i].column || error.attr_index != 0 ||
        strstr(error.reason, bad[i].text) == NULL)
      fail_msg("%s returns %d: code %d, cause %s, column %u: %s", bad[i].name,
               rc, error.code, uvperf_cause_name(error.cause), error.column,
               error.reason);
    assert_memory_equal(&attr, &before, sizeof(attr));
    assert_int_equal(
        uvperf_attr_parse_sized(&attr, sizeof(attr), bad[i].name, NULL), rc);
  }
}

uvperf_event_list_t *check_parse_list(const char *names) {
  uvperf_event_list_t *list;
  uvperf_error_t error;

  if (uvperf_event_list_parse(&list, names, &error) != 0)
    fail_msg("%s: column %u: %s", names, error.column, error.reason);
  return list;
}
