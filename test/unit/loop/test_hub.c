/* SPDX-License-Identifier: MIT */
/* Scripted: the hub of a loop, with members that the test makes. */
#include "support.h"

#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_pool.h"
#include "loop/hub.h"
#include "sys/fork.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

typedef struct one_s {
  uvperf__member_t member;
  uvperf__teardown_t teardown;
  uv_timer_t keep; /* keeps the loop alive */
  char name;
  uint64_t takes_ns; /* how long a record takes */
  int left;          /* records, with a backlog meanwhile */
  uint64_t max_ns;   /* of the last run */
  int runs, flushes, cancels, closed;
  size_t nr_rings;
  size_t looks;
  int has_grown;
  struct one_s *wakes; /* queued when it runs; NULL: none */
  struct one_s *heir;  /* joins when it is cancelled and has left; NULL: none */
} one_t;

static uint64_t now;
static char trace[64]; /* the names of those that ran */

static int setup(void **state) {
  memset(trace, 0, sizeof(trace));
  now = 1000 * MS;
  fake_clock_set(now);
  return fake_kernel_loop_setup(state);
}

static int teardown(void **state) {
  fake_clock_set(0);
  return fake_kernel_loop_teardown(state);
}

static void run(uvperf__member_t *member, uint64_t now_ns, uint64_t max_ns) {
  one_t *one = (one_t *)member;
  uint64_t end = now + max_ns;

  assert_true(now_ns == 0 || now_ns == now);
  assert_true(strlen(trace) + 1 < sizeof(trace));
  trace[strlen(trace)] = one->name;
  one->runs += 1;
  one->max_ns = max_ns;
  if (one->wakes != NULL)
    uvperf__hub_queue(&one->wakes->member, 0);
  do {
    now += one->takes_ns;
    one->left -= one->left > 0;
  } while (one->left > 0 && now < end);
  fake_clock_set(now);
  if (one->left > 0)
    uvperf__hub_queue(member, 1);
}

static void flush(uvperf__member_t *member) {
  ((one_t *)member)->flushes += 1;
  uvperf__hub_queue(member, 0);
}

static void cancel(uvperf__member_t *member);

static size_t look(uvperf__member_t *member, size_t most) {
  one_t *one = (one_t *)member;
  size_t nr = one->nr_rings < most ? one->nr_rings : most;

  one->looks += nr;
  if (nr > 0 && one->has_grown)
    uvperf__hub_queue(member, 0);
  return nr;
}

static const uvperf__member_ops_t ops = {
    .run = run, .look = look, .flush = flush, .cancel = cancel};

static void closed(void *owner) {
  ((one_t *)owner)->closed += 1;
}

static void nothing(void *owner) {
}

static void on_keep(uv_timer_t *timer) {
}

static void join(uv_loop_t *loop, one_t *one, char name) {
  memset(one, 0, sizeof(*one));
  one->name = name;
  one->left = 1;
  one->takes_ns = US;
  uvperf__teardown_init(&one->teardown, loop, closed, nothing, NULL, one);
  uv_timer_init(loop, &one->keep);
  one->keep.data = one;
  uv_timer_start(&one->keep, on_keep, UINT64_MAX, 0);
  assert_int_equal(uvperf__hub_join(&one->teardown), 0);
  uvperf__hub_add(one->teardown.hub, &one->member, &ops);
  one->member.slice_ns = MS;
}

static void on_keep_closed(uv_handle_t *handle) {
  uvperf__teardown_closed(&((one_t *)handle->data)->teardown);
}

static void leave(one_t *one) {
  uvperf__hub_remove(&one->member);
  uvperf__teardown_close(&one->teardown, &one->keep, on_keep_closed);
  uvperf__teardown_end(&one->teardown);
}

/* The last one: the loop ends. */
static void leave_last(one_t *one) {
  leave(one);
  uv_run(one->teardown.loop, UV_RUN_DEFAULT);
}

/* Its close may be complete by then, as in a callback that runs the loop. */
static void cancel(uvperf__member_t *member) {
  one_t *one = (one_t *)member;

  one->cancels += 1;
  if (one->heir == NULL)
    return;
  leave(one);
  assert_int_equal(one->closed, 1);
  join(one->teardown.loop, one->heir, 'h');
}

static void queue(one_t *one) {
  uvperf__hub_queue(&one->member, 0);
}

/* One iteration of the loop. Returns how long all members took. */
static uint64_t turn(uv_loop_t *loop) {
  uint64_t before = now;

  memset(trace, 0, sizeof(trace));
  uv_run(loop, UV_RUN_NOWAIT);
  return now - before;
}

static void expect_turn(uv_loop_t *loop, const char *names) {
  turn(loop);
  assert_string_equal(trace, names);
}

static void count(uv_handle_t *handle, void *nr) {
  assert_true(!uvperf__hub_is(handle) || !uv_has_ref(handle));
  *(int *)nr += 1;
}

static int count_handles(uv_loop_t *loop) {
  int nr = 0;

  uv_walk(loop, count, &nr);
  return nr;
}

static void count_active(uv_handle_t *handle, void *nr) {
  *(int *)nr += uvperf__hub_is(handle) && uv_is_active(handle);
}

/* -- join and leave ------------------------------------------------------- */

static void hub_is_shared_and_closed_by_the_last(void **state) {
  one_t a, b;

  join(*state, &a, 'a');
  assert_int_equal(count_handles(*state), 1 + 3);
  join(*state, &b, 'b');
  assert_ptr_equal(a.teardown.hub, b.teardown.hub);
  assert_ptr_equal(a.teardown.jobs, b.teardown.jobs);
  assert_int_equal(count_handles(*state), 2 + 3);
  leave(&a);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(a.closed, 1);
  assert_int_equal(count_handles(*state), 1 + 3);
  leave_last(&b);
  assert_int_equal(b.closed, 1);
  assert_int_equal(count_handles(*state), 0);
}

/* The last close callback is the one after which nothing is left. */
static void check_loop(void *owner) {
  one_t *one = owner;

  assert_int_equal(count_handles(one->teardown.loop), 0);
  one->closed += 1;
}

static void last_close_comes_after_the_hubs_handles_are_closed(void **state) {
  one_t one;

  join(*state, &one, 'a');
  one.teardown.closed = check_loop;
  leave_last(&one);
  assert_int_equal(one.closed, 1);
}

/* More than the table has at first. */
static void hubs_of_many_loops_are_their_own(void **state) {
  static uv_loop_t loops[40];
  static one_t ones[40], more;
  size_t i, j;

  for (i = 0; i < 40; i++) {
    assert_int_equal(uv_loop_init(&loops[i]), 0);
    join(&loops[i], &ones[i], 'x');
    for (j = 0; j < i; j++)
      assert_ptr_not_equal(ones[i].teardown.hub, ones[j].teardown.hub);
  }
  for (i = 0; i < 40; i++) {
    join(&loops[i], &more, 'y');
    assert_ptr_equal(more.teardown.hub, ones[i].teardown.hub);
    leave(&more);
    leave(&ones[i]);
    uv_run(&loops[i], UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loops[i]), 0);
  }
}

/* The program has freed the first loop, with its handles. */
static void loop_at_the_address_of_a_freed_one_has_its_own_hub(void **state) {
  static one_t old, new;
  uv_loop_t freed;

  join(*state, &old, 'a');
  memcpy(&freed, *state, sizeof(freed));
  assert_int_equal(uv_loop_init(*state), 0);
  join(*state, &new, 'b');
  assert_ptr_not_equal(old.teardown.hub, new.teardown.hub);
  queue(&new);
  expect_turn(*state, "b");
  leave_last(&new);
  assert_int_equal(new.closed, 1);
  assert_int_equal(uv_loop_close(*state), 0);
  memcpy(*state, &freed, sizeof(freed)); /* to be closed by the test */
  leave_last(&old);
  assert_int_equal(old.closed, 1);
}

static void forked_child_has_a_hub_of_its_own(void **state) {
  one_t parents, childs;

  join(*state, &parents, 'a');
  fake_process(uvperf__process() + 1);
  join(*state, &childs, 'b');
  assert_ptr_not_equal(parents.teardown.hub, childs.teardown.hub);
  leave(&parents);
  leave_last(&childs);
  assert_int_equal(parents.closed, 1);
  assert_int_equal(childs.closed, 1);
}

/* -- closed by others ----------------------------------------------------- */

static void uv_close_type(uv_handle_t *handle, void *type) {
  if (handle->type == *(uv_handle_type *)type && uvperf__hub_is(handle))
    uv_close(handle, NULL);
}

/* Noticed by whichever handle is left. */
static void hub_closed_by_others_cancels_all_members(void **state) {
  uv_handle_type types[] = {UV_CHECK, UV_IDLE, UV_TIMER};
  one_t a, b, c;
  size_t i;

  for (i = 0; i < 3; i++) {
    join(*state, &a, 'a');
    join(*state, &b, 'b');
    uvperf__flush_once(&b.member.flush, 1);
    uv_walk(*state, uv_close_type, &types[i]);
    assert_false(uvperf__hub_is_sound(a.teardown.hub));
    queue(&a);
    uv_run(*state, UV_RUN_NOWAIT);
    assert_int_equal(a.runs + b.runs, 0);
    uvperf__hub_check(a.teardown.hub);
    assert_int_equal(a.cancels, 1);
    assert_int_equal(b.cancels, 1);
    b.flushes = 0; /* a loaded machine has come to it before */
    join(*state, &c, 'c');
    assert_ptr_not_equal(a.teardown.hub, c.teardown.hub);
    uvperf__flush_once(&c.member.flush, 1);
    while (c.runs == 0)
      uv_run(*state, UV_RUN_NOWAIT);
    assert_int_equal(b.flushes, 0);
    leave(&a);
    leave(&b);
    leave_last(&c);
    assert_int_equal(a.closed + b.closed + c.closed, 3);
  }
}

/* -- jobs ----------------------------------------------------------------- */

typedef struct work_s {
  uvperf__job_t job;
  one_t *owner;
  one_t *heir; /* joins when the job is done and the owner has left; or NULL */
  int is_done;
} work_t;

static int work_step(uvperf__job_t *job) {
  return 0;
}

static void work_done(uvperf__job_t *job) {
  work_t *work = (work_t *)job;
  uv_loop_t *loop = work->owner->teardown.loop;

  work->is_done = 1;
  if (work->heir == NULL)
    return;
  leave(work->owner);
  uv_run(loop, UV_RUN_DEFAULT);
  join(loop, work->heir, 'b');
}

static void work_begin(work_t *work, one_t *owner, one_t *heir) {
  memset(work, 0, sizeof(*work));
  work->owner = owner;
  work->heir = heir;
  work->job.step = work_step;
  work->job.done = work_done;
  assert_int_equal(
      uvperf__job_begin(owner->teardown.jobs, owner->teardown.loop, &work->job),
      0);
}

/* They need only the timer. */
static void jobs_go_on_when_others_have_closed_the_check(void **state) {
  uv_handle_type type = UV_CHECK;
  work_t work;
  one_t a;

  fake_pool_hold();
  fake_pool_make(0);
  join(*state, &a, 'a');
  work_begin(&work, &a, NULL);
  uv_walk(*state, uv_close_type, &type);
  fake_pool_made();
  while (!fake_pool_waits())
    uv_run(*state, UV_RUN_NOWAIT);
  fake_pool_finish();
  assert_int_equal(work.is_done, 1);
  leave_last(&a);
}

/* The hub is still used when the callback returns. UV_RUN_ONCE
 * would wait for the timer of `keep` after the timer of the job has fired. */
static void hub_stays_until_the_end_of_a_job_has_returned(void **state) {
  work_t work;
  one_t a, b;

  fake_pool_make(UV_EAGAIN);
  join(*state, &a, 'a');
  work_begin(&work, &a, &b);
  fake_pool_made();
  while (!work.is_done)
    uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(a.closed, 1);
  assert_ptr_not_equal(a.teardown.hub, b.teardown.hub);
  leave_last(&b);
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  uv_close(handle, NULL);
}

/* The loop may be gone by then. */
static void member_that_others_have_closed_leaves_at_once(void **state) {
  one_t one;

  join(*state, &one, 'a');
  uv_walk(*state, uv_close_all, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  leave(&one);
  assert_int_equal(one.closed, 1);
}

static void member_that_joins_in_a_cancel_is_not_cancelled(void **state) {
  one_t one, heir;

  join(*state, &one, 'a');
  one.heir = &heir;
  uv_walk(*state, uv_close_all, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  uvperf__hub_check(one.teardown.hub);
  assert_int_equal(one.cancels, 1);
  assert_int_equal(heir.cancels, 0);
  queue(&heir);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(heir.runs, 1);
  leave_last(&heir);
  assert_int_equal(heir.closed, 1);
}

static void member_that_was_removed_is_left_alone(void **state) {
  one_t a, b;

  join(*state, &a, 'a');
  join(*state, &b, 'b');
  queue(&a);
  uvperf__flush_once(&a.member.flush, 1);
  uvperf__flush_once(&b.member.flush, 1);
  leave(&a);
  while (b.runs == 0)
    uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(a.flushes, 0);
  assert_int_equal(a.runs, 0);
  leave_last(&b);
}

/* -- whose turn it is ----------------------------------------------------- */

static void members_run_once_in_the_turn_after_they_were_queued(void **state) {
  int nr_active = 0;
  one_t a, b;

  join(*state, &a, 'a');
  join(*state, &b, 'b');
  a.wakes = &b;
  queue(&a);
  queue(&a);
  expect_turn(*state, "a");
  a.wakes = NULL;
  expect_turn(*state, "b");
  expect_turn(*state, "");
  queue(&a);
  queue(&b);
  queue(&a);
  expect_turn(*state, "ab");
  queue(&b);
  uvperf__hub_queue(&b.member, 1);
  expect_turn(*state, "b");
  expect_turn(*state, "");
  queue(&a);
  uvperf__hub_dequeue(&a.member);
  expect_turn(*state, "");
  uv_walk(*state, count_active, &nr_active);
  assert_int_equal(nr_active, 0);
  leave(&a);
  leave_last(&b);
}

static void member_alone_gets_the_time_that_it_wants(void **state) {
  one_t a;

  join(*state, &a, 'a');
  a.left = 1000;
  a.takes_ns = 20 * US;
  queue(&a);
  assert_int_equal(turn(*state), MS);
  a.member.slice_ns = 5 * MS;
  assert_int_equal(turn(*state), 5 * MS);
  a.member.slice_ns = 40 * US;
  assert_int_equal(turn(*state), 40 * US);
  leave_last(&a);
}

/* 16 floods. Each iteration takes 1 ms and one callback at most, and each
 * member gets at least its share in two. */
static void share_one_millisecond(uv_loop_t *loop, uint64_t takes_ns,
                                  int least) {
  one_t ones[16];
  size_t i;
  int n;

  for (i = 0; i < 16; i++) {
    join(loop, &ones[i], (char)('a' + i));
    ones[i].left = 1000000;
    ones[i].takes_ns = takes_ns;
    queue(&ones[i]);
  }
  for (n = 1; n <= 20; n++) {
    assert_in_range(turn(loop), MS - 100 * US, MS + takes_ns);
    for (i = 0; i < 16; i++)
      if (n % 2 == 0)
        assert_true(1000000 - ones[i].left >= n / 2 * least);
  }
  for (i = 0; i < 16; i++)
    leave(&ones[i]);
  uv_run(loop, UV_RUN_DEFAULT);
}

static void members_with_a_backlog_share_one_millisecond(void **state) {
  share_one_millisecond(*state, 20 * US, 5);
  share_one_millisecond(*state, 30 * US, 2);
}

static void member_without_a_backlog_comes_first(void **state) {
  one_t floods[3], a, b;
  size_t i;

  for (i = 0; i < 3; i++) {
    join(*state, &floods[i], (char)('x' + i));
    floods[i].left = 1000000;
    queue(&floods[i]);
  }
  join(*state, &a, 'a');
  join(*state, &b, 'b');
  a.wakes = &b;
  expect_turn(*state, "xyz");
  queue(&a);
  assert_in_range(turn(*state), 0, MS + 2 * US);
  assert_string_equal(trace, "axyz");
  expect_turn(*state, "bxyz");
  leave(&b);
  for (i = 0; i < 3; i++)
    leave(&floods[i]);
  leave_last(&a);
}

/* The others would use all the time of each iteration. */
static void member_with_a_backlog_is_not_starved(void **state) {
  one_t slow[4], flood;
  size_t i;
  int n;

  join(*state, &flood, 'f');
  flood.left = 1000000;
  queue(&flood);
  turn(*state);
  for (i = 0; i < 4; i++) {
    join(*state, &slow[i], (char)('a' + i));
    slow[i].takes_ns = 400 * US;
  }
  for (n = 0; n < 5; n++) {
    for (i = 0; i < 4; i++)
      queue(&slow[i]);
    assert_in_range(turn(*state), MS, MS + 400 * US);
    assert_int_equal(strchr(trace, 'f') == trace, n % 2 == 1);
  }
  for (i = 0; i < 4; i++)
    leave(&slow[i]);
  leave_last(&flood);
}

/* -- looking at rings ----------------------------------------------------- */

static void member_with_records_runs_without_a_wakeup(void **state) {
  one_t a;

  join(*state, &a, 'a');
  a.nr_rings = 1;
  a.has_grown = 1;
  uvperf__hub_look(&a.member, 1);
  expect_turn(*state, "a");
  a.has_grown = 0;
  expect_turn(*state, "");
  a.has_grown = 1;
  expect_turn(*state, "a");
  uvperf__hub_look(&a.member, 0);
  expect_turn(*state, "");
  leave_last(&a);
}

/* All up to 32, then 8 in each iteration. */
static void members_with_many_rings_are_looked_at_in_turns(void **state) {
  one_t ones[10];
  size_t all = 0;
  size_t i, n;

  for (i = 0; i < 10; i++) {
    join(*state, &ones[i], (char)('a' + i));
    ones[i].nr_rings = 10;
    uvperf__hub_look(&ones[i].member, ones[i].nr_rings);
  }
  for (n = 0; n < 50; n++)
    turn(*state);
  for (i = 0; i < 10; i++) {
    assert_in_range(ones[i].looks, 30, 50);
    all += ones[i].looks;
    ones[i].looks = 0;
  }
  assert_int_equal(all, 50 * 8);
  for (i = 3; i < 10; i++)
    leave(&ones[i]);
  turn(*state);
  for (i = 0; i < 3; i++) {
    assert_int_equal(ones[i].looks, 10);
    leave(&ones[i]);
  }
  uv_run(*state, UV_RUN_DEFAULT);
}

static void forked_child_looks_at_no_ring(void **state) {
  one_t a;

  join(*state, &a, 'a');
  a.nr_rings = 1;
  uvperf__hub_look(&a.member, 1);
  fake_process(uvperf__process() + 1);
  turn(*state);
  assert_int_equal(a.looks, 0);
  leave_last(&a);
}

/* -- what is shared ------------------------------------------------------- */

static void scratch_is_shared_by_the_loop(void **state) {
  uvperf__hub_t *hub;
  void *first, *second;
  one_t a;

  join(*state, &a, 'a');
  hub = a.teardown.hub;
  assert_int_equal(uvperf__hub_reserve(hub), 0);
  fake_fail(FAKE_CALLOC, 1, 0);
  first = uvperf__hub_lend(hub);
  assert_non_null(first);
  assert_null(uvperf__hub_lend(hub));
  second = uvperf__hub_lend(hub);
  assert_ptr_not_equal(first, second);
  uvperf__hub_give_back(hub, second);
  assert_ptr_equal(uvperf__hub_lend(hub), second);
  uvperf__hub_give_back(hub, second);
  leave_last(&a);
  uvperf__hub_give_back(hub, first);
  fake_assert_clean();
}

static void events_of_the_loop_are_found_by_their_ids(void **state) {
  one_t a, b, other;
  uv_loop_t loop;

  assert_int_equal(uv_loop_init(&loop), 0);
  join(&loop, &other, 'o');
  uvperf__hub_note_event(&other.member, 9);
  assert_int_equal(uvperf__hub_newest_event(*state), 0);
  assert_false(uvperf__hub_has_event(*state, 9));
  join(*state, &a, 'a');
  join(*state, &b, 'b');
  assert_false(uvperf__hub_has_event(*state, 1));
  uvperf__hub_note_event(&b.member, 7);
  uvperf__hub_note_event(&a.member, 5);
  assert_int_equal(uvperf__hub_newest_event(*state), 7);
  assert_true(uvperf__hub_has_event(*state, 5));
  assert_true(uvperf__hub_has_event(*state, 7));
  assert_false(uvperf__hub_has_event(*state, 6));
  assert_false(uvperf__hub_has_event(*state, 9));
  leave(&b);
  assert_int_equal(uvperf__hub_newest_event(*state), 7);
  assert_false(uvperf__hub_has_event(*state, 7));
  leave_last(&a);
  leave(&other);
  uv_run(&loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&loop), 0);
}

#define TEST(f) support_loop_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(hub_is_shared_and_closed_by_the_last),
      TEST(last_close_comes_after_the_hubs_handles_are_closed),
      TEST(hubs_of_many_loops_are_their_own),
      TEST(loop_at_the_address_of_a_freed_one_has_its_own_hub),
      TEST(forked_child_has_a_hub_of_its_own),
      TEST(hub_closed_by_others_cancels_all_members),
      TEST(member_that_others_have_closed_leaves_at_once),
      TEST(jobs_go_on_when_others_have_closed_the_check),
      TEST(hub_stays_until_the_end_of_a_job_has_returned),
      TEST(member_that_joins_in_a_cancel_is_not_cancelled),
      TEST(member_that_was_removed_is_left_alone),
      TEST(members_run_once_in_the_turn_after_they_were_queued),
      TEST(member_alone_gets_the_time_that_it_wants),
      TEST(members_with_a_backlog_share_one_millisecond),
      TEST(member_without_a_backlog_comes_first),
      TEST(member_with_a_backlog_is_not_starved),
      TEST(member_with_records_runs_without_a_wakeup),
      TEST(members_with_many_rings_are_looked_at_in_turns),
      TEST(forked_child_looks_at_no_ring),
      TEST(scratch_is_shared_by_the_loop),
      TEST(events_of_the_loop_are_found_by_their_ids),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
