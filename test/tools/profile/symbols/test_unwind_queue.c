/* SPDX-License-Identifier: MIT */
/* The worker unwinds the stacks of a running program. The worker is this test
 * program, started again. */
#include "profile/symbols/unwind_queue.h"

#include "support.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uvperf.h"

#define MAX_OBJECTS 32
#define EXECUTABLE  0u /* number of the target's own file */

typedef struct run_s {
  uv_loop_t *loop;
  symbols_jobs_t jobs;
  unwind_queue_t *queue;
  pid_t pid;
  size_t nr_ranges;
  unwind_range_t ranges[MAX_OBJECTS];
  uvperf_set_t set;
  uint64_t wanted; /* samples until sampling ends */
  uv_timer_t timer;
  uint64_t added, answered, whole, refused;
  uint64_t outermost; /* offset of the last frame of whole stacks */
  size_t max_bytes;
  symbols_kind_t kind;   /* of the target's own file */
  const char *file;      /* replaces the target's own file */
  uint64_t without_file; /* stacks that end in its functions */
  int is_waited;
} run_t;

static symbols_jobs_t *jobs_to_kill;
static const char *file_instead; /* of the test that runs */

static int open_file(const symbols_mapping_t *mapping) {
  const char *path = mapping->path;
  if (jobs_to_kill != NULL) {
    kill(jobs_to_kill->worker.pid, SIGKILL);
    jobs_to_kill = NULL;
  }
  if (file_instead != NULL && strcmp(path, UNWIND_TARGET) == 0)
    path = file_instead;
  return open(path, O_RDONLY | O_CLOEXEC);
}

static void on_stack(void *arg, const void *context, unwind_end_t end,
                     const unwind_place_t *places, size_t nr) {
  run_t *run = arg;
  uint64_t number;
  memcpy(&number, context, sizeof number);
  assert_true(number == run->answered);
  run->answered++;
  if (end == UNWIND_NO_FILE && places[nr - 1].object == EXECUTABLE)
    run->without_file++;
  if (end != UNWIND_COMPLETE)
    return;
  assert_true(nr > 0);
  const unwind_place_t *last = &places[nr - 1];
  /* A stack that ends elsewhere is in the vdso, whose file is missing here. */
  if (last->object != EXECUTABLE)
    return;
  if (run->whole++ == 0)
    run->outermost = last->offset;
  if (file_instead == NULL)
    assert_true(last->offset == run->outermost);
}

static void end_sampling(run_t *run) {
  if (uv_is_closing((uv_handle_t *)&run->timer))
    return;
  uv_close((uv_handle_t *)&run->timer, NULL);
  uvperf_close(&run->set.handle, NULL);
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  run_t *run = handle->data;
  if (status != 0 || record->type != PERF_RECORD_SAMPLE)
    return;
  if (unwind_queue_add(run->queue, (uint32_t)run->pid, &record->sample,
                       &run->added, sizeof run->added) == 0)
    run->added++;
  else
    run->refused++;
  if (run->added + run->refused == run->wanted)
    end_sampling(run);
}

/* Reads the target's mappings; its own file is the first object. */
static void read_maps(run_t *run) {
  char path[64], line[512];
  uint32_t other = EXECUTABLE + 1;
  snprintf(path, sizeof path, "/proc/%d/maps", run->pid);
  FILE *maps = fopen(path, "re");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps) != NULL &&
         run->nr_ranges < MAX_OBJECTS) {
    unsigned long start, end, pgoff;
    char prot[8];
    int at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, prot, &pgoff,
               &at) != 4 ||
        prot[2] != 'x')
      continue;
    symbols_mapping_t mapping = {.pid = (uint32_t)run->pid, .path = line + at};
    uint32_t object =
        strcmp(line + at, UNWIND_TARGET) == 0 ? EXECUTABLE : other++;
    if (object == EXECUTABLE)
      mapping.kind = run->kind;
    unwind_queue_object(run->queue, object, &mapping);
    run->ranges[run->nr_ranges++] = (unwind_range_t){start, end, pgoff, object};
  }
  fclose(maps);
}

static void start_target(run_t *run) {
  char path[64], exe[512] = "";
  run->pid = fork();
  if (run->pid == 0) {
    execl(UNWIND_TARGET, UNWIND_TARGET, "60000", (char *)NULL);
    _exit(127);
  }
  /* Waits for the target's exec, and then until its libraries are mapped. */
  snprintf(path, sizeof path, "/proc/%d/exe", run->pid);
  for (int i = 0; i < 1000 && strcmp(exe, UNWIND_TARGET) != 0; i++) {
    memset(exe, 0, sizeof exe);
    if (readlink(path, exe, sizeof exe - 1) < 0)
      continue;
    usleep(1000);
  }
  assert_string_equal(exe, UNWIND_TARGET);
  usleep(100000);
}

static void begin(run_t *run, uv_loop_t *loop) {
  const unwind_queue_options_t options = {.machine = unwind_machine(NULL),
                                          .open = open_file,
                                          .on_stack = on_stack,
                                          .arg = run,
                                          .max_bytes = run->max_bytes};
  file_instead = run->file;
  run->loop = loop;
  symbols_jobs_init(&run->jobs, loop);
  run->queue = unwind_queue_new(&run->jobs, &options);
  start_target(run);
  read_maps(run);
  unwind_queue_map(run->queue, (uint32_t)run->pid, run->ranges, run->nr_ranges);
}

static void on_time(uv_timer_t *timer) {
  end_sampling(timer->data);
}

/* Takes `nr` samples of the target. */
static void sample(run_t *run, uint64_t nr) {
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_error_t error;
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 999);
  attr.exclude_kernel = 1;
  attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = unwind_regs_mask(unwind_machine(NULL));
  attr.sample_stack_user = 8192;
  target.type = UVPERF_TARGET_PROCESS;
  target.pid = run->pid;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS;
  assert_int_equal(uvperf_set_init(run->loop, &run->set, &options, &error), 0);
  run->set.handle.data = run;
  assert_int_equal(uvperf_start(&run->set.handle, NULL, on_record, &error), 0);
  run->wanted = nr;
  uv_timer_init(run->loop, &run->timer);
  run->timer.data = run;
  uv_timer_start(&run->timer, on_time, 20000, 0);
  uv_run(run->loop, UV_RUN_DEFAULT);
}

static void on_waited(void *arg) {
  ((run_t *)arg)->is_waited = 1;
}

static void wait_for_all(run_t *run) {
  run->is_waited = 0;
  unwind_queue_wait(run->queue, on_waited, run);
  assert_false(run->is_waited);
  while (!run->is_waited)
    uv_run(run->loop, UV_RUN_ONCE);
  assert_true(run->answered == run->added);
}

static void on_ended(void *arg) {
}

static void end(run_t *run) {
  int status;
  symbols_jobs_end(&run->jobs, on_ended, NULL);
  uv_run(run->loop, UV_RUN_DEFAULT);
  unwind_queue_free(run->queue);
  kill(run->pid, SIGKILL);
  waitpid(run->pid, &status, 0);
}

static void need_machine(const char *test) {
  if (unwind_machine(NULL) == EM_NONE)
    support_skip(test, "x86-64 or aarch64");
}

static void need_unwinding(const char *test) {
  need_machine(test);
  support_need_own_events(test);
}

static void stacks_of_a_running_program_are_whole(void **state) {
  run_t run = {0};
  need_unwinding(__func__);
  begin(&run, *state);
  sample(&run, 100);
  wait_for_all(&run);
  const unwind_stats_t *stats = unwind_queue_stats(run.queue);
  print_message("%lu samples, %lu whole, %lu cut, %lu without information\n",
                (unsigned long)run.added, (unsigned long)run.whole,
                (unsigned long)stats->ends[UNWIND_CUT],
                (unsigned long)stats->ends[UNWIND_NO_INFO]);
  assert_true(run.added == 100);
  assert_true(stats->ends[UNWIND_DROPPED] == 0);
  assert_true(stats->full == 0);
  assert_true(run.whole >= run.added - run.added / 20);
  end(&run);
}

/* Without the target's file, no stack passes its functions. In memory of a JIT
 * compiler no file is missing. */
static void stacks_in_an_absent_file_say_so(void **state) {
  need_unwinding(__func__);
  for (int is_jit = 0; is_jit < 2; is_jit++) {
    run_t run = {.kind = is_jit ? SYMBOLS_JIT : SYMBOLS_FILE,
                 .file = "/absent"};
    begin(&run, *state);
    sample(&run, 50);
    wait_for_all(&run);
    const unwind_stats_t *stats = unwind_queue_stats(run.queue);
    print_message("%lu without a file, %lu without information, %lu cut\n",
                  (unsigned long)run.without_file,
                  (unsigned long)stats->ends[UNWIND_NO_INFO],
                  (unsigned long)stats->ends[UNWIND_CUT]);
    assert_int_equal(stats->ends[UNWIND_COMPLETE], 0);
    if (is_jit)
      assert_true(run.without_file == 0);
    else
      assert_true(run.without_file > 25);
    end(&run);
  }
}

static void samples_of_a_dead_worker_come_without_frames(void **state) {
  run_t run = {0};
  need_unwinding(__func__);
  begin(&run, *state);
  jobs_to_kill = &run.jobs;
  sample(&run, 100);
  wait_for_all(&run);
  const unwind_stats_t *stats = unwind_queue_stats(run.queue);
  /* Only the first batch is dropped; the next ones are not affected. */
  assert_true(stats->ends[UNWIND_DROPPED] == 1);
  assert_true(run.whole > run.added / 2);
  end(&run);
}

static void samples_that_do_not_fit_are_refused_and_counted(void **state) {
  run_t run = {.max_bytes = 1};
  need_unwinding(__func__);
  begin(&run, *state);
  sample(&run, 10);
  wait_for_all(&run);
  assert_true(run.refused == 10);
  assert_true(unwind_queue_stats(run.queue)->full == run.refused);
  end(&run);
}

/* Bytes of the unwind information are changed. Whether a stack is found or the
 * worker dies, each sample is answered. */
static void damaged_files_leave_no_sample_without_answer(void **state) {
  char path[] = "/tmp/uvperf-unwind-XXXXXX";
  need_unwinding(__func__);
  int fd = mkstemp(path), target = open(UNWIND_TARGET, O_RDONLY | O_CLOEXEC);
  struct stat file;
  assert_int_equal(fstat(target, &file), 0);
  unsigned char *bytes = malloc((size_t)file.st_size);
  assert_true(read(target, bytes, (size_t)file.st_size) == file.st_size);
  assert_int_equal(fchmod(fd, 0444), 0);
  srand(1);
  for (int i = 0; i < 12; i++) {
    run_t run = {.file = path};
    begin(&run, *state);
    for (int k = 0; k < 200; k++)
      bytes[64 + rand() % (file.st_size - 64)] = (unsigned char)rand();
    assert_true(pwrite(fd, bytes, (size_t)file.st_size, 0) == file.st_size);
    sample(&run, 20);
    wait_for_all(&run);
    end(&run);
  }
  unlink(path);
  free(bytes);
  close(target);
  close(fd);
}

/* -- made-up samples --------------------------------------------- */

/* Code of a JIT compiler, with frame pointers. The second mapping follows the
 * first one, whose last instruction is a call. libdw needs the file of the
 * third mapping. */
static const unwind_range_t made_ranges[] = {{0x10000, 0x11000, 0, 0},
                                             {0x11000, 0x12000, 0, 1},
                                             {0x40000000, 0x80000000, 0, 2}};

typedef struct made_s {
  symbols_jobs_t jobs;
  unwind_queue_t *queue;
  size_t answered, dropped;
  unwind_place_t caller; /* of the last sample */
  uint64_t timeout_ms;
  int number; /* signal for the worker when a file is opened; 0: none */
  atomic_size_t opened; /* files */
} made_t;

static made_t *made_now;

static int open_made(const symbols_mapping_t *mapping) {
  made_now->opened++;
  if (made_now->number != 0)
    kill(made_now->jobs.worker.pid, made_now->number);
  return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static void on_made_stack(void *arg, const void *context, unwind_end_t end,
                          const unwind_place_t *places, size_t nr) {
  made_t *made = arg;
  made->answered++;
  made->dropped += end == UNWIND_DROPPED;
  made->caller = nr > 1 ? places[1] : (unwind_place_t){UNWIND_NO_OBJECT, 0};
}

static void begin_made(made_t *made, uv_loop_t *loop, size_t max_bytes) {
  const unwind_queue_options_t options = {.machine = unwind_machine(NULL),
                                          .open = open_made,
                                          .on_stack = on_made_stack,
                                          .timeout_ms = made->timeout_ms,
                                          .arg = made,
                                          .max_bytes = max_bytes};
  symbols_jobs_init(&made->jobs, loop);
  made_now = made;
  made->queue = unwind_queue_new(&made->jobs, &options);
  for (uint32_t i = 0; i < 3; i++) {
    symbols_mapping_t mapping = {.kind = i < 2 ? SYMBOLS_JIT : SYMBOLS_FILE,
                                 .path = ""};
    unwind_queue_object(made->queue, i, &mapping);
  }
  unwind_queue_map(made->queue, 1, made_ranges, 3);
}

static int add_made(made_t *made, uint32_t pid) {
  static const uint64_t stack[] = {0, 0x11000};
  const int is_arm = unwind_machine(NULL) == EM_AARCH64;
  uint64_t values[33] = {0};
  uvperf_sample_t sample;
  memset(&sample, 0, sizeof sample);
  values[is_arm ? 29 : 6] = 0x7000;  /* x29, or rbp */
  values[is_arm ? 31 : 7] = 0x7000;  /* sp */
  values[is_arm ? 32 : 8] = 0x10010; /* pc, or rip */
  if (is_arm)
    values[30] = 0x11000; /* x30 */
  sample.regs_user = (uvperf_regs_t){PERF_SAMPLE_REGS_ABI_64,
                                     unwind_regs_mask(unwind_machine(NULL)),
                                     is_arm ? 33 : 20, values};
  sample.stack_user.data = stack;
  sample.stack_user.size = sample.stack_user.dyn_size = sizeof stack;
  return unwind_queue_add(made->queue, pid, &sample, "", 1);
}

static void wait_made(made_t *made, uv_loop_t *loop) {
  run_t run = {0};
  unwind_queue_wait(made->queue, on_waited, &run);
  while (!run.is_waited)
    uv_run(loop, UV_RUN_ONCE);
}

static void end_made(made_t *made, uv_loop_t *loop) {
  symbols_jobs_end(&made->jobs, on_ended, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  unwind_queue_free(made->queue);
}

static int count_fds(void) {
  int nr = 0;
  for (int fd = 0; fd < 1024; fd++)
    nr += fcntl(fd, F_GETFD) >= 0;
  return nr;
}

static void call_at_the_end_of_a_mapping_is_in_that_mapping(void **state) {
  made_t made = {0};
  int before;
  need_machine(__func__);
  begin_made(&made, *state, 0);
  before = count_fds();
  assert_int_equal(add_made(&made, 1), 0);
  wait_made(&made, *state);
  assert_int_equal(made.answered, 1);
  assert_int_equal(made.caller.object, 0);
  assert_true(made.caller.offset == 0x10fff);
  /* Only the worker's socket stays open, and the loop's own fds. */
  symbols_worker_end(&made.jobs.worker);
  assert_int_equal(count_fds(), before);
  end_made(&made, *state);
}

static void last_samples_of_a_process_that_ends_are_answered(void **state) {
  made_t made = {0};
  need_machine(__func__);
  begin_made(&made, *state, 0);
  assert_int_equal(add_made(&made, 1), 0);
  assert_int_equal(add_made(&made, 1), 0); /* waits for more */
  unwind_queue_forget(made.queue, 1);
  wait_made(&made, *state);
  assert_int_equal(made.answered, 2);
  end_made(&made, *state);
}

static void room_of_answered_samples_is_used_again(void **state) {
  made_t made = {0};
  need_machine(__func__);
  begin_made(&made, *state, 400);
  for (size_t i = 1; i <= 5; i++) {
    assert_int_equal(add_made(&made, 1), 0);
    wait_made(&made, *state);
    assert_int_equal(made.answered, i);
  }
  assert_true(unwind_queue_stats(made.queue)->full == 0);
  end_made(&made, *state);
}

static void process_that_ends_the_worker_three_times_is_ignored(void **state) {
  made_t made = {.number = SIGKILL};
  need_machine(__func__);
  begin_made(&made, *state, 0);
  for (size_t i = 1; i <= 3; i++) {
    assert_int_equal(add_made(&made, 1), 0);
    wait_made(&made, *state);
    assert_int_equal(made.dropped, i);
  }
  assert_int_equal(add_made(&made, 1), -1);
  assert_true(unwind_queue_stats(made.queue)->full == 1);
  end_made(&made, *state);
}

/* 64 samples are a batch. All of them wait before the first one fails. */
static void waiting_batches_of_an_ignored_process_are_not_asked(void **state) {
  made_t made = {.number = SIGKILL};
  need_machine(__func__);
  begin_made(&made, *state, 0);
  for (size_t i = 0; i < 320; i++)
    assert_int_equal(add_made(&made, 1), 0);
  wait_made(&made, *state);
  assert_int_equal(made.dropped, 320);
  assert_int_equal(made.opened, 3);
  end_made(&made, *state);
}

/* The worker hangs with the files of process 1, so process 2 is not asked. */
static void slow_processes_share_one_time(void **state) {
  made_t made = {.number = SIGSTOP, .timeout_ms = 100};
  size_t opened;
  need_machine(__func__);
  begin_made(&made, *state, 0);
  unwind_queue_map(made.queue, 2, made_ranges, 3);
  for (size_t i = 1; i <= 2; i++) {
    assert_int_equal(add_made(&made, 1), 0);
    wait_made(&made, *state);
  }
  opened = made.opened;
  assert_int_equal(add_made(&made, 2), 0);
  wait_made(&made, *state);
  assert_int_equal(made.dropped, 3);
  assert_int_equal(made.opened, opened);
  end_made(&made, *state);
}

int main(int argc, char **argv) {
  symbols_main(argc, argv);
  const struct CMUnitTest tests[] = {
      support_loop_test(stacks_of_a_running_program_are_whole),
      support_loop_test(stacks_in_an_absent_file_say_so),
      support_loop_test(samples_of_a_dead_worker_come_without_frames),
      support_loop_test(samples_that_do_not_fit_are_refused_and_counted),
      support_loop_test(damaged_files_leave_no_sample_without_answer),
      support_loop_test(call_at_the_end_of_a_mapping_is_in_that_mapping),
      support_loop_test(last_samples_of_a_process_that_ends_are_answered),
      support_loop_test(room_of_answered_samples_is_used_again),
      support_loop_test(process_that_ends_the_worker_three_times_is_ignored),
      support_loop_test(waiting_batches_of_an_ignored_process_are_not_asked),
      support_loop_test(slow_processes_share_one_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
