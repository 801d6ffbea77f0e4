/* SPDX-License-Identifier: MIT */
/* The file contains the profile, as decoded by protobuf-c and as shown by `go
 * tool pprof`. */
#include "go_pprof.h"

#include <inttypes.h>
#include <unistd.h>

#include <zlib.h>

#include "profile.pb-c.h"
#include "profile/pprof/pprof.h"

#define MAX_FRAMES 12

/* -- profiles -------------------------------------------------------------- */

static uint32_t next(uint32_t *seed) {
  *seed = *seed * 1103515245u + 12345u;
  return *seed >> 16;
}

static stacks_t made; /* by the last begin() */

static void begin(stacks_t *stacks) {
  if (stacks->tables != NULL)
    stacks_free(stacks);
  stacks_init(stacks);
  stacks->event = "cpu-clock";
  stacks->unit = "ns";
  stacks->start_ns = UINT64_C(1790000000123456789);
  stacks->duration_ns = UINT64_C(2500000000);
}

static uint32_t add_function(stacks_t *stacks, const char *name,
                             const char *linked_name, uint32_t object) {
  stacks_function_t function = {name, linked_name, "", object};

  return stacks_function(stacks, &function);
}

static void add_stack(stacks_t *stacks, uint32_t task, uint32_t function,
                      uint64_t samples, uint64_t weight) {
  stacks_frame_t frame = {.address = 0x1000 + function, .function = function};

  stacks_add(stacks, task, &frame, 1, samples, weight);
}

/* Adds functions of files, of the kernel and of memory without a file. Some
 * have C++ names, or the same name in two files. */
static size_t add_functions(stacks_t *stacks, uint32_t *functions) {
  const stacks_object_t objects[] = {
      {"libc.so.6", "/usr/lib/libc.so.6", {0xde, 0xad, 0x01}, 20},
      {"worker", "/opt/<b>/worker", {0xbe, 0xef}, 8},
      {.name = "[kernel]", .path = ""},
      {.name = "[jit]", .path = ""},
  };
  char name[64], linked_name[64], file[64];
  stacks_function_t function = {name, linked_name, file, 0};
  size_t i;

  for (i = 0; i < 40; i++) {
    function.object = stacks_object(stacks, &objects[i % 4]);
    snprintf(name, sizeof(name), "function %zu", i / 2);
    if (i % 3 == 0)
      snprintf(linked_name, sizeof(linked_name), "_Z%zuf", i);
    else
      memcpy(linked_name, name, sizeof(name));
    file[0] = '\0';
    if (i % 4 == 1)
      snprintf(file, sizeof(file), "src/%zu.c", i);
    functions[i] = stacks_function(stacks, &function);
  }
  return i;
}

static uint32_t add_task(stacks_t *stacks, uint32_t i) {
  const stacks_task_t tasks[] = {
      {100, 100, "main", "server", "/system.slice/server.service"},
      {100, 101, "io", "server", "/system.slice/server.service"},
      {0, 0, "swapper", "", ""},
      {4000000000u, 4000000001u, "a b", "cc1", ""},
  };

  return i % 5 == 4 ? STACKS_OTHER : stacks_task(stacks, &tasks[i % 5]);
}

/* Adds stacks with recursion, with inlined functions at every depth, and
 * without frames. */
static void fill(stacks_t *stacks, size_t nr) {
  stacks_frame_t frames[MAX_FRAMES];
  uint32_t functions[40], seed = 7;
  size_t i, j, nr_functions, nr_frames;

  nr_functions = add_functions(stacks, functions);
  for (i = 0; i < nr; i++) {
    nr_frames = next(&seed) % (MAX_FRAMES + 1);
    for (j = nr_frames; j-- > 0;) {
      frames[j].function = functions[next(&seed) % nr_functions];
      frames[j].line = next(&seed) & 3u;
      frames[j].is_inlined = j + 1 < nr_frames && next(&seed) % 4 == 0;
      frames[j].address = frames[j].is_inlined ? frames[j + 1].address
                                               : 0x400000 + next(&seed) % 64;
    }
    stacks_add(stacks, add_task(stacks, next(&seed)), frames, nr_frames,
               1 + next(&seed) % 9, 1 + next(&seed) * UINT64_C(100003));
  }
}

/* -- the decoded profile --------------------------------------------------- */

static Pprof__Profile *decode(FILE *file) {
  Pprof__Profile *profile;
  size_t used = 0, capacity = 1 << 24;
  uint8_t *bytes = malloc(capacity);
  gzFile gz;
  int nr;

  assert_non_null(bytes);
  rewind(file);
  gz = gzdopen(dup(fileno(file)), "rb");
  assert_non_null(gz);
  while ((nr = gzread(gz, bytes + used, (unsigned)(capacity - used))) > 0)
    used += (size_t)nr;
  assert_int_equal(nr, 0);
  assert_true(used < capacity);
  assert_false(gzdirect(gz));
  assert_int_equal(gzclose(gz), Z_OK);
  profile = pprof__profile__unpack(NULL, used, bytes);
  free(bytes);
  assert_non_null(profile);
  assert_true(profile->n_string_table > 0);
  assert_string_equal(profile->string_table[0], "");
  return profile;
}

static Pprof__Profile *write_and_decode(const stacks_t *stacks) {
  Pprof__Profile *profile;
  FILE *file = tmpfile();

  assert_non_null(file);
  assert_int_equal(pprof_write(file, stacks), 0);
  profile = decode(file);
  fclose(file);
  return profile;
}

static const char *text_of(const Pprof__Profile *profile, int64_t i) {
  assert_true(i >= 0 && (size_t)i < profile->n_string_table);
  return profile->string_table[i];
}

/* Finds a message by its id, which must occur once. */
#define FIND(array, nr, wanted, found)                                         \
  do {                                                                         \
    size_t find_i;                                                             \
                                                                               \
    (found) = NULL;                                                            \
    for (find_i = 0; find_i < (nr); find_i++) {                                \
      if ((array)[find_i]->id == (wanted)) {                                   \
        assert_null(found);                                                    \
        (found) = (array)[find_i];                                             \
      }                                                                        \
    }                                                                          \
    assert_non_null(found);                                                    \
    assert_true((wanted) != 0);                                                \
  } while (0)

static void expect_mapping(const Pprof__Profile *profile, uint64_t id,
                           const stacks_object_t *object) {
  const Pprof__Mapping *mapping;
  char build_id[41] = "";
  size_t i;

  FIND(profile->mapping, profile->n_mapping, id, mapping);
  assert_int_equal(mapping->memory_start, 0);
  assert_true(mapping->memory_limit == UINT64_MAX);
  assert_true(mapping->has_functions);
  assert_string_equal(text_of(profile, mapping->filename),
                      object->path[0] != '\0' ? object->path : object->name);
  for (i = 0; i < object->build_id_bytes; i++)
    snprintf(build_id + 2 * i, 3, "%02x", object->build_id[i]);
  assert_string_equal(text_of(profile, mapping->build_id), build_id);
}

static void expect_line(const Pprof__Profile *profile, const Pprof__Line *line,
                        const stacks_frame_t *frame,
                        const stacks_function_t *function) {
  const Pprof__Function *found;
  const char *system_name;

  assert_int_equal(line->line, frame->line);
  FIND(profile->function, profile->n_function, line->function_id, found);
  assert_string_equal(text_of(profile, found->name), function->name);
  assert_string_equal(text_of(profile, found->filename), function->file);
  system_name = text_of(profile, found->system_name);
  assert_string_equal(system_name[0] != '\0' ? system_name : function->name,
                      function->linked_name);
}

static void expect_frames(const Pprof__Profile *profile,
                          const Pprof__Sample *sample, const stacks_t *stacks,
                          const stacks_stack_t *stack) {
  const Pprof__Location *location = NULL;
  const stacks_function_t *function;
  const stacks_frame_t *frame;
  size_t i, line = 0, nr = 0;

  for (i = 0; i < stack->nr_frames; i++) {
    frame = &stack->frames[i];
    function = stacks_get_function(stacks, frame->function);
    if (location == NULL) {
      assert_true(nr < sample->n_location_id);
      FIND(profile->location, profile->n_location, sample->location_id[nr],
           location);
      line = 0;
      nr++;
    }
    assert_true(line < location->n_line);
    expect_line(profile, location->line[line++], frame, function);
    if (frame->is_inlined && i + 1 < stack->nr_frames)
      continue;
    assert_int_equal(line, location->n_line);
    assert_true(location->address == frame->address);
    expect_mapping(profile, location->mapping_id,
                   stacks_get_object(stacks, function->object));
    location = NULL;
  }
  assert_int_equal(nr, sample->n_location_id);
}

static size_t expect_label(const Pprof__Profile *profile,
                           const Pprof__Sample *sample, const char *key,
                           const char *text, uint32_t number) {
  const Pprof__Label *label;
  size_t i;

  if (text[0] == '\0' && number == 0)
    return 0;
  for (i = 0; i < sample->n_label; i++) {
    label = sample->label[i];
    if (strcmp(text_of(profile, label->key), key) != 0)
      continue;
    assert_string_equal(text_of(profile, label->str), text);
    assert_int_equal(label->num, number);
    return 1;
  }
  fail_msg("no label %s", key);
  return 0;
}

static void expect_task(const Pprof__Profile *profile,
                        const Pprof__Sample *sample,
                        const stacks_task_t *task) {
  size_t nr = expect_label(profile, sample, "process", task->process, 0) +
              expect_label(profile, sample, "pid", "", task->pid) +
              expect_label(profile, sample, "thread", task->thread, 0) +
              expect_label(profile, sample, "tid", "", task->tid) +
              expect_label(profile, sample, "cgroup", task->cgroup, 0);

  assert_int_equal(nr, sample->n_label);
}

/* A mapping has what one of its locations has. */
static void expect_flags(const Pprof__Profile *profile) {
  const Pprof__Location *location;
  const Pprof__Function *function;
  const Pprof__Mapping *mapping;
  int has_files, has_lines, has_inlined;
  size_t i, j, k;

  for (i = 0; i < profile->n_mapping; i++) {
    mapping = profile->mapping[i];
    has_files = has_lines = has_inlined = 0;
    for (j = 0; j < profile->n_location; j++) {
      location = profile->location[j];
      if (location->mapping_id != mapping->id)
        continue;
      has_inlined |= location->n_line > 1;
      for (k = 0; k < location->n_line; k++) {
        has_lines |= location->line[k]->line != 0;
        FIND(profile->function, profile->n_function,
             location->line[k]->function_id, function);
        has_files |= *text_of(profile, function->filename) != '\0';
      }
    }
    assert_int_equal(mapping->has_inline_frames, has_inlined);
    assert_int_equal(mapping->has_line_numbers, has_lines);
    assert_int_equal(mapping->has_filenames, has_files);
  }
}

static void expect_profile(const Pprof__Profile *profile,
                           const stacks_t *stacks) {
  const Pprof__Sample *sample;
  stacks_stack_t *sorted;
  size_t i, nr;

  sorted = stacks_sorted(stacks, &nr);
  assert_int_equal(profile->n_sample, nr);
  for (i = 0; i < nr; i++) {
    sample = profile->sample[i];
    assert_int_equal(sample->n_value, 2);
    assert_int_equal(sample->value[0], sorted[i].samples);
    assert_int_equal(sample->value[1], sorted[i].weight);
    expect_task(profile, sample, stacks_get_task(stacks, sorted[i].task));
    expect_frames(profile, sample, stacks, &sorted[i]);
  }
  expect_flags(profile);
  free(sorted);
}

static void expect_type(const Pprof__Profile *profile, size_t i,
                        const char *type, const char *unit) {
  assert_true(i < profile->n_sample_type);
  assert_string_equal(text_of(profile, profile->sample_type[i]->type), type);
  assert_string_equal(text_of(profile, profile->sample_type[i]->unit), unit);
}

static void decoded_profile_is_the_one_that_was_written(void **state) {
  Pprof__Profile *profile;
  size_t i, j;

  begin(&made);
  made.period = 10101010;
  fill(&made, 2000);
  profile = write_and_decode(&made);
  expect_profile(profile, &made);
  expect_type(profile, 0, "samples", "count");
  expect_type(profile, 1, "cpu", "nanoseconds");
  assert_string_equal(text_of(profile, profile->default_sample_type), "cpu");
  assert_int_equal(profile->time_nanos, made.start_ns);
  assert_int_equal(profile->duration_nanos, made.duration_ns);
  assert_int_equal(profile->period, 10101010);
  assert_int_equal(profile->period_type->type, profile->sample_type[1]->type);
  assert_int_equal(profile->period_type->unit, profile->sample_type[1]->unit);
  for (i = 0; i < profile->n_string_table; i++) {
    for (j = 0; j < i; j++)
      assert_string_not_equal(profile->string_table[i],
                              profile->string_table[j]);
  }
  pprof__profile__free_unpacked(profile, NULL);
}

static void weights_of_other_events_keep_their_names(void **state) {
  static const struct {
    const char *event, *unit, *type, *pprof_unit;
  } cases[] = {
      {"task-clock", "ns", "cpu", "nanoseconds"},
      {"off-cpu", "ns", "off-cpu", "nanoseconds"},
      {"cycles", "cycles", "cycles", "count"},
      {"page-faults", "events", "page-faults", "count"},
  };
  Pprof__Profile *profile;
  size_t i;

  for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    begin(&made);
    made.event = cases[i].event;
    made.unit = cases[i].unit;
    fill(&made, 3);
    profile = write_and_decode(&made);
    expect_type(profile, 1, cases[i].type, cases[i].pprof_unit);
    pprof__profile__free_unpacked(profile, NULL);
  }
}

static void weight_past_the_largest_number_is_the_largest(void **state) {
  Pprof__Profile *profile;

  begin(&made);
  add_stack(&made, STACKS_OTHER, STACKS_OTHER, 1, UINT64_MAX);
  profile = write_and_decode(&made);
  assert_true(profile->sample[0]->value[1] == INT64_MAX);
  pprof__profile__free_unpacked(profile, NULL);
}

/* The first mapping must be the program's, because pprof shows it in its
 * heading. */
static void expect_program(const stacks_t *stacks, const char *path) {
  Pprof__Profile *profile = write_and_decode(stacks);

  assert_string_equal(text_of(profile, profile->mapping[0]->filename), path);
  pprof__profile__free_unpacked(profile, NULL);
}

static void program_is_the_file_with_main_of_the_heaviest_stack(void **state) {
  const stacks_object_t program = {.name = "worker", .path = "/opt/worker"};
  const stacks_object_t other = {.name = "other", .path = "/opt/other"};
  const stacks_object_t library = {.name = "libc.so.6", .path = "/libc.so.6"};
  const stacks_object_t kernel = {.name = "[kernel]", .path = ""};
  uint32_t at, in_kernel, in_library;

  begin(&made);
  in_kernel = stacks_object(&made, &kernel);
  in_library = stacks_object(&made, &library);
  at = stacks_object(&made, &program);
  add_stack(&made, 0, add_function(&made, "k", "k", in_kernel), 1, 100);
  add_stack(&made, 0, add_function(&made, "l", "l", in_library), 1, 50);
  add_stack(&made, 0, add_function(&made, "u", "u", at), 1, 10);
  expect_program(&made, "/opt/worker");
  at = stacks_object(&made, &other);
  add_stack(&made, 0, add_function(&made, "main", "main", at), 1, 1);
  expect_program(&made, "/opt/other");
}

/* -- go tool pprof --------------------------------------------------------- */

static void run_go(tool_run_t *run, const stacks_t *stacks,
                   const char *options) {
  char path[] = "/tmp/uvperf-pprof-XXXXXX";
  int fd = mkstemp(path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

  assert_non_null(file);
  assert_int_equal(pprof_write(file, stacks), 0);
  fclose(file);
  go_pprof_run(run, options, path);
  unlink(path);
}

static const char *name_at(const stacks_t *stacks, const stacks_stack_t *stack,
                           size_t i) {
  return stacks_get_function(stacks, stack->frames[i].function)->name;
}

/* Sums all functions of a name, because pprof shows them as one. */
static void sum_name(const stacks_t *stacks, const char *name, int of_samples,
                     uint64_t *flat, uint64_t *cum) {
  stacks_stack_t *sorted;
  size_t i, j, nr;
  uint64_t value;

  *flat = *cum = 0;
  sorted = stacks_sorted(stacks, &nr);
  for (i = 0; i < nr; i++) {
    value = of_samples ? sorted[i].samples : sorted[i].weight;
    for (j = 0; j < sorted[i].nr_frames; j++) {
      if (strcmp(name_at(stacks, &sorted[i], j), name) != 0)
        continue;
      *flat += j == 0 ? value : 0;
      *cum += value;
      break;
    }
  }
  free(sorted);
}

static size_t nr_names(const stacks_t *stacks) {
  size_t i, j, nr = 0;

  for (i = 1; i < stacks_nr_functions(stacks); i++) {
    for (j = 1; j < i; j++) {
      if (strcmp(stacks_get_function(stacks, (uint32_t)i)->name,
                 stacks_get_function(stacks, (uint32_t)j)->name) == 0)
        break;
    }
    nr += j == i;
  }
  return nr;
}

/* Removes the remark that pprof adds to the name if some calls of a function
 * are inlined. */
static void cut_remark(char *name) {
  static const char *const remarks[] = {" (inline)", " (partial-inline)"};
  size_t i, length, end = strlen(name);

  for (i = 0; i < 2; i++) {
    length = strlen(remarks[i]);
    if (end > length && strcmp(name + end - length, remarks[i]) == 0)
      name[end - length] = '\0';
  }
}

/* Compares the lines "10ns 2.50% 2.50% 30ns 7.50%  name" with the profile. */
static void expect_top(const stacks_t *stacks, tool_run_t *run,
                       int of_samples) {
  const char *unit = of_samples ? "" : "ns";
  char *line, *rest = strstr(run->out, "flat%");
  uint64_t flat, cum, flat_shown, cum_shown;
  char name[2048], flat_unit[8], cum_unit[8];
  size_t nr = 0;

  assert_non_null(rest);
  strtok_r(rest, "\n", &rest);
  while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
    flat_unit[0] = cum_unit[0] = '\0';
    if (of_samples)
      assert_int_equal(sscanf(line,
                              "%" SCNu64 " %*s %*s %" SCNu64 " %*s  %2047[^\n]",
                              &flat_shown, &cum_shown, name),
                       3);
    else
      assert_true(
          sscanf(line, "%" SCNu64 "%7s %*s %*s %" SCNu64 "%7s %*s  %2047[^\n]",
                 &flat_shown, flat_unit, &cum_shown, cum_unit, name) == 5);
    cut_remark(name);
    sum_name(stacks, name, of_samples, &flat, &cum);
    if (flat != flat_shown || cum != cum_shown)
      print_error("%s\n", line);
    assert_int_equal(flat, flat_shown);
    assert_int_equal(cum, cum_shown);
    if (flat > 0)
      assert_string_equal(flat_unit, unit);
    nr++;
  }
  assert_int_equal(nr, nr_names(stacks));
}

static void go_pprof_top_has_the_same_numbers(void **state) {
  tool_run_t run;

  go_pprof_need(__func__);
  begin(&made);
  fill(&made, 300);
  run_go(&run, &made, "-top -unit=ns");
  tool_run_expect_text(run.out, "File: worker\n");
  tool_run_expect_text(run.out, "Type: cpu\n");
  tool_run_expect_text(run.out, "Duration: 2.50s, Total samples = ");
  expect_top(&made, &run, 0);
  run_go(&run, &made, "-top -sample_index=samples");
  expect_top(&made, &run, 1);
}

/* pprof would treat some of these names as C++ names, and shorten them. */
static void hostile_names_are_shown_as_in_the_profile(void **state) {
  static const char *const names[] = {
      "<script>alert(1)</script>",    "a\033]0;title\007b",   "line\nbreak",
      "std::vector<int>::push(int&)", "\xff\xfe not UTF-8",   "%s%n",
      "\"quoted' \\ name\"",          "\xe2\x80\xaereversed", "_ZN3foo3barEv",
  };
  Pprof__Profile *profile;
  char *lengthy;
  tool_run_t run;
  size_t i;

  go_pprof_need(__func__);
  lengthy = malloc(100000);
  memset(lengthy, 'x', 99999);
  lengthy[99999] = '\0';
  begin(&made);
  for (i = 0; i < sizeof(names) / sizeof(*names); i++)
    add_stack(&made, 0, add_function(&made, names[i], names[i], STACKS_OTHER),
              1, 100 + i);
  add_stack(&made, 0, add_function(&made, lengthy, "_Zl", STACKS_OTHER), 1, 7);
  free(lengthy);
  profile = write_and_decode(&made);
  expect_profile(profile, &made);
  pprof__profile__free_unpacked(profile, NULL);
  run_go(&run, &made, "-top -unit=ns");
  assert_null(strchr(run.out, '\033'));
  expect_top(&made, &run, 0);
}

static void profile_without_samples_is_one(void **state) {
  Pprof__Profile *profile;
  tool_run_t run;

  begin(&made);
  profile = write_and_decode(&made);
  assert_int_equal(profile->n_sample, 0);
  assert_int_equal(profile->n_sample_type, 2);
  assert_int_equal(profile->period, 0);
  assert_null(profile->period_type);
  pprof__profile__free_unpacked(profile, NULL);
  go_pprof_need(__func__);
  begin(&made);
  run_go(&run, &made, "-raw");
  tool_run_expect_text(run.out, "samples/count cpu/nanoseconds[dflt]\n");
}

/* -- failures -------------------------------------------------------------- */

static void full_device_is_reported(void **state) {
  static const size_t nr_stacks[] = {0, 20000};
  FILE *file;
  size_t i;

  for (i = 0; i < 2; i++) {
    begin(&made);
    fill(&made, nr_stacks[i]);
    file = fopen("/dev/full", "we");
    assert_non_null(file);
    assert_int_equal(pprof_write(file, &made), -ENOSPC);
    fclose(file);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decoded_profile_is_the_one_that_was_written),
      cmocka_unit_test(weights_of_other_events_keep_their_names),
      cmocka_unit_test(weight_past_the_largest_number_is_the_largest),
      cmocka_unit_test(program_is_the_file_with_main_of_the_heaviest_stack),
      cmocka_unit_test(go_pprof_top_has_the_same_numbers),
      cmocka_unit_test(hostile_names_are_shown_as_in_the_profile),
      cmocka_unit_test(profile_without_samples_is_one),
      cmocka_unit_test(full_device_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
