/* SPDX-License-Identifier: MIT */
#include "scripted_kernel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attr/kernel_knows.h"
#include "fake_clock.h"
#include "fake_host.h"
#include "fake_pool.h"
#include "fake_uevents.h"
#include "fake_version.h"
#include "live.h"
#include "loop/hub.h"
#include "make_cpus.h"
#include "make_evlist.h"
#include "make_host.h"
#include "make_record.h"
#include "scripted_hotplug.h"
#include "sys/sys.h"
#include "util/alloc.h"

fake_event_t *kernel_events[KERNEL_EVENTS];
uv_loop_t kernel_loop;
uint64_t kernel_now;
int kernel_map_fd;
int kernel_program;

/* Of a row. */
static struct {
  fake_map_t *map;
  size_t blocks; /* of memory, at the mark */
  int is_child;  /* the mappings stay, which are the parent's */
  int is_slow;
  /* What the kernel refuses. */
  char refused[32];
  int refused_code;
  struct {
    int (*is_meant)(const struct perf_event_attr *attr);
    int code;
  } refusals[4];
  size_t nr_refusals;
  /* Of "share": a tracepoint's programs. */
  int is_shared;
  size_t nr_attached;
  /* Of "at": steps at an open, and at the next poll or mapping of events. */
  unsigned open_at;
  /* Of "opener": which call of options.open returns what. */
  unsigned opener_in;
  int opener_result;
  int opener_repeats;
  int opener_fd; /* of the last call */
  /* Of "hang": a step before, and what is printed then. */
  unsigned hangs_in;
  char hangs_after[32], hangs_until[32];
  int other_fd; /* of another file, or -1 */
  char at_open[64], at_poll[3][64], at_map[3][64];
  uint64_t words[8][STEP_WORDS]; /* of "words" */
  size_t nr_words;
  /* The attr of the last MODIFY_ATTRIBUTES. */
  struct perf_event_attr modified;
} kernel;

enum fake_call kernel_call(const char *name) {
  static const step_name_t names[] = {{"open", FAKE_OPEN},
                                      {"ioctl", FAKE_IOCTL},
                                      {"mmap", FAKE_MMAP},
                                      {"ioctl_ptr", FAKE_IOCTL_PTR},
                                      {"read", FAKE_READ},
                                      {"update", FAKE_BPF_UPDATE},
                                      {"poll", FAKE_POLL},
                                      {"link", FAKE_BPF_LINK},
                                      {"calloc", FAKE_CALLOC},
                                      {"close", FAKE_CLOSE},
                                      {"delete", FAKE_BPF_DELETE},
                                      {"map_info", FAKE_BPF_INFO},
                                      {"map_lookup", FAKE_BPF_LOOKUP},
                                      {"dup", FAKE_DUP},
                                      {"map_by_id", FAKE_BPF_MAP_BY_ID},
                                      {"access", FAKE_ACCESS},
                                      {"getpid", FAKE_GETPID},
                                      {"has_task", FAKE_HAS_TASK},
                                      {"is_marked", FAKE_IS_MARKED},
                                      {"rdpmc", FAKE_RDPMC}};

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
  if (seen->pid == 0)
    say("self");
  else if (seen->pid > 0)
    say_pid(seen->pid);
  if (seen->cpu >= 0)
    say(seen->pid >= 0 ? ":%d" : "%d", seen->cpu);
  if (seen->group_fd >= 0 && kernel_nr_of_fd(seen->group_fd) == KERNEL_EVENTS)
    say("<copy");
  else if (seen->group_fd >= 0)
    say("<e%zu", kernel_nr_of_fd(seen->group_fd));
  if (seen->fake != NULL && seen->fake->flags != PERF_FLAG_FD_CLOEXEC)
    say(" flags %#lx", seen->fake->flags);
}

/* The verb of a call: of an ioctl, its request. */
static const char *verb_of(const fake_seen_t *seen, char *verb, size_t size) {
  int is_ioctl = strcmp(seen->call, "ioctl") == 0;

  if (is_ioctl && strcmp(seen->detail, "PAUSE_OUTPUT") == 0 &&
      seen->argument == 0)
    return "RESUME_OUTPUT";
  snprintf(verb, size, "%s%s%s", is_ioctl ? "" : seen->call,
           is_ioctl || *seen->detail == '\0' ? "" : " ", seen->detail);
  if (seen->argument == PERF_IOC_FLAG_GROUP &&
      (strcmp(verb, "DISABLE") == 0 || strcmp(verb, "RESET") == 0))
    strncat(verb, " all", size - strlen(verb) - 1);
  return verb;
}

static void say_argument(const char *verb, uintptr_t argument) {
  if (strcmp(verb, "SET_OUTPUT") == 0 && (int)argument == -1)
    say(" none");
  else if (strcmp(verb, "SET_OUTPUT") == 0)
    say(" e%zu", kernel_nr_of_fd((int)argument));
  else if (strcmp(verb, "PERIOD") == 0)
    say(" %llu", (unsigned long long)*(const uint64_t *)argument);
  else if (strcmp(verb, "SET_FILTER") == 0)
    say(" %s", (const char *)argument);
  else if (strcmp(verb, "REFRESH") == 0 ||
           (strcmp(verb, "bpf link") == 0 && argument != 0))
    say(" %llu", (unsigned long long)argument);
  else if (strcmp(verb, "QUERY_BPF") == 0)
    say(" room for %u", *(const uint32_t *)argument);
}

static void on_call(const fake_seen_t *seen) {
  char buffer[32];
  const char *verb = verb_of(seen, buffer, sizeof(buffer));

  if (strcmp(verb, "ID") == 0 && seen->code >= 0)
    return;
  if (strcmp(verb, "MODIFY_ATTRIBUTES") == 0)
    kernel.modified = *(const struct perf_event_attr *)seen->argument;
  say_verb(verb);
  if (strcmp(verb, "open") == 0)
    say_open(seen);
  else if (seen->fake != NULL)
    say(" e%zu", kernel_nr(seen->fake));
  say_argument(verb, seen->argument);
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
  kernel_program = prog_fd;
  return kernel.is_shared && kernel.nr_attached++ != 0 ? -EEXIST : 0;
}

/* As bpf_prog_array_copy_info in kernel/bpf/core.c, with ids from 100 on. */
static int query_bpf(uint32_t *words) {
  uint32_t room = words[0], nr = (uint32_t)kernel.nr_attached, i;

  if (room > 64)
    return -E2BIG;
  words[1] = nr;
  for (i = 0; i < nr && i < room; i++)
    words[2 + i] = 100 + i;
  return room != 0 && nr > room ? -ENOSPC : 0;
}

static int on_ioctl(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  static const step_name_t names[] = {
      {"SET_FILTER", PERF_EVENT_IOC_SET_FILTER},
      {"PERIOD", PERF_EVENT_IOC_PERIOD},
      {"SET_BPF", PERF_EVENT_IOC_SET_BPF},
      {"PAUSE_OUTPUT", PERF_EVENT_IOC_PAUSE_OUTPUT},
      {"MODIFY_ATTRIBUTES", (long)PERF_EVENT_IOC_MODIFY_ATTRIBUTES},
      {"all", 0}};
  long refused = kernel.refused_code == 0
                     ? -1
                     : step_meaning(names, COUNT_OF(names), kernel.refused);

  if (refused == 0 || refused == (long)request)
    return kernel.refused_code;
  if (request == PERF_EVENT_IOC_QUERY_BPF)
    return query_bpf((uint32_t *)argument);
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

/* Each open is a request of its own from now on: as after a long time. */
static void take_time(void) {
  static uint64_t now;

  fake_clock_set(now += UINT64_C(2000000));
}

static int on_open(struct perf_event_attr *attr) {
  size_t i;

  if (kernel.open_at != 0 && fake_count(FAKE_OPEN) == kernel.open_at)
    row_step(kernel.at_open);
  if (kernel.is_slow)
    take_time();
  for (i = 0; i < kernel.nr_refusals; i++)
    if (kernel.refusals[i].is_meant(attr))
      return kernel.refusals[i].code;
  return 0;
}

/* -- options.open ---------------------------------------------------------- */

/* Other requests of the pool run meanwhile. */
static void hang(void) {
  uint64_t deadline = live_now() + UINT64_C(20000000000);

  if (kernel.hangs_after[0] != '\0')
    row_step(kernel.hangs_after);
  fake_pool_hang();
  while (strstr(say_line(), kernel.hangs_until) == NULL) {
    assert_true(live_now() < deadline);
    live_run_ms(&kernel_loop, 1);
    fake_pool_finish();
  }
}

int kernel_opener(const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
                  int group_fd, unsigned long flags, void *arg) {
  struct perf_event_attr own = *attr;

  say_next();
  say("program");
  if (kernel.hangs_in != 0 && --kernel.hangs_in == 0)
    hang();
  if (kernel.opener_in != 0 && --kernel.opener_in == 0) {
    say(" fails");
    return kernel.opener_repeats ? kernel.opener_fd : kernel.opener_result;
  }
  kernel.opener_fd = uvperf__sys_open(&own, pid, cpu, group_fd, flags);
  assert_true(kernel.opener_fd < 0 || fcntl(kernel.opener_fd, F_SETFD, 0) == 0);
  return kernel.opener_fd;
}

static void do_hang(const step_t *step) {
  kernel.hangs_in = (unsigned)step_value(step, 1);
  snprintf(kernel.hangs_until, sizeof(kernel.hangs_until), "%s",
           step_word(step, 2));
  snprintf(kernel.hangs_after, sizeof(kernel.hangs_after), "%s",
           step->nr > 3 ? step_word(step, 3) : "");
}

/* The Nth next call returns a code, a number, the fd of the call before
 * ("again"), of another file ("file") or of none ("closed"). */
static void do_opener(const step_t *step) {
  const char *what = step_word(step, 2);

  kernel.opener_in = (unsigned)step_value(step, 1);
  kernel.opener_repeats = strcmp(what, "again") == 0;
  if (strcmp(what, "file") == 0)
    kernel.opener_result = kernel.other_fd =
        open("/dev/null", O_RDONLY | O_CLOEXEC);
  else if (strcmp(what, "closed") == 0)
    close(kernel.opener_result = open("/dev/null", O_RDONLY | O_CLOEXEC));
  else if (*what == '-')
    kernel.opener_result = (int)step_value(step, 2);
  else if (!kernel.opener_repeats)
    kernel.opener_result = step_code(what);
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

/* How often it was called. */
static void do_count(const step_t *step) {
  say("%u", fake_count(kernel_call(step_word(step, 1))));
}

/* Nothing of the host can be read. */
static void do_no_host(const step_t *step) {
  fake_host_empty(NULL);
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
  write_task("11", "11", "77");
  write_task("12", "12", "77");
}

/* -- steps: the kernel ----------------------------------------------------- */

/* "kernel with lost" or "kernel without lost"; "unknown_lost": it would have to
 * be asked. */
static void do_kernel(const step_t *step) {
  uvperf__known_t *known = &uvperf__known[UVPERF__WORD_READ_FORMAT];
  int is_known = step_is(step, 0, "kernel");
  int has_lost = is_known && step_is(step, 1, "with");

  known->yes = has_lost ? UVPERF_FORMAT_LOST : 0;
  known->no = is_known && !has_lost ? UVPERF_FORMAT_LOST : 0;
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
  if (step->nr > 2)
    fake_clock_step_counters(step_value(step, 2));
}

static void do_share(const step_t *step) {
  kernel.is_shared = 1;
  kernel.nr_attached = step_nth(step, 1);
}

static void do_id(const step_t *step) {
  kernel_event(step_word(step, 1))->id = kernel_event(step_word(step, 2))->id;
}

static void do_fork(const step_t *step) {
  kernel.is_child = step_is(step, 0, "fork");
  fake_process(kernel.is_child ? 4711 : 0);
}

static void do_thread_number(const step_t *step) {
  fake_thread((int)step_value(step, 1));
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

  for (key = 0; key < kernel.map->info.max_entries; key++) {
    cpu = fake_map_at(kernel.map, key);
    say(key == 0 ? "" : " ");
    if (cpu >= 0)
      say("%d", cpu);
    else
      say(cpu == FAKE_MAP_EMPTY ? "." : "x");
  }
}

/* The keys that have an entry; "2!": of others. An event is in the entry of its
 * CPU. */
static void do_keys(const step_t *step) {
  uint32_t key;
  int cpu;

  for (key = 0; key < kernel.map->info.max_entries; key++) {
    cpu = fake_map_at(kernel.map, key);
    if (cpu == FAKE_MAP_EMPTY)
      continue;
    assert_true(cpu == FAKE_MAP_FOREIGN || cpu == (int)key);
    say(*say_line() == '\0' ? "%u%s" : " %u%s", key,
        cpu == FAKE_MAP_FOREIGN ? "!" : "");
  }
}

/* The map has fewer entries, or another type; is pinned, and its fd closed; may
 * not be changed; may be changed again; how many files of it are open. */
static void do_change_map(const step_t *step) {
  if (step_is(step, 0, "max_entries")) {
    kernel.map->info.max_entries = (uint32_t)step_value(step, 1);
  } else if (step_is(step, 0, "map_type")) {
    kernel.map->info.type = (uint32_t)step_value(step, 1);
  } else if (step_is(step, 0, "map_flags")) {
    kernel.map->info.map_flags = (uint32_t)step_value(step, 1);
  } else if (step_is(step, 0, "pin")) {
    kernel.map->path = "/bpf/events";
    fake_map_close(kernel_map_fd);
    kernel_map_fd = -1;
  } else if (step_is(step, 0, "files")) {
    say("%u", kernel.map->files);
  } else {
    kernel.map->is_frozen = step_is(step, 0, "freeze");
  }
}

/* The memory that is allocated, compared with the mark. */
static void do_memory(const step_t *step) {
  size_t blocks = fake_live_allocations();

  if (step_is(step, 1, "mark"))
    kernel.blocks = blocks;
  else if (step_is(step, 1, "spare")) /* uses up a call that is to fail */
    uvperf__free(uvperf__calloc(1, 1));
  else if (step_is(step, 1, "more"))
    assert_true(blocks > kernel.blocks);
  else if (step_is(step, 1, "less"))
    assert_true(blocks < kernel.blocks);
  else
    assert_int_equal(blocks, kernel.blocks);
}

/* A read returns these words. */
static void do_words(const step_t *step) {
  fake_event_t *fake = kernel_event(step_word(step, 1));
  uint64_t *words = kernel.words[kernel.nr_words++];
  size_t i;

  assert_true(kernel.nr_words <= COUNT_OF(kernel.words));
  fake->read_data = words;
  fake->read_size = (step->nr - 2) * sizeof(words[0]);
  for (i = 2; i < step->nr; i++)
    words[i - 2] = step_value(step, i);
}

/* A step that is run once, at the next poll or mapping of an event. */
static void on_poll(fake_event_t *fake) {
  fake->on_poll = NULL;
  row_step(kernel.at_poll[kernel_nr(fake)]);
}

static void on_map(fake_event_t *fake) {
  fake->on_map = NULL;
  row_step(kernel.at_map[kernel_nr(fake)]);
}

static void keep_step(char kept[64], const char *text) {
  assert_true(strlen(text) < 64);
  memcpy(kept, text, strlen(text) + 1);
}

static void do_at(const step_t *step) {
  fake_event_t *fake;
  size_t nr;

  if (step_is(step, 1, "open")) {
    kernel.open_at = (unsigned)step_value(step, 2);
    keep_step(kernel.at_open, step_word(step, 3));
    return;
  }
  fake = kernel_event(step_word(step, 2));
  nr = kernel_nr(fake);
  assert_true(nr < COUNT_OF(kernel.at_poll));
  if (step_is(step, 1, "poll")) {
    keep_step(kernel.at_poll[nr], step_word(step, 3));
    fake->on_poll = on_poll;
  } else {
    keep_step(kernel.at_map[nr], step_word(step, 3));
    fake->on_map = on_map;
  }
}

static void do_wake(const step_t *step) {
  if (step_is(step, 0, "wake"))
    fake_event_wake(kernel_event(step_word(step, 1)));
  else
    fake_event_quiet(kernel_event(step_word(step, 1)));
}

static void write_bytes(fake_event_t *owner, const void *bytes, size_t size) {
  if (owner->attr.write_backward)
    fake_ring_prepend(owner, bytes, size);
  else
    fake_ring_append(owner, bytes, size);
}

static uint32_t record_type_of(const char *name) {
  uint32_t type = 1;

  while (uvperf_record_type_name(type) != NULL &&
         strcmp(uvperf_record_type_name(type), name) != 0)
    type++;
  return type;
}

/* A sound record, of the event itself or of another one. */
static void do_append(const step_t *step) {
  fake_event_t *owner = kernel_event(step_word(step, 1));
  static record_builder_t builder;
  const fake_event_t *of;
  record_values_t values;

  of = step->nr > 3 ? kernel_event(step_word(step, 3)) : owner;
  record_values_init(&values);
  values.misc = 0;
  values.id = of->id;
  values.raw_size = 28;
  record_build(&builder, record_type_of(step_word(step, 2)), &of->attr,
               &values);
  write_bytes(owner, builder.words, builder.size);
}

/* A record of losses; of samples it has no id. */
static void do_lose(const step_t *step) {
  fake_event_t *owner = kernel_event(step_word(step, 1));
  int is_of_samples = step_is(step, 0, "lose_samples");
  uint64_t words[3] = {0, owner->id, step_value(step, 2)};
  struct perf_event_header header = {is_of_samples ? PERF_RECORD_LOST_SAMPLES
                                                   : PERF_RECORD_LOST,
                                     0, is_of_samples ? 16 : 24};

  memcpy(words, &header, sizeof(header));
  if (is_of_samples)
    words[1] = words[2];
  write_bytes(owner, words, header.size);
}

/* Bytes that begin with a header, of a type and a size, and a misc. The last
 * word is the id of an event. */
static void do_header(const step_t *step) {
  uint64_t words[16] = {0};
  size_t bytes = step_nth(step, 4);
  struct perf_event_header header = {
      record_type_of(step_word(step, 2)),
      (uint16_t)(step->nr > 5 ? step_value(step, 5) : 0),
      (uint16_t)step_value(step, 3)};

  if (step->nr > 6)
    words[bytes / 8 - 1] = kernel_event(step_word(step, 6))->id;
  memcpy(words, &header, sizeof(header));
  write_bytes(kernel_event(step_word(step, 1)), words, bytes);
}

/* Fills the ring with records of a type and a size. */
static void do_fill_ring(const step_t *step) {
  fake_event_t *owner = kernel_event(step_word(step, 1));
  uint64_t words[16] = {0};
  struct perf_event_header header = {record_type_of(step_word(step, 2)), 0,
                                     (uint16_t)step_value(step, 3)};
  size_t nr = owner->ring_size / header.size;

  memcpy(words, &header, sizeof(header));
  while (nr-- > 0)
    write_bytes(owner, words, header.size);
}

/* Where the reader is. */
static void do_tail(const step_t *step) {
  say_number(fake_ring_tail(kernel_event(step_word(step, 1))->page));
}

static void do_head(const step_t *step) {
  kernel_event(step_word(step, 1))->page->data_head += step_value(step, 2);
}

/* Fields of all events that were opened. */
static void do_events(const step_t *step) {
  size_t i;

  for (i = 0; i < kernel_nr_opened(); i++) {
    say_next();
    say("e%zu ", i);
    say_fields(&kernel_events[i]->attr, step, 1);
  }
}

/* Those that are enabled. */
static void do_running(const step_t *step) {
  size_t i;

  for (i = 0; i < KERNEL_EVENTS; i++)
    if (kernel_events[i]->fd >= 0 && kernel_events[i]->enabled)
      say(*say_line() == '\0' ? "e%zu" : " e%zu", i);
}

static void do_modified(const step_t *step) {
  say_fields(&kernel.modified, step, 1);
}

/* Another kernel or PMU: see fake_version.h. */
static void do_version(const step_t *step) {
  fake_version_t *version = fake_version();
  char name[32], value[32];
  size_t i;

  for (i = 1; i < step->nr; i++) {
    if (sscanf(step->words[i], "%31[^=]=%31s", name, value) != 2)
      step_fail(step->text, "no value");
    if (strcmp(name, "cycles") == 0)
      version->cycles = step_code(value);
    else if (strcmp(name, "attr_size") == 0)
      version->attr_size = (uint32_t)step_number(value);
    else if (strcmp(name, "precise_ip") == 0)
      version->precise_ip = (unsigned)step_number(value);
    else if (strcmp(name, "user_only") == 0)
      version->allows_user_only = 1;
    else if (strcmp(name, "flag_bits") == 0)
      version->known[UVPERF__WORD_FLAGS] =
          (UINT64_C(1) << step_number(value)) - 1;
    else if (strcmp(name, "sample_type_bits") == 0)
      version->known[UVPERF__WORD_SAMPLE_TYPE] =
          (UINT64_C(1) << step_number(value)) - 1;
    else
      step_fail(step->text, "no such part of a version");
  }
}

/* -- steps: the loop ------------------------------------------------------- */

static void do_slow(const step_t *step) {
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

static void do_loop_clock(const step_t *step) {
  fake_clock_set(step_value(step, 1));
}

/* A CPU goes or comes, with a uevent. The list is of those online then. */
static void do_hotplug(const step_t *step) {
  char online[64];

  snprintf(online, sizeof(online), "%s\n", step_word(step, 2));
  if (step_is(step, 0, "goes"))
    hotplug_take_down((int)step_value(step, 1), online);
  else
    hotplug_bring_up((int)step_value(step, 1), online);
}

/* Without a uevent. */
static void do_down(const step_t *step) {
  make_cpus_take_down((int)step_value(step, 1));
}

static void do_uevent_reads(const step_t *step) {
  say("%u", fake_uevents_reads());
}

static void do_alive(const step_t *step) {
  say("%d", uv_loop_alive(&kernel_loop));
}

/* From now on the pool waits for "pool", or refuses requests. */
static void do_hold(const step_t *step) {
  if (step_is(step, 0, "hold"))
    fake_pool_hold();
  else
    fake_pool_reset();
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void uv_close_hub(uv_handle_t *handle, void *arg) {
  if (uvperf__hub_is(handle))
    uv_close(handle, NULL);
}

/* By other code: all handles of the loop, or the hub's. */
static void do_uv_close(const step_t *step) {
  uv_walk(&kernel_loop, step_is(step, 1, "all") ? uv_close_all : uv_close_hub,
          NULL);
}

/* Runs the loop for some milliseconds. */
static void do_wait(const step_t *step) {
  live_run_ms(&kernel_loop, step_value(step, 1));
}

/* Runs the loop until a callback has printed this. */
static void do_wait_for(const step_t *step) {
  uint64_t deadline = live_now() + UINT64_C(20000000000);

  while (strstr(say_line(), step_word(step, 1)) == NULL) {
    if (live_now() > deadline)
      step_fail(step->text, say_line());
    live_run_ms(&kernel_loop, 1);
    if (say_length() > 2000) {
      say_begin(); /* only polls */
    }
  }
}

/* The loop's timer fires. */
static void do_fire(const step_t *step) {
  fake_clock_fire(fake_clock_timer(&kernel_loop));
}

/* Whether the loop waits for fds in its next turn. */
static void do_waits(const step_t *step) {
  say("%d", uv_backend_timeout(&kernel_loop) != 0);
}

static void count_type(uv_handle_t *handle, void *arg) {
  size_t *nr = arg;

  nr[handle->type] += 1;
}

/* How many handles of these types the loop has. */
static void do_handles(const step_t *step) {
  static const step_name_t types[] = {{"poll", UV_POLL}, {"timer", UV_TIMER}};
  size_t nr[UV_HANDLE_TYPE_MAX] = {0}, sum = 0, i;

  uv_walk(&kernel_loop, count_type, nr);
  for (i = 1; i < step->nr; i++)
    sum += nr[step_meaning(types, COUNT_OF(types), step_word(step, i))];
  say("%zu", sum);
}

static void count_timer(uv_handle_t *handle, void *nr) {
  *(size_t *)nr += handle->type == UV_TIMER && uv_is_active(handle) &&
                   uv_timer_get_due_in((uv_timer_t *)handle) < INT64_MAX;
}

/* How many will be due. */
static void do_timers(const step_t *step) {
  size_t nr = 0;

  uv_walk(&kernel_loop, count_timer, &nr);
  say("%zu", nr);
}

static void count_poll(uv_handle_t *handle, void *nr) {
  *(size_t *)nr += handle->type == UV_POLL && uv_is_active(handle);
}

static void do_polled(const step_t *step) {
  size_t nr = 0;

  uv_walk(&kernel_loop, count_poll, &nr);
  say("%zu", nr);
}

/* Turns of a loop that nothing else keeps alive. */
static void do_run(const step_t *step) {
  hotplug_run(&kernel_loop);
}

static void do_turn(const step_t *step) {
  uint64_t turns = step->nr > 1 ? step_value(step, 1) : 10;

  while (turns-- > 0 && uv_run(&kernel_loop, UV_RUN_NOWAIT) != 0)
    continue;
}

const scripted_verb_t kernel_verbs[] = {{"file", do_file},
                                        {"online", do_online},
                                        {"up", do_up},
                                        {"no_host", do_no_host},
                                        {"count", do_count},
                                        {"task", do_task},
                                        {"tasks", do_tasks},
                                        {"kernel", do_kernel},
                                        {"unknown_lost", do_kernel},
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
                                        {"words", do_words},
                                        {"at", do_at},
                                        {"wake", do_wake},
                                        {"quiet", do_wake},
                                        {"append", do_append},
                                        {"header", do_header},
                                        {"thread_number", do_thread_number},
                                        {"lose", do_lose},
                                        {"lose_samples", do_lose},
                                        {"fill_ring", do_fill_ring},
                                        {"head", do_head},
                                        {"tail", do_tail},
                                        {"events", do_events},
                                        {"running", do_running},
                                        {"modified", do_modified},
                                        {"version", do_version},
                                        {"opener", do_opener},
                                        {"hang", do_hang},
                                        {"loop_clock", do_loop_clock},
                                        {"slow", do_slow},
                                        {"pool", do_pool},
                                        {"turn", do_turn},
                                        {"run", do_run},
                                        {"wait", do_wait},
                                        {"wait_for", do_wait_for},
                                        {"timers", do_timers},
                                        {"polled", do_polled},
                                        {"fire_timer", do_fire},
                                        {"waits", do_waits},
                                        {"handles", do_handles},
                                        {"down", do_down},
                                        {"uevent_reads", do_uevent_reads},
                                        {"alive", do_alive},
                                        {"hold", do_hold},
                                        {"refuse_work", do_hold},
                                        {"uv_close", do_uv_close},
                                        {"goes", do_hotplug},
                                        {"comes", do_hotplug},
                                        {"map", do_map},
                                        {"foreign", do_foreign},
                                        {"clear", do_foreign},
                                        {"entries", do_entries},
                                        {"keys", do_keys},
                                        {"max_entries", do_change_map},
                                        {"map_type", do_change_map},
                                        {"map_flags", do_change_map},
                                        {"pin", do_change_map},
                                        {"files", do_change_map},
                                        {"freeze", do_change_map},
                                        {"thaw", do_change_map},
                                        {"memory", do_memory},
                                        {NULL, NULL}};

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
  kernel.other_fd = -1;
  kernel_now = 0;
  evlist_make_setup(NULL);
  fake_clock_set_counters(0);
  fake_clock_set(1); /* a slow machine needs no more turns or requests */
  make_host();
  assert_int_equal(uv_loop_init(&kernel_loop), 0);
  counters_script(kernel_events, KERNEL_EVENTS);
  for (i = 0; i < KERNEL_EVENTS; i++) {
    kernel_events[i]->on_ioctl = on_ioctl;
    kernel_events[i]->on_link = on_link;
  }
  fake_on_open(on_open);
  fake_uevents_begin();
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
  if (kernel.other_fd >= 0)
    assert_int_equal(close(kernel.other_fd), 0);
  if (kernel.map != NULL && kernel_map_fd >= 0)
    fake_map_close(kernel_map_fd);
  fake_clock_set_counters(0);
  if (!kernel.is_child)
    fake_assert_clean();
  fake_kernel_reset();
  fake_uevents_end();
  fake_host_opens = NULL;
  assert_int_equal(make_cpus_end(), 0);
}
