/* SPDX-License-Identifier: MIT */
/* Scripted: enabling and disabling all events, also of targets that come
 * later; filters and periods. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"group_is_enabled_and_disabled_by_one_ioctl",
     "attrs 3; group 0 2; cpus 0-1; open; enabled -> no: e1 e4\n"
     "enable -> ENABLE e0 e2 e3 e5\n"
     "enabled -> yes: e0 e1 e2 e3 e4 e5\n"
     "disable -> DISABLE e0 e2 e3 e5\n"
     "enabled -> no: e1 e4\n"},
    {"failure_to_enable_does_not_stop_the_rest",
     "attrs 2; cpus 0; cpus 1; open; fail ioctl 2 ENODEV; fail ioctl 3 EACCES; "
     "enable -> ENABLE e0 e1 ENODEV, ENABLE e2 EACCES, ENABLE e3, "
     "ENODEV no_event a1 t0\n"
     "says 'page-faults'\n"
     "fail ioctl 3 EACCES; fail ioctl 4 ENOMEM; "
     "disable -> DISABLE e0 e1 e2 EACCES, DISABLE e3 ENOMEM, "
     "EACCES permission a0 t1\n"},
    /* Dummies are enabled before the others, and disabled after them. */
    {"failure_to_switch_dummies_alone_is_an_error",
     "records 2; attr 1 config=9 comm=1; cpus 0; open; fail ioctl 1 ENODEV; "
     "enable -> ENABLE e0 ENODEV, ENABLE e2, ENODEV no_event a1 t0\n"
     "fail ioctl 2 EACCES; "
     "disable -> DISABLE e2 e0 EACCES, EACCES permission a1 t0\n"},
    /* The kernel enables it then, which time_enabled shows. It is known to
     * have begun then. */
    {"command_is_left_alone_until_it_executes",
     "attrs 2; command me; open; give e0 0 0 0; give e1 0 0 0; "
     "enable -> read e0\n"
     "disable -> read e0\n"
     "give e0 0 1 0; disable -> read e0, DISABLE e0 e1\n"
     "enable -> ENABLE e0 e1\n"},
    /* A pinned one, say, that could not be on a counter. */
    {"command_in_error_state_has_begun",
     "attrs 1; command me; open; enable -> read e0, ENABLE e0\n"},
    {"later_target_is_enabled_if_the_rest_is",
     "attrs 1; cpus 0; open; add cpus 1 -> open e1@1\n"
     "enable; add cpus 2 -> open e2@2, ENABLE e2\n"
     "disable; add cpus 3 -> open e3@3\n"},
    {"later_target_that_cannot_be_enabled_is_not_added",
     "attrs 1; cpus 0; open; enable; fail ioctl 1 ENODEV; "
     "add cpus 1 -> open e1@1, ENABLE e1 ENODEV, close e1, "
     "ENODEV no_event a0 t1\n"
     "nr -> 1\n"},
    /* A target that was opened elsewhere is enabled there, and no call is made
     * twice. */
    {"filter_is_set_at_all_places_and_later_ones",
     "attrs 2; cpus 0-1; open; "
     "filter 1 'pid == 7' -> SET_FILTER e1 pid == 7 e3 pid == 7\n"
     "enable; add cpus 2 -> open e4@2 e5@2, SET_FILTER e5 pid == 7, "
     "ENABLE e4 e5\n"
     "elsewhere cpus 3 -> open e6@3 e7@3, SET_FILTER e7 pid == 7, "
     "ENABLE e6 e7\n"},
    /* Without the filter it would count unwanted hits. Its sibling leads. */
    {"later_event_that_takes_no_filter_is_a_failure",
     "attrs 2; group 0 2; attr 0 type=2; cpus 0; open; filter 0 'pid == 7'; "
     "ioctls SET_FILTER EINVAL; "
     "add cpus 1 -> open e2@1, SET_FILTER e2 pid == 7 EINVAL, close e2, "
     "open e3@1\n"
     "failures -> a0 t1 cpu1 EINVAL argument\n"
     "events disabled -> e0 1, e1 0, e2 1, e3 1\n"},
    {"filter_that_nothing_takes_is_forgotten",
     "attrs 1; cpus 0-1; open; ioctls SET_FILTER EINVAL; filter 0 'pid == 7' "
     "-> SET_FILTER e0 pid == 7 EINVAL, SET_FILTER e1 pid == 7 EINVAL, "
     "EINVAL not_supported a0 t0\n"
     "ioctls SET_FILTER 0; add cpus 2 -> open e2@2\n"},
    {"filter_that_some_take_is_kept",
     "attrs 1; cpus 0-2; open; fail ioctl_ptr 2 EEXIST; "
     "fail ioctl_ptr 3 EINVAL; filter 0 'pid == 7' "
     "-> SET_FILTER e0 pid == 7 e1 pid == 7 EEXIST, "
     "SET_FILTER e2 pid == 7 EINVAL, EEXIST exists a0 t0\n"
     "add cpus 3 -> open e3@3, SET_FILTER e3 pid == 7\n"},
    {"filter_before_any_target_is_for_the_first",
     "attrs 1; open; filter 0 a; filter 0 'pid == 8'; "
     "add cpus 2 -> open e0@2, SET_FILTER e0 pid == 8\n"},
    {"settings_with_bad_arguments_are_refused",
     "attrs 1; cpus 0; open; filter 1 x -> EINVAL argument a0 t0\n"
     "period 1 5 -> EINVAL argument a0 t0\n"
     "program 1 -> EINVAL argument a0 t0\n"
     "noprogram 0 -> EBADF argument a0 t0\n"
     "fail calloc 1 ENOMEM; filter 0 x -> ENOMEM memory a0 t0\n"},
    {"period_is_set_at_all_places_and_later_ones",
     "attrs 1; attr 0 sample_period=100; cpus 0-1; open; "
     "period 0 700 -> PERIOD e0 700 e1 700\n"
     "fields 0 sample_period -> 700\n"
     "add cpus 2; events sample_period -> e0 100, e1 100, e2 700\n"},
    {"frequency_of_a_clock_is_set_in_nanoseconds",
     "attrs 1; attr 0 sample_period=10 freq=1; cpus 0; open; "
     "period 0 100 -> PERIOD e0 10000000\n"},
    {"period_of_what_only_counts_is_refused",
     "attrs 2; attr 1 sample_period=100; open; "
     "period 0 700 -> EINVAL argument a0 t0\n"
     "says attr.sample_period\n"
     "period 1 0 -> EINVAL argument a1 t0\n"
     "period 1 700; add cpus 2; events sample_period -> e0 0, e1 700\n"},
    /* Undoing a fallback does not undo it. */
    {"period_outlives_a_target_that_could_not_be_added",
     "attrs 1; attr 0 sample_period=100; open; period 0 700; "
     "fail open 1 ENODEV; add cpus 1 -> open @1 ENODEV, ENODEV no_event a0 t0\n"
     "add cpus 2; events sample_period -> e0 700\n"},
    {"period_that_nothing_takes_is_forgotten",
     "attrs 1; attr 0 sample_period=100; cpus 0; open; ioctls PERIOD EINVAL; "
     "period 0 700 -> PERIOD e0 700 EINVAL, EINVAL not_supported a0 t0\n"
     "add cpus 1; events sample_period -> e0 100, e1 100\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
