/* SPDX-License-Identifier: MIT */
/* Fields that are read by name equal the output of perf script. perf record and
 * two events of this library watch the same CPU at the same time, by the same
 * clock. Each hit that both have is compared. */
#include "live.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uvperf/tracepoint.h"

#define RING_BYTES ((size_t)4 << 20)
#define ROUNDS     400

/* One hit of a tracepoint, in the words of its "print fmt". */
typedef struct hit_s {
  uint64_t time; /* CLOCK_MONOTONIC, ns */
  int cpu;
  char text[256];    /* as perf script prints it */
  char printed[256]; /* ours: by uvperf_tracepoint_print */
} hit_t;

typedef struct hits_s {
  hit_t *hits;
  size_t nr;
  size_t room;
} hits_t;

static hit_t *hits_add(hits_t *hits) {
  if (hits->nr == hits->room) {
    hits->room = hits->room * 2 + 1024;
    hits->hits = realloc(hits->hits, hits->room * sizeof(*hits->hits));
    assert_non_null(hits->hits);
  }
  return &hits->hits[hits->nr++];
}

/* -- our side: the "print fmt", from fields that are found by name -------- */

static uint64_t value(const uvperf_tracepoint_t *tracepoint, const char *name,
                      const uvperf_record_t *record) {
  uint64_t number = 0;

  assert_int_equal(uvperf_field_value(uvperf_tracepoint_find(tracepoint, name),
                                      record->sample.raw.data,
                                      record->sample.raw.size, &number),
                   0);
  return number;
}

static void string(const uvperf_tracepoint_t *tracepoint, const char *name,
                   const uvperf_record_t *record, char *text, size_t size) {
  const char *bytes = NULL;
  size_t length = 0;

  assert_int_equal(uvperf_field_string(uvperf_tracepoint_find(tracepoint, name),
                                       record->sample.raw.data,
                                       record->sample.raw.size, &bytes,
                                       &length),
                   0);
  snprintf(text, size, "%.*s", (int)length, bytes);
}

/* TASK_STATE_TO_CHAR_STR of include/linux/sched.h. */
static void spell_state(uint64_t bits, char *text) {
  static const char letters[] = "SDTtXZPI";
  size_t i;

  for (i = 0; letters[i] != '\0'; i++)
    if ((bits >> i & 1) != 0) {
      *text++ = letters[i];
      *text++ = '|';
    }
  if ((bits & 0xff) == 0)
    *text++ = 'R';
  else
    text -= 1;
  *text++ = (bits & 0x100) != 0 ? '+' : '\0';
  *text = '\0';
}

static void spell_switch(const uvperf_tracepoint_t *tracepoint,
                         const uvperf_record_t *record, hit_t *hit) {
  char state[24];
  char prev[32];
  char next[32];

  string(tracepoint, "prev_comm", record, prev, sizeof(prev));
  string(tracepoint, "next_comm", record, next, sizeof(next));
  spell_state(value(tracepoint, "prev_state", record), state);
  snprintf(hit->text, sizeof(hit->text),
           "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> "
           "next_comm=%s next_pid=%d next_prio=%d",
           prev, (int)value(tracepoint, "prev_pid", record),
           (int)value(tracepoint, "prev_prio", record), state, next,
           (int)value(tracepoint, "next_pid", record),
           (int)value(tracepoint, "next_prio", record));
}

static void spell_openat(const uvperf_tracepoint_t *tracepoint,
                         const uvperf_record_t *record, hit_t *hit) {
  snprintf(hit->text, sizeof(hit->text),
           "dfd: 0x%08lx, filename: 0x%08lx, flags: 0x%08lx, mode: 0x%08lx",
           (unsigned long)value(tracepoint, "dfd", record),
           (unsigned long)value(tracepoint, "filename", record),
           (unsigned long)value(tracepoint, "flags", record),
           (unsigned long)value(tracepoint, "mode", record));
}

typedef struct side_s {
  const char *name;
  void (*spell)(const uvperf_tracepoint_t *tracepoint,
                const uvperf_record_t *record, hit_t *hit);
  uvperf_tracepoint_t *tracepoint;
  uvperf_event_t event;
  hits_t ours;
  hits_t perfs;
} side_t;

static void side_open(side_t *side, uv_loop_t *loop, int cpu) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;

  if (uvperf_tracepoint_new(&side->tracepoint, side->name, &error) != 0)
    fail_msg("%s", error.reason);
  uvperf_attr_tracepoint(&attr, uvperf_tracepoint_info(side->tracepoint)->id);
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  options.pid = -1;
  options.cpu = cpu;
  options.flags |= UVPERF_EVENT_CPU;
  options.ring_bytes = RING_BYTES;
  if (uvperf_event_init(loop, &side->event, &attr, &options, &error) != 0)
    fail_msg("%s", error.reason);
}

static void sides_enable(side_t *sides, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    assert_int_equal(uvperf_enable(&sides[i].event.handle, 0, NULL), 0);
}

static void sides_disable(side_t *sides, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    assert_int_equal(uvperf_disable(&sides[i].event.handle, 0, NULL), 0);
}

static void side_read(side_t *side) {
  const uvperf_record_t *record;
  int rc;

  while ((rc = uvperf_next(&side->event.handle, &record)) == 0) {
    hit_t *hit = hits_add(&side->ours);
    size_t size = sizeof(hit->printed);

    assert_int_equal(record->type, PERF_RECORD_SAMPLE);
    hit->time = record->time;
    hit->cpu = (int)record->cpu;
    assert_int_equal(uvperf_tracepoint_fits(side->tracepoint,
                                            record->sample.raw.data,
                                            record->sample.raw.size),
                     1);
    side->spell(side->tracepoint, record, hit);
    assert_int_equal(
        uvperf_tracepoint_print(side->tracepoint, record->sample.raw.data,
                                record->sample.raw.size, hit->printed, &size),
        0);
  }
  assert_int_equal(rc, UV_EAGAIN);
  uvperf_close(&side->event.handle, NULL);
}

static void side_free(side_t *side) {
  uvperf_tracepoint_free(side->tracepoint);
  free(side->ours.hits);
  free(side->perfs.hits);
}

/* -- perf's side ---------------------------------------------------------- */

typedef struct perf_s {
  char directory[32];
  char file[64];
  int control;
  int acknowledged;
  pid_t pid;
} perf_t;

static void need_perf(const char *test) {
  if (system("perf --version >/dev/null 2>&1") != 0)
    support_skip(test, "perf(1)");
}

/* Called in the child. Descriptors 3 and 4 are the ends of perf's pipes. */
static void exec_perf(const perf_t *perf, int cpu, int control, int answer) {
  char number[16];
  int null = open("/dev/null", O_RDWR);

  snprintf(number, sizeof(number), "%d", cpu);
  dup2(null, 0);
  dup2(null, 1);
  dup2(null, 2);
  control = fcntl(control, F_DUPFD, 10);
  answer = fcntl(answer, F_DUPFD, 10);
  dup2(control, 3);
  dup2(answer, 4);
  execlp("perf", "perf", "record", "-q", "-N", "-B", "-C", number, "-k",
         "CLOCK_MONOTONIC", "-m", "4M", "-D", "-1", "--control", "fd:3,4", "-o",
         perf->file, "-e", "sched:sched_switch", "-e",
         "syscalls:sys_enter_openat", (char *)NULL);
  _exit(127);
}

static void perf_start(perf_t *perf, int cpu) {
  int control[2];
  int answer[2];

  snprintf(perf->directory, sizeof(perf->directory), "/tmp/uvperf.XXXXXX");
  assert_non_null(mkdtemp(perf->directory));
  snprintf(perf->file, sizeof(perf->file), "%s/data", perf->directory);
  assert_int_equal(pipe2(control, O_CLOEXEC), 0);
  assert_int_equal(pipe2(answer, O_CLOEXEC), 0);
  perf->pid = fork();
  assert_true(perf->pid >= 0);
  if (perf->pid == 0)
    exec_perf(perf, cpu, control[0], answer[1]);
  close(control[0]);
  close(answer[1]);
  perf->control = control[1];
  perf->acknowledged = answer[0];
}

/* Sends a command to perf. Returns once perf has done it. */
static void perf_command(perf_t *perf, const char *command) {
  struct pollfd ready = {perf->acknowledged, POLLIN, 0};
  char answer[16] = "";
  ssize_t length = (ssize_t)strlen(command);

  assert_int_equal(write(perf->control, command, (size_t)length), length);
  assert_int_equal(poll(&ready, 1, 20000), 1);
  assert_true(read(perf->acknowledged, answer, sizeof(answer)) > 0);
  assert_memory_equal(answer, "ack\n", 4);
}

static void perf_stop(perf_t *perf) {
  int status = -1;

  perf_command(perf, "stop\n");
  assert_int_equal(waitpid(perf->pid, &status, 0), perf->pid);
  assert_int_equal(status, 0);
  close(perf->control);
  close(perf->acknowledged);
}

/* Reads "[001] 12214.643789239: sched:sched_switch: prev_comm=…". */
static void read_line(char *line, side_t *sides, size_t nr_sides) {
  unsigned long long seconds;
  unsigned long long ns;
  char name[64];
  hit_t *hit;
  size_t end;
  size_t i;
  int cpu;
  int at;

  assert_int_equal(
      sscanf(line, " [%d] %llu.%llu: %63s %n", &cpu, &seconds, &ns, name, &at),
      4);
  name[strlen(name) - 1] = '\0'; /* the colon */
  for (i = 0; strcmp(sides[i].name, name) != 0; i++)
    assert_true(i + 1 < nr_sides);
  hit = hits_add(&sides[i].perfs);
  hit->cpu = cpu;
  hit->time = seconds * 1000000000 + ns;
  snprintf(hit->text, sizeof(hit->text), "%s", line + at);
  for (end = strlen(hit->text);
       end > 0 && (hit->text[end - 1] == '\n' || hit->text[end - 1] == ' ');
       end--)
    hit->text[end - 1] = '\0';
}

static void perf_read(perf_t *perf, side_t *sides, size_t nr_sides) {
  char line[1024];
  FILE *script;

  snprintf(line, sizeof(line),
           "perf script -i %s --ns -F cpu,time,event,trace 2>/dev/null",
           perf->file);
  script = popen(line, "r");
  assert_non_null(script);
  while (fgets(line, sizeof(line), script) != NULL)
    read_line(line, sides, nr_sides);
  assert_int_equal(pclose(script), 0);
  unlink(perf->file);
  rmdir(perf->directory);
}

/* -- both ----------------------------------------------------------------- */

/* Returns the index of our first hit at or after this time of perf's, or of our
 * last hit at or before it. */
static size_t partner(const hits_t *ours, uint64_t time, int is_after) {
  size_t i = 0;

  while (i < ours->nr && ours->hits[i].time < time)
    i += 1;
  if (is_after || (i < ours->nr && ours->hits[i].time == time))
    return i;
  return i - 1; /* SIZE_MAX: none */
}

static uint64_t gap(const side_t *side, size_t i, int is_after) {
  uint64_t time = side->perfs.hits[i].time;
  size_t at = partner(&side->ours, time, is_after);
  uint64_t other;

  if (at >= side->ours.nr)
    return UINT64_MAX;
  other = side->ours.hits[at].time;
  return other > time ? other - time : time - other;
}

/* The kernel writes a hit for one event after the other, always in the same
 * order, and takes the time for each. For most hits, the nearest record is that
 * of the other event. */
static int comes_after(const side_t *side) {
  size_t after = 0;
  size_t i;

  for (i = 0; i < side->perfs.nr; i++)
    after += gap(side, i, 1) < gap(side, i, 0);
  return after > side->perfs.nr / 2;
}

/* Expects that each of perf's hits is one of ours, and that all of ours between
 * them are perf's, too. */
static void compare(const side_t *side) {
  int is_after = comes_after(side);
  size_t first = partner(&side->ours, side->perfs.hits[0].time, is_after);
  size_t i;

  for (i = 0; i < side->perfs.nr; i++) {
    const hit_t *theirs = &side->perfs.hits[i];
    const hit_t *ours;

    assert_true(first + i < side->ours.nr);
    assert_int_equal(partner(&side->ours, theirs->time, is_after), first + i);
    ours = &side->ours.hits[first + i];
    assert_int_equal(ours->cpu, theirs->cpu);
    assert_string_equal(ours->text, theirs->text);
    assert_string_equal(ours->printed, theirs->text);
  }
  printf("%s: %zu hits of perf script, %zu of ours, the same\n", side->name,
         side->perfs.nr, side->ours.nr);
}

/* Yields the CPU in each round, and opens a file that does not exist. */
static void work(void) {
  int to_child[2];
  int to_parent[2];
  char byte = 0;
  pid_t child;
  long i;

  assert_int_equal(pipe(to_child), 0);
  assert_int_equal(pipe(to_parent), 0);
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    for (i = 0; i < ROUNDS && read(to_child[0], &byte, 1) == 1; i++)
      if (write(to_parent[1], &byte, 1) != 1)
        _exit(1);
    _exit(0);
  }
  for (i = 0; i < ROUNDS; i++) {
    assert_int_equal(write(to_child[1], &byte, 1), 1);
    assert_int_equal(read(to_parent[0], &byte, 1), 1);
    assert_int_equal(
        syscall(SYS_openat, AT_FDCWD - i, "no", O_RDWR | i << 20, i), -1);
  }
  assert_int_equal(support_wait(child), 0);
  close(to_child[0]);
  close(to_child[1]);
  close(to_parent[0]);
  close(to_parent[1]);
}

static void live_fields_are_those_that_perf_script_prints(void **state) {
  side_t sides[2] = {
      {.name = "sched:sched_switch", .spell = spell_switch},
      {.name = "syscalls:sys_enter_openat", .spell = spell_openat}};
  int cpu = live_last_cpu();
  cpu_set_t allowed;
  perf_t perf;
  size_t i;

  support_need_root(__func__);
  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, sides[0].name);
  support_need_tracepoint(__func__, sides[1].name);
  need_perf(__func__);
  live_pin(cpu, &allowed);
  for (i = 0; i < 2; i++)
    side_open(&sides[i], *state, cpu);
  perf_start(&perf, cpu);
  perf_command(&perf, "disable\n"); /* waits until perf is ready */
  sides_enable(sides, 2);
  perf_command(&perf, "enable\n");
  work();
  perf_command(&perf, "disable\n");
  sides_disable(sides, 2);
  perf_stop(&perf);
  live_unpin(&allowed);
  perf_read(&perf, sides, 2);
  for (i = 0; i < 2; i++) {
    side_read(&sides[i]);
    assert_true(sides[i].perfs.nr >= ROUNDS);
    compare(&sides[i]);
    side_free(&sides[i]);
  }
  uv_run(*state, UV_RUN_DEFAULT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(live_fields_are_those_that_perf_script_prints),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
