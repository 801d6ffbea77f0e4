/* SPDX-License-Identifier: MIT */
/* Live: KSYMBOL and BPF_EVENT of BPF programs that are loaded and unloaded,
 * checked against what bpf(2) tells of them; and TEXT_POKE. */
#include "live_bpf.h"
#include "live_sideband.h"

#define TYPE BPF_PROG_TYPE_SOCKET_FILTER

/* Each program gives four: its symbol and its load, its symbol's and its own
 * end. Which comes first is the kernel's business. */
typedef struct programs_s {
  live_truth_t truth;
  live_bpf_t program;
  const char *name;
  uint64_t found; /* records of the program, the others' not among them */
  uint64_t symbols, symbol_ends;
  uint64_t loads, unloads;
} programs_t;

/* -- what a record says --------------------------------------------------- */

/* "bpf_prog_<tag>", then "_<name>" if there is one: bpf_prog_ksym_set_name(). */
static void name_symbol(const programs_t *programs, char *name, size_t size) {
  const uint8_t *tag = programs->program.tag;
  size_t used;
  size_t i;

  used = (size_t)snprintf(name, size, "bpf_prog_");
  for (i = 0; i < BPF_TAG_SIZE; i++)
    used += (size_t)snprintf(name + used, size - used, "%02x",
                             (unsigned int)tag[i]);
  if (programs->name[0] != '\0')
    snprintf(name + used, size - used, "_%s", programs->name);
}

static void check_ksymbol(programs_t *programs, const uvperf_record_t *record) {
  const uvperf_ksymbol_t *ksymbol = &record->ksymbol;
  char name[64];

  name_symbol(programs, name, sizeof(name));
  assert_string_equal(ksymbol->name, name);
  assert_int_equal(ksymbol->name_size, strlen(name));
  assert_int_equal(ksymbol->ksym_type, PERF_RECORD_KSYMBOL_TYPE_BPF);
  if (programs->program.nr_functions > 0) {
    assert_true(ksymbol->addr == programs->program.addr[0]);
    assert_int_equal(ksymbol->len, programs->program.len[0]);
  }
  assert_int_equal(ksymbol->flags & ~PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, 0);
  if (ksymbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
    programs->symbol_ends += 1;
  else
    programs->symbols += 1;
}

static void check_bpf_event(programs_t *programs,
                            const uvperf_record_t *record) {
  const uvperf_bpf_event_t *bpf_event = &record->bpf_event;

  assert_int_equal(bpf_event->id, programs->program.id);
  assert_memory_equal(bpf_event->tag, programs->program.tag, BPF_TAG_SIZE);
  assert_int_equal(bpf_event->flags, 0);
  if (bpf_event->type == PERF_BPF_EVENT_PROG_LOAD)
    programs->loads += 1;
  else if (bpf_event->type == PERF_BPF_EVENT_PROG_UNLOAD)
    programs->unloads += 1;
  else
    fail_msg("type %d", bpf_event->type);
}

static void check_program(live_collector_t *collector,
                          const uvperf_record_t *record) {
  programs_t *programs = collector->hook_data;

  if (record->type == PERF_RECORD_KSYMBOL) {
    check_ksymbol(programs, record);
  } else {
    assert_int_equal(record->type, PERF_RECORD_BPF_EVENT);
    check_bpf_event(programs, record);
  }
  live_assert_trailer(collector, record, &programs->truth);
  programs->found += 1;
}

/* -- of one's own task ---------------------------------------------------- */

static void program_attr(struct perf_event_attr *attr, int has_trailer) {
  live_sideband_attr(attr, has_trailer);
  attr->ksymbol = 1;
  attr->bpf_event = 1;
}

/* Names of each length, so that each padding is there before the trailer. */
static void load_each_length(uv_loop_t *loop, int has_trailer) {
  static const char letters[] = "abcdefghijklmno";
  struct perf_event_attr attr;
  live_collector_t collector;
  programs_t programs;
  char name[16] = "";
  cpu_set_t old;
  size_t length;

  live_truth_pin(&programs.truth, &old);
  program_attr(&attr, has_trailer);
  for (length = 0; length < sizeof(letters); length++) {
    memcpy(name, letters, length);
    programs.name = name;
    programs.found = 0;
    programs.symbols = programs.symbol_ends = 0;
    programs.loads = programs.unloads = 0;
    live_begin(loop, &collector, &attr, NULL, check_program, &programs);
    live_bpf_load_shortest(&programs.program, TYPE, name);
    live_bpf_close(&programs.program);
    live_end(&collector, 4);
    assert_int_equal(programs.symbols, 1);
    assert_int_equal(programs.symbol_ends, 1);
    assert_int_equal(programs.loads, 1);
    assert_int_equal(programs.unloads, 1);
  }
  live_unpin(&old);
}

static void
sideband_bpf_program_of_each_name_comes_and_goes_with_trailer(void **state) {
  support_need_own_events(__func__);
  live_bpf_need(__func__, TYPE);
  load_each_length(*state, 1);
}

static void
sideband_bpf_program_of_each_name_comes_and_goes_without_trailer(void **state) {
  support_need_own_events(__func__);
  live_bpf_need(__func__, TYPE);
  load_each_length(*state, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(
          sideband_bpf_program_of_each_name_comes_and_goes_with_trailer),
      support_loop_test(
          sideband_bpf_program_of_each_name_comes_and_goes_without_trailer),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
