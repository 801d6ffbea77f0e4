/* SPDX-License-Identifier: MIT */
/* UVPERF_SET_USER_READ: which pages are mapped, and which threads read
 * them. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* -- who reads --------------------------------------------------------- */
    {"another_thread_reads_by_read",
     "pages; group 0 2; self; flags user_read; open; counted 5 7 100; "
     "in_thread read totals -> read e0, 1005@100, 2007@100\n"
     "count rdpmc -> 0\n"
     "counted 5 7 100; read totals -> 1010@200, 2014@200\n"},
    /* The second thread may have the pthread_self() of the first, which glibc
     * reuses: the pages say that their thread is on no CPU. */
    {"thread_that_ended_is_read_by_read",
     "pages; group 0 2; self; flags user_read; in_thread open; count mmap -> "
     "2\n"
     "off e0; off e1; counted 5 7 100; in_thread read totals -> read e0 e0, "
     "gone 1005@100, gone 2007@100\n"
     "count rdpmc -> 0\n"},
    {"events_of_a_second_thread_are_not_mapped",
     "pages; group 0 2; self; flags user_read; open; count mmap -> 2\n"
     "in_thread add self; nr -> 4\n"
     "count mmap -> 2\n"},
    /* A page that is touched there is a SIGSEGV: fake_kernel.c does not let it
     * be inherited either. */
    {"forked_child_touches_no_page",
     "pages; group 0 2; self; flags user_read; open; counted 5 7 100; read "
     "totals -> 1005@100, 2007@100\n"
     "in_child read -> EPERM\n"
     "in_child reset -> EPERM\n"
     "in_child close ->\n"
     "counted 5 7 100; read totals -> 1010@200, 2014@200\n"},
    /* -- mapping ----------------------------------------------------------- */
    {"nothing_is_mapped_without_the_flag",
     "pages; self; open -> open e0@me e1@me\n"
     "counted 5 7 100; read totals -> read e0 e1, 1005@100, 2007@100\n"},
    {"events_of_a_cpu_are_not_mapped",
     "pages; flags user_read; cpus 0; open -> open e0@0 e1@0\n"
     "counted 5 7 100; read totals -> read e0 e1, 1005@100, 2007@100\n"},
    {"events_of_a_thread_by_its_number_are_not_mapped",
     "pages; group 0 2; flags user_read; thread me; open -> open e0@me "
     "e1@me<e0\n"
     "counted 5 7 100; read totals -> read e0, 1005@100, 2007@100\n"},
    {"group_with_one_that_is_inherited_is_not_mapped",
     "pages; attr 1 inherit=1; group 0 2; self; flags user_read; open -> open "
     "e0@me e1@me<e0, mmap e0, munmap e0\n"
     "counted 5 7 100; read totals -> read e0, 1005@100, 2007@100\n"},
    {"group_with_a_page_without_count_is_not_mapped",
     "pages; group 0 2; self; flags user_read; software e1; open -> open e0@me "
     "e1@me<e0, mmap e0 e1, munmap e1 e0\n"
     "counted 5 7 100; read totals -> read e0, 1005@100, 2007@100\n"},
    {"without_leave_to_map_read_is_used",
     "pages; group 0 2; self; flags user_read; fail mmap 2 EPERM; open -> open "
     "e0@me e1@me<e0, mmap e0 e1 EPERM, munmap e0\n"
     "counted 5 7 100; read totals -> read e0, 1005@100, 2007@100\n"},
    {"page_that_is_not_marked_for_children_is_not_used",
     "pages; group 0 2; self; flags user_read; fail is_marked 1 0; open -> "
     "open e0@me e1@me<e0\n"
     "counted 5 7 100; read totals -> read e0, 1005@100, 2007@100\n"},
    {"page_is_unmapped_before_its_event_is_closed",
     "pages; group 0 2; self; flags user_read; open; remove 0 -> munmap e0, "
     "close e0, munmap e1, close e1\n"},
    {"memory_that_runs_out_leaves_no_page",
     "each calloc ENOMEM; pages; group 0 2; self; flags user_read; open\n"},
    {"group_that_is_not_opened_wholly_leaves_no_page",
     "pages; group 0 2; self; flags user_read; flags strict; fail open 2 "
     "ENOENT; open -> open e0@me @me<e0 ENOENT, close e0, ENOENT no_event a1 "
     "t0\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
