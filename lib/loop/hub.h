/* SPDX-License-Identifier: MIT */
/* What all handles of a loop share: the uv handles that let its members run (a
 * check, an idle and a timer), the time that they may take in one iteration,
 * the scratch, and the queue of slow jobs. The first handle of a loop makes the
 * hub, and the last one closes it.
 *
 * The members are the watches, the interval timers, and one that scans the
 * CPUs. The hub's uv handles do not keep the loop alive, except its timer while
 * jobs wait for it (job.c). Each watch and interval timer has a uv handle of
 * its own for this, which a uv_walk finds too.
 *
 * The owner of a member is a handle. It joins the hub with its teardown. */
#ifndef UVPERF_LIB_LOOP_HUB_H
#define UVPERF_LIB_LOOP_HUB_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "loop/flush_timer.h"
#include "loop/link.h"
#include "loop/teardown.h"
#include "ring/scratch.h"

typedef struct uvperf__hub_s uvperf__hub_t;
typedef struct uvperf__member_s uvperf__member_t;

/* The operations of a member. */
typedef struct uvperf__member_ops_s {
  /* Called in the check phase of an iteration in which the member is queued. It
   * is not queued any more. It may deliver records for max_ns. now_ns is the
   * time, or 0 if the clock was not read because no other member is queued. */
  void (*run)(uvperf__member_t *member, uint64_t now_ns, uint64_t max_ns);
  /* Queues the member if one of its next rings, at most `most`, should be read.
   * Returns how many it has looked at. Needed for uvperf__hub_look. */
  size_t (*look)(uvperf__member_t *member, size_t most);
  /* A flush is due: queues the member if there is a reason. Must not call a
   * callback of the user. Needed if `flush` of the member is used. */
  void (*flush)(uvperf__member_t *member);
  /* Other code has closed a uv handle of the hub, so the member will not run
   * any more. May be NULL. */
  void (*cancel)(uvperf__member_t *member);
  /* Only for the scanner: see uvperf__hub_scanner. */
  void (*close)(uvperf__member_t *member, uvperf__teardown_t *teardown);
  void (*free)(uvperf__member_t *member);
} uvperf__member_ops_t;

/* A member, as its hub sees it. */
struct uvperf__member_s {
  uvperf__link_t in_hub; /* first: a link of the list is a member */
  const uvperf__member_ops_t *ops;
  uvperf__hub_t *hub;
  uvperf__link_t in_queue;
  uvperf__link_t in_looks;
  uvperf__flush_t flush;
  size_t nr_rings;    /* to look at */
  uint64_t event;     /* the id of its event; 0: not noted */
  uint64_t slice_ns;  /* the time that it wants in an iteration; it sets it */
  uint64_t queued_in; /* the hub's turn in which it was queued */
};

/* Joins the hub of the teardown's loop, if its owner has not joined it. The
 * teardown leaves the hub by itself. The last one to close closes the hub's uv
 * handles too. Returns 0 or UV_ENOMEM. */
int uvperf__hub_join(uvperf__teardown_t *teardown);

/* Adds a member to the hub that its owner has joined. */
void uvperf__hub_add(uvperf__hub_t *hub, uvperf__member_t *member,
                     const uvperf__member_ops_t *ops);

/* Takes the member out of the hub, which does not run it any more. */
void uvperf__hub_remove(uvperf__member_t *member);

/* Runs the member in the next check phase that has time for it, and the loop
 * does not wait for fds before that. With a backlog it has records left from
 * the last time, and runs after the members that have not. If it is queued
 * already, a backlog moves it behind the others; otherwise nothing changes. */
void uvperf__hub_queue(uvperf__member_t *member, int has_backlog);

/* Looks at the member's rings in each check phase from now on, or with 0 rings
 * not any more. This is for a loop inside another one, which polls the backend
 * fd and so takes the wakeups. If the loop has many rings it looks at some of
 * them, in turns. */
void uvperf__hub_look(uvperf__member_t *member, size_t nr_rings);

/* Does not run it any more, until it is queued again. */
void uvperf__hub_dequeue(uvperf__member_t *member);

/* Counts the iterations that the hub has kept from waiting: it is incremented
 * before each of their poll phases. */
uint64_t uvperf__hub_polls(const uvperf__hub_t *hub);

/* Returns where the hub keeps the member that scans the CPUs (hotplug.c), at
 * first NULL. The hub calls the member's `close` when the last owner leaves, to
 * close uv handles as a part of its teardown. It calls `free` when all is
 * closed. */
uvperf__member_t **uvperf__hub_scanner(uvperf__hub_t *hub);

/* Whether this process is a forked child of the process whose hub it is. A
 * child does not have the mappings of the rings, and must not take the parent's
 * records. */
int uvperf__hub_is_forked(const uvperf__hub_t *hub);

/* Whether no other code has closed a uv handle of the hub. */
int uvperf__hub_is_sound(const uvperf__hub_t *hub);

/* Called on the loop. If the hub is not sound, cancels all members. Returns
 * whether it is sound. */
int uvperf__hub_check(uvperf__hub_t *hub);

/* Notes the id of the member's event, which has an id above 0. By the ids an
 * init finds out that an fd is of an event that another handle has, or that
 * options.open has returned an older event. */
void uvperf__hub_note_event(uvperf__member_t *member, uint64_t id);

/* Whether a member of the loop's hub has noted this id. */
int uvperf__hub_has_event(uv_loop_t *loop, uint64_t id);

/* Returns the greatest id that a member of the loop's hub has noted, also one
 * that was removed, or 0. */
uint64_t uvperf__hub_newest_event(uv_loop_t *loop);

/* Lends a buffer of the hub's scratch, until uvperf__hub_give_back. Meanwhile
 * the hub exists, even if all its members close. Returns NULL if out of memory.
 * After uvperf__hub_reserve this happens only while a buffer is lent. */
void *uvperf__hub_lend(uvperf__hub_t *hub);
void uvperf__hub_give_back(uvperf__hub_t *hub, void *buffer);

/* Makes sure that the hub has a buffer to lend. Returns 0 or -ENOMEM. */
int uvperf__hub_reserve(uvperf__hub_t *hub);

/* Whether a uv handle belongs to a hub. */
int uvperf__hub_is(const uv_handle_t *handle);

#endif
