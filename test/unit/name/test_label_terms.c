/* SPDX-License-Identifier: MIT */
/* Randomly composed names: their labels parse to the same attr, and have
 * themselves as label. */
#include "support.h"
#include "make_host.h"

#include "attr/generic_name.h"
#include "check_name.h"
#include "name/list.h"
#include "make_names.h"
#include "model_run.h"

#define NAMES      1500
#define NAME_BYTES 1024

/* The name on its way, and what may follow. */
typedef struct name_s {
  model_run_t run;
  char text[NAME_BYTES];
  enum {
    NAME,  /* cycles, with terms cycles/…/ */
    SLASH, /* cpu/…/ */
    FIELDS /* type=…,config=…, whose terms all have a value */
  } form;
  int has_terms;
} name_t;

static uint64_t draw(name_t *name, uint64_t below) {
  return model_run_draw(&name->run, below);
}

/* Small and large numbers alike. */
static uint64_t draw_number(name_t *name, unsigned int bits) {
  uint64_t number =
      draw(name, UINT64_C(1) << 32) << 32 | draw(name, UINT64_C(1) << 32);

  return number >> (64 - 1 - draw(name, bits));
}

static void put(name_t *name, const char *format, ...) {
  size_t length = strlen(name->text);
  va_list values;

  va_start(values, format);
  vsnprintf(name->text + length, NAME_BYTES - length, format, values);
  va_end(values);
}

static void put_number(name_t *name, uint64_t number) {
  put(name, draw(name, 2) ? "0x%llx" : "%llu", (unsigned long long)number);
}

static void next_term(name_t *name) {
  put(name, "%s", name->has_terms ? "," : name->form == NAME ? "/" : "");
  name->has_terms = 1;
}

static void put_term(name_t *name, const char *term) {
  next_term(name);
  put(name, "%s", term);
}

/* -- what to measure ------------------------------------------------------ */

/* Draws the n-th of the generic names, counting down. */
static int take(const char *generic, void *data) {
  struct {
    name_t *name;
    uint64_t left;
  } *choice = data;

  if (choice->left-- != 0)
    return 0;
  put(choice->name, "%s", generic);
  return 1;
}

static void put_generic_name(name_t *name) {
  struct {
    name_t *name;
    uint64_t left;
  } choice = {name, draw(name, 60)};
  static const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE,
                                   PERF_TYPE_HW_CACHE};
  uint32_t i = (uint32_t)draw(name, 3);

  while (!uvperf__generic_each(types[i], take, &choice) &&
         !uvperf__generic_each_alias(types[i], take, &choice))
    i = (i + 1) % 3;
}

static void put_generic(name_t *name) {
  name->form = NAME;
  put_generic_name(name);
}

static void put_raw(name_t *name) {
  name->form = NAME;
  put(name, "r%llx", (unsigned long long)draw_number(name, 64));
}

static void put_numbers(name_t *name) {
  name->form = NAME;
  put(name, "%u:", (unsigned int)draw(name, 24));
  put_number(name, draw_number(name, 64));
}

static void put_breakpoint(name_t *name) {
  static const char *const accesses[] = {"",    ":r",  ":w",  ":x",
                                         ":rw", ":wr", ":rx", ":rwx"};

  name->form = NAME;
  put(name, "mem:");
  put_number(name, draw_number(name, 64));
  if (draw(name, 2))
    put(name, "/%u", 1u << draw(name, 5));
  put(name, "%s", accesses[draw(name, 8)]);
}

static void put_tracepoint(name_t *name) {
  static const char *const names[] = {
      "sched:sched_switch", "sched:sched_wakeup", "syscalls:sys_enter_openat",
      "ftrace:function"};

  name->form = NAME;
  put(name, "%s", names[draw(name, 4)]);
}

/* The terms of names/tree.txt and the bits that each has. */
static void put_pmu_terms(name_t *name) {
  static const struct {
    const char *pmu;
    const char *term;
    unsigned int bits;
  } terms[] = {
      {"cpu", "event", 8},
      {"cpu", "umask", 8},
      {"cpu", "edge", 1},
      {"cpu", "any", 1},
      {"cpu", "inv", 1},
      {"cpu", "cmask", 8},
      {"cpu", "in_tx", 1},
      {"cpu", "ldlat", 16},
      {"cpu", "offcore_rsp", 64},
      {"cpu", "frontend", 24},
      {"msr", "event", 64},
      {"uncore_imc_0", "event", 12},
      {"uncore_imc_0", "umask", 16},
      {"uncore_imc_0", "match", 12},
      {"uncore_imc_0", "opcode", 59},
  };
  size_t last = COUNT_OF(terms) - 1;
  size_t i, first = (size_t)draw(name, last + 1);

  name->form = SLASH;
  put(name, "%s/", terms[first].pmu);
  for (i = first; i <= last; i += 1 + (size_t)draw(name, 4)) {
    if (strcmp(terms[i].pmu, terms[first].pmu) != 0)
      continue;
    put_term(name, terms[i].term);
    if (terms[i].bits > 1 || draw(name, 2)) {
      put(name, "=");
      put_number(name, draw_number(name, terms[i].bits));
    }
  }
}

static void put_pmu_event(name_t *name) {
  static const char *const events[] = {"cpu/mem-loads",
                                       "cpu/mem-loads,ldlat=30",
                                       "cpu/cycles-t",
                                       "cpu/topdown-total-slots",
                                       "cpu/cpu-cycles,umask=1",
                                       "uncore_imc_0/data_reads",
                                       "uncore_imc_0/clockticks",
                                       "uncore_imc_0/matched,opcode=7",
                                       "msr/tsc",
                                       "cpu/r1a8",
                                       "cpu/config=0xfedcba98",
                                       "cpu/config1=5,config2=6"};

  name->form = SLASH;
  name->has_terms = 1;
  put(name, "%s", events[draw(name, 12)]);
}

static void put_fields(name_t *name) {
  /* Those of the probes' PMUs, 6 and 8, have a pointer in config1. */
  static const unsigned int types[] = {0, 1, 2,  3,  4,  5,
                                       7, 9, 10, 20, 21, 4000000000};
  static const char *const fields[] = {"config1", "config2", "config3",
                                       "config4", "bp_type"};
  size_t i;

  name->form = FIELDS;
  name->has_terms = 1;
  put(name, "type=%u,config=", types[draw(name, 12)]);
  put_number(name, draw_number(name, 64));
  for (i = (size_t)draw(name, 5); i < 5; i++) {
    put(name, ",%s=", fields[i]);
    put_number(name, draw_number(name, i == 4 ? 3 : 64));
  }
}

static void put_probe(name_t *name) {
  static const char *const places[] = {
      "uprobe/path=\"/usr/bin/x\"",  "uprobe/path='/tmp/a, \"b\"/c'",
      "uprobe/path=\"it's\"",        "kprobe/func=do_sys_openat2",
      "kprobe/func='a b',offset=16", "kprobe/addr=0xffffffff81000000"};
  size_t i = (size_t)draw(name, 6);

  name->form = SLASH;
  name->has_terms = 1;
  put(name, "%s", places[i]);
  if (i < 3) {
    put(name, ",offset=");
    put_number(name, draw_number(name, 40));
    if (draw(name, 2))
      put(name, ",ref_ctr_offset=%llu",
          (unsigned long long)draw_number(name, 32));
  }
  if (draw(name, 2))
    put(name, ",retprobe");
}

/* An event of one kind of CPUs; PMUs have no software events. */
static void put_hybrid(name_t *name) {
  static const char *const events[] = {
      "cycles",          "cpu-cycles", "instructions",          "branches",
      "L1-dcache-loads", "LLC",        "L1-icache-load-misses", "event=0x3c",
      "mem-stores",      "r1a8"};

  name->form = SLASH;
  name->has_terms = 1;
  put(name, "cpu_%s/%s", draw(name, 2) ? "core" : "atom",
      events[draw(name, 10)]);
}

/* -- how to measure it ---------------------------------------------------- */

static void put_flag(name_t *name, const char *flag) {
  if (draw(name, 8) != 0)
    return;
  next_term(name);
  put(name, "%s%s", flag, name->form == FIELDS || draw(name, 2) ? "=1" : "");
}

static void put_value(name_t *name, const char *term, unsigned int bits) {
  if (draw(name, 6) != 0)
    return;
  put_term(name, term);
  put(name, "=");
  put_number(name, draw_number(name, bits));
}

static void put_stacks(name_t *name) {
  static const char *const stacks[] = {
      "call-graph=fp",
      "call-graph=dwarf",
      "call-graph=dwarf,stack-size=4096",
      "stack-size=0,call-graph=dwarf",
      "call-graph=lbr",
      "call-graph=no",
      "branch_type=any",
      "branch_type=u",
      "branch_type=stack",
      "branch_type=no_cycles",
      "branch_type=no",
      "branch_type=any_call,call-graph=fp",
      "call-graph=dwarf,branch_type=k",
  };

  if (draw(name, 3) != 0)
    return;
  put_term(name, stacks[draw(name, 13)]);
}

static void put_terms(name_t *name) {
  put_value(name, "period", 63);
  put_value(name, "freq", 20);
  put_value(name, "max-stack", 16);
  put_value(name, "aux-sample-size", 32);
  put_stacks(name);
  put_flag(name, "time");
  put_flag(name, "inherit");
  put_flag(name, "overwrite");
  put_flag(name, "aux-output");
}

static void put_modifiers(name_t *name) {
  static const char letters[] = "ukhGHISDe";
  int is_bare = name->form == NAME ? !name->has_terms : name->form == FIELDS;
  uint64_t chosen = draw(name, 4) ? draw(name, 1 << 9) : 0;
  uint64_t precise = draw(name, 4);
  size_t i;

  if (chosen == 0 && precise == 0)
    return;
  put(name, "%s", is_bare ? ":" : "");
  for (i = 0; i < 9; i++)
    if (chosen >> i & 1)
      put(name, "%c", letters[i]);
  put(name, "%.*s", (int)precise, "ppp");
}

/* -- the tests ------------------------------------------------------------ */

/* The label of a label's event is the label. */
static const char *check_stays(const struct perf_event_attr *attr) {
  char label[NAME_BYTES], again[NAME_BYTES];
  size_t size = sizeof(label);
  uvperf_event_list_t *list;
  const char *fault = NULL;

  if (uvperf_attr_label(attr, label, &size) != 0 ||
      uvperf_event_list_parse(&list, label, NULL) != 0)
    return "the label does not parse";
  size = sizeof(again);
  if (uvperf_event_list_get(list, 0)->part == NULL &&
      (uvperf_attr_label(uvperf_event_list_get(list, 0)->attr, again, &size) !=
           0 ||
       strcmp(label, again) != 0))
    fault = "the label's event has another label";
  uvperf_event_list_free(list);
  return fault;
}

static void check(const name_t *name) {
  uvperf_event_list_t *list;
  uvperf_error_t error;
  const char *fault;
  int code;

  if (uvperf_event_list_parse(&list, name->text, &error) != 0)
    fail_msg("%s: %s", name->text, error.reason);
  fault = check_stays(uvperf_event_list_get(list, 0)->attr);
  uvperf_event_list_free(list);
  if (fault == NULL)
    fault = event_name_check(name->text, &code);
  if (fault != NULL)
    fail_msg("%s: %s", name->text, fault);
}

static void check_names(void (*const *kinds)(name_t *), size_t nr) {
  name_t name;
  int i;

  model_run_seed(&name.run, 1);
  for (i = 0; i < NAMES; i++) {
    name.text[0] = '\0';
    name.has_terms = 0;
    kinds[draw(&name, nr)](&name);
    if (draw(&name, 2))
      put_terms(&name);
    if (name.form == SLASH || (name.form == NAME && name.has_terms))
      put(&name, "/");
    put_modifiers(&name);
    check(&name);
  }
}

static void names_on_one_kind_of_cpus_have_labels_that_parse(void **state) {
  static void (*const kinds[])(name_t *) = {
      put_generic,   put_raw,       put_numbers, put_breakpoint, put_tracepoint,
      put_pmu_terms, put_pmu_event, put_fields,  put_probe,
  };

  assert_int_equal(make_names_plant(make_host_root(), "tree.txt"), 0);
  check_names(kinds, COUNT_OF(kinds));
}

static void names_on_two_kinds_of_cpus_have_labels_that_parse(void **state) {
  static void (*const kinds[])(name_t *) = {put_hybrid, put_generic,
                                            put_fields};

  assert_int_equal(make_names_plant(make_host_root(), "hybrid_tree.txt"), 0);
  check_names(kinds, COUNT_OF(kinds));
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(names_on_one_kind_of_cpus_have_labels_that_parse),
      MAKE_HOST_TEST(names_on_two_kinds_of_cpus_have_labels_that_parse),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
