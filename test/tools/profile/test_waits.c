/* SPDX-License-Identifier: MIT */
/* The waits in made-up records, even if some records are missing. */
#include "support.h"

#include <unistd.h>

#include "profile/symbols/unwind.h"
#include "profile/unwinding.h"
#include "profile/waits.h"

#define PID    7u
#define CGROUP 55u

typedef struct fixture_s {
  profile_account_t account;
  profile_waits_t waits;
} fixture_t;

static fixture_t fixture;

static void begin(void) {
  profile_account_init(&fixture.account, STACKS_BY_THREAD, NULL);
  profile_waits_init(&fixture.waits, &fixture.account, "/dev/null");
  fixture.waits.started_ns = 1000;
}

static void end(fixture_t *it) {
  profile_account_free(&it->account);
}

static void begin_record(uvperf_record_t *record, uint32_t type, uint16_t misc,
                         uint32_t tid, uint64_t time) {
  memset(record, 0, sizeof(*record));
  record->type = type;
  record->misc = misc;
  record->pid = PID;
  record->tid = tid;
  record->time = time;
}

static void put(uint32_t type, uint16_t misc, uint32_t tid, uint64_t time) {
  uvperf_record_t record;

  begin_record(&record, type, misc, tid, time);
  if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) {
    record.task.pid = record.task.ppid = PID;
    record.task.tid = tid;
    record.task.ptid = PID;
    record.task.time = time;
  }
  profile_waits_record(&fixture.waits, &record);
}

/* Adds the sample of a switch out, with this address in the kernel. */
static void put_sample(uint32_t tid, uint64_t time, uint64_t address,
                       int is_of_user) {
  const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_KERNEL, address,
                          (uint64_t)PERF_CONTEXT_USER, 0x1234};
  uvperf_record_t record;

  begin_record(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, tid, time);
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = is_of_user ? 4 : 2;
  record.sample.cgroup = CGROUP;
  profile_waits_record(&fixture.waits, &record);
}

static void put_out(uint32_t tid, uint64_t time) {
  put(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, tid, time);
}

static void put_in(uint32_t tid, uint64_t time) {
  put(PERF_RECORD_SWITCH, 0, tid, time);
}

/* The thread is switched out 10 ns after its sample, for 10 ns. */
static void put_wait(uint32_t tid, uint64_t time, uint64_t address,
                     int is_of_user) {
  put_sample(tid, time, address, is_of_user);
  put_out(tid, time + 10);
  put_in(tid, time + 20);
}

/* Expects how long and how often threads waited with this innermost frame. */
static void expect(uint32_t object, uint64_t offset, uint64_t waits,
                   uint64_t ns) {
  const common_tally_t *tally = &fixture.account.stacks;
  const profile_frame_t *frame;
  uint64_t nr = 0, sum = 0;
  size_t i;

  for (i = 0; i < tally->nr; i++) {
    frame = tally->entries[i]->items;
    if (frame->object != object || frame->offset != offset)
      continue;
    nr += tally->entries[i]->samples;
    sum += tally->entries[i]->weight;
  }
  assert_int_equal(nr, waits);
  assert_int_equal(sum, ns);
}

static void expect_kernel(uint64_t offset, uint64_t waits, uint64_t ns) {
  expect(PROFILE_OBJECT_KERNEL, offset, waits, ns);
}

/* Runs steps like "s8@2000:10": what, thread @ time : address in hex.
 * s: a sample of a switch out   o: switched out   i: switched in
 * k: the same of a kernel       p: preempted      l: records are lost
 *    thread                     f: FORK           x: EXIT   e: the end */
static void run_steps(const char *steps) {
  const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;
  unsigned long time, address;
  unsigned tid;
  int size;
  char what;

  for (; *steps != '\0'; steps += size) {
    address = 0;
    size = 0;
    sscanf(steps, " %c%u@%lu%n:%lx%n", &what, &tid, &time, &size, &address,
           &size);
    assert_true(size > 0);
    if (what == 's' || what == 'k')
      put_sample(tid, time, address, what == 's');
    else if (what == 'o')
      put_out(tid, time);
    else if (what == 'i')
      put_in(tid, time);
    else if (what == 'e')
      profile_waits_end(&fixture.waits, time, 0);
    else
      put(what == 'p'   ? PERF_RECORD_SWITCH_CPU_WIDE
          : what == 'l' ? PERF_RECORD_LOST
          : what == 'f' ? PERF_RECORD_FORK
                        : PERF_RECORD_EXIT,
          what == 'p' ? out | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0, tid,
          time);
  }
}

/* Expects the waits by their innermost frame, as "frame number*ns; ", the
 * longest first, and then the number of waits of unknown length. */
static void expect_waits(const char *expected) {
  const profile_account_t *account = &fixture.account;
  const profile_frame_t *frame;
  common_entry_t **sorted;
  char text[512] = "";
  size_t i, nr, used = 0;

  sorted = common_tally_sorted(&account->stacks, &nr);
  for (i = 0; i < nr && sorted[i]->samples > 0; i++) {
    frame = sorted[i]->items;
    used += (size_t)snprintf(
        text + used, sizeof(text) - used, "%s+%lx %lu*%lu; ",
        profile_objects_get(&account->objects, (uint32_t)frame->object)->name,
        (unsigned long)frame->offset, (unsigned long)sorted[i]->samples,
        (unsigned long)sorted[i]->weight);
  }
  free(sorted);
  snprintf(text + used, sizeof(text) - used, "%lu",
           (unsigned long)fixture.waits.nr_unknown);
  assert_string_equal(text, expected);
}

#define ENDED "f8@1400 i8@1500 x8@1600 s8@1610:10 o8@1620 e0@5000"
#define NO_IN "s8@2000:10 o8@2010 s8@3000:20 o8@3010 i8@3020"

static void waits_are_the_time_between_the_switches(void **state) {
  static const char *const cases[][2] = {
      {"s8@2000:10 s9@2001:20 o8@2010 o9@2011 i8@2110 s8@2200:10 o8@2210 "
       "i8@2215 i9@3011 e0@5000",
       "[kernel]+20 1*1000; [kernel]+10 2*105; 0"},
      {"s8@2000:10 p8@2010 i8@2040", "[ready to run]+0 1*30; 0"},
      {"s8@2000:10 o8@2010 e0@5010", "[kernel]+10 1*3000; 0"},
      /* A wait from before the start is counted once a stack shows that the
       * thread is not a kernel thread. */
      {"i8@1500 i9@1600 s8@2000:10 o8@2010 k9@2000:10 o9@2010 i8@2020",
       "[since before the start]+0 1*500; [kernel]+10 1*10; 0"},
      /* A thread that is born did not wait before. */
      {"f8@1400 i8@1500 s8@2000:10", "0"},
      /* A dead thread is switched out for ever. Its id is reused. */
      {ENDED, "0"},
      {ENDED " f8@6000 i8@6001 s8@6002:20 o8@6003 i8@6013",
       "[kernel]+20 1*10; 0"},
      /* Kernel threads and tasks without an id are left out. */
      {"k8@2000:10 o8@2010 i8@2020 s0@2000:10 o0@2010 i0@2020 e0@5000", "0"},
      /* No switch in was recorded, so the length of the wait is unknown. */
      {NO_IN, "[kernel]+20 1*10; 1"},
      /* No switch out was recorded. */
      {NO_IN " i8@3100", "[kernel]+20 1*10; 2"},
      /* No sample was recorded: the stack is unknown, but not the length. */
      {NO_IN " i8@3100 o8@3200 i8@3207",
       "[kernel]+20 1*10; [unknown]+0 1*7; 2"},
      /* Records were lost after the switch out, so the thread may run at the
       * end. */
      {"s8@3300:30 o8@3310 l9@3400 e0@5000", "1"},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    print_message("%s\n", cases[i][0]);
    begin();
    run_steps(cases[i][0]);
    expect_waits(cases[i][1]);
    end(&fixture);
  }
}

/* A SWITCH record has no cgroup, but the next sample has it. */
static void wait_from_before_the_start_is_of_the_threads_cgroup(void **state) {
  size_t i;

  profile_account_init(&fixture.account, STACKS_BY_CGROUP, NULL);
  profile_waits_init(&fixture.waits, &fixture.account, "/dev/null");
  put_in(8, 1500);
  put_sample(8, 2000, 0x10, 1);
  expect(PROFILE_OBJECT_BEFORE, 0, 1, 1500);
  for (i = 0; i < fixture.account.stacks.nr; i++) {
    const common_entry_t *entry = fixture.account.stacks.entries[i];

    if (entry->samples > 0)
      assert_int_equal(
          profile_account_get_who(&fixture.account, entry->number)->cgroup,
          CGROUP);
  }
  end(&fixture);
}

static void functions_of_the_scheduler_are_not_shown(void **state) {
  char path[] = "/tmp/uvperf-kallsyms-XXXXXX";
  static const char symbols[] = "0000000000001000 T __sched_text_start\n"
                                "0000000000001000 t __schedule\n"
                                "0000000000002000 T __sched_text_end\n";
  int fd = mkstemp(path);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, symbols, sizeof(symbols) - 1),
                   sizeof(symbols) - 1);
  close(fd);
  profile_account_init(&fixture.account, STACKS_BY_THREAD, NULL);
  profile_waits_init(&fixture.waits, &fixture.account, path);
  unlink(path);
  put_wait(8, 2000, 0x1004, 1);
  put_wait(8, 3000, 0x2000, 1);
  expect_kernel(0x1004, 0, 0);
  expect(PROFILE_OBJECT_UNKNOWN, 0, 1, 10);
  expect_kernel(0x2000, 1, 10);
  end(&fixture);
}

/* -- stacks that are unwound ----------------------------------------------- */

#define LIBRARY    5u /* an object */
#define MOST_ADDED 64

/* Instead of the queue, the test answers when its script says so. */
static struct {
  unwind_queue_options_t options;
  int is_full;
  size_t nr_added, nr_answered;
  uint64_t contexts[MOST_ADDED][64];
} queue;

unwind_queue_t *__real_unwind_queue_new(symbols_jobs_t *jobs,
                                        const unwind_queue_options_t *options);

unwind_queue_t *__wrap_unwind_queue_new(symbols_jobs_t *jobs,
                                        const unwind_queue_options_t *options) {
  memset(&queue, 0, sizeof(queue));
  queue.options = *options;
  return __real_unwind_queue_new(jobs, options);
}

int __wrap_unwind_queue_add(unwind_queue_t *real, uint32_t pid,
                            const uvperf_sample_t *sample, const void *context,
                            size_t context_bytes) {
  assert_int_equal(pid, PID);
  if (queue.is_full)
    return -1;
  assert_true(queue.nr_added < MOST_ADDED);
  assert_true(context_bytes <= sizeof(queue.contexts[0]));
  memcpy(queue.contexts[queue.nr_added++], context, context_bytes);
  return 0;
}

symbols_jobs_t *__wrap_symbols_jobs(symbols_t *symbols) {
  return NULL;
}

/* Answers the oldest sample. The frames of each sample are different. */
static void answer(unwind_end_t end) {
  const size_t i = queue.nr_answered++;
  const unwind_place_t places[] = {{LIBRARY, 0x100 + i}, {LIBRARY, 0x200 + i}};

  assert_true(i < queue.nr_added);
  queue.options.on_stack(queue.options.arg, queue.contexts[i], end, places,
                         end == UNWIND_DROPPED ? 0 : 2);
}

static void put_copied(uint32_t tid, uint64_t time, uint64_t abi) {
  const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0x10};
  const uint64_t regs[64] = {0};
  uvperf_record_t record;

  begin_record(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, tid, time);
  record.present = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 2;
  record.sample.regs_user.abi = abi;
  record.sample.regs_user.mask = unwind_regs_mask(unwind_machine(NULL));
  record.sample.regs_user.nr = 64;
  record.sample.regs_user.regs = regs;
  profile_waits_record(&fixture.waits, &record);
}

/* Expects that threads waited once and so long in a stack of these frames, or
 * not at all if `ns` is 0. Returns the number of waits. */
static uint64_t expect_stack(const profile_frame_t *frames, size_t nr_frames,
                             uint64_t ns) {
  const common_tally_t *tally = &fixture.account.stacks;
  uint64_t nr = 0, sum = 0;
  size_t i;

  for (i = 0; i < tally->nr; i++) {
    if (tally->entries[i]->nr != nr_frames ||
        memcmp(tally->entries[i]->items, frames, nr_frames * sizeof(*frames)))
      continue;
    nr += tally->entries[i]->samples;
    sum += tally->entries[i]->weight;
  }
  assert_int_equal(sum, ns);
  assert_int_equal(nr, ns > 0);
  return nr;
}

/* One thread. Each step is 10 ns after the one before:
 * s: a sample     o: switched out   a: the oldest sample is unwound
 * S: the same,    p: preempted      d: the oldest sample is dropped
 *    queue full   i: switched in    l: records are lost
 * x: EXIT         f: FORK           e: the end */
typedef struct script_s {
  const char *steps;
  uint64_t whole[2]; /* ns in the whole stack of the first and second sample */
  uint64_t part;     /* ns in a stack without callers */
  uint64_t ready;    /* ns of the first sample's thread without a CPU */
  uint64_t lost;     /* ns without a sample */
  uint64_t unknown;  /* waits without a known length */
} script_t;

static void run_step(char step, uint64_t time) {
  queue.is_full = step == 'S';
  if (step == 's' || step == 'S')
    put_copied(8, time, PERF_SAMPLE_REGS_ABI_64);
  else if (step == 'o')
    put_out(8, time);
  else if (step == 'p')
    put(PERF_RECORD_SWITCH,
        PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 8,
        time);
  else if (step == 'i')
    put_in(8, time);
  else if (step == 'a' || step == 'd')
    answer(step == 'd' ? UNWIND_DROPPED : UNWIND_COMPLETE);
  else if (step == 'e')
    profile_waits_end(&fixture.waits, time, 0);
  else
    put(step == 'l'   ? PERF_RECORD_LOST
        : step == 'x' ? PERF_RECORD_EXIT
                      : PERF_RECORD_FORK,
        0, 8, time);
}

static void begin_copied(profile_unwinding_t *unwinding) {
  memset(unwinding, 0, sizeof(*unwinding));
  profile_account_init(&fixture.account, STACKS_BY_THREAD, NULL);
  assert_int_equal(profile_unwinding_init(unwinding, &fixture.account, NULL),
                   0);
  profile_waits_init(&fixture.waits, &fixture.account, "/dev/null");
  fixture.waits.started_ns = 1000;
}

static void end_copied(profile_unwinding_t *unwinding) {
  profile_unwinding_free(unwinding);
  end(&fixture);
}

static void run_script(const script_t *script) {
  const profile_frame_t ready[] = {{PROFILE_OBJECT_READY, 0},
                                   {PROFILE_OBJECT_KERNEL, 0x10},
                                   {LIBRARY, 0x100},
                                   {LIBRARY, 0x200}};
  const profile_frame_t second[] = {
      {PROFILE_OBJECT_KERNEL, 0x10}, {LIBRARY, 0x101}, {LIBRARY, 0x201}};
  const profile_frame_t part[] = {{PROFILE_OBJECT_KERNEL, 0x10},
                                  {PROFILE_OBJECT_UNKNOWN, 0}};
  profile_unwinding_t unwinding;
  uint64_t waits;
  size_t i;

  print_message("%s\n", script->steps);
  begin_copied(&unwinding);
  for (i = 0; script->steps[i] != '\0'; i++)
    run_step(script->steps[i], 2000 + 10 * i);
  waits = expect_stack(ready + 1, 3, script->whole[0]) +
          expect_stack(second, 3, script->whole[1]) +
          expect_stack(part, 2, script->part) +
          expect_stack(ready, 4, script->ready) +
          expect_stack(part + 1, 1, script->lost);
  assert_int_equal(fixture.account.samples, waits);
  assert_int_equal(fixture.waits.nr_unknown, script->unknown);
  assert_int_equal(queue.nr_answered, queue.nr_added);
  end_copied(&unwinding);
}

static void wait_and_its_unwound_stack_are_counted_once(void **state) {
  static const script_t scripts[] = {
      /* The stack is unwound first, or the wait ends first. */
      {"saoi", .whole = {10}},
      {"soai", .whole = {20}},
      {"soia", .whole = {10}},
      {"sia", .whole = {10}},
      {"soisoaai", .whole = {10, 30}},
      {"soisoiaa", .whole = {10, 10}},
      /* It is dropped, or not even queued. */
      {"sodi", .part = 20},
      {"soid", .part = 10},
      {"Soi", .part = 10},
      {"SoisoiSa", .part = 10, .whole = {10}},
      {"sapi", .ready = 10},
      {"spai", .ready = 20},
      {"spia", .ready = 10},
      /* The thread ends, and its id is reused, before the stack is unwound. */
      {"sxoa", .unknown = 0},
      {"soxa", .unknown = 1},
      {"soxfisoaia", .whole = {0, 20}, .unknown = 1},
      /* Records are lost: of a switch in, a sample, or both. */
      {"sosoaia", .whole = {0, 20}, .unknown = 1},
      {"sosoiaa", .whole = {0, 10}, .unknown = 1},
      {"sooai", .lost = 20, .unknown = 1},
      {"soioia", .whole = {10}, .lost = 10},
      /* The end. */
      {"soea", .whole = {10}},
      {"soae", .whole = {20}},
      {"solea", .unknown = 1},
      {"soiae", .whole = {10}},
  };
  size_t i;

  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "x86-64 or aarch64");
  for (i = 0; i < COUNT_OF(scripts); i++)
    run_script(&scripts[i]);
}

static void many_waits_are_unwound_at_a_time(void **state) {
  const uint32_t nr = MOST_ADDED;
  profile_unwinding_t unwinding;
  uint32_t i, k;

  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "x86-64 or aarch64");
  begin_copied(&unwinding);
  for (k = 0; k < 2; k++) {
    queue.nr_added = queue.nr_answered = 0;
    for (i = 0; i < nr; i++) {
      put_copied(8 + i, 2000 + 1000 * k, PERF_SAMPLE_REGS_ABI_64);
      put_in(8 + i, 2001 + 1000 * k + i);
    }
    for (i = 0; i < nr; i++)
      answer(UNWIND_COMPLETE);
  }
  expect_kernel(0x10, 2 * nr, nr * (nr + 1));
  end_copied(&unwinding);
}

/* Kernel threads have no user registers. */
static void copied_stacks_of_32_bit_and_kernel_threads(void **state) {
  profile_unwinding_t unwinding;
  uint64_t i;

  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "x86-64 or aarch64");
  begin_copied(&unwinding);
  put_copied(8, 2000, PERF_SAMPLE_REGS_ABI_NONE);
  put_out(8, 2010);
  put_in(8, 2020);
  assert_int_equal(fixture.account.samples, 0);
  for (i = 0; i < 20; i++) {
    put_copied(9, 2000 + 20 * i, PERF_SAMPLE_REGS_ABI_32);
    put_out(9, 2010 + 20 * i);
    put_in(9, 2015 + 20 * i);
  }
  expect_kernel(0x10, 20, 100);
  assert_int_equal(unwinding.nr_32_bit, 20);
  assert_int_equal(queue.nr_added, 0);
  end_copied(&unwinding);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_are_the_time_between_the_switches),
      cmocka_unit_test(wait_from_before_the_start_is_of_the_threads_cgroup),
      cmocka_unit_test(functions_of_the_scheduler_are_not_shown),
      cmocka_unit_test(wait_and_its_unwound_stack_are_counted_once),
      cmocka_unit_test(many_waits_are_unwound_at_a_time),
      cmocka_unit_test(copied_stacks_of_32_bit_and_kernel_threads),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
