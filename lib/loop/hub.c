/* SPDX-License-Identifier: MIT */
/* The hub. The file begins with what happens if nothing fails: handles join,
 * members are queued, one iteration runs them, and the handles leave. Then come
 * forked children, uv handles that other code has closed, and the table.
 *
 * The table says which hub belongs to which loop. It is global, and needs no
 * lock: only the thread of a loop takes or frees the entry of this loop. A hub
 * lives in its entry, and entries are never freed.
 *
 * An entry can be of an earlier loop that was at the same address, and was
 * freed without closing it, or after other code had closed all its handles. The
 * new loop has another backend fd, or uv handles of the hub are closing. Then
 * it takes another entry. A forked child takes another entry too. The handles
 * of the parent keep their hub until the child closes them. */
#include "loop/hub.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "loop/job.h"
#include "sys/fork.h"
#include "util/alloc.h"

/* The time for all members in one iteration, unless one wants more. */
#define BUDGET_NS UINT64_C(1000000)
/* The time that a member gets at least when its turn has come, unless less is
 * left or wanted. */
#define SHARE_NS UINT64_C(100000)

/* The rings to look at in one iteration: all, or a few in turns if there are
 * more. A ring that was looked at in the last iteration is in the cache, so it
 * takes a few nanoseconds. Others take 60. */
#define MOST_LOOKS 32
#define FEW_LOOKS  8

#define TABLE_HUBS 16

struct uvperf__hub_s {
  _Atomic(uv_loop_t *) loop; /* NULL: the entry is free */
  uint32_t process;
  int backend_fd; /* of the loop: another loop that exists has another one */
  size_t users;   /* teardowns that have joined and not left; buffers that are
                   * lent; functions of this file that call members */
  size_t nr_open; /* those whose owners do not close yet */
  uvperf__teardown_t *leaving; /* it closes the uv handles; NULL: none */
  uv_check_t check;
  uv_idle_t idle;
  uvperf__flush_timer_t flush_timer;
  uvperf__jobs_t jobs;
  uvperf__scratch_t scratch;
  uvperf__member_t *scanner; /* NULL: no handle has needed it */
  uint64_t newest_event;     /* the greatest id that a member has noted */
  uvperf__link_t members;
  uvperf__link_t looks;   /* the members to look at, the next one first */
  size_t nr_rings;        /* of all these */
  uvperf__link_t fresh;   /* queued members without a backlog */
  uvperf__link_t backlog; /* and with one: each gets its share in turn */
  size_t nr_queued;
  int is_backlog_late; /* none of them has run in the last turn */
  uint64_t turn;       /* the number of check callbacks */
  uint64_t polls;
};

typedef struct table_s {
  uvperf__hub_t hubs[TABLE_HUBS];
  _Atomic(struct table_s *) next;
} table_t;

static table_t table;

static void on_idle(uv_idle_t *idle);

static void on_check(uv_check_t *check);

static void on_fired(uvperf__flush_timer_t *timer);

static uvperf__hub_t *table_find(const uv_loop_t *loop);
static uvperf__hub_t *table_take(uv_loop_t *loop);
static void hub_leave(uvperf__teardown_t *teardown);
static void hub_left(uvperf__teardown_t *teardown);
static void hub_drop(uvperf__hub_t *hub);

/* -- 1. a handle joins, with members --------------------------------------- */

/* Another loop may have had the entry before. */
static void hub_init(uvperf__hub_t *hub, uv_loop_t *loop) {
  memset(&hub->process, 0, sizeof(*hub) - offsetof(uvperf__hub_t, process));
  hub->process = uvperf__process();
  hub->backend_fd = uv_backend_fd(loop);
  uvperf__link_init(&hub->members);
  uvperf__link_init(&hub->looks);
  uvperf__link_init(&hub->fresh);
  uvperf__link_init(&hub->backlog);
  uv_check_init(loop, &hub->check);
  hub->check.data = hub;
  hub->check.check_cb = on_check;
  uv_idle_init(loop, &hub->idle);
  hub->idle.data = hub;
  hub->idle.idle_cb = on_idle;
  uvperf__flush_timer_init(&hub->flush_timer, loop, on_fired);
  hub->flush_timer.timer.data = hub;
  uvperf__jobs_init(&hub->jobs, &hub->flush_timer);
  uv_unref((uv_handle_t *)&hub->check);
  uv_unref((uv_handle_t *)&hub->idle);
}

int uvperf__hub_join(uvperf__teardown_t *teardown) {
  uvperf__hub_t *hub;

  if (teardown->hub != NULL)
    return 0;
  hub = table_find(teardown->loop);
  if (hub == NULL) {
    hub = table_take(teardown->loop);
    if (hub == NULL)
      return UV_ENOMEM;
    hub_init(hub, teardown->loop);
  }
  hub->users += 1;
  hub->nr_open += 1;
  teardown->hub = hub;
  teardown->jobs = &hub->jobs;
  teardown->leave = hub_leave;
  teardown->left = hub_left;
  return 0;
}

static void on_flush(uvperf__flush_t *flush) {
  uvperf__member_t *member =
      (uvperf__member_t *)((char *)flush - offsetof(uvperf__member_t, flush));

  member->ops->flush(member);
}

void uvperf__hub_add(uvperf__hub_t *hub, uvperf__member_t *member,
                     const uvperf__member_ops_t *ops) {
  member->ops = ops;
  member->hub = hub;
  member->event = 0;
  member->nr_rings = 0;
  uvperf__link_init(&member->in_queue);
  uvperf__link_init(&member->in_looks);
  uvperf__link_init(&member->in_hub);
  uvperf__link_add(&hub->members, &member->in_hub);
  uvperf__flush_init(&member->flush, &hub->flush_timer, on_flush);
}

void uvperf__hub_remove(uvperf__member_t *member) {
  uvperf__flush_stop(&member->flush);
  uvperf__hub_dequeue(member);
  uvperf__hub_look(member, 0);
  uvperf__link_remove(&member->in_hub);
}

/* -- 2. a member is queued ------------------------------------------------- */

static void start_check(uvperf__hub_t *hub) {
  if (!uv_is_closing((const uv_handle_t *)&hub->check))
    uv_check_start(&hub->check, on_check);
}

/* Keeps the next poll phase from waiting for fds. In the poll phase it is not
 * needed, but then the check phase comes next and stops it. */
static void hub_wake(uvperf__hub_t *hub) {
  if (!uv_is_closing((const uv_handle_t *)&hub->idle))
    uv_idle_start(&hub->idle, on_idle);
}

void uvperf__hub_queue(uvperf__member_t *member, int has_backlog) {
  uvperf__hub_t *hub = member->hub;

  if (!uvperf__link_is_alone(&member->in_queue) && !has_backlog)
    return;
  uvperf__hub_dequeue(member);
  member->queued_in = hub->turn;
  uvperf__link_add(has_backlog ? &hub->backlog : &hub->fresh,
                   &member->in_queue);
  hub->nr_queued += 1;
  start_check(hub);
  hub_wake(hub);
}

void uvperf__hub_dequeue(uvperf__member_t *member) {
  if (uvperf__link_is_alone(&member->in_queue))
    return;
  uvperf__link_remove(&member->in_queue);
  member->hub->nr_queued -= 1;
}

void uvperf__hub_look(uvperf__member_t *member, size_t nr_rings) {
  uvperf__hub_t *hub = member->hub;

  uvperf__link_remove(&member->in_looks);
  hub->nr_rings += nr_rings - member->nr_rings;
  member->nr_rings = nr_rings;
  if (nr_rings == 0)
    return;
  uvperf__link_add(&hub->looks, &member->in_looks);
  start_check(hub);
}

static void on_idle(uv_idle_t *idle) {
  uvperf__hub_t *hub = idle->data;

  hub->polls += 1;
  uvperf__hub_check(hub);
}

uint64_t uvperf__hub_polls(const uvperf__hub_t *hub) {
  return hub->polls;
}

/* -- 3. one iteration ------------------------------------------------------ */

static uvperf__member_t *of_queue(uvperf__link_t *link) {
  return (uvperf__member_t *)((char *)link -
                              offsetof(uvperf__member_t, in_queue));
}

/* The clock is not read if only one member is queued: it reads the clock itself
 * if it has several records. */
typedef struct budget_s {
  uint64_t start_ns;
  uint64_t now_ns;
  size_t left; /* members that were queued and have not run */
} budget_t;

/* Returns the time for a member. All that are left share the rest of the time,
 * but each gets SHARE_NS, as long as there is time. A member that wants more
 * than BUDGET_NS extends the budget for itself. */
static uint64_t budget_share(const budget_t *budget, uint64_t wanted_ns) {
  uint64_t all_ns = wanted_ns > BUDGET_NS ? wanted_ns : BUDGET_NS;
  uint64_t rest_ns = all_ns - (budget->now_ns - budget->start_ns);
  uint64_t share_ns = rest_ns / budget->left;

  if (share_ns < SHARE_NS)
    share_ns = rest_ns < SHARE_NS ? rest_ns : SHARE_NS;
  return wanted_ns < share_ns ? wanted_ns : share_ns;
}

/* Runs the members of a queue that were queued before this turn, until the time
 * is up, but not more than `most`. Returns how many have run. */
static size_t run_queue(uvperf__hub_t *hub, uvperf__link_t *queue, size_t most,
                        budget_t *budget) {
  uvperf__member_t *member;
  uint64_t max_ns;
  size_t nr;

  for (nr = 0; nr < most && !uvperf__link_is_alone(queue); nr++) {
    member = of_queue(queue->next);
    if (member->queued_in == hub->turn || budget->left == 0 ||
        budget->now_ns - budget->start_ns >= BUDGET_NS)
      break;
    max_ns = budget_share(budget, member->slice_ns);
    uvperf__hub_dequeue(member);
    member->ops->run(member, budget->now_ns, max_ns);
    budget->left -= 1;
    if (budget->left > 0)
      budget->now_ns = uv_hrtime();
  }
  return nr;
}

/* An outer loop that polls the backend fd takes the wakeups of perf fds, so the
 * poll phase does not report them. But it runs this loop for each of them. A
 * forked child does not have the rings. */
static void look_at_rings(uvperf__hub_t *hub) {
  const uvperf__link_t *last = hub->looks.prev;
  uvperf__link_t *link = hub->looks.next;
  uvperf__member_t *member;
  size_t left = hub->nr_rings <= MOST_LOOKS ? MOST_LOOKS : FEW_LOOKS;

  if (uvperf__hub_is_forked(hub))
    return;
  while (link != &hub->looks && left > 0) {
    member = (uvperf__member_t *)((char *)link -
                                  offsetof(uvperf__member_t, in_looks));
    left -= member->ops->look(member, left);
    uvperf__link_remove(link);
    uvperf__link_add(&hub->looks, link);
    if (link == last)
      return;
    link = hub->looks.next;
  }
}

/* Members without a backlog come first, so they need not wait for a flood. But
 * if they have left no time for the others, one of the others begins the next
 * turn. */
static void run_turn(uvperf__hub_t *hub) {
  int has_backlog = !uvperf__link_is_alone(&hub->backlog);
  budget_t budget = {0, 0, 0};
  size_t nr = 0;

  if (!uvperf__hub_check(hub))
    return;
  look_at_rings(hub);
  budget.left = hub->nr_queued;
  hub->turn += 1;
  if (budget.left > 1)
    budget.start_ns = budget.now_ns = uv_hrtime();
  if (hub->is_backlog_late)
    nr = run_queue(hub, &hub->backlog, 1, &budget);
  run_queue(hub, &hub->fresh, SIZE_MAX, &budget);
  nr += run_queue(hub, &hub->backlog, SIZE_MAX, &budget);
  hub->is_backlog_late = nr == 0 && has_backlog;
  if (hub->nr_queued > 0) {
    hub_wake(hub);
    return;
  }
  uv_idle_stop(&hub->idle);
  if (uvperf__link_is_alone(&hub->looks))
    uv_check_stop(&hub->check);
}

/* A callback may run the loop until its last member is closed. The entry is
 * this loop's until the turn has ended. */
static void on_check(uv_check_t *check) {
  uvperf__hub_t *hub = check->data;

  hub->users += 1;
  run_turn(hub);
  hub_drop(hub);
}

/* As in on_check, a callback may do anything. Jobs need no other handle of the
 * hub than the timer. */
static void on_fired(uvperf__flush_timer_t *timer) {
  uvperf__hub_t *hub = timer->timer.data;

  hub->users += 1;
  uvperf__hub_check(hub);
  uvperf__jobs_check(&hub->jobs, timer->timer.loop);
  hub_drop(hub);
}

/* -- 4. the handles leave -------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  uvperf__hub_t *hub = handle->data;

  uvperf__teardown_closed(hub->leaving);
}

/* The uv handles are closed together with those of the last member, so closing
 * takes no more iterations than without a hub. A handle that comes meanwhile
 * makes another hub. Those that are still closing may have jobs here. */
static void hub_leave(uvperf__teardown_t *teardown) {
  uvperf__hub_t *hub = teardown->hub;

  hub->nr_open -= 1;
  if (hub->nr_open > 0)
    return;
  hub->leaving = teardown;
  if (hub->scanner != NULL)
    hub->scanner->ops->close(hub->scanner, teardown);
  assert(uvperf__link_is_alone(&hub->members));
  uvperf__teardown_close(teardown, &hub->check, on_closed);
  uvperf__teardown_close(teardown, &hub->idle, on_closed);
  uvperf__teardown_close(teardown, &hub->flush_timer.timer, on_closed);
}

static void hub_drop(uvperf__hub_t *hub) {
  hub->users -= 1;
  if (hub->users > 0)
    return;
  if (hub->scanner != NULL)
    hub->scanner->ops->free(hub->scanner);
  uvperf__scratch_free(&hub->scratch);
  atomic_store(&hub->loop, NULL);
}

static void hub_left(uvperf__teardown_t *teardown) {
  hub_drop(teardown->hub);
}

/* -- a fork, and uv handles that others have closed ------------------------ */

int uvperf__hub_is_forked(const uvperf__hub_t *hub) {
  return hub->process != uvperf__process();
}

int uvperf__hub_is_sound(const uvperf__hub_t *hub) {
  return !uv_is_closing((const uv_handle_t *)&hub->check) &&
         !uv_is_closing((const uv_handle_t *)&hub->idle) &&
         !uv_is_closing((const uv_handle_t *)&hub->flush_timer.timer);
}

/* A member that is cancelled belongs to no hub any more. Its callback may do
 * anything: see on_check. */
int uvperf__hub_check(uvperf__hub_t *hub) {
  uvperf__member_t *member;

  if (uvperf__hub_is_sound(hub))
    return 1;
  if (!uv_is_closing((const uv_handle_t *)&hub->idle))
    uv_idle_stop(&hub->idle);
  hub->users += 1;
  while (!uvperf__link_is_alone(&hub->members)) {
    member = (uvperf__member_t *)hub->members.next;
    uvperf__hub_remove(member);
    if (member->ops->cancel != NULL)
      member->ops->cancel(member);
  }
  hub_drop(hub);
  return 0;
}

int uvperf__hub_is(const uv_handle_t *handle) {
  switch (handle->type) {
    case UV_IDLE:
      return ((const uv_idle_t *)handle)->idle_cb == on_idle;
    case UV_CHECK:
      return ((const uv_check_t *)handle)->check_cb == on_check;
    default:
      return uvperf__flush_timer_is(handle);
  }
}

/* -- the table ------------------------------------------------------------- */

/* Only this thread can give an entry to this loop. So if the entry is still the
 * loop's afterwards, it was the loop's all the time. */
static int is_of(const uvperf__hub_t *hub, const uv_loop_t *loop) {
  return atomic_load(&hub->loop) == loop && !uvperf__hub_is_forked(hub) &&
         hub->backend_fd == uv_backend_fd(loop) && uvperf__hub_is_sound(hub) &&
         atomic_load(&hub->loop) == loop;
}

static uvperf__hub_t *table_find(const uv_loop_t *loop) {
  table_t *part;
  size_t i;

  for (part = &table; part != NULL; part = atomic_load(&part->next))
    for (i = 0; i < TABLE_HUBS; i++)
      if (is_of(&part->hubs[i], loop))
        return &part->hubs[i];
  return NULL;
}

/* Returns the part of the table that follows, and makes it if necessary. */
static table_t *table_next(table_t *part) {
  table_t *next = atomic_load(&part->next);
  table_t *made;

  if (next != NULL)
    return next;
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL || atomic_compare_exchange_strong(&part->next, &next, made))
    return made;
  uvperf__free(made);
  return next;
}

static uvperf__hub_t *table_take(uv_loop_t *loop) {
  table_t *part;
  uv_loop_t *none;
  size_t i;

  for (part = &table; part != NULL; part = table_next(part))
    for (i = 0; i < TABLE_HUBS; i++) {
      none = NULL;
      if (atomic_compare_exchange_strong(&part->hubs[i].loop, &none, loop))
        return &part->hubs[i];
    }
  return NULL;
}

/* -- what members share ---------------------------------------------------- */

/* Ids ascend, so most new events have a greater id than all others. */
void uvperf__hub_note_event(uvperf__member_t *member, uint64_t id) {
  member->event = id;
  if (member->hub->newest_event < id)
    member->hub->newest_event = id;
}

uint64_t uvperf__hub_newest_event(uv_loop_t *loop) {
  uvperf__hub_t *hub = table_find(loop);

  return hub == NULL ? 0 : hub->newest_event;
}

int uvperf__hub_has_event(uv_loop_t *loop, uint64_t id) {
  uvperf__hub_t *hub = table_find(loop);
  uvperf__link_t *link;

  if (hub == NULL || id > hub->newest_event)
    return 0;
  for (link = hub->members.next; link != &hub->members; link = link->next)
    if (((const uvperf__member_t *)link)->event == id)
      return 1;
  return 0;
}

void *uvperf__hub_lend(uvperf__hub_t *hub) {
  void *buffer = uvperf__scratch_take(&hub->scratch);

  hub->users += buffer != NULL;
  return buffer;
}

void uvperf__hub_give_back(uvperf__hub_t *hub, void *buffer) {
  uvperf__scratch_give_back(&hub->scratch, buffer);
  hub_drop(hub);
}

int uvperf__hub_reserve(uvperf__hub_t *hub) {
  return uvperf__scratch_reserve(&hub->scratch);
}

uvperf__member_t **uvperf__hub_scanner(uvperf__hub_t *hub) {
  return &hub->scanner;
}
