/* SPDX-License-Identifier: MIT */
/* The attr of a map's events: the user's, and the library's changes. */
#include "scripted_array.h"

static const scripted_row_t rows[] = {
    {"attr_by_default_is_bpf_output_with_raw",
     "new; fields type config sample_type sample_period disabled "
     "write_backward watermark -> 1 10 1024 1 1 0 1\n"
     "events type config sample_type sample_period disabled write_backward "
     "watermark -> e0 1 10 1024 1 1 0 1, e1 1 9 0 0 1 0 1, e2 1 10 1024 1 1 0 "
     "1, e3 1 9 0 0 1 0 1, e4 1 10 1024 1 1 0 1, e5 1 9 0 0 1 0 1, e6 1 10 "
     "1024 1 1 0 1, e7 1 9 0 0 1 0 1\n"},
    /* perf_event_set_output requires the same clock. */
    {"attr_of_the_user_is_copied",
     "cpus 0 0; attr sample_type=0x404 use_clockid=1 clockid=1 "
     "write_backward=1 wakeup_events=77\n"
     "new; attr config=0; events sample_type write_backward disabled watermark "
     "use_clockid clockid -> e0 1028 0 1 1 1 1, e1 0 0 1 1 1 1\n"},
    /* With room for a clock. */
    {"attr_of_the_first_size_will_do",
     "cpus 0 0; attr size=0; new; events size clockid -> e0 96 1, e1 128 1\n"},
    /* No sample asks for a wakeup. */
    {"overwrite_is_of_event_and_ring",
     "cpus 0 0; options overwrite wakeup_events=1; new; events write_backward "
     "watermark -> e0 1 1, e1 1 1\n"
     "rings -> cpu0 e1 of 1 overwritable\n"},
    /* The largest dump of a stack fits into one, even if rings shrink: down to
     * two pages. */
    {"stack_is_below_an_overwritable_ring",
     "attr sample_type=0x2400 sample_stack_user=4096; options overwrite "
     "ring_bytes=4096; new -> EINVAL argument\n"
     "says sample_stack_user\n"
     "options overwrite ring_bytes=0; fail mmap 1+ EPERM; new -> open e0@0 "
     "e1@me:0, mmap e1 EPERM, close e1, open e2@me:0, mmap e2 EPERM, close e2, "
     "open e3@me:0, mmap e3 EPERM, close e3, open e4@me:0, mmap e4 EPERM, "
     "close e4, open e5@me:0, mmap e5 EPERM, close e5, open e6@me:0, mmap e6 "
     "EPERM, close e6, open e7@me:0, mmap e7 EPERM, close e7 e0, EPERM "
     "locked_memory\n"},
    /* Without the bit the field means nothing; nor does it of other rings. */
    {"stack_that_is_in_no_overwritable_ring_may_be_large",
     "attr sample_stack_user=4096; options overwrite ring_bytes=4096; new; "
     "free\n"
     "attr sample_type=0x2400 sample_stack_user=4096; options ring_bytes=4096; "
     "new\n"},
    {"wakeups_are_by_records_or_by_bytes",
     "cpus 0 0; attr; options ring_bytes=4096; new; free\n"
     "options ring_bytes=4096 wakeup_events=5; new; free\n"
     "options ring_bytes=4096 wakeup_events=1; new; free\n"
     "options ring_bytes=4096 wakeup_events=0x7fffffff; new; free\n"
     "options ring_bytes=4096 wakeup_bytes=300; new; free\n"
     "events watermark wakeup_events -> e0 1 0, e1 1 1024, e2 0 5, e3 1 1024, "
     "e4 0 1, e5 1 1024, e6 0 0x7fffffff, e7 1 1024, e8 1 300, e9 1 300\n"},
    /* Each record wakes, and records other than samples do not count. */
    {"wakeups_by_records_of_which_not_all_are_samples_are_by_bytes",
     "cpus 0 0; attr comm=1; options ring_bytes=4096 wakeup_bytes=1; new; "
     "free\n"
     "options ring_bytes=4096 wakeup_events=5; new; free\n"
     "options ring_bytes=4096 wakeup_events=1; new; free\n"
     "events watermark wakeup_events -> e0 1 1, e1 1 1, e2 0 5, e3 1 1024, e4 "
     "0 1, e5 1 1\n"},
    /* The kernel opens each of them, and takes all but inherit into the map. */
    {"attr_of_which_nothing_right_comes_is_einval",
     "attr config=9; new -> EINVAL argument\n"
     "says 'returns -EINVAL'\n"
     "attr type=0; new -> EINVAL argument\n"
     "says 'returns -EINVAL'\n"
     "attr inherit=1; new -> EINVAL argument\n"
     "says 'attr has inherit'\n"
     "attr sample_type=0x2400; new -> EINVAL argument\n"
     "says 'next record'\n"
     /* It has no such field. */
     "attr sample_type=0x2400 sample_stack_user=8 size=80; new -> EINVAL "
     "argument\n"
     "says 'next record'\n"
     "attr sample_type=0x2400 sample_stack_user=8; new\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_array, rows);
}
