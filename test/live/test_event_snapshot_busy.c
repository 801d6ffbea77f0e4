/* SPDX-License-Identifier: MIT */
/* Live: snapshots of the ring of a thread that writes into it without a pause
 * on another CPU. Each record contains its number, which determines its
 * length. */
#include "live_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#define DEPTHS 40 /* of call chains */

/* The words of a stack dump that contain the number. The kernel takes long to
 * write the dump; it begins with the frame of syscall(2). */
#define DUMP_WORDS 4096
#define DUMP_FRAME 64

typedef struct writer_s {
  live_thread_t thread;
  uint64_t number; /* of the next call */
  uint64_t nr;     /* calls; 0: until it is stopped */
  void (*call)(uint64_t number);
  int over;
} writer_t;

typedef struct seen_s {
  live_collector_t collector;
  writer_t writer;
  uint64_t snapshots;
  uint64_t samples;
  uint64_t longest; /* bytes */
  uint64_t shortest;
  int has_chains;
  int has_dumps;
  uint64_t frames; /* in a chain of depth 0, once one was seen */
  uint64_t newest; /* the highest number of all snapshots before */
  const char *fault;
  uint64_t at; /* and the number at which it is */
  /* For this snapshot. */
  uint32_t flags;
  uint64_t nr;     /* samples */
  uint64_t first;  /* number of the first, */
  uint64_t number; /* and in the last one */
  uint64_t lost;   /* reported since then */
  uint64_t gap;    /* reported right before it */
} seen_t;

/* The call of itself is no jump: something follows. */
__attribute__((noinline)) static void call_below(uint64_t number,
                                                 uint64_t depth) {
  if (depth > 0)
    call_below(number, depth - 1);
  else
    syscall(SYS_getpgid, number);
  __asm__ volatile("" : : : "memory");
}

static void call_at_depth(uint64_t number) {
  call_below(number, number % DEPTHS);
}

/* The stack is full of the number. */
__attribute__((noinline, no_sanitize("address", "undefined"))) static void
call_on_stack(uint64_t number) {
  volatile uint64_t words[DUMP_WORDS];
  size_t i;

  for (i = 0; i < DUMP_WORDS; i++)
    words[i] = number;
  syscall(SYS_getpgid, number);
  __asm__ volatile("" : : "r"(words) : "memory");
}

static void make_calls(void *arg) {
  writer_t *writer = arg;
  uint64_t nr = writer->nr;

  while (nr > 0 ? writer->nr > 0
                : !__atomic_load_n(&writer->over, __ATOMIC_ACQUIRE)) {
    writer->call(writer->number);
    writer->number += 1;
    writer->nr -= nr > 0;
  }
}

static void fault_if(seen_t *seen, int is_fault, const char *what,
                     uint64_t at) {
  if (!is_fault || seen->fault != NULL)
    return;
  seen->fault = what;
  seen->at = at;
}

/* struct syscall_trace_enter: 8 bytes, the call's, its arguments. */
static uint64_t number_of(const uvperf_record_t *record) {
  uint64_t number = 0;

  if (record->sample.raw.size >= 24)
    memcpy(&number, (const char *)record->sample.raw.data + 16, 8);
  return number;
}

/* The number that must follow: a LOST right before the next record reports the
 * lost ones. */
static uint64_t next_number(const seen_t *seen) {
  if (seen->flags & UVPERF_SNAPSHOT_OLDEST_FIRST)
    return seen->number + 1 + seen->lost;
  return seen->number - 1 - seen->gap;
}

static int is_dump_of(const uvperf_record_t *record, uint64_t number) {
  const uint8_t *data = record->sample.stack_user.data;
  uint64_t word;
  size_t i;

  if (record->sample.stack_user.size != DUMP_WORDS * sizeof(word))
    return 0;
  for (i = DUMP_FRAME; i < DUMP_WORDS - DUMP_FRAME; i++) {
    memcpy(&word, data + i * sizeof(word), sizeof(word));
    if (word != number)
      return 0;
  }
  return 1;
}

static void on_sample(seen_t *seen, const uvperf_record_t *record) {
  uint64_t number = number_of(record);
  uint64_t frames = record->sample.callchain.nr;

  if (seen->has_chains && seen->samples == 0)
    seen->frames = frames - number % DEPTHS;
  fault_if(seen, seen->has_chains && frames != seen->frames + number % DEPTHS,
           "chain of", number);
  fault_if(seen, seen->has_dumps && !is_dump_of(record, number), "dump of",
           number);
  fault_if(seen, seen->nr > 0 && number != next_number(seen), "number", number);
  fault_if(seen, number <= seen->newest && !(seen->flags & UVPERF_SNAPSHOT_ALL),
           "number of the snapshot before", number);
  if (seen->nr == 0)
    seen->first = number;
  seen->number = number;
  seen->gap = seen->lost;
  seen->lost = 0;
  seen->nr += 1;
  seen->samples += 1;
  if (record->size > seen->longest)
    seen->longest = record->size;
  if (seen->shortest == 0 || record->size < seen->shortest)
    seen->shortest = record->size;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  seen_t *seen = handle->data;

  if (status != 0 || record->type == UVPERF_RECORD_NONE)
    fault_if(seen, 1, "status behind", seen->number);
  else if (record->type == PERF_RECORD_LOST)
    seen->lost += record->lost.lost;
  else if (record->type == PERF_RECORD_SAMPLE)
    on_sample(seen, record);
  else
    fault_if(seen, 1, "other record behind", seen->number);
}

/* Asserts nothing: the thread is not to outlive its test. */
static void take(seen_t *seen, uint32_t flags) {
  int rc;

  if (seen->fault != NULL)
    return;
  seen->flags = flags;
  seen->nr = 0;
  seen->lost = 0;
  seen->gap = 0;
  rc = uvperf_snapshot(&seen->collector.event.handle, flags, NULL, NULL);
  fault_if(seen, rc != 0, "code", (uint64_t)-rc);
  if (seen->fault != NULL)
    return;
  seen->snapshots += 1;
  if (seen->nr > 0)
    seen->newest =
        flags & UVPERF_SNAPSHOT_OLDEST_FIRST ? seen->number : seen->first;
}

/* Starts the thread, on the CPU that is not ours if there is one, and its
 * event. */
static void begin(uv_loop_t *loop, seen_t *seen, uint64_t tracepoint,
                  size_t ring_bytes, uint64_t sample_type) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  cpu_set_t old;

  memset(seen, 0, sizeof(*seen));
  seen->has_chains = (sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
  seen->has_dumps = (sample_type & PERF_SAMPLE_STACK_USER) != 0;
  seen->writer.number = 1;
  seen->writer.call = seen->has_dumps ? call_on_stack : call_at_depth;
  live_pin(live_last_cpu(), &old); /* the thread inherits it */
  live_thread_start(&seen->writer.thread, make_calls, &seen->writer);
  live_unpin(&old);
  live_syscall_attr(&attr, tracepoint, sample_type | PERF_SAMPLE_RAW);
  uvperf_attr_set_wakeup_events(&attr, 0);
  attr.write_backward = 1;
  if (seen->has_dumps)
    attr.sample_stack_user = DUMP_WORDS * sizeof(uint64_t);
  attr.exclude_kernel = 0;
  attr.exclude_callchain_kernel = 1;
  options.pid = (int32_t)seen->writer.thread.tid;
  options.ring_bytes = ring_bytes;
  live_init(loop, &seen->collector, &attr, &options);
  seen->collector.event.handle.data = seen;
  assert_int_equal(
      uvperf_start(&seen->collector.event.handle, NULL, on_record, NULL), 0);
}

/* Takes `nr` snapshots during the writing, and one after the last write. The
 * first record of that reports what the last pause has lost. Returns the number
 * of its last record. */
static uint64_t write_and_take(seen_t *seen, uint32_t flags, uint64_t nr) {
  live_thread_t *thread = &seen->writer.thread;
  uint64_t with_some = 0;

  live_thread_go(thread);
  while (with_some < nr && seen->fault == NULL) {
    take(seen, flags);
    with_some += seen->nr > 0;
  }
  __atomic_store_n(&seen->writer.over, 1, __ATOMIC_RELEASE);
  live_thread_wait(thread);
  take(seen, flags);
  seen->writer.nr = 5;
  live_thread_do(thread);
  live_thread_end(thread);
  take(seen, flags & ~UVPERF_SNAPSHOT_ALL);
  fault_if(seen, seen->nr != 5, "last ones", seen->nr);
  /* And again, although the target is gone. */
  take(seen, flags | UVPERF_SNAPSHOT_ALL);
  return seen->writer.number - 1;
}

static void run(uv_loop_t *loop, uint64_t tracepoint, size_t ring_bytes,
                uint64_t sample_type, uint32_t flags, uint64_t nr) {
  uvperf_stats_t stats;
  uint64_t last;
  seen_t seen;

  begin(loop, &seen, tracepoint, ring_bytes, sample_type);
  last = write_and_take(&seen, flags, nr);
  if (seen.fault != NULL)
    fail_msg("snapshot %u, record %u: unexpected %s %u behind %u",
             (unsigned)seen.snapshots, (unsigned)seen.nr, seen.fault,
             (unsigned)seen.at, (unsigned)seen.number);
  assert_int_equal(seen.newest, last);
  assert_true(seen.nr >= 5);
  uvperf_stats(&seen.collector.event.handle, &stats);
  assert_int_equal(stats.corrupt, 0);
  assert_true(stats.records >= seen.samples);
  if (seen.has_chains)
    assert_int_equal(seen.longest - seen.shortest, (DEPTHS - 1) * 8);
  else
    assert_int_equal(seen.longest, seen.shortest);
  seen.collector.event.handle.data = &seen.collector;
  live_close(&seen.collector);
}

static void snapshots_of_a_page_while_written_are_whole(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);

  support_need_kernel_side(__func__);
  run(*state, tracepoint, 1, 0, 0, 20);
  run(*state, tracepoint, 1, 0, UVPERF_SNAPSHOT_OLDEST_FIRST, 20);
}

static void snapshots_of_64_kib_while_written_are_whole(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);

  support_need_kernel_side(__func__);
  run(*state, tracepoint, 65536, 0, 0, 20);
  run(*state, tracepoint, 65536, 0,
      UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL, 20);
}

static void snapshots_of_call_chains_while_written_are_whole(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);

  support_need_kernel_side(__func__);
  run(*state, tracepoint, 65536, PERF_SAMPLE_CALLCHAIN,
      UVPERF_SNAPSHOT_OLDEST_FIRST, 20);
  run(*state, tracepoint, 1, PERF_SAMPLE_CALLCHAIN, 0, 20);
}

/* Each takes the kernel so long that pauses come in the middle of some. */
static void snapshots_of_large_records_while_written_are_whole(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);

  support_need_kernel_side(__func__);
  run(*state, tracepoint, 262144, PERF_SAMPLE_STACK_USER, 0, 40);
}

/* No record here is longer than the part that is left out. */
static void snapshots_that_do_not_wait_are_whole(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);

  support_need_kernel_side(__func__);
  run(*state, tracepoint, 1, 0, UVPERF_SNAPSHOT_NO_WAIT, 200);
  run(*state, tracepoint, 65536, PERF_SAMPLE_CALLCHAIN,
      UVPERF_SNAPSHOT_NO_WAIT | UVPERF_SNAPSHOT_OLDEST_FIRST, 40);
  run(*state, tracepoint, 262144, PERF_SAMPLE_STACK_USER,
      UVPERF_SNAPSHOT_NO_WAIT, 120);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(snapshots_of_a_page_while_written_are_whole),
      support_loop_test(snapshots_of_64_kib_while_written_are_whole),
      support_loop_test(snapshots_of_call_chains_while_written_are_whole),
      support_loop_test(snapshots_of_large_records_while_written_are_whole),
      support_loop_test(snapshots_that_do_not_wait_are_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
