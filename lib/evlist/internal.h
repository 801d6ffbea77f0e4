/* SPDX-License-Identifier: MIT */
/* Shared by the files of evlist/. All other files include evlist.h. */
#ifndef UVPERF_LIB_EVLIST_INTERNAL_H
#define UVPERF_LIB_EVLIST_INTERNAL_H

#include "host/target.h"
#include "host/tracefs.h"
#include "ring/bpf_map.h"
#include "ring/cpu_rings.h"
#include "ring/leftovers.h"
#include "ring/user_page.h"
#include "evlist/evlist.h"
#include "sys/fork.h"

/* The counts of an event since it was opened. */
typedef struct counted_s {
  uint64_t value;
  uint64_t enabled;
  uint64_t running;
  uint64_t lost;
} counted_t;

enum evlist_state {
  COUNTER_NONE,    /* not opened here */
  COUNTER_PLANNED, /* to be opened */
  COUNTER_FAILED,  /* could not be opened: `code` */
  COUNTER_OPEN
};

/* The result of reading the events of a place. */
enum place_read {
  PLACE_IS_CLOSED, /* none of them is open */
  PLACE_WAS_OFF,   /* none has been enabled since the last read */
  PLACE_WAS_ON
};

/* A form of an attr by which records are decoded. All events that were opened
 * with this form of the attr share it. The shape lives as long as a source of
 * such an event. */
typedef struct evlist_shape_s {
  size_t nr_users;
  struct perf_event_attr *attr;
} evlist_shape_t;

/* The part of an event that outlives the event. Records that the event has
 * written, or that have its count (PERF_SAMPLE_READ), can be read later. */
typedef struct evlist_source_s {
  uvperf_source_t source;
  uint64_t id;
  evlist_shape_t *shape;
  uvperf__cpu_ring_t *ring;
  int writes_samples;
  uint64_t begin; /* where in the ring its records can begin */
  /* After the event is closed: */
  struct evlist_source_s *next;
  uint64_t left_at; /* ns */
  int has_end;
  uint64_t end; /* where in the ring its records end, once known */
} evlist_source_t;

/* One attr at one place. */
typedef struct evlist_event_s {
  enum evlist_state state;
  int code; /* 0, or why opening or the last read failed */
  int fd;
  /* Whether the attr's program was attached through this event, and the fd of
   * its link. The fd is -1 if there is no link. The program is then attached as
   * long as the event is open. */
  int has_bpf;
  int bpf_link;
  /* The attr whose event is used to read this event: the leader of its group at
   * this place. It is the event's own attr if the event leads or is in no
   * group. */
  size_t leader;
  uint64_t id; /* if it is needed, see know_id in open.c */
  /* Its page, if its whole group is read with pages when possible; or NULL. */
  const struct perf_event_mmap_page *page;
  evlist_source_t *source; /* NULL: it writes into no ring */
  evlist_source_t *silent; /* if there are rings and it writes no records */
  int is_unfit;            /* FAILED by the plan: do not try it here */
  int is_unchecked; /* OPEN, but maybe of another task with the same id */
  /* If the event was closed to be opened again (`is_carried`), its counts when
   * it was closed. */
  counted_t carry;
  int is_carried;
  uint64_t left;      /* `last.running` when its CPU was found to be offline */
  counted_t last;     /* at the last read */
  uint32_t map_entry; /* its key in the attr's map, plus 1; 0: none */
  uint64_t lost;      /* of `last.lost`, what its ring's `lost` has */
  counted_t base;     /* at the last reset */
  int base_code;      /* 0, or why `base` could not be read */
} evlist_event_t;

typedef struct evlist_place_s {
  uvperf_place_t place;
  uint64_t start; /* of the task, for uvperf__task_is_gone */
  int is_gone;
  int was_read;
  int has_begun;   /* a command that has called execve(2) */
  int is_away;     /* its CPU is offline, see hotplug.c */
  int has_package; /* its CPU's package was looked up, and is known */
  uint64_t package;
  evlist_event_t *events; /* one for each attr */
} evlist_place_t;

typedef struct evlist_target_s {
  uint32_t index;
  uint32_t type; /* enum uvperf_target_type */
  /* The thread of UVPERF_TARGET_SELF; else none. */
  uvperf__thread_t thread;
  void *data; /* the user's */
  int inherit;
  int on_exec;
  int follows_cpus;  /* it covers every CPU */
  int cgroup;        /* fd while its events are opened, else -1 */
  char *cgroup_path; /* from the user's options; or NULL */
  size_t nr_places;
  evlist_place_t *places;
  evlist_event_t *events; /* of all places */
  /* Where its end was checked last: the place and attr of an event that was
   * alive, and the place of a task that was alive. */
  size_t alive_place;
  size_t alive_attr;
  size_t alive_task;
  int has_writer; /* has an event that writes into a ring */
  int has_ended;
  int is_end_taken;
} evlist_target_t;

typedef struct evlist_attr_s {
  uvperf_event_item_t item;
  char *label;    /* its own; NULL: the list's, or the brief one */
  char brief[48]; /* type and config, until `label` is made */
  int *cpus;      /* its own; NULL: the list's, or any */
  /* The attr as the user passed it, and as it is opened. Once an event is open,
   * with or without a fallback, all others are opened with the same attr. */
  struct perf_event_attr *asked;
  struct perf_event_attr *attr;
  int is_fixed;
  int is_kept;           /* fixed when the set was made: its label shows it */
  int is_early;          /* a dummy: opened and enabled before others */
  int names_probe;       /* config1 points to the name of a file or function */
  int stays_alone;       /* never inherited: its group has a `names_probe` */
  evlist_shape_t *shape; /* of `attr`; NULL: no event of it writes yet */
  uvperf_change_t *changes;
  size_t nr_changes;
  char *opened_label; /* the item's label after the changes; NULL: not made */
  size_t nr_open;
  size_t end; /* of a leader: one past the last attr of its group */
  /* The filter and the program. Later places get them too. NULL and -1 mean
   * none. */
  char *filter;
  int bpf_fd;
  uint64_t bpf_cookie;
  uvperf__bpf_map_t *map; /* kept filled; NULL: none */
} evlist_attr_t;

/* Progress of reading all events. Targets and places may be added and removed
 * before it goes on. */
typedef struct evlist_progress_s {
  uint64_t begun;  /* ns */
  int skips_ends;  /* does not check in /proc whether tasks are gone */
  uint32_t target; /* the index of the next target, or a lower one */
  size_t place;    /* the next place in that target, and attr there */
  size_t attr;
  enum place_read found; /* at this place so far */
  /* The last task that was looked up in /proc (0: no task), and the result. The
   * places of one task, one for each CPU, follow one another. */
  int pid;
  int is_gone;
} evlist_progress_t;

struct uvperf__evlist_s {
  const char *root;          /* where /proc and /sys are; "": the real root */
  uvperf_event_list_t *list; /* the items point into it; NULL: into `attrs` */
  uint32_t flags;
  uint32_t fallbacks;
  uvperf__opener_t opener;
  uvperf__calls_t calls; /* opener.calls */
  uint32_t process;      /* the process that opened the events */
  int is_none;           /* see uvperf__evlist_new_none */
  /* The thread that reads the pages of events. No thread is set before the
   * first page is mapped. */
  uvperf__user_reader_t reader;

  evlist_attr_t *attrs;
  size_t nr_attrs;
  size_t has_side_band; /* 1: the last attr is for options.side_band */
  size_t *order;        /* attr indexes in the order of opening at a place */
  uint8_t *attr_flags;  /* UVPERF__READING_* of each attr */
  uint32_t *next_parts; /* the next part of each attr, as in a reading */
  size_t attr_bytes;    /* the size of the longest attr */
  void *scratch;        /* for an attr and its leader's, as they are opened */
  uint64_t *words;      /* for the result of read(2), of any group */
  size_t words_size;    /* in bytes */

  int is_brief;   /* uvperf__evlist_new_brief */
  int has_asked;  /* uvperf__evlist_ask_formats was called */
  int has_chosen; /* labels do not change any more: see choose_next */
  /* For the call that adds targets: the context, and the calling thread. */
  uvperf__target_context_t target_context;
  uvperf__thread_t caller;
  /* For the call that opens events, during that call. */
  uvperf__tracefs_ids_t *tracepoints;
  evlist_target_t **targets;
  size_t nr_targets; /* by ascending indexes */
  size_t room_targets;
  uint32_t next_target;
  uint32_t next_ended; /* all ends below this index were taken */
  uint64_t next_serial;
  size_t nr_places;
  size_t nr_open;

  uvperf_set_failure_t *failures;
  size_t nr_failures;
  size_t room_failures;

  int has_no_links; /* for programs: see uvperf__ioctl_bpf */
  /* Collects fds and mappings that are closed later. NULL: all are closed at
   * once. */
  uvperf__leftovers_t *leftovers;
  /* With UVPERF_SET_RECORDS, else NULL. */
  uvperf__cpu_rings_t *rings;
  uvperf_decoder_t *decoder;
  int clockid;         /* of all writing events; -1: the kernel's own clock */
  int has_clock;       /* TIME_ORDER, and the clock can be read */
  int64_t clock_ahead; /* ns: see uvperf__system_clock_ahead */
  uint64_t opened;     /* see uvperf__evlist_opened */
  /* Sources of closed events, in the order of closing. */
  evlist_source_t *first_retired;
  evlist_source_t *last_retired;

  evlist_progress_t progress;
  int is_enabled;
  uint64_t born;   /* ns */
  uint64_t since;  /* when the evlist was last reset, or made */
  uint64_t resets; /* the number of resets */
};

/* Whether the target consists of tasks, which end. CPUs and cgroups do not. */
static inline int uvperf__evlist_target_is_tasks(uint32_t type) {
  return type != UVPERF_TARGET_CPUS && type != UVPERF_TARGET_CGROUP;
}

/* If `attr` is the first of several parts, returns the next part after `at`.
 * Returns 0 otherwise, and after the last part. */
static inline size_t uvperf__evlist_next_part(const uvperf__evlist_t *evlist,
                                              size_t attr, size_t at) {
  return evlist->attrs[attr].item.first == attr ? evlist->next_parts[at] : 0;
}

/* Whether the event is open, and writes into a ring. */
static inline int uvperf__evlist_writes(const evlist_event_t *event) {
  return event->state == COUNTER_OPEN && event->source != NULL;
}

/* Whether the event is read together with the event of this leader. */
static inline int uvperf__evlist_is_led(const evlist_event_t *event,
                                        size_t leader) {
  return event->state == COUNTER_OPEN && event->leader == leader;
}

/* Whether this event is read itself at this place, and not together with its
 * leader. */
static inline int uvperf__evlist_leads(const evlist_place_t *place,
                                       size_t attr) {
  return uvperf__evlist_is_led(&place->events[attr], attr);
}

/* Returns one past the last attr that this attr can lead at a place. In a group
 * that is broken up, a member other than the first may lead. */
static inline size_t uvperf__evlist_end(const uvperf__evlist_t *evlist,
                                        size_t leader) {
  return evlist->attrs[evlist->attrs[leader].item.leader].end;
}

/* -- base.c -- */

/* Whether an attr belongs to the PMU uprobe or kprobe. */
int uvperf__evlist_is_probe(const uvperf__evlist_t *evlist,
                            const struct perf_event_attr *attr);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t uvperf__evlist_now(void);

/* Like uvperf__evlist_check, but returns -EINVAL if there is no such attr. */
int uvperf__evlist_check_attr(const uvperf__evlist_t *evlist, size_t attr,
                              uvperf_error_t *error);

/* Fills the error for an option that needs UVPERF_SET_RECORDS, such as
 * "options.ring_bytes". Returns -EINVAL. */
int uvperf__evlist_need_records(const char *what, uvperf_error_t *error);

/* Returns the position of the first target whose index is this or higher. */
size_t uvperf__evlist_position(const uvperf__evlist_t *evlist, uint32_t index);

/* Returns a copy by uvperf__calloc, or NULL if out of memory. */
char *uvperf__evlist_copy_text(const char *text);

/* Releases a shape. NULL is allowed. */
void uvperf__evlist_shape_release(evlist_shape_t *shape);

/* Restores the attr as the user passed it, without the changes of fallbacks. */
void uvperf__evlist_attr_restore(evlist_attr_t *attr);

/* -- evlist.c -- */

/* Makes a list without targets. Opens nothing, and makes no request to the
 * kernel. */
int uvperf__evlist_begin(const char *root, int is_brief,
                         uvperf__evlist_t **evlist,
                         const uvperf_set_options_t *options,
                         uvperf_error_t *error);

/* The same as uvperf__evlist_new, or as uvperf__evlist_new_brief if
 * `is_brief` is set. The system's files are under `root`, which must stay
 * valid. */
int uvperf__evlist_make(const char *root, int is_brief,
                        uvperf__evlist_t **evlist,
                        const uvperf_set_options_t *options,
                        uvperf_error_t *error);

/* -- attr.c -- */

/* Copies the attrs of the options, or of their list. Returns 0, or a code and
 * the error. */
int uvperf__evlist_copy_attrs(uvperf__evlist_t *evlist,
                              const uvperf_set_options_t *options,
                              uvperf_error_t *error);
void uvperf__evlist_free_attrs(uvperf__evlist_t *evlist);

/* The first function allocates nr_attrs attrs. The second allocates the buffers
 * for opening and reading, whose sizes are attr_bytes and words_size. Both
 * return 0 or -ENOMEM. */
int uvperf__evlist_make_attrs(uvperf__evlist_t *evlist);
int uvperf__evlist_make_scratch(uvperf__evlist_t *evlist);

/* Adds PERF_FORMAT_LOST to read_format if this kernel supports it. Finding out
 * needs an event, so call this before the first event is opened. */
void uvperf__evlist_ask_formats(uvperf__evlist_t *evlist);

/* Checks the options for records. Returns 0, or -EINVAL or -E2BIG and the
 * error. */
int uvperf__evlist_check_records(const uvperf_set_options_t *options,
                                 uvperf_error_t *error);

/* Returns the size in bytes of the largest stack dump in a sample of any attr,
 * and the attr's index. Returns 0 if no attr has one. */
size_t uvperf__evlist_largest_stack(const uvperf__evlist_t *evlist,
                                    size_t *index);

/* Attrs that sample the same software event get each other's fields. Afterwards
 * an attr can have a stack that only another attr asked for. Returns 0, or
 * -EINVAL and the error if an attr has a fault now (uvperf__attr_fault). */
int uvperf__evlist_unify_software(uvperf__evlist_t *evlist,
                                  uvperf_error_t *error);

/* -- sampling.c -- */

/* Checks the options for sampling events by name. Returns 0, or -EINVAL and the
 * error. */
int uvperf__evlist_check_sampling(const uvperf_set_options_t *options,
                                  uvperf_error_t *error);

/* In a set with records, sets the period and the fields of a list's copied
 * attrs, unless the events' names set them. Returns 0, or -EINVAL and the
 * error. */
int uvperf__evlist_sample_names(uvperf__evlist_t *evlist,
                                const uvperf_set_options_t *options,
                                uvperf_error_t *error);

/* -- cores.c -- */

/* Finds the CPUs of attrs if no list has these CPUs. Finds which attrs are
 * parts of one event. Returns 0, or a code and the error. */
int uvperf__evlist_find_cores(uvperf__evlist_t *evlist, uvperf_error_t *error);

/* -- label.c -- */

/* Makes a brief label from type and config, which uvperf__evlist_label
 * replaces. A probe gets its final label at once, because the string that its
 * config1 points to may be gone later. Returns 0 or -ENOMEM. */
int uvperf__evlist_brief_label(const uvperf__evlist_t *evlist,
                               evlist_attr_t *own);

/* Makes all labels that are missing, and those of attrs that a fallback has
 * changed. Returns 0, or the code of a shortage. After a shortage some labels
 * are as before. */
int uvperf__evlist_label(const uvperf__evlist_t *evlist);

/* -- plan.c -- */

/* Makes a target with its places. Events to be opened are COUNTER_PLANNED.
 * Events that can never be opened are failures. Returns 0, or a code and the
 * error. */
int uvperf__evlist_plan(uvperf__evlist_t *evlist, const uvperf_target_t *target,
                        evlist_target_t **planned, uvperf_error_t *error);

/* Adds `nr` places after the other places of the target. Returns 0, or -ENOMEM
 * and the error. */
int uvperf__evlist_add_places(uvperf__evlist_t *evlist, evlist_target_t *target,
                              size_t nr, uvperf_error_t *error);

/* Plans one more place, whose pid and cpu are filled, as if it had existed when
 * the target was planned. */
void uvperf__evlist_plan_place(uvperf__evlist_t *evlist,
                               evlist_target_t *target, evlist_place_t *place);

/* Whether one event per package is enough for the attr, and another place of
 * the target already measures this CPU's package. */
int uvperf__evlist_has_package(const uvperf__evlist_t *evlist,
                               const evlist_target_t *target,
                               evlist_place_t *place, size_t attr);

/* Returns how many events are to be opened. */
size_t uvperf__evlist_nr_planned(const uvperf__evlist_t *evlist,
                                 const evlist_target_t *target);

/* -- open.c -- */

/* Called if the set has no target when it is made. Chooses the fallbacks that
 * change the label of an attr. Returns 0, or a code and the error after a
 * shortage. */
int uvperf__evlist_choose(uvperf__evlist_t *evlist, size_t attr,
                          uvperf_error_t *error);

/* Opens the next planned event from the cursor on, and moves the cursor. At the
 * end the cursor is past the last target. Returns 0. Returns a code and the
 * error after a shortage, and with UVPERF_SET_STRICT after the first
 * failure. */
int uvperf__evlist_open_next(uvperf__evlist_t *evlist, evlist_cursor_t *cursor,
                             uvperf_error_t *error);

/* Opens all planned events of one place. Returns the same as
 * uvperf__evlist_open_next. */
int uvperf__evlist_open_place(uvperf__evlist_t *evlist,
                              const evlist_target_t *target,
                              evlist_place_t *place, uvperf_error_t *error);

/* Closes an event if it is open. */
void uvperf__evlist_close_event(uvperf__evlist_t *evlist, evlist_event_t *event,
                                size_t attr);

/* Closes all open events of a target. */
void uvperf__evlist_close_events(uvperf__evlist_t *evlist,
                                 evlist_target_t *target);

/* Closes all open events of a target, and frees it. NULL is allowed. */
void uvperf__evlist_close(uvperf__evlist_t *evlist, evlist_target_t *target);

/* -- targets.c -- */

/* Inserts a target by its index. Returns 0, or fills the error and returns
 * -ENOMEM. */
int uvperf__evlist_insert(uvperf__evlist_t *evlist, evlist_target_t *target,
                          uvperf_error_t *error);

/* Call it after a failed call. Closes `nr` targets from `first` on, and the
 * rings from `nr_rings` on, which that call has opened. */
void uvperf__evlist_take_back(uvperf__evlist_t *evlist, size_t first, size_t nr,
                              size_t nr_rings);

/* Adds targets in one call. */
int uvperf__evlist_add_targets(uvperf__evlist_t *evlist,
                               const uvperf_target_t *targets, size_t nr,
                               uvperf_error_t *error);

/* -- control.c -- */

/* Enables or disables the events of `nr` targets from `first` on. Goes on after
 * a failure and returns the first failure. */
int uvperf__evlist_switch(uvperf__evlist_t *evlist, size_t first, size_t nr,
                          int enable, uvperf_error_t *error);

/* If the cursor's `at` is 0, enables the early events at the cursor's place.
 * Otherwise enables the other events there. Then moves the cursor to the next
 * place. Returns 0, or the first failure. */
int uvperf__evlist_enable_next(uvperf__evlist_t *evlist,
                               evlist_cursor_t *cursor, uvperf_error_t *error);

/* Enables or disables all events of one place. */
int uvperf__evlist_switch_place(uvperf__evlist_t *evlist,
                                const evlist_target_t *target,
                                evlist_place_t *place, int enable,
                                uvperf_error_t *error);

/* Sets the attr's filter and program on an event that has just been opened.
 * Returns 0, or a code and the error. */
int uvperf__evlist_apply_settings(uvperf__evlist_t *evlist, size_t attr,
                                  evlist_event_t *event, uvperf_error_t *error);

/* Sets the attr's program, but not the filter. */
int uvperf__evlist_attach(uvperf__evlist_t *evlist, size_t attr,
                          evlist_event_t *event, uvperf_error_t *error);

/* Detaches the program from an event that is about to be closed. */
void uvperf__evlist_detach_event(const uvperf__evlist_t *evlist,
                                 evlist_event_t *event);

/* Attaches a program again if the event through which it was attached was
 * closed. */
void uvperf__evlist_reattach(uvperf__evlist_t *evlist);

/* -- map.c -- */

/* Call it when targets or CPUs were added or removed. Puts events into the maps
 * that are kept filled. Returns 0, or the first failure's code and its
 * error. */
int uvperf__evlist_fill_maps(const uvperf__evlist_t *evlist,
                             uvperf_error_t *error);

/* Removes an event that is about to be closed from its attr's map. */
void uvperf__evlist_leave_entry(const uvperf__evlist_t *evlist,
                                evlist_event_t *event, size_t attr);

/* -- read.c -- */

/* Does what uvperf__evlist_count_lost does, for one place. */
void uvperf__evlist_count_lost_at(const uvperf__evlist_t *evlist,
                                  evlist_place_t *place);

/* Reads all events of a place. */
enum place_read uvperf__evlist_read_place(const uvperf__evlist_t *evlist,
                                          evlist_place_t *place);

/* If the options ask for it, maps the pages of those events of a target that
 * the calling thread may read through pages. Other events are read by read(2).
 * Without memory or permission, all events are read by read(2). */
void uvperf__evlist_map(uvperf__evlist_t *evlist, evlist_target_t *target);

/* Unmaps the page of an event, if it has one. The page is unmapped at once, or,
 * if `leftovers` is not NULL, later with the leftovers. */
void uvperf__evlist_unmap(const uvperf__evlist_t *evlist, evlist_event_t *event,
                          uvperf__leftovers_t *leftovers);

/* -- rings.c -- */

/* Makes the rings and the decoder, if the options ask for records. Returns 0,
 * or a code and the error. */
int uvperf__evlist_begin_records(uvperf__evlist_t *evlist,
                                 const uvperf_set_options_t *options,
                                 uvperf_error_t *error);

/* Closes and frees the rings and the decoder. Call it when all targets are
 * closed. */
void uvperf__evlist_end_records(uvperf__evlist_t *evlist);

/* Redirects a new event into the ring of its CPU, if it writes records, and
 * makes its id known to the decoder. Returns 0, or a code and the error.
 * *is_vital is then set if the failure is not specific to this event: no ring,
 * or no memory. */
int uvperf__evlist_join(uvperf__evlist_t *evlist, const evlist_target_t *target,
                        const evlist_place_t *place, size_t attr, int *is_vital,
                        uvperf_error_t *error);

/* Disables the events of a target that is about to be closed, so that they
 * write nothing more, even if another process has their files. */
void uvperf__evlist_stop_writing(const uvperf__evlist_t *evlist,
                                 const evlist_target_t *target);

/* Retires the sources of an event that was just closed. */
void uvperf__evlist_leave(uvperf__evlist_t *evlist, evlist_event_t *event);

/* Call it after a failed call. Closes the rings from `nr` on, which that call
 * has opened. No event writes into them. */
void uvperf__evlist_cut_rings(uvperf__evlist_t *evlist, size_t nr);

/* Call it after a failed call that had opened `nr` rings, when these rings are
 * closed again. Returns 1 if the call may succeed with smaller rings. Rings are
 * opened smaller from now on. */
int uvperf__evlist_shrink_rings(uvperf__evlist_t *evlist, size_t nr);

/* Returns how many more rings the planned events of the targets from `first` on
 * need. */
size_t uvperf__evlist_nr_new_rings(const uvperf__evlist_t *evlist,
                                   size_t first);

/* -- failure.c -- */

/* Notes that an attr could not be opened at a place, and the reason `why`.
 * Returns 0, or fills the error and returns -ENOMEM. */
int uvperf__evlist_fail(uvperf__evlist_t *evlist, const uvperf_place_t *place,
                        size_t attr, const uvperf_error_t *why,
                        uvperf_error_t *error);

/* Forgets the failures of a target. */
void uvperf__evlist_forget(uvperf__evlist_t *evlist, uint32_t target);

/* The first function forgets the failures of one place. The second forgets the
 * failure of one attr that fits nowhere on the target (cpu -1). */
void uvperf__evlist_forget_place(uvperf__evlist_t *evlist,
                                 const uvperf_place_t *place);
void uvperf__evlist_forget_misfit(uvperf__evlist_t *evlist, uint32_t target,
                                  size_t attr);

/* Orders the failures by target, place and attr. A new failure
 * may stand after failures that belong behind it. */
void uvperf__evlist_order_failures(uvperf__evlist_t *evlist);

/* Returns the code and the error of the most specific failure from `first` on.
 * There must be at least one failure. */
int uvperf__evlist_choose_failure(const uvperf__evlist_t *evlist, size_t first,
                                  uvperf_error_t *error);

#endif
