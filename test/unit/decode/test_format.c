/* SPDX-License-Identifier: MIT */
/* Records as lines of text: each field of each type, and buffers of every
 * size. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>
#include <uv.h>

#include "check_record.h"
#include "uvperf/attr.h"

#define LENGTH(array) (COUNT_OF(array))
#define TEXT(field)   .field = "/a b", .field##_size = 4

static void expect_line(const uvperf_record_t *record, const char *line) {
  char text[2048];
  size_t length = uvperf_record_format(record, 0, text, sizeof(text));

  assert_string_equal(text, line);
  assert_int_equal(length, strlen(line));
}

/* -- each type ------------------------------------------------------------- */

/* One more than there are names. */
static const uvperf_namespace_t links[] = {{4, 10}, {4, 11}, {4, 12}, {4, 13},
                                           {4, 14}, {4, 15}, {4, 16}, {4, 17}};
static const uint64_t ips[] = {PERF_CONTEXT_KERNEL, 0x10, PERF_CONTEXT_USER,
                               0x20};
static const uint64_t marks[] = {
    PERF_CONTEXT_HV,        PERF_CONTEXT_KERNEL,
    PERF_CONTEXT_USER,      UVPERF_CONTEXT_USER_DEFERRED,
    PERF_CONTEXT_GUEST,     PERF_CONTEXT_GUEST_KERNEL,
    PERF_CONTEXT_GUEST_USER};

typedef struct line_s {
  const char *line; /* after "PERF_RECORD_" */
  uvperf_record_t record;
} line_t;

static const line_t lines[] = {
    {"MMAP: pid 1 tid 2 addr 0x1000 len 0x20 pgoff 0x30 filename /a b",
     {.type = PERF_RECORD_MMAP,
      .mmap = {1, 2, 0x1000, 0x20, 0x30, TEXT(filename)}}},
    {"MMAP: pid 1 tid 2 addr 0x1000 len 0x20 pgoff 0x30 data filename /a b",
     {.type = PERF_RECORD_MMAP,
      .misc = PERF_RECORD_MISC_MMAP_DATA,
      .mmap = {1, 2, 0x1000, 0x20, 0x30, TEXT(filename)}}},
    {"LOST: id 7 lost 8", {.type = PERF_RECORD_LOST, .lost = {7, 8}}},
    {"COMM: pid 1 tid 2 comm /a b",
     {.type = PERF_RECORD_COMM, .comm = {1, 2, TEXT(comm)}}},
    {"COMM: pid 1 tid 2 exec comm /a b",
     {.type = PERF_RECORD_COMM,
      .misc = PERF_RECORD_MISC_COMM_EXEC,
      .comm = {1, 2, TEXT(comm)}}},
    {"COMM: pid 1 tid 2 comm a?b",
     {.type = PERF_RECORD_COMM,
      .comm = {1, 2, .comm = "a\nb", .comm_size = 3}}},
    {"EXIT: pid 1 tid 3 ppid 2 ptid 4 time 5.000000006",
     {.type = PERF_RECORD_EXIT, .task = {1, 2, 3, 4, UINT64_C(5000000006)}}},
    {"THROTTLE: time 0.000000005 id 6 stream_id 7",
     {.type = PERF_RECORD_THROTTLE, .throttle = {5, 6, 7}}},
    {"UNTHROTTLE: time 0.000000005 id 6 stream_id 7",
     {.type = PERF_RECORD_UNTHROTTLE, .throttle = {5, 6, 7}}},
    {"FORK: pid 1 tid 3 ppid 2 ptid 4 time 0.000000000",
     {.type = PERF_RECORD_FORK, .task = {1, 2, 3, 4, 0}}},
    {"READ: pid 1 tid 2 time_enabled 9 time_running 8 value 7 id 6 lost 5",
     {.type = PERF_RECORD_READ,
      .read = {1,
               2,
               {PERF_FORMAT_TOTAL_TIME_ENABLED |
                    PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                    UVPERF_FORMAT_LOST,
                1, 9, 8, (const uint64_t[]){7, 9, 8, 6, 5}}}}},
    {"MMAP2: pid 1 tid 2 addr 0x1000 len 0x20 pgoff 0x30 dev 08:02 ino 77 "
     "ino_generation 3 prot 0x5 flags 0x2 filename /a b",
     {.type = PERF_RECORD_MMAP2,
      .mmap = {1, 2, 0x1000, 0x20, 0x30, 8, 2, 77, 3, .prot = 5, .flags = 2,
               TEXT(filename)}}},
    {"MMAP2: pid 1 tid 2 addr 0x1000 len 0x20 pgoff 0x30 build_id 01ff prot "
     "0x5 flags 0x2 filename /a b",
     {.type = PERF_RECORD_MMAP2,
      .misc = UVPERF_RECORD_MISC_MMAP_BUILD_ID,
      .mmap = {1, 2, 0x1000, 0x20, 0x30, .build_id_size = 2,
               .build_id = {1, 0xff}, .prot = 5, .flags = 2, TEXT(filename)}}},
    {"AUX: offset 0x10 size 0x20 flags 0x5 (truncated|partial)",
     {.type = PERF_RECORD_AUX, .aux = {0x10, 0x20, 5}}},
    {"ITRACE_START: pid 1 tid 2",
     {.type = PERF_RECORD_ITRACE_START, .itrace_start = {1, 2}}},
    {"LOST_SAMPLES: lost 3",
     {.type = PERF_RECORD_LOST_SAMPLES, .lost_samples = {3}}},
    {"SWITCH: in", {.type = PERF_RECORD_SWITCH}},
    {"SWITCH_CPU_WIDE: out preempt next pid 1 tid 2",
     {.type = PERF_RECORD_SWITCH_CPU_WIDE,
      .misc = PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
      .switch_cpu_wide = {1, 2}}},
    {"SWITCH_CPU_WIDE: in prev pid 1 tid 2",
     {.type = PERF_RECORD_SWITCH_CPU_WIDE, .switch_cpu_wide = {1, 2}}},
    {"NAMESPACES: pid 1 tid 2 nr_namespaces 8 net 4/0xa uts 4/0xb ipc 4/0xc "
     "pid 4/0xd user 4/0xe mnt 4/0xf cgroup 4/0x10 unknown 4/0x11",
     {.type = PERF_RECORD_NAMESPACES, .namespaces = {1, 2, 8, links}}},
    {"KSYMBOL: addr 0x10 len 32 type 1 flags 0x1 (unregister) name /a b",
     {.type = PERF_RECORD_KSYMBOL, .ksymbol = {0x10, 32, 1, 1, TEXT(name)}}},
    {"BPF_EVENT: type 1 flags 0x2 id 3 tag 0102030405060708",
     {.type = PERF_RECORD_BPF_EVENT,
      .bpf_event = {1, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}}}},
    {"CGROUP: id 9 path /a b",
     {.type = PERF_RECORD_CGROUP, .cgroup = {9, TEXT(path)}}},
    {"TEXT_POKE: addr 0x10 old size 1 90 new size 2 e8ff",
     {.type = PERF_RECORD_TEXT_POKE,
      .text_poke = {0x10, 1, 2, (const uint8_t[]){0x90},
                    (const uint8_t[]){0xe8, 0xff}}}},
    {"AUX_OUTPUT_HW_ID: hw_id 0x10",
     {.type = UVPERF_RECORD_AUX_OUTPUT_HW_ID, .aux_output_hw_id = {0x10}}},
    {"CALLCHAIN_DEFERRED: cookie 0x9 nr 4 kernel: 0x10 user: 0x20",
     {.type = UVPERF_RECORD_CALLCHAIN_DEFERRED,
      .callchain_deferred = {9, 4, ips}}},
    {"CALLCHAIN_DEFERRED: cookie 0x9 nr 7 hypervisor: kernel: user: "
     "user_deferred: guest: guest_kernel: guest_user:",
     {.type = UVPERF_RECORD_CALLCHAIN_DEFERRED,
      .callchain_deferred = {9, LENGTH(marks), marks}}},
    {"99: unknown size 3 010203",
     {.type = 99, .size = 3, .bytes = (const uint8_t[]){1, 2, 3}}},
};

static void record_of_each_type_is_a_line(void **state) {
  uint32_t seen = 1u << PERF_RECORD_SAMPLE | 1u;
  char line[256];
  size_t i;

  for (i = 0; i < LENGTH(lines); i++) {
    snprintf(line, sizeof(line), "PERF_RECORD_%s", lines[i].line);
    expect_line(&lines[i].record, line);
    if (lines[i].record.type <= BUILD_TYPES)
      seen |= 1u << lines[i].record.type;
  }
  assert_int_equal(seen, (1u << (BUILD_TYPES + 1)) - 1);
}

static void record_prints_ids_cpu_and_time_if_present(void **state) {
  uvperf_record_t record = {.type = PERF_RECORD_SWITCH,
                            .pid = 1,
                            .tid = 2,
                            .cpu = 3,
                            .time = UINT64_C(1000000004),
                            .id = 5,
                            .stream_id = 6};

  expect_line(&record, "PERF_RECORD_SWITCH: in");
  record.present = PERF_SAMPLE_CPU;
  expect_line(&record, "PERF_RECORD_SWITCH cpu 3: in");
  record.present |= PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
  expect_line(&record,
              "PERF_RECORD_SWITCH 1/2 cpu 3 time 1.000000004 id 5: in");
  record.present = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID;
  expect_line(&record, "PERF_RECORD_SWITCH id 5 stream_id 6: in");
}

static void record_that_is_damaged_is_its_bytes(void **state) {
  const uvperf_record_t record = {
      .type = PERF_RECORD_COMM, .size = 8, .bytes = "\3\0\0\0\0\0\x08\0"};
  char text[128];

  uvperf_record_format(&record, UV_EPROTO, text, sizeof(text));
  assert_string_equal(text,
                      "PERF_RECORD_COMM: damaged size 8 0300000000000800");
}

/* -- samples --------------------------------------------------------------- */

typedef struct field_s {
  uint64_t present;
  const char *text;
} field_t;

static void sample_with_each_field_names_it(void **state) {
  static const struct perf_branch_entry branches[] = {
      {.from = 0x10, .to = 0x20, .predicted = 1, .cycles = 5},
      {.from = 0x30, .to = 0x40, .mispred = 1, .in_tx = 1, .abort = 1}};
  static const uint64_t regs[] = {0x11, 0x22, 0x33};
  static const field_t fields[] = {
      {0, ""},
      {PERF_SAMPLE_IP, " ip 0x10"},
      {PERF_SAMPLE_ADDR, " addr 0x20"},
      {PERF_SAMPLE_PERIOD, " period 30"},
      {PERF_SAMPLE_READ, " value 40"},
      {PERF_SAMPLE_CALLCHAIN, " callchain nr 4 kernel: 0x10 user: 0x20"},
      {PERF_SAMPLE_RAW, " raw size 2 abcd"},
      {PERF_SAMPLE_BRANCH_STACK,
       " brstack nr 2 0x10/0x20/P/-/-/5 0x30/0x40/M/X/A/0"},
      {PERF_SAMPLE_REGS_USER, " regs_user abi 2 3:0x11 32:0x22 63:0x33"},
      {PERF_SAMPLE_STACK_USER, " stack_user size 2 abcd"},
      {PERF_SAMPLE_WEIGHT, " weight 12"},
      {UVPERF_SAMPLE_WEIGHT_STRUCT, " weight 1 ins_lat 2 p_stage_cyc 3"},
      {PERF_SAMPLE_DATA_SRC, " data_src 0x2 |OP load |LVL N/A |SNP N/A |LCK "
                             "no |TLB N/A |BLK N/A"},
      {PERF_SAMPLE_TRANSACTION,
       " transaction 0xff00000012 (transaction|retry) abort_code 0xff"},
      {PERF_SAMPLE_REGS_INTR, " regs_intr abi 0"},
      {PERF_SAMPLE_PHYS_ADDR, " phys_addr 0x50"},
      {PERF_SAMPLE_CGROUP, " cgroup 0x60"},
      {UVPERF_SAMPLE_DATA_PAGE_SIZE, " data_page_size 0x1000"},
      {UVPERF_SAMPLE_CODE_PAGE_SIZE, " code_page_size 0x2000"},
      {PERF_SAMPLE_AUX, " aux size 0"},
  };
  uvperf_record_t record = {.type = PERF_RECORD_SAMPLE,
                            .misc = PERF_RECORD_MISC_USER};
  uvperf_sample_t *sample = &record.sample;
  char line[256];
  size_t i;

  record.ip = 0x10;
  record.addr = 0x20;
  record.period = 30;
  sample->read.nr = 1;
  sample->read.words = (const uint64_t[]){40};
  sample->callchain.nr = 4;
  sample->callchain.ips = ips;
  sample->raw.size = 2;
  sample->raw.data = "\xab\xcd";
  sample->branch.nr = 2;
  sample->branch.entries = branches;
  sample->regs_user =
      (uvperf_regs_t){2, UINT64_C(1) << 63 | UINT64_C(1) << 32 | 8, 3, regs};
  sample->stack_user.size = 8;
  sample->stack_user.dyn_size = 2;
  sample->stack_user.data = "\xab\xcd";
  sample->weight.full = 12;
  sample->weight.var1_dw = 1;
  sample->weight.var2_w = 2;
  sample->weight.var3_w = 3;
  sample->data_src = 2;
  sample->transaction = UINT64_C(0xff00000012);
  sample->regs_intr.mask = 1;
  sample->phys_addr = 0x50;
  sample->cgroup = 0x60;
  sample->data_page_size = 0x1000;
  sample->code_page_size = 0x2000;
  for (i = 0; i < LENGTH(fields); i++) {
    record.present = fields[i].present;
    snprintf(line, sizeof(line), "PERF_RECORD_SAMPLE: user%s", fields[i].text);
    expect_line(&record, line);
  }
}

/* -- rooms ----------------------------------------------------------------- */

/* In memory of exactly its size. */
static void expect_cut(const uvperf_record_t *record, const char *whole,
                       size_t size) {
  size_t length = strlen(whole);
  char *text = malloc(size);

  assert_non_null(text);
  assert_int_equal(uvperf_record_format(record, 0, text, size), length);
  assert_int_equal(strlen(text), size <= length ? size - 1 : length);
  assert_memory_equal(text, whole, strlen(text));
  free(text);
}

static record_values_t values;

static void record_in_each_room_is_the_beginning_of_its_line(void **state) {
  static record_builder_t builder;
  static char whole[16384];
  struct perf_event_attr attr;
  const uvperf_record_t *record;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  uint32_t type;
  size_t size;

  record_values_init(&values);
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.sample_type = BUILD_SAMPLE_ALL;
  attr.read_format = BUILD_FORMAT_ALL;
  attr.sample_id_all = 1;
  decoder = record_decoder(&source, &attr);
  for (type = 1; type <= BUILD_TYPES; type++) {
    record_build(&builder, type, &attr, &values);
    assert_int_equal(
        uvperf_decode(decoder, builder.words, builder.size, &record), 0);
    size = uvperf_record_format(record, 0, NULL, 0);
    assert_in_range(size, 20, sizeof(whole) - 1);
    assert_int_equal(uvperf_record_format(record, 0, whole, sizeof(whole)),
                     size);
    assert_int_equal(strlen(whole), size);
    for (size += 2; size >= 1; size--)
      expect_cut(record, whole, size);
  }
  uvperf_decoder_free(decoder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_of_each_type_is_a_line),
      cmocka_unit_test(record_prints_ids_cpu_and_time_if_present),
      cmocka_unit_test(record_that_is_damaged_is_its_bytes),
      cmocka_unit_test(sample_with_each_field_names_it),
      cmocka_unit_test(record_in_each_room_is_the_beginning_of_its_line),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
