/* SPDX-License-Identifier: MIT */
/* Scripted: tasks that end while they are counted, and how that is detected. A
 * task that has another start is another one. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* Whatever its time is. */
    {"task_that_is_gone_is_so_at_the_first_reading",
     "task 11 11 77; attrs 1; command 11; open; task 11 11 78; "
     "give e0 1 10 10; reset; give e0 2 20 20; totals -> gone 1@10\n"},
    /* It stays gone, and its children may still count. */
    {"task_whose_time_goes_on_is_alive",
     "task 11 11 77; attrs 1; command 11; open; clock 1; give e0 1 10 10; "
     "totals -> 1@10\n"
     "task 11 11 78; clock 1000000001; give e0 2 20 20; totals -> 2@20\n"
     "totals -> gone 2@20\n"
     "give e0 3 30 30; totals -> gone 3@30\n"},
    /* tkill(2) finds a task, and /proc was read less than a second ago. */
    {"task_is_looked_up_once_a_second",
     "task 11 11 77; attrs 1; command 11; open; clock 5000; give e0 1 10 10; "
     "totals -> 1@10\n"
     "totals -> 1@10\n"
     "task 11 11 78; clock 1000004999; totals -> 1@10\n"
     "clock 1000005000; totals -> gone 1@10\n"},
    /* It counted something between the reading and the check. */
    {"task_found_gone_is_read_once_more",
     "task 11 11 77; attrs 1; command 11; open; task 11 11 78; "
     "give e0 1 10 10; read -> read e0 e0\n"
     "read -> read e0\n"},
    /* A reading after it finds out. */
    {"task_is_not_looked_for_in_a_base_reading",
     "task 11 11 77; attrs 1; command 11; open; task 11 11 78; "
     "give e0 1 10 10; base -> read e0\n"
     "totals -> gone 1@10\n"},
    /* Without /proc the first check is two calls. A task has a place for each
     * CPU, and is checked once in a reading. */
    {"task_on_many_cpus_is_asked_for_once",
     "no_host; attrs 1; thread me 0-2; thread parent 0-2; open; read; count "
     "has_task -> 4\n"
     "read; count has_task -> 6\n"},
    /* It is there, as it asks; of another thread that is not known. */
    {"calling_thread_is_not_asked_for",
     "no_host; attrs 1; self; open; give e0 1 10 10; read; read; count "
     "has_task -> 0\n"
     "in_thread read; count has_task -> 2\n"},
    /* It has ended, and its number was given again: all threads have it now. */
    {"thread_with_the_number_of_the_calling_one_is_asked_for",
     "no_host; attrs 1; self; thread_number 4711; open; give e0 1 10 10; "
     "in_thread read; count has_task -> 2\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
