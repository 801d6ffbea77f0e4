/* SPDX-License-Identifier: MIT */
/* What the counters*.c files share; all others include counters.h. */
#ifndef UVPERF_LIB_SET_COUNTERS_INTERNAL_H
#define UVPERF_LIB_SET_COUNTERS_INTERNAL_H

#include "host/target.h"
#include "host/tracefs.h"
#include "ring/bpf_map.h"
#include "ring/cpu_rings.h"
#include "ring/leftovers.h"
#include "ring/user_page.h"
#include "set/counters.h"
#include "sys/fork.h"
#include "sys/opener.h"

/* What an event has counted since it was opened. */
typedef struct counted_s {
  uint64_t value;
  uint64_t enabled;
  uint64_t running;
  uint64_t lost;
} counted_t;

enum counter_state {
  COUNTER_NONE,    /* it is not to be opened here */
  COUNTER_PLANNED, /* it is to be opened */
  COUNTER_FAILED,  /* it could not be opened: `code` */
  COUNTER_OPEN
};

/* What is found when the events of a place are read. */
enum place_read {
  PLACE_IS_CLOSED, /* none of them is open */
  PLACE_WAS_OFF,   /* none has been enabled since they were read before */
  PLACE_WAS_ON
};

/* An attr as its records are decoded: that of all events that were opened with
 * it so, and kept while one of their sources is. */
typedef struct counter_shape_s {
  size_t nr_users;
  struct perf_event_attr *attr;
} counter_shape_t;

/* What of an event outlives it, as records do that it has written, or that have
 * its count (PERF_SAMPLE_READ). */
typedef struct counter_source_s {
  uvperf_source_t source;
  uint64_t id;
  counter_shape_t *shape;
  uvperf__cpu_ring_t *ring;
  int writes_samples;
  uint64_t begin; /* where in the ring its records can begin */
  /* Of an event that is closed: */
  struct counter_source_s *next;
  uint64_t left_at; /* ns */
  int has_end;
  uint64_t end; /* where in the ring its records end, once that is known */
} counter_source_t;

/* One attr at one place. */
typedef struct counter_s {
  enum counter_state state;
  int code; /* why it is not open, or could not be read last; or 0 */
  int fd;
  /* The program of the attr was attached through it; by the link with this fd,
   * or, if that is -1, for as long as the event is open. */
  int has_bpf;
  int bpf_link;
  /* Who reads it: the attr that leads its group at this place, its own if that
   * is this one, or if it is in none. */
  size_t leader;
  uint64_t id; /* where it is needed, see counters_open.c */
  /* Its page, if its whole group is read by pages where possible; or NULL. */
  const struct perf_event_mmap_page *page;
  counter_source_t *source; /* NULL: it writes into no ring */
  counter_source_t *silent; /* of one that does not, where there are rings */
  int is_unfit;             /* FAILED by the plan: it is not to be tried here */
  /* What it had counted when it was closed, to be opened anew; and whether it
   * was. */
  counted_t carry;
  int is_carried;
  uint64_t left;      /* `last.running` when its CPU was found to be gone */
  counted_t last;     /* when it was last read */
  uint32_t map_entry; /* its key in the attr's map, plus 1; 0: none */
  counted_t base;     /* when it was last reset */
  int base_code;      /* 0, or why that is not known: it could not be read */
} counter_t;

typedef struct counter_place_s {
  uvperf_place_t place;
  uint64_t start; /* of the task, for uvperf__task_is_gone */
  int is_gone;
  int was_read;
  int has_begun;   /* of a command: it has called execve(2) */
  int is_away;     /* its CPU has gone, see counters_hotplug.c */
  int has_package; /* its CPU's, where that was asked for and is known */
  uint64_t package;
  counter_t *events; /* one for each attr */
} counter_place_t;

typedef struct counter_target_s {
  uint32_t index;
  uint32_t type; /* enum uvperf_target_type */
  /* UVPERF_TARGET_SELF: which thread that is; else of none. */
  uvperf__thread_t thread;
  void *data; /* the user's */
  int inherit;
  int on_exec;
  int follows_cpus;  /* it is of each CPU that there is */
  int cgroup;        /* fd while its events are opened, else -1 */
  char *cgroup_path; /* of the user's options; or NULL */
  size_t nr_places;
  counter_place_t *places;
  counter_t *events; /* those of all places */
  /* Where its end was looked for last: the place and attr of an event that
   * lived, the place of a task that did. */
  size_t alive_place;
  size_t alive_attr;
  size_t alive_task;
  int has_writer; /* an event that writes into a ring */
  int has_ended;
  int is_end_taken;
} counter_target_t;

typedef struct counter_attr_s {
  uvperf_event_item_t item;
  char *label;    /* its own; NULL: the list's, or the brief one */
  char brief[48]; /* type and config, until its own is made */
  int *cpus;      /* its own; NULL: the list's, or any */
  /* As the user gave it, and as it is opened: where a fallback has helped once,
   * or none was needed, that is how it is opened everywhere. */
  struct perf_event_attr *asked;
  struct perf_event_attr *attr;
  int is_fixed;
  int is_early;    /* opened and enabled before others: a dummy */
  int names_probe; /* config1 points to the name of a file or function */
  int stays_alone; /* never inherited: its group has one that names one */
  counter_shape_t *shape; /* of `attr`; NULL: no event of it writes yet */
  uvperf_change_t *changes;
  size_t nr_changes;
  uvperf_event_item_t opened; /* the item after the changes */
  char *opened_label;         /* its label; NULL: not made yet */
  size_t nr_open;
  size_t end; /* of a leader: behind the last attr of its group */
  /* What later places get too; NULL and -1 for none. */
  char *filter;
  int bpf_fd;
  uint64_t bpf_cookie;
  uvperf__bpf_map_t *map; /* that is kept filled; NULL: none */
} counter_attr_t;

/* How far a reading of all events has come. Targets and places may come and go
 * before it goes on. */
typedef struct counter_progress_s {
  uint64_t begun;  /* ns */
  int skips_ends;  /* what /proc says of tasks is not wanted */
  uint32_t target; /* the index of the next one, or of one before it */
  size_t place;    /* of that target, and the next attr there */
  size_t attr;
  enum place_read found; /* at this place so far */
  /* What /proc has said of a task: its places, one for each CPU, follow one
   * another. 0: of none. */
  int pid;
  int is_gone;
} counter_progress_t;

struct uvperf__counters_s {
  const char *root;          /* of /proc and /sys; "" is the real one */
  uvperf_event_list_t *list; /* what the items point to; NULL: of `attrs` */
  uint32_t flags;
  uint32_t fallbacks;
  uvperf__opener_t opener;
  uint32_t process; /* that opened them */
  int none; /* 0, or why there are none: see uvperf__counters_new_none */
  /* Who reads the pages of events; nobody before there may be any. */
  uvperf__user_reader_t reader;

  counter_attr_t *attrs;
  size_t nr_attrs;
  size_t has_side_band; /* 1: the last attr is that of options.side_band */
  size_t *order;        /* their indexes, as they are opened at a place */
  uint8_t *attr_flags;  /* of each: UVPERF__READING_* */
  uint32_t *next_parts; /* of each: as in a reading */
  size_t attr_bytes;    /* of the longest one */
  void *scratch;        /* for an attr and its leader's, as they are opened */
  uint64_t *words;      /* for what read(2) returns, of any group */
  size_t words_size;    /* in bytes */

  int is_brief;  /* uvperf__counters_new_brief */
  int has_asked; /* uvperf__counters_ask_formats was called */
  /* Of the call that adds targets: the context, and who calls. */
  uvperf__target_context_t target_context;
  uvperf__thread_t caller;
  /* Of the call that opens events, during that call. */
  uvperf__tracefs_ids_t *tracepoints;
  counter_target_t **targets;
  size_t nr_targets; /* by ascending indexes */
  size_t room_targets;
  uint32_t next_target;
  uint32_t next_ended; /* all ends of targets with a lower index were taken */
  uint64_t next_serial;
  size_t nr_places;
  size_t nr_open;

  uvperf_set_failure_t *failures;
  size_t nr_failures;
  size_t room_failures;

  int has_no_links; /* for programs: see uvperf__ioctl_bpf */
  /* What is closed later; NULL: everything is closed at once. */
  uvperf__leftovers_t *leftovers;
  /* With UVPERF_SET_RECORDS, else NULL. */
  uvperf__cpu_rings_t *rings;
  uvperf_decoder_t *decoder;
  int clockid;   /* of all events that write; -1: the kernel's own clock */
  int has_clock; /* with UVPERF_SET_TIME_ORDER: it can be compared */
  int64_t clock_ahead; /* ns: see uvperf__system_clock_ahead */
  uint64_t opened;     /* see uvperf__counters_opened */
  /* Sources of closed events, in the order in which these were closed. */
  counter_source_t *first_retired;
  counter_source_t *last_retired;

  counter_progress_t progress;
  int is_enabled;
  uint64_t born;   /* ns */
  uint64_t since;  /* the last reset, or when it was made */
  uint64_t resets; /* how many there were */
};

/* Whether all of the target is tasks, which end; CPUs and cgroups do not. */
static inline int uvperf__counter_target_is_tasks(uint32_t type) {
  return type != UVPERF_TARGET_CPUS && type != UVPERF_TARGET_CGROUP;
}

/* If `attr` is the first of several parts: the next part after `at`, which is
 * one of them; else, and after the last, 0. */
static inline size_t
uvperf__counters_next_part(const uvperf__counters_t *counters, size_t attr,
                           size_t at) {
  return counters->attrs[attr].item.first == attr ? counters->next_parts[at]
                                                  : 0;
}

/* Whether the event is open, and writes into a ring. */
static inline int uvperf__counter_writes(const counter_t *event) {
  return event->state == COUNTER_OPEN && event->source != NULL;
}

/* Whether the event is read with that of the attr that leads here. */
static inline int uvperf__counter_is_led(const counter_t *event,
                                         size_t leader) {
  return event->state == COUNTER_OPEN && event->leader == leader;
}

/* Whether the event at this place is the one that is read. */
static inline int uvperf__counter_leads(const counter_place_t *place,
                                        size_t attr) {
  return uvperf__counter_is_led(&place->events[attr], attr);
}

/* Behind the last attr that this one can lead at a place: where a group is
 * broken up another member than its first may lead. */
static inline size_t uvperf__counters_end(const uvperf__counters_t *counters,
                                          size_t leader) {
  return counters->attrs[counters->attrs[leader].item.leader].end;
}

/* -- counters_base.c -- */

/* Whether an attr is of the PMUs uprobe or kprobe. */
int uvperf__counters_is_probe(const uvperf__counters_t *counters,
                              const struct perf_event_attr *attr);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t uvperf__counters_now(void);

/* The position of the first target whose index is this or higher. */
size_t uvperf__counters_position(const uvperf__counters_t *counters,
                                 uint32_t index);

/* A copy of uvperf__calloc, or NULL: no memory. */
char *uvperf__counter_copy_text(const char *text);

/* Releases a shape; NULL is allowed. */
void uvperf__counter_shape_release(counter_shape_t *shape);

/* The attr as the user gave it, without what fallbacks did. */
void uvperf__counter_attr_restore(counter_attr_t *attr);

/* -- counters.c -- */

/* Makes counters without targets: opens nothing, and asks the kernel
 * nothing. */
int uvperf__counters_begin(const char *root, int is_brief,
                           uvperf__counters_t **counters,
                           const uvperf_set_options_t *options,
                           uvperf_error_t *error);

/* uvperf__counters_new, or _new_brief, with the system's files under a root,
 * which must last. */
int uvperf__counters_make(const char *root, int is_brief,
                          uvperf__counters_t **counters,
                          const uvperf_set_options_t *options,
                          uvperf_error_t *error);

/* -- counters_attr.c: what is measured -- */

/* Copies the attrs of the options, or of their list. 0, or a code and the
 * error. */
int uvperf__counters_copy_attrs(uvperf__counters_t *counters,
                                const uvperf_set_options_t *options,
                                uvperf_error_t *error);
void uvperf__counters_free_attrs(uvperf__counters_t *counters);

/* Makes room for nr_attrs attrs; for what opening and reading need, attr_bytes
 * and words_size. 0 or -ENOMEM. */
int uvperf__counters_make_attrs(uvperf__counters_t *counters);
int uvperf__counters_make_scratch(uvperf__counters_t *counters);

/* Adds to read_format what this kernel has, which it takes an event to know:
 * before the first event is opened. */
void uvperf__counters_ask_formats(uvperf__counters_t *counters);

/* Checks what the options say of records. 0, or -EINVAL or -E2BIG and the
 * error. */
int uvperf__counters_check_records(const uvperf_set_options_t *options,
                                   uvperf_error_t *error);

/* The largest dump of a stack in a sample of any attr, in bytes: 0, or also the
 * attr's index. */
size_t uvperf__counters_largest_stack(const uvperf__counters_t *counters,
                                      size_t *index);

/* Adds to attrs that sample the same software event each other's fields. From
 * then on a stack is no more only that of the attr that asked for it. 0, or
 * -EINVAL and the error: an attr has a fault now (uvperf__attr_fault). */
int uvperf__counters_unify_software(uvperf__counters_t *counters,
                                    uvperf_error_t *error);

/* -- counters_sampling.c: what events by name sample -- */

/* Checks the options for that. 0, or -EINVAL and the error. */
int uvperf__counters_check_sampling(const uvperf_set_options_t *options,
                                    uvperf_error_t *error);

/* Gives the copied attrs of a list, in a set with records, the period and the
 * fields that their names do not have. 0, or -EINVAL and the error. */
int uvperf__counters_sample_names(uvperf__counters_t *counters,
                                  const uvperf_set_options_t *options,
                                  uvperf_error_t *error);

/* -- counters_cores.c: on which kinds of cores -- */

/* Finds the CPUs of attrs that no list has them of, and which attrs are parts
 * of one event. 0, or a code and the error. */
int uvperf__counters_find_cores(uvperf__counters_t *counters,
                                uvperf_error_t *error);

/* -- counters_label.c: what it is called -- */

/* Makes a label of type and config, which uvperf__counters_item replaces. A
 * probe gets its final one at once, because the string that its config1 points
 * to may be gone later. 0 or -ENOMEM. */
int uvperf__counters_brief_label(const uvperf__counters_t *counters,
                                 counter_attr_t *own);

/* -- counters_plan.c: where -- */

/* Makes a target with its places; what of them is to be opened is
 * COUNTER_PLANNED, what never can be is a failure. 0, or a code and the
 * error. */
int uvperf__counters_plan(uvperf__counters_t *counters,
                          const uvperf_target_t *target,
                          counter_target_t **planned, uvperf_error_t *error);

/* Gives a target so many places more, behind those that it has. 0, or -ENOMEM
 * and the error. */
int uvperf__counters_add_places(uvperf__counters_t *counters,
                                counter_target_t *target, size_t nr,
                                uvperf_error_t *error);

/* Plans one place more, whose pid and cpu are filled, as if it had been there
 * when the target was planned. */
void uvperf__counters_plan_place(uvperf__counters_t *counters,
                                 counter_target_t *target,
                                 counter_place_t *place);

/* Whether another place of the target measures the attr for the package that
 * this place's CPU is in, once a package being enough. */
int uvperf__counters_has_package(const uvperf__counters_t *counters,
                                 const counter_target_t *target,
                                 counter_place_t *place, size_t attr);

/* How many events are to be opened. */
size_t uvperf__counters_nr_planned(const uvperf__counters_t *counters,
                                   const counter_target_t *target);

/* -- counters_open.c -- */

/* Opens the next event of those that are planned at the targets from the
 * cursor's on, until the cursor is behind the last target. 0, or a code and the
 * error: a shortage, or, with UVPERF_SET_STRICT, the first failure. */
int uvperf__counters_open_next(uvperf__counters_t *counters,
                               counter_cursor_t *cursor, uvperf_error_t *error);

/* Opens all that is planned at one place: the same. */
int uvperf__counters_open_place(uvperf__counters_t *counters,
                                const counter_target_t *target,
                                counter_place_t *place, uvperf_error_t *error);

/* Closes an event, if it is open. */
void uvperf__counters_close_event(uvperf__counters_t *counters,
                                  counter_t *event, size_t attr);

/* Closes all events of a target that are open. */
void uvperf__counters_close_events(uvperf__counters_t *counters,
                                   counter_target_t *target);

/* Closes all that is open of a target, and frees it. NULL is allowed. */
void uvperf__counters_close(uvperf__counters_t *counters,
                            counter_target_t *target);

/* -- counters_targets.c -- */

/* Makes a target the last of the counters. 0, or -ENOMEM and the error. */
int uvperf__counters_push(uvperf__counters_t *counters,
                          counter_target_t *target, uvperf_error_t *error);

/* Closes the targets from the first-th on, and the rings from the nr-th on,
 * which a call opened that has failed. */
void uvperf__counters_take_back(uvperf__counters_t *counters, size_t first,
                                size_t nr_rings);

/* Adds targets in one call. */
int uvperf__counters_add_targets(uvperf__counters_t *counters,
                                 const uvperf_target_t *targets, size_t nr,
                                 uvperf_error_t *error);

/* -- counters_control.c -- */

/* Enables or disables the events of the targets from the first-th on. Goes on
 * after a failure and gives the first. */
int uvperf__counters_switch(uvperf__counters_t *counters, size_t first,
                            int enable, uvperf_error_t *error);

/* Enables at the next place, from the cursor's on, those that are enabled first
 * (`at` is 0), or the others. 0, or the first failure. */
int uvperf__counters_enable_next(uvperf__counters_t *counters,
                                 counter_cursor_t *cursor,
                                 uvperf_error_t *error);

/* Enables or disables all of one place. */
int uvperf__counters_switch_place(uvperf__counters_t *counters,
                                  const counter_target_t *target,
                                  counter_place_t *place, int enable,
                                  uvperf_error_t *error);

/* Gives an event that has just been opened the filter and the program of its
 * attr. 0, or a code and the error. */
int uvperf__counters_apply_settings(uvperf__counters_t *counters, size_t attr,
                                    counter_t *event, uvperf_error_t *error);

/* The program alone. */
int uvperf__counters_attach(uvperf__counters_t *counters, size_t attr,
                            counter_t *event, uvperf_error_t *error);

/* Takes the program off an event that is about to be closed. */
void uvperf__counters_detach_event(const uvperf__counters_t *counters,
                                   counter_t *event);

/* Attaches programs again that were attached through events that are closed. */
void uvperf__counters_reattach(uvperf__counters_t *counters);

/* -- counters_map.c -- */

/* Targets or CPUs have come or gone: puts events into the maps that are kept
 * filled. 0, or the first failure's code and its error. */
int uvperf__counters_fill_maps(const uvperf__counters_t *counters,
                               uvperf_error_t *error);

/* The event is going to be closed: takes it out of its attr's map. */
void uvperf__counters_leave_entry(const uvperf__counters_t *counters,
                                  counter_t *event, size_t attr);

/* -- counters_read.c -- */

/* Reads all events of a place. */
enum place_read uvperf__counters_read_place(const uvperf__counters_t *counters,
                                            counter_place_t *place);

/* Maps the pages of a target's events that the calling thread may read by
 * them, if that was asked for. The rest is read by read(2), as all is if there
 * is no memory or no leave. */
void uvperf__counters_map(uvperf__counters_t *counters,
                          counter_target_t *target);

/* Unmaps the page of an event, if it has one: at once, or later by leftovers
 * that are not NULL. */
void uvperf__counters_unmap(const uvperf__counters_t *counters,
                            counter_t *event, uvperf__leftovers_t *leftovers);

/* -- counters_rings.c: into which ring events write, and whose records are */

/* Makes rings and decoder, if records were asked for. 0, or a code and the
 * error. */
int uvperf__counters_begin_records(uvperf__counters_t *counters,
                                   const uvperf_set_options_t *options,
                                   uvperf_error_t *error);

/* Closes and frees them, when all targets are closed. */
void uvperf__counters_end_records(uvperf__counters_t *counters);

/* Has an event that was just opened write into the ring of its CPU, if it
 * writes at all, and be known by its id. 0, or a code and the error; *is_vital
 * then, if that is no matter of this event: there is no ring, or no memory. */
int uvperf__counters_join(uvperf__counters_t *counters,
                          const counter_target_t *target,
                          const counter_place_t *place, size_t attr,
                          int *is_vital, uvperf_error_t *error);

/* Has the events of a target that is about to be closed write nothing more,
 * whoever else holds their files. */
void uvperf__counters_stop_writing(const uvperf__counters_t *counters,
                                   const counter_target_t *target);

/* Retires what is known of an event that was just closed. */
void uvperf__counters_leave(uvperf__counters_t *counters, counter_t *event);

/* Closes the rings from the nr-th on, which a call opened that has failed: no
 * event writes into them. */
void uvperf__counters_cut_rings(uvperf__counters_t *counters, size_t nr);

/* When so many rings were opened by a call that has failed, and closed again: 1
 * if it may succeed with smaller ones, as which they are opened next. */
int uvperf__counters_shrink_rings(uvperf__counters_t *counters, size_t nr);

/* How many rings are to be opened for what is planned of the targets from the
 * first-th on. */
size_t uvperf__counters_nr_new_rings(const uvperf__counters_t *counters,
                                     size_t first);

/* -- counters_failure.c: what is not open -- */

/* Notes that an attr is not at a place, and `why`. 0 or -ENOMEM, explained in
 * the error. */
int uvperf__counters_fail(uvperf__counters_t *counters,
                          const uvperf_place_t *place, size_t attr,
                          const uvperf_error_t *why, uvperf_error_t *error);

/* Forgets the failures of a target. */
void uvperf__counters_forget(uvperf__counters_t *counters, uint32_t target);

/* Forgets those of one place; of one attr that was none for the target at all
 * (cpu -1). */
void uvperf__counters_forget_place(uvperf__counters_t *counters,
                                   const uvperf_place_t *place);
void uvperf__counters_forget_misfit(uvperf__counters_t *counters,
                                    uint32_t target, size_t attr);

/* Orders them by target, place and attr, as those that came last need not
 * be. */
void uvperf__counters_order_failures(uvperf__counters_t *counters);

/* Gives the one that tells most of the failures from the first-th on, of which
 * there is one or more: its code and the error. */
int uvperf__counters_choose_failure(const uvperf__counters_t *counters,
                                    size_t first, uvperf_error_t *error);

#endif
