/* SPDX-License-Identifier: MIT */
#include "scripted_evlist.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attr/attr.h"
#include "attr/kernel_knows.h"
#include "make_cpus.h"
#include "make_host.h"
#include "evlist/internal.h"
#include "fake_clock.h"
#include "fake_map.h"
#include "fake_pool.h"
#include "name/list.h"
#include "scripted_opening.h"
#include "make_record.h"
#include "set/internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define EVENTS          500
#define WORDS           24
#define FIELDS          128

/* A run of a row. */
static struct {
  const evlist_row_t *row;
  fake_event_t *events[EVENTS];
  evlist_make_t make;
  struct perf_event_attr sample;
  uvperf_event_list_t *list;
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  uvperf_reading_t *reading, *marked, *delta;
  const char *labels[COUNTERS_MOST];
  size_t blocks; /* of memory, at the mark */
  uint64_t now;
  uint64_t base; /* the time 0 of "samples" */
  fake_map_t *map;
  int map_fd;
  /* Targets that are opened in lists of their own. */
  uvperf__evlist_t *made[2];
  uvperf__adding_t adding[2];
  /* The same as a handle, on a loop. */
  uv_loop_t loop;
  uvperf_set_t set;
  int has_set;
  int is_closed;
  int is_slow;
  /* What a measured function does in each call, in turn: of "work". */
  uvperf_meter_t *meter;
  struct work_s {
    fake_event_t *fake;
    uint64_t enabled, running;
    uint64_t values[WORDS];
    size_t nr;
  } works[4], sum;
  size_t nr_works;
  size_t nr_calls;
  /* Of "each": the code, the call, which of them, and its number in the row. */
  int sweep;
  enum fake_call swept;
  unsigned nth;
  unsigned due;
  /* What a step prints, the last call in it, and the code that it returned. */
  char out[4096];
  size_t used;
  char verb[32];
  int code;
  /* What the kernel refuses. */
  char refused[32];
  int refused_code;
  struct {
    int (*is_meant)(const struct perf_event_attr *attr);
    int code;
  } refusals[4];
  size_t nr_refusals;
  /* Of "share": a tracepoint's programs; of "replace". */
  int is_shared;
  size_t nr_attached;
  unsigned replace_at;
  char replaced[3][16];
} run;

/* -- words ----------------------------------------------------------------- */

typedef struct step_s {
  const char *text;
  char *words[WORDS];
  size_t nr;
} step_t;

typedef struct name_s {
  const char *name;
  long value;
} name_t;

static void fail_row(const char *step, const char *what) {
  fail_msg("%s: \"%s\": %s", run.row->name, step, what);
}

static long meaning(const name_t *names, size_t nr, const char *word) {
  size_t i;

  for (i = 0; i < nr; i++)
    if (strcmp(names[i].name, word) == 0)
      return names[i].value;
  fail_row(word, "has no meaning here");
  return 0;
}

static const char *word(const step_t *step, size_t nr) {
  if (nr >= step->nr)
    fail_row(step->text, "a word is missing");
  return step->words[nr];
}

static int is(const step_t *step, size_t nr, const char *text) {
  return strcmp(word(step, nr), text) == 0;
}

static uint64_t number(const char *text) {
  char *end;
  uint64_t value = strtoull(text, &end, 0);

  if (*text == '\0' || *end != '\0')
    fail_row(text, "is no number");
  return value;
}

static uint64_t value(const step_t *step, size_t nr) {
  return number(word(step, nr));
}

/* A number that is an index or a size. */
static size_t nth(const step_t *step, size_t nr) {
  return (size_t)value(step, nr);
}

/* Splits "NAME=VALUE". */
static uint64_t split_value(char *text) {
  char *equals = strchr(text, '=');

  if (equals == NULL)
    fail_row(text, "has no =");
  *equals = '\0';
  return number(equals + 1);
}

static const name_t codes[] = {{"0", 0},
                               {"EACCES", EACCES},
                               {"EAGAIN", EAGAIN},
                               {"EBADF", EBADF},
                               {"EBUSY", EBUSY},
                               {"ECANCELED", ECANCELED},
                               {"ECHILD", ECHILD},
                               {"EEXIST", EEXIST},
                               {"EFAULT", EFAULT},
                               {"EINVAL", EINVAL},
                               {"EIO", EIO},
                               {"EMFILE", EMFILE},
                               {"ENFILE", ENFILE},
                               {"ENODEV", ENODEV},
                               {"ENOENT", ENOENT},
                               {"ENOMEM", ENOMEM},
                               {"ENOSYS", ENOSYS},
                               {"ENOTTY", ENOTTY},
                               {"EPERM", EPERM},
                               {"EPROTO", EPROTO},
                               {"ESRCH", ESRCH},
                               {"E2BIG", E2BIG},
                               {"EINTR", EINTR},
                               {"EUCLEAN", EUCLEAN},
                               {"ENOSPC", ENOSPC},
                               {"EOF", -UV_EOF},
                               {"ETIMEDOUT", ETIMEDOUT},
                               {"EOPNOTSUPP", EOPNOTSUPP}};

static int code_of(const char *name) {
  return -(int)meaning(codes, COUNT_OF(codes), name);
}

static const char *name_of(int code) {
  size_t i = 0;

  while (i < COUNT_OF(codes) && codes[i].value != -code)
    i++;
  if (i == COUNT_OF(codes))
    fail_msg("%s: the code %d has no name", run.row->name, code);
  return codes[i].name;
}

static enum fake_call call_of(const char *name) {
  static const name_t names[] = {
      {"open", FAKE_OPEN},     {"ioctl", FAKE_IOCTL},
      {"mmap", FAKE_MMAP},     {"ioctl_ptr", FAKE_IOCTL_PTR},
      {"read", FAKE_READ},     {"update", FAKE_BPF_UPDATE},
      {"poll", FAKE_POLL},     {"link", FAKE_BPF_LINK},
      {"calloc", FAKE_CALLOC}, {"close", FAKE_CLOSE}};

  return (enum fake_call)meaning(names, COUNT_OF(names), name);
}

static enum uvperf_attr_field field_of(const char *name) {
  unsigned field = 0;

  while (field < FIELDS && strcmp(uvperf__attr_field_name(field), name) != 0)
    field++;
  if (field == FIELDS)
    fail_row(name, "is no field");
  return (enum uvperf_attr_field)field;
}

static fake_event_t *event_of(const char *name) {
  uint64_t nr = *name == 'e' ? number(name + 1) : EVENTS;

  if (nr >= EVENTS)
    fail_row(name, "is no event");
  return run.events[nr];
}

/* The scripted events are numbered as they are opened. */
static size_t nr_of(const fake_event_t *fake) {
  size_t i = 0;

  while (run.events[i] != fake)
    i++;
  return i;
}

/* EVENTS if no event is open with this fd. */
static size_t nr_of_fd(int fd) {
  size_t i = 0;

  while (i < EVENTS && (fd < 0 || run.events[i]->fd != fd))
    i++;
  return i;
}

static size_t nr_opened(void) {
  size_t nr = 0;

  while (nr < EVENTS && run.events[nr]->opened)
    nr++;
  return nr;
}

/* -- printing -------------------------------------------------------------- */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  va_list args;

  va_start(args, format);
  run.used += (size_t)vsnprintf(run.out + run.used, sizeof(run.out) - run.used,
                                format, args);
  va_end(args);
  assert_true(run.used < sizeof(run.out));
}

/* Begins something new. */
static void say_next(void) {
  run.verb[0] = '\0';
  if (run.used != 0)
    say(", ");
}

static void say_number(uint64_t nr) {
  say(nr < 10000 ? "%llu" : "%#llx", (unsigned long long)nr);
}

static void say_pid(int32_t pid) {
  if (pid == (int32_t)getpid())
    say("me");
  else if (pid == (int32_t)getppid())
    say("parent");
  else
    say("%d", pid);
}

static void say_place(uint32_t target, int pid, int cpu) {
  say("t%u", target);
  if (pid >= 0) {
    say(" ");
    say_pid(pid);
  }
  if (cpu >= 0)
    say(" cpu%d", cpu);
}

static void say_error(const uvperf_error_t *error) {
  say("%s %s", name_of(error->code), uvperf_cause_name(error->cause));
}

/* The result of a call. A failure says what its error says. */
static void returned(int rc) {
  run.code = rc;
  if (rc == 0)
    return;
  say_next();
  if (run.error.code != rc) {
    say("%s", name_of(rc));
    return;
  }
  say_error(&run.error);
  say(" a%u t%u", run.error.attr_index, run.error.target_index);
}

static void say_count(const uvperf_count_t *count) {
  say_next();
  if (count->state != UVPERF_COUNT_COUNTING)
    say("%s", uvperf_count_state_name(count->state));
  if (count->state == UVPERF_COUNT_GONE)
    say(" ");
  if (count->state == UVPERF_COUNT_COUNTING ||
      count->state == UVPERF_COUNT_GONE) {
    say("%llu@%llu", (unsigned long long)count->value,
        (unsigned long long)count->time_enabled);
    if (count->time_running != count->time_enabled)
      say("/%llu", (unsigned long long)count->time_running);
    if (count->scaled != count->value)
      say("=%llu", (unsigned long long)count->scaled);
  }
  if (count->lost != 0)
    say("+%llu lost", (unsigned long long)count->lost);
  if (count->code != 0)
    say(" %s", name_of(count->code));
  if (count->nr_missing != 0)
    say(" -%llu", (unsigned long long)count->nr_missing);
}

/* The counts of an attr at each place. */
static void say_counts(const uvperf_reading_t *reading, size_t attr) {
  uvperf_count_t count;
  size_t i;

  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    assert_int_equal(uvperf_reading_get(reading, attr, UVPERF_ALL, i, &count),
                     0);
    say_count(&count);
  }
}

static void say_totals(const uvperf_reading_t *reading) {
  uvperf_count_t count;
  size_t i;

  for (i = 0; i < uvperf_reading_info(reading)->nr_attrs; i++) {
    assert_int_equal(uvperf_reading_total(reading, i, &count), 0);
    say_count(&count);
  }
}

static void say_fields(const struct perf_event_attr *attr, const step_t *step,
                       size_t first) {
  uint64_t field;
  size_t i;

  for (i = first; i < step->nr; i++) {
    uvperf_attr_get(attr, field_of(step->words[i]), &field);
    if (i != first)
      say(" ");
    say_number(field);
  }
}

/* -- the kernel ------------------------------------------------------------ */

static void say_open(const fake_seen_t *seen) {
  say(seen->fake == NULL ? " @" : " e%zu@",
      seen->fake == NULL ? 0 : nr_of(seen->fake));
  if (seen->pid >= 0)
    say_pid(seen->pid);
  if (seen->cpu >= 0)
    say(seen->pid >= 0 ? ":%d" : "%d", seen->cpu);
  if (seen->group_fd >= 0)
    say("<e%zu", nr_of_fd(seen->group_fd));
  if (seen->fake != NULL && seen->fake->flags != PERF_FLAG_FD_CLOEXEC)
    say(" flags %#lx", seen->fake->flags);
}

static void on_call(const fake_seen_t *seen) {
  char verb[32];

  snprintf(verb, sizeof(verb), "%s%s%s",
           strcmp(seen->call, "ioctl") == 0 ? "" : seen->call,
           *seen->detail == '\0' || strcmp(seen->call, "ioctl") == 0 ? "" : " ",
           seen->detail);
  if (strcmp(verb, "ID") == 0 && seen->code >= 0)
    return;
  if (strcmp(run.verb, verb) != 0) {
    say_next();
    say("%s", verb);
  }
  memcpy(run.verb, verb, sizeof(run.verb));
  if (strcmp(verb, "open") == 0)
    say_open(seen);
  else if (seen->fake != NULL)
    say(" e%zu", nr_of(seen->fake));
  if (strcmp(verb, "SET_OUTPUT") == 0)
    say(" e%zu", nr_of_fd((int)seen->argument));
  else if (strcmp(verb, "PERIOD") == 0)
    say(" %llu", (unsigned long long)*(const uint64_t *)seen->argument);
  else if (strcmp(verb, "SET_FILTER") == 0)
    say(" %s", (const char *)seen->argument);
  else if (strcmp(verb, "bpf link") == 0 && seen->argument != 0)
    say(" %llu", (unsigned long long)seen->argument);
  if (seen->code < 0) {
    say(" %s", name_of(seen->code));
    run.verb[0] = '\0';
  }
}

/* A tracepoint has one list of programs for all of its events. */
static int on_link(fake_event_t *fake, int prog_fd) {
  (void)fake;
  (void)prog_fd;
  return run.is_shared && run.nr_attached++ != 0 ? -EEXIST : 0;
}

static int on_ioctl(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  static const name_t names[] = {{"SET_FILTER", PERF_EVENT_IOC_SET_FILTER},
                                 {"PERIOD", PERF_EVENT_IOC_PERIOD},
                                 {"SET_BPF", PERF_EVENT_IOC_SET_BPF}};

  if (run.refused_code != 0 &&
      (long)request == meaning(names, COUNT_OF(names), run.refused))
    return run.refused_code;
  return request == PERF_EVENT_IOC_SET_BPF ? on_link(fake, (int)argument) : 0;
}

static int is_hardware(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_HARDWARE;
}

static int is_page_faults(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE &&
         attr->config == PERF_COUNT_SW_PAGE_FAULTS;
}

static int has_kernel_side(const struct perf_event_attr *attr) {
  return !attr->exclude_kernel;
}

static int is_precise(const struct perf_event_attr *attr) {
  return attr->precise_ip > 1;
}

static int is_sibling(const struct perf_event_attr *attr) {
  return !attr->disabled;
}

static int is_any(const struct perf_event_attr *attr) {
  (void)attr;
  return 1;
}

static int (*const meant[])(const struct perf_event_attr *attr) = {
    is_hardware, is_page_faults, has_kernel_side,
    is_precise,  is_sibling,     is_any};

/* A task in /proc. */
static void write_task(const char *process, const char *id, const char *start) {
  char path[96], text[128];

  snprintf(text, sizeof(text),
           "%s (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 %s 0\n",
           id, start);
  snprintf(path, sizeof(path), "/proc/%s/task/%s/stat", process, id);
  make_host_write(path, text);
  snprintf(path, sizeof(path), "/proc/%s/task/%s/stat", id, id);
  make_host_write(path, text);
  make_host_write("/proc/self/status", "NSpid:\t12\n");
  snprintf(path, sizeof(path), "/proc/%s/status", process);
  snprintf(text, sizeof(text), "Tgid:\t%s\nThreads:\t2\n", process);
  make_host_write(path, text);
}

static int on_open(struct perf_event_attr *attr) {
  size_t i;

  if (run.replace_at != 0 && fake_count(FAKE_OPEN) == run.replace_at)
    write_task(run.replaced[0], run.replaced[1], run.replaced[2]);
  if (run.is_slow)
    scripted_opening_take_time(attr);
  for (i = 0; i < run.nr_refusals; i++)
    if (run.refusals[i].is_meant(attr))
      return run.refusals[i].code;
  return 0;
}

/* -- steps: the host ------------------------------------------------------- */

static void do_file(const step_t *step) {
  char text[256];

  snprintf(text, sizeof(text), "%s\n", word(step, 2));
  make_host_write(word(step, 1), text);
}

static void do_online(const step_t *step) {
  make_cpus_list(word(step, 1));
}

static void do_up(const step_t *step) {
  make_cpus_bring_up((int)value(step, 1));
}

/* From then on tkill(2) finds each task. */
static void do_task(const step_t *step) {
  fake_fail_from(FAKE_HAS_TASK, 1, 0);
  write_task(word(step, 1), word(step, 2), word(step, 3));
}

static void do_tasks(const step_t *step) {
  (void)step;
  write_task("11", "11", "77");
  write_task("12", "12", "77");
}

/* The task is another one from the nth open on. */
static void do_replace(const step_t *step) {
  size_t i;

  run.replace_at = (unsigned)value(step, 1);
  for (i = 0; i < 3; i++)
    snprintf(run.replaced[i], sizeof(run.replaced[i]), "%s", word(step, i + 2));
}

/* -- steps: what is asked for ---------------------------------------------- */

static void do_attrs(const step_t *step) {
  if (is(step, 0, "attrs"))
    evlist_make(&run.make, nth(step, 1));
  else
    evlist_make_records(&run.make, nth(step, 1));
}

static void do_names(const step_t *step) {
  returned(uvperf_event_list_parse(&run.list, word(step, 1), &run.error));
  evlist_make(&run.make, 0);
  run.make.options.events = run.list;
}

static void do_group(const step_t *step) {
  evlist_group(&run.make, nth(step, 1), nth(step, 2));
}

static void do_leader(const step_t *step) {
  run.make.leaders[nth(step, 1)] = nth(step, 2);
}

static void set_fields(const step_t *step, size_t at,
                       struct perf_event_attr *attr) {
  uint64_t field;

  for (; at < step->nr; at++) {
    field = split_value(step->words[at]);
    if (is(step, at, "size"))
      attr->size = (uint32_t)field;
    else if (uvperf_attr_set(attr, field_of(step->words[at]), field) != 0)
      fail_row(step->text, "the field does not take this");
  }
}

static void do_attr(const step_t *step) {
  set_fields(step, 2, &run.make.attrs[value(step, 1)]);
}

static void do_sample(const step_t *step) {
  uvperf_attr_init(&run.sample, 0, 0);
  set_fields(step, 1, &run.sample);
  run.make.options.sample = &run.sample;
}

/* The bits that the words of an option mean, or a number. */
static uint64_t bits_of(const step_t *step, const name_t *names, size_t nr) {
  uint64_t bits = 0;
  size_t i;

  for (i = 1; i < step->nr; i++)
    bits |= step->words[i][0] <= '9'
                ? number(step->words[i])
                : (uint64_t)meaning(names, nr, step->words[i]);
  return bits;
}

static void do_option(const step_t *step) {
  static const name_t flags[] = {{"strict", UVPERF_SET_STRICT},
                                 {"records", UVPERF_SET_RECORDS},
                                 {"time_order", UVPERF_SET_TIME_ORDER},
                                 {"fixed_cpus", UVPERF_SET_FIXED_CPUS},
                                 {"overwrite", UVPERF_SET_OVERWRITE},
                                 {"targets_later", UVPERF_SET_TARGETS_LATER},
                                 {"perf_clock", UVPERF_SET_PERF_CLOCK}};
  static const name_t fallbacks[] = {{"all", UVPERF_FALLBACK_ALL},
                                     {"clock", UVPERF_FALLBACK_CLOCK},
                                     {"user", UVPERF_FALLBACK_USER},
                                     {"kernel", UVPERF_FALLBACK_KERNEL},
                                     {"precise", UVPERF_FALLBACK_PRECISE}};
  static const name_t bands[] = {{"tasks", UVPERF_SIDE_BAND_TASKS},
                                 {"mmap", UVPERF_SIDE_BAND_MMAP},
                                 {"build_id", UVPERF_SIDE_BAND_BUILD_ID}};
  uvperf_set_options_t *options = &run.make.options;

  if (is(step, 0, "flags"))
    options->flags |= (uint32_t)bits_of(step, flags, COUNT_OF(flags));
  else if (is(step, 0, "fallbacks"))
    options->fallbacks =
        (uint32_t)bits_of(step, fallbacks, COUNT_OF(fallbacks));
  else if (is(step, 0, "side_band"))
    options->side_band = (uint32_t)bits_of(step, bands, COUNT_OF(bands));
  else if (is(step, 0, "ring_bytes"))
    options->ring_bytes = nth(step, 1);
  else if (is(step, 0, "wakeup_bytes"))
    options->wakeup_bytes = (uint32_t)value(step, 1);
  else
    options->slack_us = (uint32_t)value(step, 1);
}

/* Fills a target from the words from `at` on. */
static uvperf_target_t target_of(const step_t *step, size_t at) {
  static const name_t types[] = {{"self", UVPERF_TARGET_SELF},
                                 {"thread", UVPERF_TARGET_THREAD},
                                 {"process", UVPERF_TARGET_PROCESS},
                                 {"command", UVPERF_TARGET_COMMAND},
                                 {"cpus", UVPERF_TARGET_CPUS}};
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = (uint32_t)meaning(types, COUNT_OF(types), word(step, at++));
  if (target.type != UVPERF_TARGET_SELF && target.type != UVPERF_TARGET_CPUS) {
    target.pid = is(step, at, "me")       ? (int32_t)getpid()
                 : is(step, at, "parent") ? (int32_t)getppid()
                                          : (int32_t)value(step, at);
    at++;
  }
  for (; at < step->nr; at++) {
    if (is(step, at, "alone"))
      target.flags = UVPERF_TARGET_NO_INHERIT;
    else if (!is(step, at, "all"))
      target.cpus = step->words[at];
  }
  return target;
}

/* Keeps the list of CPUs until the end of the row. */
static void do_target(const step_t *step) {
  static char lists[COUNTERS_MOST][16];
  size_t nr = run.make.options.nr_targets;
  uvperf_target_t target = target_of(step, 0);

  if (target.cpus != NULL) {
    snprintf(lists[nr], sizeof(lists[nr]), "%s", target.cpus);
    target.cpus = lists[nr];
  }
  *evlist_add(&run.make, target.type) = target;
}

/* -- steps: the kernel ----------------------------------------------------- */

static void do_kernel(const step_t *step) {
  uint64_t lost = UVPERF_FORMAT_LOST;

  (void)step;
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = 0;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = lost;
}

/* "3", "3-5" or "3+". */
static void do_fail(const step_t *step) {
  enum fake_call call = call_of(word(step, 1));
  unsigned first, last;
  char to = '\0';
  int code = code_of(word(step, 3)),
      nr = sscanf(word(step, 2), "%u%c%u", &first, &to, &last);

  if (nr == 2 && to == '+')
    fake_fail_from(call, first, code);
  else if (nr == 1 || (nr == 3 && to == '-'))
    for (last = nr == 1 ? first : last; first <= last; first++)
      fake_fail(call, first, code);
  else
    fail_row(step->text, "which call?");
}

/* Opens of these are refused too; "refuse nothing" ends all. */
static void do_refuse(const step_t *step) {
  static const name_t names[] = {{"hardware", 0}, {"page_faults", 1},
                                 {"kernel", 2},   {"precise", 3},
                                 {"siblings", 4}, {"all", 5}};

  if (is(step, 1, "nothing")) {
    run.nr_refusals = 0;
    return;
  }
  assert_true(run.nr_refusals < COUNT_OF(run.refusals));
  run.refusals[run.nr_refusals].is_meant =
      meant[meaning(names, COUNT_OF(names), word(step, 1))];
  run.refusals[run.nr_refusals++].code = code_of(word(step, 2));
}

static void do_ioctls(const step_t *step) {
  snprintf(run.refused, sizeof(run.refused), "%s", word(step, 1));
  run.refused_code = code_of(word(step, 2));
}

static void do_give(const step_t *step) {
  fake_event_t *fake = event_of(word(step, 1));
  uint64_t ids[WORDS], values[WORDS];
  size_t i;

  if (strchr(word(step, 4), '=') == NULL) {
    counters_give(fake, value(step, 2), value(step, 3), value(step, 4));
    if (step->nr > 5)
      ((uint64_t *)(uintptr_t)fake->read_data)[4] = value(step, 5);
    return;
  }
  for (i = 4; i < step->nr; i++) {
    values[i - 4] = split_value(step->words[i]);
    ids[i - 4] = event_of(step->words[i])->id;
  }
  counters_give_group(fake, value(step, 2), value(step, 3), ids, values,
                      step->nr - 4);
}

static void do_size(const step_t *step) {
  event_of(word(step, 1))->read_size = nth(step, 2);
}

static void do_word(const step_t *step) {
  ((uint64_t *)(uintptr_t)event_of(word(step, 1))->read_data)[value(step, 2)] =
      value(step, 3);
}

static void do_revents(const step_t *step) {
  size_t i;

  for (i = 1; i < step->nr; i++)
    event_of(step->words[i])->revents = is(step, 0, "hup") ? POLLHUP : POLLERR;
}

static void do_clock(const step_t *step) {
  fake_clock_set_counters(run.now = value(step, 1));
}

static void do_share(const step_t *step) {
  run.is_shared = 1;
  run.nr_attached = nth(step, 1);
}

static void do_id(const step_t *step) {
  event_of(word(step, 1))->id = event_of(word(step, 2))->id;
}

static void do_fork(const step_t *step) {
  fake_process(is(step, 0, "fork") ? 4711 : 0);
}

/* Samples of an event, as of PERF_SAMPLE_TID. 0: as many as fit the ring. */
static void write_samples(fake_event_t *owner, size_t event, size_t nr) {
  struct {
    struct perf_event_header header;
    uint64_t id;
    uint32_t pid;
    uint32_t tid;
  } sample = {{PERF_RECORD_SAMPLE, 0, sizeof(sample)}, 0, 7, 8};

  sample.id = run.events[event]->id;
  if (nr == 0)
    nr = owner->ring_size / sizeof(sample);
  while (nr-- > 0)
    if (owner->attr.write_backward)
      fake_ring_prepend(owner, &sample, sizeof(sample));
    else
      fake_ring_append(owner, &sample, sizeof(sample));
}

static void do_write(const step_t *step) {
  write_samples(event_of(word(step, 1)), nr_of(event_of(word(step, 2))),
                step->nr > 3 ? nth(step, 3) : 1);
}

/* -- steps: calls ---------------------------------------------------------- */

static void do_open(const step_t *step) {
  (void)step;
  returned(evlist_try(&run.make, &run.evlist, &run.error));
  assert_int_equal(run.code == 0, run.evlist != NULL);
}

static void on_closed(uvperf_handle_t *handle) {
  (void)handle;
  run.is_closed = 1;
  say_next();
  say("closed");
}

static void do_close(const step_t *step) {
  (void)step;
  if (run.has_set) {
    uvperf_close(&run.set.handle, on_closed);
    return;
  }
  uvperf__evlist_free(run.evlist);
  run.evlist = NULL;
}

static void do_add(const step_t *step) {
  uvperf_target_t target = target_of(step, 1);
  uint32_t index = 99;

  if (is(step, 0, "elsewhere")) {
    returned(evlist_add_elsewhere(run.evlist, &target, &run.error));
    return;
  }
  returned(
      run.has_set
          ? uvperf_set_add(&run.set, &target, NULL, &index, &run.error)
          : uvperf__evlist_add_target(run.evlist, &target, &index, &run.error));
  if (run.code != 0)
    assert_int_equal(index, 99);
}

/* Removes a target; "take" prints its last counts. */
static void do_remove(const step_t *step) {
  int takes = is(step, 0, "take");
  uvperf_reading_t *last = NULL;

  if (takes)
    assert_int_equal(uvperf_reading_new(&last), 0);
  returned(run.has_set ? uvperf_set_remove(&run.set, (uint32_t)value(step, 1),
                                           last, &run.error)
                       : uvperf__evlist_remove_target(run.evlist,
                                                      (uint32_t)value(step, 1),
                                                      last, &run.error));
  if (takes && run.code == 0)
    say_totals(last);
  uvperf_reading_free(last);
}

/* Targets that come and go, one after the other, and write so many samples. */
static void do_churn(const step_t *step) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint64_t nr = value(step, 1);
  uint32_t index;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  fake_on_call(NULL);
  for (; nr > 0; nr--) {
    fake_clock_set_counters(run.now += 25000000);
    assert_int_equal(
        uvperf__evlist_add_target(run.evlist, &target, &index, NULL), 0);
    if (value(step, 2) != 0)
      write_samples(run.events[1], nr_opened() - 1, nth(step, 2));
    assert_int_equal(
        uvperf__evlist_remove_target(run.evlist, index, NULL, NULL), 0);
    uvperf__evlist_free_sources(run.evlist);
  }
  fake_on_call(on_call);
}

static void do_begin(const step_t *step) {
  size_t nr = nth(step, 1);
  uvperf_target_t target = target_of(step, 2);

  returned(uvperf__evlist_new_for_target(&run.made[nr], run.evlist, &target,
                                         &run.adding[nr], &run.error));
}

/* So that other work can run in between, a step closes at most one event.
 * "steps 0 5" makes five of them. */
static void do_steps(const step_t *step) {
  int is_cancelled = is(step, 0, "cancel");
  uint64_t most = step->nr > 2 ? value(step, 2) : UINT64_MAX;
  unsigned closed;
  int more = 1;

  while (more && most-- > 0) {
    closed = fake_count(FAKE_CLOSE);
    more = uvperf__adding_step(&run.adding[value(step, 1)], is_cancelled);
    assert_in_range(fake_count(FAKE_CLOSE) - closed, 0, 1);
  }
}

/* Ends it; with "join" it joins the list. */
static void do_join(const step_t *step) {
  size_t nr = nth(step, 1);
  int rc = uvperf__adding_end(&run.adding[nr], &run.error);

  if (rc == 0 && is(step, 0, "join"))
    rc = uvperf__evlist_take_target(run.evlist, run.made[nr], &run.error);
  returned(rc);
  uvperf__evlist_free(run.made[nr]);
  run.made[nr] = NULL;
}

static void do_enable(const step_t *step) {
  returned(is(step, 0, "enable")
               ? uvperf__evlist_enable(run.evlist, &run.error)
               : uvperf__evlist_disable(run.evlist, &run.error));
}

static void do_read(const step_t *step) {
  returned(is(step, 0, "reset") ? uvperf__evlist_reset(run.evlist)
           : is(step, 0, "read")
               ? uvperf__evlist_read(run.evlist, run.reading)
               : uvperf__evlist_read_base(run.evlist, run.reading));
}

/* "back" is both. */
static void do_hotplug(const step_t *step) {
  int cpu = (int)value(step, 1);

  if (!is(step, 0, "come"))
    uvperf__evlist_cpu_gone(run.evlist, cpu);
  if (!is(step, 0, "gone"))
    returned(uvperf__evlist_cpu_come(run.evlist, cpu, &run.error));
}

static void do_filter(const step_t *step) {
  returned(uvperf__evlist_apply_filter(run.evlist, nth(step, 1), word(step, 2),
                                       &run.error));
}

static void do_period(const step_t *step) {
  returned(uvperf__evlist_change_period(run.evlist, nth(step, 1), nth(step, 2),
                                        &run.error));
}

/* An fd that is no program's: the scripted kernel does not mind. */
static void do_program(const step_t *step) {
  int fd = is(step, 0, "program") ? dup(0) : -1;

  returned(uvperf__evlist_attach_bpf(run.evlist, nth(step, 1), fd,
                                     step->nr > 2 ? value(step, 2) : 0,
                                     &run.error));
  if (fd >= 0)
    close(fd);
}

static void do_detach(const step_t *step) {
  (void)step;
  uvperf__evlist_detach(run.evlist);
}

/* Makes a map of so many entries, and opens it. */
static void do_map(const step_t *step) {
  run.map = fake_map_add((uint32_t)value(step, 1));
  run.map_fd = fake_map_open(run.map);
  if (step->nr > 2)
    run.map->info.map_flags = (uint32_t)value(step, 2);
  if (step->nr > 3)
    run.map->info.type = (uint32_t)value(step, 3);
}

static void do_fill(const step_t *step) {
  returned(uvperf__evlist_fill_map(run.evlist, nth(step, 1),
                                   step->nr > 2 ? -1 : run.map_fd, &run.error));
}

static void do_leave(const step_t *step) {
  (void)step;
  uvperf__evlist_leave_maps(run.evlist);
}

static void do_foreign(const step_t *step) {
  if (is(step, 0, "foreign"))
    fake_map_put_foreign(run.map, (uint32_t)value(step, 1));
  else
    fake_map_clear(run.map, (uint32_t)value(step, 1));
}

/* -- steps: measuring a function ------------------------------------------- */

static void do_work(const step_t *step) {
  struct work_s *work = &run.works[run.nr_works++];

  assert_true(run.nr_works <= COUNT_OF(run.works));
  work->fake = event_of(word(step, 1));
  work->enabled = value(step, 2);
  work->running = value(step, 3);
  for (work->nr = 0; work->nr + 4 < step->nr; work->nr++)
    work->values[work->nr] = value(step, work->nr + 4);
}

/* The measured function: the events count. */
static void work(void *arg) {
  const struct work_s *added =
      &run.works[run.nr_calls++ % (run.nr_works + !run.nr_works)];
  uint64_t ids[WORDS];
  size_t i;

  (void)arg;
  say_next();
  say("called");
  if (run.nr_works == 0)
    return;
  run.sum.enabled += added->enabled;
  run.sum.running += added->running;
  for (i = 0; i < added->nr; i++) {
    run.sum.values[i] += added->values[i];
    ids[i] = added->fake->id + i;
  }
  if (added->nr == 1)
    counters_give(added->fake, run.sum.values[0], run.sum.enabled,
                  run.sum.running);
  else if (added->nr > 1)
    counters_give_group(added->fake, run.sum.enabled, run.sum.running, ids,
                        run.sum.values, added->nr);
  else
    added->fake->read_size = 0;
}

static void do_meter(const step_t *step) {
  uvperf_set_options_t options = run.make.options;
  const uvperf_set_failure_t *failures;
  size_t nr, i;

  options.names = word(step, 1);
  options.attrs = NULL;
  options.nr_attrs = options.nr_targets = 0;
  returned(uvperf_meter_new(&run.meter, &options, &run.error));
  if (run.code != 0)
    return;
  failures = uvperf_meter_failures(run.meter, &nr);
  for (i = 0; i < nr; i++) {
    say(", no %s ",
        uvperf_meter_item(run.meter, failures[i].error.attr_index)->label);
    say_error(&failures[i].error);
  }
}

static void do_free_meter(const step_t *step) {
  (void)step;
  uvperf_meter_free(run.meter);
  run.meter = NULL;
}

/* "measure 2" has two results; "measure 2 NAMES" is uvperf_measure_events. */
static void do_measure(const step_t *step) {
  uvperf_count_t counts[WORDS];
  size_t nr = nth(step, 1), i;
  int is_once = step->nr > 2, rc;

  memset(counts, 0, sizeof(counts));
  rc = is_once ? uvperf_measure_events(word(step, 2), work, NULL, counts, nr,
                                       &run.error)
               : uvperf_meter_measure(run.meter, work, NULL, counts, nr,
                                      &run.error);
  for (i = 0; i < nr && counts[i].nr_counts + counts[i].nr_missing != 0; i++)
    say_count(&counts[i]);
  if (is_once && rc == 0 && run.error.code != 0) {
    say(", missing a%u ", run.error.attr_index);
    say_error(&run.error);
  }
  returned(rc);
}

static void do_repeat(const step_t *step) {
  uvperf_runs_t runs;

  fake_on_call(NULL);
  memset(&runs, 0, sizeof(runs));
  returned(uvperf_meter_repeat(run.meter, value(step, 1), work, NULL, &runs,
                               nth(step, 2), &run.error));
  fake_on_call(on_call);
  run.used = 0;
  run.out[0] = '\0';
  if (runs.nr != 0)
    say("%llu runs of %llu to %llu, mean %.2f, deviation %.2f, sum",
        (unsigned long long)runs.nr, (unsigned long long)runs.least,
        (unsigned long long)runs.most, runs.mean, runs.deviation);
  if (runs.nr != 0)
    say_count(&runs.sum);
  returned(run.code);
}

/* -- steps: a set on a loop ------------------------------------------------ */

static void on_opened(uvperf_handle_t *handle, int status,
                      const uvperf_error_t *error) {
  (void)handle;
  assert_int_equal(status == 0, error == NULL);
  say_next();
  say("opened %s", name_of(status));
}

static void on_added(uvperf_set_t *set, int status, void *data, uint32_t index,
                     const uvperf_error_t *error) {
  (void)set;
  (void)data;
  assert_int_equal(status == 0, error == NULL);
  say_next();
  say("t%u added ", index);
  if (error == NULL)
    say("0");
  else
    say_error(error);
}

static void say_record(const uvperf_record_t *record) {
  if (record->type != PERF_RECORD_SAMPLE) {
    say("record %u", record->type);
    return;
  }
  say("sample of ");
  if (record->source == NULL)
    say("nothing");
  else
    say_place(record->source->target_index, record->source->pid,
              record->source->cpu);
  if (record->time != 0)
    say(" at %lld", (long long)(record->time - run.base));
}

static void on_set_record(uvperf_handle_t *handle, int status,
                          const uvperf_record_t *record) {
  (void)handle;
  say_next();
  if (status != 0)
    say("%s", name_of(status));
  else
    say_record(record);
}

static void on_end(uvperf_set_t *set, uint32_t target) {
  (void)set;
  say_next();
  say("t%u ended", target);
}

/* Makes a set, by libuv's pool with "set pool". The pool waits for "pool". */
static void do_set(const step_t *step) {
  uvperf_set_options_t options = run.make.options;

  fake_pool_hold();
  fake_clock_set(1); /* a slow machine makes no more requests of a job */
  options.flags |= UVPERF_SET_FIXED_CPUS;
  if (step->nr > 1)
    options.open_cb = on_opened;
  returned(uvperf_set_init(&run.loop, &run.set, &options, &run.error));
  run.has_set = run.code == 0;
  if (run.has_set)
    uvperf_set_on_end(&run.set, on_end);
  run.base = live_now();
}

static void do_later(const step_t *step) {
  uvperf_target_t target = target_of(step, 1);
  uint32_t index = 99;

  returned(uvperf_set_add(&run.set, &target, on_added, &index, &run.error));
}

/* So that each open is a request of its own. */
static void do_slow(const step_t *step) {
  (void)step;
  run.is_slow = 1;
}

/* Runs all requests of the pool, or so many of them, or only the pool's part of
 * one. */
static void do_pool(const step_t *step) {
  uint64_t nr;

  if (step->nr == 1)
    fake_pool_finish();
  else if (is(step, 1, "work"))
    fake_pool_work();
  else
    for (nr = value(step, 1); nr > 0; nr--)
      fake_pool_run();
  if (fake_pool_waits())
    say_next();
  if (fake_pool_waits())
    say("waits");
}

static void do_turn(const step_t *step) {
  int turns = 10;

  (void)step;
  while (turns-- > 0 && uv_run(&run.loop, UV_RUN_NOWAIT) != 0)
    continue;
}

static void do_start(const step_t *step) {
  returned(is(step, 0, "start")
               ? uvperf_start(&run.set.handle, NULL, on_set_record, &run.error)
           : is(step, 0, "stop") ? uvperf_stop(&run.set.handle)
                                 : uvperf_flush(&run.set.handle));
}

static void do_next(const step_t *step) {
  const uvperf_record_t *record;
  int rc = uvperf_next(&run.set.handle, &record);

  (void)step;
  assert_int_equal(record != NULL, rc == 0 || rc == UV_EPROTO);
  if (rc == 0) {
    say_next();
    say_record(record);
  }
  returned(rc);
}

static void no_writer(void) {
}

static void do_snapshot(const step_t *step) {
  static const name_t flags[] = {
      {"all", UVPERF_SNAPSHOT_ALL},
      {"oldest_first", UVPERF_SNAPSHOT_OLDEST_FIRST}};

  fake_on_membarrier(no_writer);
  returned(uvperf_snapshot(&run.set.handle,
                           (uint32_t)bits_of(step, flags, COUNT_OF(flags)),
                           NULL, &run.error));
}

static void do_has(const step_t *step) {
  (void)step;
  say("%d", uvperf_has_record(&run.set.handle));
}

/* Samples at these times, of an event in a ring of another. */
static void do_samples(const step_t *step) {
  fake_event_t *owner = event_of(word(step, 1)), *of = event_of(word(step, 2));
  record_builder_t builder;
  record_values_t values;
  size_t i;

  for (i = 3; i < step->nr; i++) {
    record_values_init(&values);
    values.id = of->id;
    values.time = run.base + value(step, i);
    record_build(&builder, PERF_RECORD_SAMPLE, &run.events[0]->attr, &values);
    if (owner->attr.write_backward)
      fake_ring_prepend(owner, builder.words, builder.size);
    else
      fake_ring_append(owner, builder.words, builder.size);
  }
}

static void do_stats(const step_t *step) {
  uvperf_stats_t stats;

  (void)step;
  uvperf_stats(&run.set.handle, &stats);
  say_next();
  say("%llu records, %llu late, %llu of bad times, %u to close",
      (unsigned long long)stats.records, (unsigned long long)stats.late_records,
      (unsigned long long)stats.bad_times, stats.closing_fds);
}

/* -- steps: records and the end -------------------------------------------- */

static void do_free_sources(const step_t *step) {
  (void)step;
  uvperf__evlist_free_sources(run.evlist);
}

static void on_record(void *data, int status, const uvperf_record_t *record) {
  size_t *known = data;

  assert_int_equal(status, record->source != NULL ? 0 : -EPROTO);
  known[record->source != NULL] += 1;
}

static void do_drain(const step_t *step) {
  size_t known[2] = {0, 0};

  (void)step;
  evlist_drain(run.evlist, on_record, known);
  say_next();
  say("%zu known, %zu unknown", known[1], known[0]);
}

static void do_probe(const step_t *step) {
  size_t nr = uvperf__evlist_probe(run.evlist);

  (void)step;
  say_next();
  say("%zu ended", nr);
}

static void do_ended(const step_t *step) {
  uint32_t index;

  (void)step;
  while (uvperf__evlist_take_ended(run.evlist, &index)) {
    say_next();
    say("t%u", index);
  }
  say_next();
  say("%s", uvperf__evlist_have_ended(run.evlist) ? "all"
            : uvperf__evlist_can_end(run.evlist)  ? "more can"
                                                  : "none can");
}

static void do_writers(const step_t *step) {
  (void)step;
  returned(uvperf__evlist_check_writers(run.evlist, &run.error));
}

/* -- steps: what there is -------------------------------------------------- */

/* Reads without printing what the kernel sees. */
static const uvperf_reading_t *read_quietly(uvperf_reading_t *reading) {
  fake_on_call(NULL);
  run.code = uvperf__evlist_read(run.evlist, reading);
  fake_on_call(on_call);
  return reading;
}

static void do_totals(const step_t *step) {
  (void)step;
  say_totals(read_quietly(run.reading));
}

static void do_counts(const step_t *step) {
  say_counts(read_quietly(run.reading), nth(step, 1));
}

static void do_mark(const step_t *step) {
  (void)step;
  read_quietly(run.marked);
}

static void do_delta(const step_t *step) {
  read_quietly(run.reading);
  assert_int_equal(uvperf_reading_delta(run.delta, run.marked, run.reading), 0);
  say_counts(run.delta, nth(step, 1));
}

/* With the serial, and the event of attr 0. */
static void do_places(const step_t *step) {
  const uvperf_reading_t *reading = read_quietly(run.reading);
  const uvperf_place_t *place;
  size_t i, nr;

  (void)step;
  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    place = uvperf_reading_place(reading, i);
    say_next();
    say_place(place->target, place->pid, place->cpu);
    say(" #%llu", (unsigned long long)place->serial);
    nr = nr_of_fd(uvperf__evlist_fd(run.evlist, 0, place->serial));
    if (nr < EVENTS)
      say(" e%zu", nr);
  }
}

static void do_failures(const step_t *step) {
  const uvperf_set_failure_t *failures;
  size_t nr, i;

  (void)step;
  failures = uvperf__evlist_failures(run.evlist, &nr);
  for (i = 0; i < nr; i++) {
    say_next();
    say("a%u ", failures[i].error.attr_index);
    say_place(failures[i].error.target_index, failures[i].pid, failures[i].cpu);
    say(" ");
    say_error(&failures[i].error);
  }
}

static void do_says(const step_t *step) {
  int is_last = is(step, 0, "says");
  const char *reason =
      is_last ? run.error.reason
              : evlist_failure(run.evlist, nth(step, 1))->error.reason;

  if (strstr(reason, word(step, is_last ? 1 : 2)) == NULL)
    fail_row(step->text, reason);
}

static void do_nr(const step_t *step) {
  (void)step;
  say("%zu", uvperf__evlist_nr_open(run.evlist));
}

static void do_item(const step_t *step) {
  size_t attr = nth(step, 1), i;
  const uvperf_event_item_t *item = uvperf__evlist_item(run.evlist, attr);

  if (item == NULL) {
    say("none");
    return;
  }
  if (item->label == run.labels[attr])
    say("still ");
  run.labels[attr] = item->label;
  say("%s%s%s", item->label, *item->unit != '\0' ? " " : "", item->unit);
  if (item->group >= 0)
    say(" group %d leader %zu", item->group, item->leader);
  for (i = 0; i < item->nr_cpus; i++)
    say(i == 0 ? " cpus %d" : ",%d", item->cpus[i]);
  assert_true(item->scale == 1);
}

static void do_fields(const step_t *step) {
  say_fields(uvperf__evlist_item(run.evlist, nth(step, 1))->attr, step, 2);
}

/* All fields but the size, which depends on the headers. */
static void do_nonzero(const step_t *step) {
  const struct perf_event_attr *attr =
      uvperf__evlist_item(run.evlist, nth(step, 1))->attr;
  uint64_t field;
  unsigned i;

  for (i = 0; i < FIELDS; i++) {
    if (uvperf_attr_get(attr, (enum uvperf_attr_field)i, &field) != 0 ||
        field == 0 || i == UVPERF_ATTR_SIZE)
      continue;
    say(run.used == 0 ? "%s=" : " %s=", uvperf__attr_field_name(i));
    say_number(field);
  }
}

static void do_changes(const step_t *step) {
  const uvperf_change_t *changes;
  size_t nr, i;

  changes = uvperf__evlist_changes(run.evlist, nth(step, 1), &nr);
  assert_int_equal(nr == 0, changes == NULL);
  for (i = 0; i < nr; i++) {
    say_next();
    say("%s ", uvperf__attr_field_name(changes[i].field));
    say_number(changes[i].from);
    say(" to ");
    say_number(changes[i].to);
  }
}

/* Fields of all events that were opened. */
static void do_events(const step_t *step) {
  size_t i;

  for (i = 0; i < nr_opened(); i++) {
    say_next();
    say("e%zu ", i);
    say_fields(&run.events[i]->attr, step, 1);
  }
}

static void do_enabled(const step_t *step) {
  size_t i;

  (void)step;
  say(uvperf__evlist_is_enabled(run.evlist) ? "yes:" : "no:");
  for (i = 0; i < EVENTS; i++)
    if (run.events[i]->fd >= 0 && run.events[i]->enabled)
      say(" e%zu", i);
}

static void do_sources(const step_t *step) {
  const uvperf_source_t *source;
  size_t i;

  for (i = 1; i < step->nr; i++) {
    source = evlist_source(run.evlist, event_of(step->words[i])->id);
    say_next();
    if (source == NULL) {
      say("-");
      continue;
    }
    say("a%u ", source->attr_index);
    say_place(source->target_index, source->pid, source->cpu);
    say(" #%llu", (unsigned long long)source->serial);
  }
}

/* For each CPU the owner, and how many events write into the ring. */
static void do_rings(const step_t *step) {
  const uvperf__cpu_ring_t *ring;
  size_t i;

  (void)step;
  for (i = 0; i < uvperf__evlist_nr_rings(run.evlist); i++) {
    ring = evlist_ring(run.evlist, i);
    say_next();
    say("cpu%d e%zu of %zu", ring->cpu, nr_of_fd(ring->fd),
        (size_t)ring->nr_events);
  }
}

/* The CPU of each entry of the map; x: an event of others. */
static void do_entries(const step_t *step) {
  uint32_t key;
  int cpu;

  (void)step;
  for (key = 0; key < run.map->info.max_entries; key++) {
    cpu = fake_map_at(run.map, key);
    say(key == 0 ? "" : " ");
    if (cpu >= 0)
      say("%d", cpu);
    else
      say(cpu == FAKE_MAP_EMPTY ? "." : "x");
  }
}

static void do_memory(const step_t *step) {
  if (is(step, 1, "mark"))
    run.blocks = fake_live_allocations();
  else
    assert_int_equal(fake_live_allocations(), run.blocks);
}

/* -- rows ------------------------------------------------------------------ */

/* Of "each": from now on the nth call fails. */
static void do_sweep(const step_t *step) {
  (void)step;
  fake_fail(run.swept, run.nth, run.sweep);
  run.due = fake_count(run.swept) + run.nth;
}

/* Whether it has failed. */
static int is_swept(void) {
  return run.due != 0 && fake_count(run.swept) >= run.due;
}

static const struct {
  const char *word;
  void (*run)(const step_t *step);
} verbs[] = {{"file", do_file},
             {"online", do_online},
             {"up", do_up},
             {"task", do_task},
             {"tasks", do_tasks},
             {"replace", do_replace},
             {"attrs", do_attrs},
             {"records", do_attrs},
             {"names", do_names},
             {"group", do_group},
             {"leader", do_leader},
             {"attr", do_attr},
             {"sample", do_sample},
             {"flags", do_option},
             {"side_band", do_option},
             {"fallbacks", do_option},
             {"ring_bytes", do_option},
             {"wakeup_bytes", do_option},
             {"slack_us", do_option},
             {"cpus", do_target},
             {"self", do_target},
             {"thread", do_target},
             {"process", do_target},
             {"command", do_target},
             {"kernel", do_kernel},
             {"fail", do_fail},
             {"refuse", do_refuse},
             {"ioctls", do_ioctls},
             {"give", do_give},
             {"size", do_size},
             {"word", do_word},
             {"hup", do_revents},
             {"err", do_revents},
             {"clock", do_clock},
             {"share", do_share},
             {"id", do_id},
             {"fork", do_fork},
             {"unfork", do_fork},
             {"write", do_write},
             {"open", do_open},
             {"close", do_close},
             {"add", do_add},
             {"elsewhere", do_add},
             {"remove", do_remove},
             {"take", do_remove},
             {"churn", do_churn},
             {"begin", do_begin},
             {"steps", do_steps},
             {"cancel", do_steps},
             {"join", do_join},
             {"drop", do_join},
             {"enable", do_enable},
             {"disable", do_enable},
             {"reset", do_read},
             {"read", do_read},
             {"base", do_read},
             {"gone", do_hotplug},
             {"come", do_hotplug},
             {"back", do_hotplug},
             {"filter", do_filter},
             {"period", do_period},
             {"program", do_program},
             {"noprogram", do_program},
             {"detach", do_detach},
             {"set", do_set},
             {"later", do_later},
             {"slow", do_slow},
             {"pool", do_pool},
             {"turn", do_turn},
             {"start", do_start},
             {"stop", do_start},
             {"flush", do_start},
             {"next", do_next},
             {"has_record", do_has},
             {"snapshot", do_snapshot},
             {"samples", do_samples},
             {"stats", do_stats},
             {"work", do_work},
             {"meter", do_meter},
             {"free_meter", do_free_meter},
             {"measure", do_measure},
             {"repeat", do_repeat},
             {"map", do_map},
             {"fill", do_fill},
             {"leave", do_leave},
             {"foreign", do_foreign},
             {"clear", do_foreign},
             {"free_sources", do_free_sources},
             {"drain", do_drain},
             {"probe", do_probe},
             {"ended", do_ended},
             {"writers", do_writers},
             {"totals", do_totals},
             {"counts", do_counts},
             {"mark", do_mark},
             {"delta", do_delta},
             {"places", do_places},
             {"failures", do_failures},
             {"failure", do_says},
             {"says", do_says},
             {"nr", do_nr},
             {"item", do_item},
             {"fields", do_fields},
             {"nonzero", do_nonzero},
             {"changes", do_changes},
             {"events", do_events},
             {"enabled", do_enabled},
             {"sources", do_sources},
             {"rings", do_rings},
             {"entries", do_entries},
             {"memory", do_memory},
             {"sweep", do_sweep}};

/* Splits a step into words. A text in '' is one word. */
static void split(char *text, step_t *step) {
  char *at = text, *end;

  for (step->nr = 0; *(at += strspn(at, " ")) != '\0'; step->nr++) {
    if (step->nr == WORDS)
      fail_row(step->text, "too many words");
    end = at + strcspn(at, " ");
    if (*at == '\'')
      for (end = strchr(++at, '\'');
           end != NULL && strchr(" ", end[1]) == NULL;)
        end = strchr(end + 1, '\'');
    if (end == NULL)
      fail_row(step->text, "a text has no end");
    step->words[step->nr] = at;
    at = end;
    if (*at != '\0')
      *at++ = '\0';
  }
}

/* "times 3 ..." runs the rest so often. */
static void run_verb(const step_t *step) {
  step_t rest = *step;
  uint64_t times;
  size_t i = 0;

  if (is(step, 0, "times")) {
    rest.nr -= 2;
    memmove(rest.words, rest.words + 2, rest.nr * sizeof(rest.words[0]));
    for (times = value(step, 1); times > 0; times--)
      run_verb(&rest);
    return;
  }
  while (i < COUNT_OF(verbs) && !is(step, 0, verbs[i].word))
    i++;
  if (i == COUNT_OF(verbs))
    fail_row(step->text, "no such step");
  verbs[i].run(step);
}

/* One step and what is expected of it, or NULL. */
static void run_step(char *text, const char *expected) {
  char copy[1024];
  step_t step = {.text = copy};

  snprintf(copy, sizeof(copy), "%s", text);
  split(text, &step);
  run.used = 0;
  run.out[0] = '\0';
  run.verb[0] = '\0';
  run.code = 0;
  if (run.has_set && !run.is_closed && !uvperf_is_closing(&run.set.handle))
    run.evlist = uvperf__set_counters(&run.set);
  memset(&run.error, 0, is(&step, 0, "says") ? 0 : sizeof(run.error));
  run_verb(&step);
  if (getenv("SCRIPTED_EVLIST_PRINT") != NULL)
    printf("%s;%s -> %s\n", run.row->name, copy, run.out);
  else if (expected != NULL && !is_swept() && strcmp(expected, run.out) != 0)
    fail_msg("%s: \"%s\" printed\n  %s\nand not\n  %s", run.row->name, copy,
             run.out, expected);
  if (run.code != 0 && (is_swept() ? run.code != run.sweep : expected == NULL))
    fail_row(copy, run.out);
}

/* In a sweep nothing follows an open that failed. */
static void run_steps(void) {
  char text[4096], *line, *next, *arrow;

  assert_true(strlen(run.row->text) < sizeof(text));
  snprintf(text, sizeof(text), "%s", run.row->text);
  for (line = text; *line != '\0'; line = next) {
    next = line + strcspn(line, ";\n");
    if (*next != '\0')
      *next++ = '\0';
    line += strspn(line, " ");
    arrow = strstr(line, " ->");
    if (arrow != NULL) {
      *arrow = '\0';
      arrow += strspn(arrow + 3, " ") + 3;
    }
    if (*line == '\0' || strncmp(line, "each ", 5) == 0)
      continue;
    run_step(line, arrow);
    if (run.evlist == NULL && run.code != 0 && is_swept())
      return;
  }
}

/* Of the CPUs 0 to 3, in two packages: PMUs of some CPUs for all tasks, of each
 * kind of core, and of packages. */
static void make_host(void) {
#define PMUS "/sys/bus/event_source/devices"
#define CPU  "/sys/devices/system/cpu"
  static const struct {
    const char *path;
    const char *text;
  } files[] = {
      {PMUS "/uncore/type", "20\n"},
      {PMUS "/uncore/cpumask", "0,2\n"},
      {PMUS "/uncore/format/event", "config:0-7\n"},
      {PMUS "/far/type", "21\n"},
      {PMUS "/far/cpumask", "8-11,16\n"},
      {PMUS "/far/format/event", "config:0-7\n"},
      {PMUS "/core/type", "22\n"},
      {PMUS "/core/cpus", "0-1\n"},
      {PMUS "/core/format/event", "config:0-7\n"},
      {PMUS "/atom/type", "23\n"},
      {PMUS "/atom/cpus", "2-3\n"},
      {PMUS "/atom/format/event", "config:0-7\n"},
      {PMUS "/pkg/type", "24\n"},
      {PMUS "/pkg/format/event", "config:0-7\n"},
      {PMUS "/pkg/events/joules", "event=2\n"},
      {PMUS "/pkg/events/joules.per-pkg", "1\n"},
      {PMUS "/pkg/events/watts", "event=3\n"},
      {PMUS "/pkg/events/watts.snapshot", "1\n"},
      {CPU "/cpu0/topology/physical_package_id", "0\n"},
      {CPU "/cpu1/topology/physical_package_id", "1\n"},
      {CPU "/cpu2/topology/physical_package_id", "0\n"},
      {CPU "/cpu3/topology/physical_package_id", "1\n"},
  };
  size_t i;

  assert_int_equal(make_cpus_begin(3), 0);
  for (i = 0; i < COUNT_OF(files); i++)
    make_host_write(files[i].path, files[i].text);
}

static void begin_row(const evlist_row_t *row) {
  size_t i;

  memset(&run, 0, sizeof(run));
  run.row = row;
  evlist_make(&run.make, 0);
  evlist_make_setup(NULL);
  assert_int_equal(uvperf_reading_new(&run.reading), 0);
  assert_int_equal(uvperf_reading_new(&run.marked), 0);
  assert_int_equal(uvperf_reading_new(&run.delta), 0);
  fake_clock_set_counters(0);
  make_host();
  assert_int_equal(uv_loop_init(&run.loop), 0);
  counters_script(run.events, EVENTS);
  for (i = 0; i < EVENTS; i++) {
    run.events[i]->on_ioctl = on_ioctl;
    run.events[i]->on_link = on_link;
  }
  fake_on_open(on_open);
  fake_on_call(on_call);
}

/* Closes the set, if it is not closed, and the loop. */
static void end_loop(void) {
  if (run.has_set) {
    if (!run.is_closed && !uvperf_is_closing(&run.set.handle))
      uvperf_close(&run.set.handle, on_closed);
    do
      fake_pool_finish();
    while (uv_run(&run.loop, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
    assert_int_equal(run.is_closed, 1);
    run.evlist = NULL;
  }
  uv_run(&run.loop, UV_RUN_NOWAIT);
  assert_int_equal(uv_loop_close(&run.loop), 0);
  fake_clock_set(0);
}

static void end_row(size_t fds) {
  size_t i;

  fake_process(0);
  run.used = 0;
  end_loop();
  for (i = 0; i < COUNT_OF(run.made); i++) {
    if (run.made[i] != NULL)
      uvperf__adding_end(&run.adding[i], NULL);
    uvperf__evlist_free(run.made[i]);
  }
  if (run.evlist != NULL && run.map != NULL)
    uvperf__evlist_leave_maps(run.evlist);
  if (run.map != NULL)
    fake_map_close(run.map_fd);
  uvperf__evlist_free(run.evlist);
  uvperf_meter_free(run.meter);
  uvperf_event_list_free(run.list);
  uvperf_reading_free(run.reading);
  uvperf_reading_free(run.marked);
  uvperf_reading_free(run.delta);
  fake_clock_set_counters(0);
  fake_assert_clean();
  assert_int_equal(support_count_fds(), fds);
  fake_kernel_reset();
  assert_int_equal(make_cpus_end(), 0);
}

static void run_row(void **state) {
  const evlist_row_t *row = *state;
  char call[16] = "", code[16];
  size_t fds = support_count_fds();
  unsigned nth = 1;
  int more;

  sscanf(row->text, "each %15s %15[A-Z0-9]", call, code);
  do {
    begin_row(row);
    if (call[0] != '\0') {
      run.sweep = code_of(code);
      run.swept = call_of(call);
      run.nth = nth++;
      if (strstr(row->text, " sweep") == NULL)
        do_sweep(NULL);
    }
    run_steps();
    more = is_swept();
    end_row(fds);
  } while (more);
  assert_true(call[0] == '\0' || nth > 2);
}

int scripted_evlist_run(const char *program, const evlist_row_t *rows,
                        size_t nr, const struct CMUnitTest *tests,
                        size_t nr_tests) {
  struct CMUnitTest *all = calloc(nr + nr_tests, sizeof(*all));
  uv_loop_t loop;
  size_t i;
  int failed;

  /* libuv keeps some fds from its first loop on. */
  if (all == NULL || uv_loop_init(&loop) != 0 || uv_loop_close(&loop) != 0)
    return 1;
  for (i = 0; i < nr; i++)
    all[i] = (struct CMUnitTest){rows[i].name, run_row, NULL, NULL,
                                 (void *)(uintptr_t)&rows[i]};
  if (nr_tests != 0)
    memcpy(all + nr, tests, nr_tests * sizeof(*all));
  failed = _cmocka_run_group_tests(program, all, nr + nr_tests, NULL, NULL);
  free(all);
  return failed;
}
