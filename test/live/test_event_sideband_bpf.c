/* SPDX-License-Identifier: MIT */
/* Live: KSYMBOL and BPF_EVENT of BPF programs that are loaded and unloaded,
 * checked against bpf(2); and TEXT_POKE. */
#include "live_bpf.h"
#include "live_sideband.h"

#include <unistd.h>

#include "sys/sys.h"

#define TYPE BPF_PROG_TYPE_SOCKET_FILTER

/* A program causes a symbol for each of its functions and one load, and the end
 * of each, in any order. */
typedef struct programs_s {
  live_truth_t truth;
  live_bpf_t program;
  const char *name;
  uint64_t found; /* records of the program, the others' not among them */
  uint64_t symbols[LIVE_BPF_FUNCTIONS];
  uint64_t symbol_ends[LIVE_BPF_FUNCTIONS];
  uint64_t loads, unloads;
} programs_t;

/* -- the values of a record ----------------------------------------------- */

/* "bpf_prog_<tag>", then "_<name>" if there is one:
 * bpf_prog_ksym_set_name(). */
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

/* The function of a symbol; LIVE_BPF_FUNCTIONS if it is another program's. A
 * lone name is known, but its address may have been, or become, another
 * program's. */
static uint32_t find_function(const programs_t *programs,
                              const uvperf_ksymbol_t *ksymbol) {
  const live_bpf_t *program = &programs->program;
  char name[64];
  uint32_t i;

  name_symbol(programs, name, sizeof(name));
  if (program->nr_functions < 2)
    return strcmp(ksymbol->name, name) == 0 ? 0 : LIVE_BPF_FUNCTIONS;
  for (i = 0; i < program->nr_functions; i++)
    if (ksymbol->addr == program->addr[i])
      return i;
  return LIVE_BPF_FUNCTIONS;
}

/* A function that is not the main one has a tag and a name of its own. */
static int check_ksymbol(programs_t *programs, const uvperf_record_t *record) {
  const uvperf_ksymbol_t *ksymbol = &record->ksymbol;
  uint32_t function = find_function(programs, ksymbol);
  char name[64];

  if (function == LIVE_BPF_FUNCTIONS)
    return 0;
  name_symbol(programs, name, sizeof(name));
  if (programs->program.nr_functions > 1)
    name[strlen("bpf_prog_")] = '\0';
  else
    assert_int_equal(ksymbol->name_size, strlen(name));
  assert_memory_equal(ksymbol->name, name, strlen(name));
  assert_int_equal(ksymbol->name_size, strlen(ksymbol->name));
  assert_int_equal(ksymbol->ksym_type, PERF_RECORD_KSYMBOL_TYPE_BPF);
  if (programs->program.nr_functions > 0) {
    assert_true(ksymbol->addr == programs->program.addr[function]);
    assert_int_equal(ksymbol->len, programs->program.len[function]);
  }
  assert_int_equal(ksymbol->flags & ~PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, 0);
  if (ksymbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
    programs->symbol_ends[function] += 1;
  else
    programs->symbols[function] += 1;
  return 1;
}

static int check_bpf_event(programs_t *programs,
                           const uvperf_record_t *record) {
  const uvperf_bpf_event_t *bpf_event = &record->bpf_event;

  if (bpf_event->id != programs->program.id)
    return 0;
  assert_memory_equal(bpf_event->tag, programs->program.tag, BPF_TAG_SIZE);
  assert_int_equal(bpf_event->flags, 0);
  if (bpf_event->type == PERF_BPF_EVENT_PROG_LOAD)
    programs->loads += 1;
  else if (bpf_event->type == PERF_BPF_EVENT_PROG_UNLOAD)
    programs->unloads += 1;
  else
    fail_msg("type %d", bpf_event->type);
  return 1;
}

static void check_program(live_collector_t *collector,
                          const uvperf_record_t *record) {
  const struct perf_event_attr *attr =
      uvperf_handle_attr(&collector->event.handle, 0);
  programs_t *programs = collector->hook_data;
  int is_ours = 0;

  if (record->type == PERF_RECORD_KSYMBOL) {
    assert_int_equal(attr->ksymbol, 1);
    is_ours = check_ksymbol(programs, record);
  } else {
    assert_int_equal(record->type, PERF_RECORD_BPF_EVENT);
    assert_int_equal(attr->bpf_event, 1);
    is_ours = check_bpf_event(programs, record);
  }
  if (!is_ours)
    return;
  live_assert_trailer(collector, record, &programs->truth);
  programs->found += 1;
}

/* Each symbol, and the program, came once and went once. */
static void assert_came_and_went(const programs_t *programs,
                                 const struct perf_event_attr *attr,
                                 uint32_t functions) {
  uint32_t i;

  for (i = 0; i < functions; i++) {
    assert_int_equal(programs->symbols[i], attr->ksymbol);
    assert_int_equal(programs->symbol_ends[i], attr->ksymbol);
  }
  assert_int_equal(programs->loads, attr->bpf_event);
  assert_int_equal(programs->unloads, attr->bpf_event);
}

/* -- programs that come and go -------------------------------------------- */

/* A program that is interpreted has a symbol without a name. */
static void need_compiled_programs(const char *test) {
  FILE *file = fopen("/proc/sys/net/core/bpf_jit_enable", "re");
  int enabled = 0;

  live_bpf_need(test, TYPE);
  if (file != NULL) {
    assert_int_equal(fscanf(file, "%d", &enabled), 1);
    fclose(file);
  }
  if (!enabled)
    support_skip(test, "BPF programs that are compiled: bpf_jit_enable");
}

static void program_attr(struct perf_event_attr *attr, int has_trailer) {
  live_sideband_attr(attr, has_trailer);
  attr->ksymbol = 1;
  attr->bpf_event = 1;
}

static void programs_begin(programs_t *programs, const char *name) {
  live_truth_t truth = programs->truth;

  memset(programs, 0, sizeof(*programs));
  programs->truth = truth;
  programs->name = name;
}

/* Names of each length, so that each padding is there before the trailer. */
static void load_each_length(uv_loop_t *loop,
                             const struct perf_event_attr *attr) {
  static const char letters[] = "abcdefghijklmno";
  live_collector_t collector;
  programs_t programs;
  char name[16] = "";
  cpu_set_t old;
  size_t length;

  live_truth_pin(&programs.truth, &old);
  for (length = 0; length < sizeof(letters); length++) {
    memcpy(name, letters, length);
    programs_begin(&programs, name);
    live_begin(loop, &collector, attr, NULL, check_program, &programs);
    live_bpf_load_shortest(&programs.program, TYPE, name);
    live_bpf_close(&programs.program);
    live_end(&collector, 2 * (uint64_t)(attr->ksymbol + attr->bpf_event));
    assert_came_and_went(&programs, attr, 1);
  }
  live_unpin(&old);
}

static void sideband_bpf_program_of_each_name_comes_and_goes(void **state) {
  struct perf_event_attr attr;
  int has_trailer;

  support_need_own_events(__func__);
  need_compiled_programs(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    program_attr(&attr, has_trailer);
    load_each_length(*state, &attr);
  }
}

static void sideband_bpf_program_is_recorded_as_requested(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  need_compiled_programs(__func__);
  program_attr(&attr, 1);
  attr.ksymbol = 0;
  load_each_length(*state, &attr);
  attr.ksymbol = 1;
  attr.bpf_event = 0;
  load_each_length(*state, &attr);
}

/* An event of a CPU records what happens on it: perf_iterate_sb(). */
static void sideband_bpf_program_on_a_cpu_comes_and_goes(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  programs_t programs;
  char name[16];
  cpu_set_t old;
  int has_trailer;

  support_need_cpu_wide(__func__);
  need_compiled_programs(__func__);
  live_truth_pin(&programs.truth, &old);
  snprintf(name, sizeof(name), "cpu_%d", (int)getpid());
  options.pid = -1;
  options.cpu = programs.truth.cpu;
  options.flags |= UVPERF_EVENT_CPU;
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    programs_begin(&programs, name);
    program_attr(&attr, has_trailer);
    live_begin(*state, &collector, &attr, &options, check_program, &programs);
    live_bpf_load_shortest(&programs.program, TYPE, name);
    live_bpf_close(&programs.program);
    live_end_among_others(&collector, &programs.found, 4);
    assert_came_and_went(&programs, &attr, 1);
  }
  live_unpin(&old);
}

/* Opens an event that records the same before ours does, for which the kernel
 * makes our records too large. Returns its fd. */
static int open_observer(int cpu) {
  struct perf_event_attr attr;
  int fd;

  program_attr(&attr, 1);
  fd = uvperf__sys_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

static void sideband_bpf_program_is_read_beside_another_event(void **state) {
  struct perf_event_attr attr;
  live_truth_t truth;
  cpu_set_t old;
  int fd;

  support_need_cpu_wide(__func__);
  need_compiled_programs(__func__);
  live_truth_pin(&truth, &old);
  fd = open_observer(truth.cpu);
  program_attr(&attr, 1);
  load_each_length(*state, &attr);
  close(fd);
  live_unpin(&old);
}

static void
sideband_bpf_program_of_two_functions_has_two_symbols(void **state) {
  /* call the function after the exit; exit; r0 = 0; exit. */
  static const struct bpf_insn insns[] = {
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  live_collector_t collector;
  struct perf_event_attr attr;
  programs_t programs;
  cpu_set_t old;

  support_need_own_events(__func__);
  need_compiled_programs(__func__);
  live_truth_pin(&programs.truth, &old);
  programs_begin(&programs, "two");
  program_attr(&attr, 1);
  live_begin(*state, &collector, &attr, NULL, check_program, &programs);
  live_bpf_load(&programs.program, TYPE, "two", insns, 4);
  live_bpf_close(&programs.program);
  live_end(&collector, 6);
  live_unpin(&old);
  if (programs.program.nr_functions == 0)
    support_skip(__func__, "to see the addresses of BPF programs");
  assert_int_equal(programs.program.nr_functions, 2);
  assert_came_and_went(&programs, &attr, 2);
}

/* -- TEXT_POKE ------------------------------------------------------------ */

#define POKES 256

typedef struct poke_s {
  uint64_t addr;
  size_t len;
  uint8_t bytes[16]; /* the current bytes */
} poke_t;

typedef struct pokes_s {
  poke_t poke[POKES];
  size_t nr;
} pokes_t;

/* The new bytes at an address are the old bytes of the next poke. */
static void check_poke(live_collector_t *collector,
                       const uvperf_record_t *record) {
  const uvperf_text_poke_t *text = &record->text_poke;
  pokes_t *pokes = collector->hook_data;
  size_t i = 0;

  assert_int_equal(record->type, PERF_RECORD_TEXT_POKE);
  assert_true(record->present == LIVE_TRAILER);
  assert_true(text->addr != 0 && text->new_len > 0);
  while (i < pokes->nr && pokes->poke[i].addr != text->addr)
    i++;
  if (text->new_len > sizeof(pokes->poke[i].bytes) || i == POKES)
    return;
  if (i < pokes->nr && text->old_len == pokes->poke[i].len)
    assert_memory_equal(text->old_bytes, pokes->poke[i].bytes, text->old_len);
  pokes->nr += i == pokes->nr;
  pokes->poke[i].addr = text->addr;
  pokes->poke[i].len = text->new_len;
  memcpy(pokes->poke[i].bytes, text->new_bytes, text->new_len);
}

/* The kernel patches its code here, and patches it back. Some kernels write no
 * TEXT_POKE for that, for example in a paravirtual guest. So the test only
 * requires that the event opens and that every record is sound.
 * unit/decode/test_record.c tests the decoder, with made-up records. */
static void sideband_text_poke_is_sound_if_the_kernel_writes_it(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_truth_t truth;
  pokes_t pokes;
  cpu_set_t old;
  int fd;

  support_need_root(__func__);
  support_need_cpu_wide(__func__);
  live_bpf_need(__func__, TYPE);
  memset(&pokes, 0, sizeof(pokes));
  live_truth_pin(&truth, &old);
  live_sideband_attr(&attr, 1);
  attr.text_poke = 1;
  options.pid = -1;
  options.cpu = truth.cpu;
  options.flags |= UVPERF_EVENT_CPU;
  live_begin(*state, &collector, &attr, &options, check_poke, &pokes);
  fd = live_bpf_enable_stats();
  assert_true(fd >= 0);
  close(fd);
  live_end_among_others(&collector, &collector.ends, 0);
  live_unpin(&old);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_bpf_program_of_each_name_comes_and_goes),
      support_loop_test(sideband_bpf_program_is_recorded_as_requested),
      support_loop_test(sideband_bpf_program_is_read_beside_another_event),
      support_loop_test(sideband_bpf_program_on_a_cpu_comes_and_goes),
      support_loop_test(sideband_bpf_program_of_two_functions_has_two_symbols),
      support_loop_test(sideband_text_poke_is_sound_if_the_kernel_writes_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
