/* SPDX-License-Identifier: MIT */
#include "scripted_kernel.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attr/kernel_knows.h"
#include "fake_clock.h"
#include "fake_pool.h"
#include "make_cpus.h"
#include "make_evlist.h"
#include "make_host.h"
#include "scripted_opening.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

fake_event_t *kernel_events[KERNEL_EVENTS];
uv_loop_t kernel_loop;
uint64_t kernel_now;
int kernel_map_fd;

/* Of a row. */
static struct {
  fake_map_t *map;
  size_t blocks; /* of memory, at the mark */
  int is_slow;
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
} kernel;

enum fake_call kernel_call(const char *name) {
  static const step_name_t names[] = {
      {"open", FAKE_OPEN},     {"ioctl", FAKE_IOCTL},
      {"mmap", FAKE_MMAP},     {"ioctl_ptr", FAKE_IOCTL_PTR},
      {"read", FAKE_READ},     {"update", FAKE_BPF_UPDATE},
      {"poll", FAKE_POLL},     {"link", FAKE_BPF_LINK},
      {"calloc", FAKE_CALLOC}, {"close", FAKE_CLOSE}};

  return (enum fake_call)step_meaning(names, COUNT_OF(names), name);
}

fake_event_t *kernel_event(const char *name) {
  uint64_t nr = *name == 'e' ? step_number(name + 1) : KERNEL_EVENTS;

  if (nr >= KERNEL_EVENTS)
    step_fail(name, "is no event");
  return kernel_events[nr];
}

size_t kernel_nr(const fake_event_t *fake) {
  size_t i = 0;

  while (kernel_events[i] != fake)
    i++;
  return i;
}

size_t kernel_nr_of_fd(int fd) {
  size_t i = 0;

  while (i < KERNEL_EVENTS && (fd < 0 || kernel_events[i]->fd != fd))
    i++;
  return i;
}

size_t kernel_nr_opened(void) {
  size_t nr = 0;

  while (nr < KERNEL_EVENTS && kernel_events[nr]->opened)
    nr++;
  return nr;
}

/* -- what it does ---------------------------------------------------------- */

static void say_open(const fake_seen_t *seen) {
  say(seen->fake == NULL ? " @" : " e%zu@",
      seen->fake == NULL ? 0 : kernel_nr(seen->fake));
  if (seen->pid >= 0)
    say_pid(seen->pid);
  if (seen->cpu >= 0)
    say(seen->pid >= 0 ? ":%d" : "%d", seen->cpu);
  if (seen->group_fd >= 0)
    say("<e%zu", kernel_nr_of_fd(seen->group_fd));
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
  say_verb(verb);
  if (strcmp(verb, "open") == 0)
    say_open(seen);
  else if (seen->fake != NULL)
    say(" e%zu", kernel_nr(seen->fake));
  if (strcmp(verb, "SET_OUTPUT") == 0)
    say(" e%zu", kernel_nr_of_fd((int)seen->argument));
  else if (strcmp(verb, "PERIOD") == 0)
    say(" %llu", (unsigned long long)*(const uint64_t *)seen->argument);
  else if (strcmp(verb, "SET_FILTER") == 0)
    say(" %s", (const char *)seen->argument);
  else if (strcmp(verb, "bpf link") == 0 && seen->argument != 0)
    say(" %llu", (unsigned long long)seen->argument);
  if (seen->code < 0) {
    say(" %s", step_code_name(seen->code));
    say_verb_ends();
  }
}

void kernel_show(void) {
  fake_on_call(on_call);
}

void kernel_hide(void) {
  fake_on_call(NULL);
}

/* A tracepoint has one list of programs for all of its events. */
static int on_link(fake_event_t *fake, int prog_fd) {
  (void)fake;
  (void)prog_fd;
  return kernel.is_shared && kernel.nr_attached++ != 0 ? -EEXIST : 0;
}

static int on_ioctl(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  static const step_name_t names[] = {{"SET_FILTER", PERF_EVENT_IOC_SET_FILTER},
                                      {"PERIOD", PERF_EVENT_IOC_PERIOD},
                                      {"SET_BPF", PERF_EVENT_IOC_SET_BPF}};

  if (kernel.refused_code != 0 &&
      (long)request == step_meaning(names, COUNT_OF(names), kernel.refused))
    return kernel.refused_code;
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

  if (kernel.replace_at != 0 && fake_count(FAKE_OPEN) == kernel.replace_at)
    write_task(kernel.replaced[0], kernel.replaced[1], kernel.replaced[2]);
  if (kernel.is_slow)
    scripted_opening_take_time(attr);
  for (i = 0; i < kernel.nr_refusals; i++)
    if (kernel.refusals[i].is_meant(attr))
      return kernel.refusals[i].code;
  return 0;
}

/* -- steps: the host ------------------------------------------------------- */

static void do_file(const step_t *step) {
  char text[256];

  snprintf(text, sizeof(text), "%s\n", step_word(step, 2));
  make_host_write(step_word(step, 1), text);
}

static void do_online(const step_t *step) {
  make_cpus_list(step_word(step, 1));
}

static void do_up(const step_t *step) {
  make_cpus_bring_up((int)step_value(step, 1));
}

/* From then on tkill(2) finds each task. */
static void do_task(const step_t *step) {
  fake_fail_from(FAKE_HAS_TASK, 1, 0);
  write_task(step_word(step, 1), step_word(step, 2), step_word(step, 3));
}

static void do_tasks(const step_t *step) {
  (void)step;
  write_task("11", "11", "77");
  write_task("12", "12", "77");
}

/* The task is another one from the nth open on. */
static void do_replace(const step_t *step) {
  size_t i;

  kernel.replace_at = (unsigned)step_value(step, 1);
  for (i = 0; i < 3; i++)
    snprintf(kernel.replaced[i], sizeof(kernel.replaced[i]), "%s",
             step_word(step, i + 2));
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
  enum fake_call call = kernel_call(step_word(step, 1));
  unsigned first, last;
  char to = '\0';
  int code = step_code(step_word(step, 3)),
      nr = sscanf(step_word(step, 2), "%u%c%u", &first, &to, &last);

  if (nr == 2 && to == '+')
    fake_fail_from(call, first, code);
  else if (nr == 1 || (nr == 3 && to == '-'))
    for (last = nr == 1 ? first : last; first <= last; first++)
      fake_fail(call, first, code);
  else
    step_fail(step->text, "which call?");
}

/* Opens of these are refused too; "refuse nothing" ends all. */
static void do_refuse(const step_t *step) {
  static const step_name_t names[] = {{"hardware", 0}, {"page_faults", 1},
                                      {"kernel", 2},   {"precise", 3},
                                      {"siblings", 4}, {"all", 5}};

  if (step_is(step, 1, "nothing")) {
    kernel.nr_refusals = 0;
    return;
  }
  assert_true(kernel.nr_refusals < COUNT_OF(kernel.refusals));
  kernel.refusals[kernel.nr_refusals].is_meant =
      meant[step_meaning(names, COUNT_OF(names), step_word(step, 1))];
  kernel.refusals[kernel.nr_refusals++].code = step_code(step_word(step, 2));
}

static void do_ioctls(const step_t *step) {
  snprintf(kernel.refused, sizeof(kernel.refused), "%s", step_word(step, 1));
  kernel.refused_code = step_code(step_word(step, 2));
}

static void do_give(const step_t *step) {
  fake_event_t *fake = kernel_event(step_word(step, 1));
  uint64_t ids[STEP_WORDS], values[STEP_WORDS];
  size_t i;

  if (strchr(step_word(step, 4), '=') == NULL) {
    counters_give(fake, step_value(step, 2), step_value(step, 3),
                  step_value(step, 4));
    if (step->nr > 5)
      ((uint64_t *)(uintptr_t)fake->read_data)[4] = step_value(step, 5);
    return;
  }
  for (i = 4; i < step->nr; i++) {
    values[i - 4] = step_split_value(step->words[i]);
    ids[i - 4] = kernel_event(step->words[i])->id;
  }
  counters_give_group(fake, step_value(step, 2), step_value(step, 3), ids,
                      values, step->nr - 4);
}

static void do_size(const step_t *step) {
  kernel_event(step_word(step, 1))->read_size = step_nth(step, 2);
}

static void do_word(const step_t *step) {
  ((uint64_t *)(uintptr_t)kernel_event(step_word(step, 1))
       ->read_data)[step_value(step, 2)] = step_value(step, 3);
}

static void do_revents(const step_t *step) {
  size_t i;

  for (i = 1; i < step->nr; i++)
    kernel_event(step->words[i])->revents =
        step_is(step, 0, "hup") ? POLLHUP : POLLERR;
}

static void do_clock(const step_t *step) {
  fake_clock_set_counters(kernel_now = step_value(step, 1));
}

static void do_share(const step_t *step) {
  kernel.is_shared = 1;
  kernel.nr_attached = step_nth(step, 1);
}

static void do_id(const step_t *step) {
  kernel_event(step_word(step, 1))->id = kernel_event(step_word(step, 2))->id;
}

static void do_fork(const step_t *step) {
  fake_process(step_is(step, 0, "fork") ? 4711 : 0);
}

void kernel_write_samples(fake_event_t *owner, size_t event, size_t nr) {
  struct {
    struct perf_event_header header;
    uint64_t id;
    uint32_t pid;
    uint32_t tid;
  } sample = {{PERF_RECORD_SAMPLE, 0, sizeof(sample)}, 0, 7, 8};

  sample.id = kernel_events[event]->id;
  if (nr == 0)
    nr = owner->ring_size / sizeof(sample);
  while (nr-- > 0)
    if (owner->attr.write_backward)
      fake_ring_prepend(owner, &sample, sizeof(sample));
    else
      fake_ring_append(owner, &sample, sizeof(sample));
}

static void do_write(const step_t *step) {
  kernel_write_samples(kernel_event(step_word(step, 1)),
                       kernel_nr(kernel_event(step_word(step, 2))),
                       step->nr > 3 ? step_nth(step, 3) : 1);
}

/* Makes a map of so many entries, and opens it. */
static void do_map(const step_t *step) {
  kernel.map = fake_map_add((uint32_t)step_value(step, 1));
  kernel_map_fd = fake_map_open(kernel.map);
  if (step->nr > 2)
    kernel.map->info.map_flags = (uint32_t)step_value(step, 2);
  if (step->nr > 3)
    kernel.map->info.type = (uint32_t)step_value(step, 3);
}

static void do_foreign(const step_t *step) {
  if (step_is(step, 0, "foreign"))
    fake_map_put_foreign(kernel.map, (uint32_t)step_value(step, 1));
  else
    fake_map_clear(kernel.map, (uint32_t)step_value(step, 1));
}

/* The CPU of each entry of the map; x: an event of others. */
static void do_entries(const step_t *step) {
  uint32_t key;
  int cpu;

  (void)step;
  for (key = 0; key < kernel.map->info.max_entries; key++) {
    cpu = fake_map_at(kernel.map, key);
    say(key == 0 ? "" : " ");
    if (cpu >= 0)
      say("%d", cpu);
    else
      say(cpu == FAKE_MAP_EMPTY ? "." : "x");
  }
}

static void do_memory(const step_t *step) {
  if (step_is(step, 1, "mark"))
    kernel.blocks = fake_live_allocations();
  else
    assert_int_equal(fake_live_allocations(), kernel.blocks);
}

/* -- steps: the loop ------------------------------------------------------- */

/* So that each open is a request of its own. */
static void do_slow(const step_t *step) {
  (void)step;
  kernel.is_slow = 1;
}

/* Runs all requests of the pool, or so many of them, or only the pool's part of
 * one. */
static void do_pool(const step_t *step) {
  uint64_t nr;

  if (step->nr == 1)
    fake_pool_finish();
  else if (step_is(step, 1, "work"))
    fake_pool_work();
  else
    for (nr = step_value(step, 1); nr > 0; nr--)
      fake_pool_run();
  if (fake_pool_waits())
    say_next();
  if (fake_pool_waits())
    say("waits");
}

static void do_turn(const step_t *step) {
  int turns = 10;

  (void)step;
  while (turns-- > 0 && uv_run(&kernel_loop, UV_RUN_NOWAIT) != 0)
    continue;
}

const scripted_verb_t kernel_verbs[] = {
    {"file", do_file},       {"online", do_online},   {"up", do_up},
    {"task", do_task},       {"tasks", do_tasks},     {"replace", do_replace},
    {"kernel", do_kernel},   {"fail", do_fail},       {"refuse", do_refuse},
    {"ioctls", do_ioctls},   {"give", do_give},       {"size", do_size},
    {"word", do_word},       {"hup", do_revents},     {"err", do_revents},
    {"clock", do_clock},     {"share", do_share},     {"id", do_id},
    {"fork", do_fork},       {"unfork", do_fork},     {"write", do_write},
    {"slow", do_slow},       {"pool", do_pool},       {"turn", do_turn},
    {"map", do_map},         {"foreign", do_foreign}, {"clear", do_foreign},
    {"entries", do_entries}, {"memory", do_memory},   {NULL, NULL}};

/* -- a row ----------------------------------------------------------------- */

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

void kernel_begin(void) {
  size_t i;

  memset(&kernel, 0, sizeof(kernel));
  kernel_now = 0;
  evlist_make_setup(NULL);
  fake_clock_set_counters(0);
  make_host();
  assert_int_equal(uv_loop_init(&kernel_loop), 0);
  counters_script(kernel_events, KERNEL_EVENTS);
  for (i = 0; i < KERNEL_EVENTS; i++) {
    kernel_events[i]->on_ioctl = on_ioctl;
    kernel_events[i]->on_link = on_link;
  }
  fake_on_open(on_open);
  kernel_show();
}

void kernel_end_loop(void) {
  do
    fake_pool_finish();
  while (uv_run(&kernel_loop, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(uv_loop_close(&kernel_loop), 0);
  fake_clock_set(0);
}

void kernel_end(void) {
  if (kernel.map != NULL)
    fake_map_close(kernel_map_fd);
  fake_clock_set_counters(0);
  fake_assert_clean();
  fake_kernel_reset();
  assert_int_equal(make_cpus_end(), 0);
}
