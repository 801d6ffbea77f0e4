/* SPDX-License-Identifier: MIT */
/* How list prints events that this machine may not have. */
#include "json_check.h"
#include "support.h"

#include "list/print.h"

static const list_options_t plain = {.kinds = UVPERF_NAME_PMU};
static const list_options_t detailed = {.kinds = UVPERF_NAME_PMU, .details = 1};
static const list_options_t all_detailed = {
    .kinds = UVPERF_NAME_PMU, .details = 1, .all = 1};

static list_name_t pmu_event(const char *name) {
  list_name_t made;

  memset(&made, 0, sizeof(made));
  made.event.kind = UVPERF_NAME_PMU;
  made.event.type = 21;
  made.event.name = name;
  made.event.pmu = "power";
  made.event.event = "energy-pkg";
  made.event.terms = "event=0x02";
  made.event.unit = "";
  made.event.scale = 1;
  made.has_attr = 1;
  uvperf_attr_init(&made.attr, 21, 2);
  return made;
}

/* Returns the output of list. The caller frees it with free(3). */
static char *write_by(size_t (*print)(const list_names_t *names, FILE *file),
                      list_name_t *events, size_t nr,
                      const list_options_t *options) {
  list_names_t names = {.options = options, .names = events, .nr = nr};
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);

  assert_non_null(file);
  print(&names, file);
  assert_int_equal(fclose(file), 0);
  return text;
}

static void expect_text(list_name_t *events, size_t nr,
                        const list_options_t *options, const char *expected) {
  char *text = write_by(list_print_text, events, nr, options);

  assert_string_equal(text, expected);
  free(text);
}

/* Expects a member in the only object of an array. */
static void expect_member(list_name_t *event, const list_options_t *options,
                          const char *member) {
  char *text = write_by(list_print_json, event, 1, options);

  assert_true(json_is_list(text));
  if (strstr(text, member) == NULL)
    print_error("no %s in %s", member, text);
  assert_non_null(strstr(text, member));
  free(text);
}

static void text_has_scale_unit_and_what_is_special(void **state) {
  list_name_t events[4] = {pmu_event("power/energy-pkg/"),
                           pmu_event("power/plain/"), pmu_event("power/half/"),
                           pmu_event("power/all/")};

  events[0].event.unit = "Joules";
  events[0].event.scale = 0.25;
  events[2].event.scale = 0.5;
  events[3].event.unit = "C";
  events[3].event.is_per_package = events[3].event.is_snapshot = 1;
  expect_text(events, 4, &plain,
              "Events of PMUs\n"
              "  power/energy-pkg/                                 "
              "0.25 Joules\n"
              "  power/plain/\n"
              "  power/half/                                       0.5 each\n"
              "  power/all/                                        "
              "1 C, per package, no sum\n");
}

static void text_of_a_long_name_keeps_what_follows_apart(void **state) {
  list_name_t event = pmu_event(
      "uncore_with_a_long_name/and_an_event_with_a_name_that_is_longer/");
  char *text;

  event.event.unit = "MiB";
  text = write_by(list_print_text, &event, 1, &plain);
  assert_non_null(strstr(text, "that_is_longer/  1 MiB\n"));
  free(text);
}

static void details_have_all_fields_terms_and_cpus(void **state) {
  list_name_t event = pmu_event("power/energy-pkg/");

  event.attr.config2 = 0xff;
  event.event.cpus = "0,64";
  expect_text(&event, 1, &detailed,
              "Events of PMUs\n"
              "  power/energy-pkg/\n"
              "      type=21,config=0x2,config2=0xff  (event=0x02)  on CPUs "
              "0,64\n");
}

static void details_of_what_needs_a_value_have_no_config(void **state) {
  list_name_t event = pmu_event("hv/tb,core=?/");

  event.has_attr = 0;
  event.event.needs_value = 1;
  event.event.terms = "core=?";
  expect_text(&event, 1, &detailed,
              "Events of PMUs\n"
              "  hv/tb,core=?/\n"
              "      type=21  (core=?)\n");
  expect_member(&event, &plain, "\"config\":null,\"config1\":null,");
  expect_member(&event, &plain, "\"needs_value\":true");
}

/* Here the first of two events does not open, or both do not. */
static void text_says_how_many_are_left_out(void **state) {
  static const list_options_t all = {.kinds = UVPERF_NAME_PMU, .all = 1};
  list_name_t events[2] = {pmu_event("a/no/"), pmu_event("a/yes/")};

  events[0].is_absent = 1;
  expect_text(events, 2, &plain,
              "Events of PMUs\n"
              "  a/yes/\n"
              "  1 other does not open on this machine: --all lists it\n");
  expect_text(events, 2, &all,
              "Events of PMUs\n"
              "  a/no/                                             "
              "does not open here\n"
              "  a/yes/\n");
  events[1].is_absent = 1;
  expect_text(events, 2, &plain,
              "Events of PMUs\n"
              "  2 do not open on this machine: --all lists them\n");
}

static void reasons_are_wrapped_at_the_end_of_lines(void **state) {
  list_name_t event = pmu_event("a/no/");
  char reason[300] = "";
  char *text, *line;

  while (strlen(reason) < 280)
    strcat(reason, "lorem ");
  event.is_absent = 1;
  event.reason = reason;
  text = write_by(list_print_text, &event, 1, &all_detailed);
  assert_non_null(strstr(text, "\n      no: lorem"));
  for (line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
    assert_true(strlen(line) < 80);
  free(text);
}

static void json_has_each_key_in_its_place(void **state) {
  list_name_t event = pmu_event("power/energy-pkg/");

  event.event.unit = "Joules";
  event.event.scale = 2.3283064365386962890625e-10;
  event.event.cpus = "0,64";
  event.event.is_per_package = 1;
  event.attr.config1 = UINT64_MAX;
  expect_member(
      &event, &plain,
      "{\"name\":\"power/energy-pkg/\",\"alias\":null,\"kind\":\"pmu\","
      "\"type\":21,\"config\":\"0x2\",\"config1\":\"0xffffffffffffffff\","
      "\"config2\":\"0x0\",\"pmu\":\"power\",\"event\":\"energy-pkg\","
      "\"terms\":\"event=0x02\",\"unit\":\"Joules\","
      "\"scale\":2.3283064365386963e-10,\"cpus\":\"0,64\","
      "\"per_package\":true,\"snapshot\":false,\"needs_value\":false}");
}

static void
hostile_names_can_neither_write_to_a_terminal_nor_break_json(void **state) {
  char wild[] = "\"\\\n\x1b[2J\xff\xe2\x80\xae/x/";
  list_name_t event = pmu_event(wild);
  char *text;

  event.event.alias = event.event.pmu = event.event.event = wild;
  event.event.terms = event.event.unit = event.event.cpus = wild;
  text = write_by(list_print_json, &event, 1, &plain);
  assert_true(json_is_list(text));
  free(text);
  event.is_absent = 1;
  event.reason = wild;
  text = write_by(list_print_text, &event, 1, &all_detailed);
  assert_null(strchr(text, '\x1b'));
  assert_null(strchr(text, '\xff'));
  assert_null(strstr(text, "\xe2\x80\xae"));
  free(text);
}

/* The longest name that sysfs can define has 4608 bytes. */
static void very_long_names_are_cut_in_text_alone(void **state) {
  char name[5000] = "";
  list_name_t event = pmu_event(name);
  char *text;

  memset(name, 'x', sizeof(name) - 1);
  event.event.terms = event.event.alias = name;
  text = write_by(list_print_text, &event, 1, &detailed);
  assert_in_range(strlen(text), 1024, 8192);
  free(text);
  text = write_by(list_print_json, &event, 1, &plain);
  assert_true(json_is_list(text));
  assert_non_null(strstr(text, name));
  free(text);
}

static void reader_of_arrays_is_strict(void **state) {
  static const char *const good[] = {
      "[]\n",
      "[\n{\"a\":1e-10}\n]\n",
      "[\n{\"a\":true,\"b\":false,\"c\":null},\n{\"a\":1.5E+3}\n]\n",
  };
  static const char *const bad[] = {
      "",
      "[",
      "[]",
      "[\n]\n",
      "[\n{\"a\":1}\n]",
      "[\n{\"a\":1},\n]\n",
      "[\n{\"a\":1}{\"a\":1}\n]\n",
      "[\n{\"a\":1}\n,{\"a\":1}\n]\n",
      "[\n{\"a\":1}\n]\n[]\n",
      "[\n{\"a\":1e}\n]\n",
      "[\n{\"a\":True}\n]\n",
      "[\n{\"a\":truer}\n]\n",
      "[\n1\n]\n",
      "{\"a\":1}\n",
  };
  size_t i;

  for (i = 0; i < COUNT_OF(good); i++)
    assert_true(json_is_list(good[i]));
  for (i = 0; i < COUNT_OF(bad); i++)
    assert_false(json_is_list(bad[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_has_scale_unit_and_what_is_special),
      cmocka_unit_test(text_of_a_long_name_keeps_what_follows_apart),
      cmocka_unit_test(details_have_all_fields_terms_and_cpus),
      cmocka_unit_test(details_of_what_needs_a_value_have_no_config),
      cmocka_unit_test(text_says_how_many_are_left_out),
      cmocka_unit_test(reasons_are_wrapped_at_the_end_of_lines),
      cmocka_unit_test(json_has_each_key_in_its_place),
      cmocka_unit_test(
          hostile_names_can_neither_write_to_a_terminal_nor_break_json),
      cmocka_unit_test(very_long_names_are_cut_in_text_alone),
      cmocka_unit_test(reader_of_arrays_is_strict),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
