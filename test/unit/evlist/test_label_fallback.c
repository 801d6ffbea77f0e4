/* SPDX-License-Identifier: MIT */
/* Scripted: after a fallback an attr has the label and unit of the event that
 * was opened. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"item_after_a_clock_has_its_name_and_unit",
     "names cycles,cycles/name=mine/,cycles:u,page-faults; fallbacks clock; "
     "self; refuse hardware ENOENT; open; item 0 -> task-clock ns\n"
     "item 1 -> task-clock ns\n"
     "item 2 -> task-clock:u ns\n"
     "item 3 -> page-faults\n"
     "elsewhere self\n"},
    {"item_after_the_clock_of_a_cpu_has_its_name",
     "names cycles; fallbacks clock; cpus 0; refuse hardware ENOENT; open; "
     "item 0 -> cpu-clock ns\n"},
    {"item_after_the_user_side_has_a_u",
     "names cycles,cycles:pp,page-faults/name=mine/,faults:u; fallbacks user; "
     "self; refuse kernel EACCES; open; item 0 -> cycles:u\n"
     "item 1 -> cycles:ppu\n"
     "item 2 -> mine:u\n"
     "item 3 -> faults:u\n"},
    {"item_of_an_attr_after_the_user_side_has_a_u",
     "file /sys/kernel/tracing/events/sched/sched_switch/id 316; attrs 5; "
     "attr 0 type=2 config=316; "
     "attr 1 type=5 config=0 bp_type=2 config1=0x1000 config2=8; "
     "attr 2 type=0 config=0 sample_period=1000; attr 3 type=96 config=7; "
     "attr 4 type=2 config=316 pinned=1\n"
     "fallbacks user; self; refuse kernel EACCES; open; "
     "item 0 -> sched:sched_switch:u\n"
     "item 1 -> mem:0x1000/8:w:u\n"
     "item 2 -> cpu-cycles/period=1000/u\n"
     "item 3 -> type=96,config=0x7:u\n"
     "item 4 -> sched:sched_switch:Du\n"},
    /* P asks for the most that there is, which it has. */
    {"item_after_less_precision_says_how_much",
     "names cycles:ppp,cycles:P,cycles:p; fallbacks precise; self; "
     "refuse precise EOPNOTSUPP; open; item 0 -> cpu-cycles:p\n"
     "item 1 -> cycles:P\n"
     "item 2 -> cycles:p\n"},
    {"item_without_memory_for_its_label_asks_again",
     "names cycles; fallbacks clock; self; refuse hardware ENOENT; open; "
     "fail calloc 1 ENOMEM; item 0 -> cycles\n"
     "item 0 -> task-clock ns\n"},
    /* The events of the trial are closed at once, and the label stays. A task
     * gets the clock that was chosen without knowing the target. */
    {"item_does_not_change_with_the_first_target",
     "names cycles,page-faults,faults:u; fallbacks all; refuse kernel EACCES; "
     "refuse hardware ENOENT; "
     "open -> open @self EACCES, open @self ENOENT, open e0@self, close e0, "
     "open @self EACCES, open e1@self, close e1, open e2@self, close e2\n"
     "item 0 -> cpu-clock:u ns\n"
     "item 1 -> page-faults:u\n"
     "item 2 -> faults:u\n"
     "add self -> open e3@me e4@me e5@me\n"
     "add cpus 0 -> open e6@0 e7@0 e8@0\n"
     "item 0 -> still cpu-clock:u ns\n"
     "item 1 -> still page-faults:u\n"
     "fields 0 config -> 0\n"},
    /* Closing the last event of a tracepoint takes the kernel long. */
    {"item_of_a_tracepoint_is_known_without_opening_it",
     "file /sys/kernel/tracing/events/sched/sched_switch/id 316; attrs 1; "
     "attr 0 type=2 config=316; fallbacks user; refuse kernel EACCES; "
     "open -> open @self EACCES, open e0@self, close e0\n"
     "events type -> e0 1\n"
     "item 0 -> sched:sched_switch:u\n"
     "add self; item 0 -> still sched:sched_switch:u\n"},
    /* A later target that would need a clock fails. */
    {"item_stays_as_it_could_be_opened_at_first",
     "names cycles; fallbacks clock; open -> open e0@self, close e0\n"
     "refuse hardware ENOENT; "
     "add self -> open @me ENOENT, ENOENT no_event a0 t0\n"
     "elsewhere self -> open @me ENOENT, ENOENT no_event a0 t1\n"
     "item 0 -> cycles\n"},
    /* No form of it opens for this thread. */
    {"item_of_what_this_thread_may_not_open_is_as_asked",
     "names cycles; fallbacks all; refuse all EPERM; "
     "open -> open @self EPERM, open @self EPERM\n"
     "item 0 -> cycles\n"
     "changes 0 ->\n"
     "refuse nothing; refuse kernel EACCES; "
     "add self -> open @me EACCES, EACCES permission a0 t0\n"
     "item 0 -> still cycles\n"},
    /* An event that measures CPUs only cannot be opened for a thread. */
    {"item_without_fallbacks_opens_nothing",
     "names cycles,page-faults; fallbacks kernel; open ->\n"},
    {"set_without_targets_needs_fds_to_choose",
     "attrs 2; fallbacks clock; fail open 2 EMFILE; "
     "open -> open e0@self, close e0, open @self EMFILE, EMFILE files a1 t0\n"},
    {"set_without_targets_and_memory_leaves_nothing",
     "each calloc ENOMEM; names cycles,page-faults; fallbacks all; "
     "refuse kernel EACCES; refuse hardware ENOENT; open\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
