/* SPDX-License-Identifier: MIT */
/* UVPERF_SET_USER_READ: the count is the same from a page and from read(2). */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"own_events_are_read_without_a_call",
     "pages; self; flags user_read; open -> open e0@me e1@me, mmap e0 e1\n"
     "counted 5 7 100; read totals -> 1005@100, 2007@100\n"
     "count getpid -> 0\n"
     "counted 1 2 50; read totals -> 1006@150, 2009@150\n"
     "count rdpmc -> 4\n"
     "count getpid -> 0\n"},
    /* The thread that reads maps the pages, not the one that opens them. */
    {"events_opened_elsewhere_are_read_without_a_call",
     "pages; flags user_read; flags targets_later; open; elsewhere self -> "
     "open e0@me e1@me, mmap e0 e1\n"
     "counted 5 7 100; read totals -> 1005@100, 2007@100\n"
     "count mmap -> 2\n"},
    /* After PERF_EVENT_IOC_RESET of an event whose counter is below 0. */
    {"count_below_0_is_left_to_read",
     "pages; self; flags user_read; open; counted 5 7 100; read totals -> "
     "1005@100, 2007@100\n"
     "page e0 offset 0xffff0000000003e8; counted 5 7 100; read totals -> read "
     "e0, 1010@200, 2014@200\n"},
    /* The page continues from when it was written. */
    {"times_of_a_page_that_is_ahead_do_not_go_back",
     "pages; self; flags user_read; open; counted 5 7 100; page e0 enabled 50; "
     "page e0 running 50; page e1 enabled 50; page e1 running 50; read totals "
     "-> 1005@150, 2007@150\n"
     "off e0; off e1; counted 5 7 20; read totals -> read e0 e1, 1010@150, "
     "2014@150\n"
     "counted 5 7 80; read totals -> read e0 e1, 1015@200, 2021@200\n"},
    {"group_is_read_without_a_call",
     "pages; group 0 2; self; flags user_read; open -> open e0@me e1@me<e0, "
     "mmap e0 e1\n"
     "counted 5 7 100; read totals -> 1005@100, 2007@100\n"},
    {"group_has_the_times_of_its_leader",
     "pages late; group 0 2; self; flags user_read; open; counted 5 7 100; "
     "read totals -> 1005@100, 2007@100\n"},
    {"group_with_one_on_no_counter_is_read_by_one_call",
     "pages; group 0 2; self; flags user_read; open; off e1; counted 5 7 100; "
     "read totals -> read e0, 1005@100, 2007@100\n"
     "off e0; counted 5 7 100; read totals -> read e0, 1010@200, 2014@200\n"},
    {"single_events_are_read_each_in_its_way",
     "pages; self; flags user_read; open; off e0; counted 5 7 100; read totals "
     "-> read e0, 1005@100, 2007@100\n"},
    /* The events leave and enter their counters between the readings. */
    {"deltas_go_on_between_pages_and_read",
     "pages; self; flags user_read; open; counted 5 7 100; read totals -> "
     "1005@100, 2007@100\n"
     "off e0; counted 3 4 50; read totals -> read e0, 1008@150, 2011@150\n"
     "on_counter e0; off e1; counted 3 4 50; read totals -> read e1, 1011@200, "
     "2015@200\n"
     "off e0; counted 3 4 50; read totals -> read e0 e1, 1014@250, 2019@250\n"
     "on_counter e0; on_counter e1; counted 3 4 50; read totals -> 1017@300, "
     "2023@300\n"
     "off e0; off e1; counted 3 4 50; read totals -> read e0 e1, 1020@350, "
     "2027@350\n"
     "on_counter e0; on_counter e1; counted 3 4 50; read totals -> 1023@400, "
     "2031@400\n"},
    {"deltas_of_a_group_go_on_between_pages_and_read",
     "pages; group 0 2; self; flags user_read; open; counted 5 7 100; read "
     "totals -> 1005@100, 2007@100\n"
     "off e0; counted 3 4 50; read totals -> read e0, 1008@150, 2011@150\n"
     "on_counter e0; off e1; counted 3 4 50; read totals -> read e0, 1011@200, "
     "2015@200\n"
     "off e0; counted 3 4 50; read totals -> read e0, 1014@250, 2019@250\n"
     "on_counter e0; on_counter e1; counted 3 4 50; read totals -> 1017@300, "
     "2023@300\n"
     "off e0; off e1; counted 3 4 50; read totals -> read e0, 1020@350, "
     "2027@350\n"
     "on_counter e0; on_counter e1; counted 3 4 50; read totals -> 1023@400, "
     "2031@400\n"},
    {"reset_by_pages_holds_for_read_and_back",
     "pages; group 0 2; self; flags user_read; open; counted 5 7 100; reset "
     "->\n"
     "off e0; counted 10 20 30; read totals -> read e0, 10@30, 20@30\n"
     "reset -> read e0\n"
     "on_counter e0; counted 1 2 3; read totals -> 1@3, 2@3\n"},
    /* PERF_EVENT_IOC_RESET by other code: the page shows it, but an invalid
     * page would look the same. */
    {"page_with_less_than_before_is_left_to_read",
     "pages; self; flags user_read; open; counted 5 7 100; read totals -> "
     "1005@100, 2007@100\n"
     "page e0 offset 0; counted 5 7 100; read totals -> read e0, 1010@200, "
     "2014@200\n"
     "page e0 offset 1000; page e0 enabled 0xffffffffffffff6a; counted 5 7 "
     "100; read totals -> read e0, 1015@300, 2021@300\n"
     "page e0 enabled 0; page e0 running 0xffffffffffffff6a; counted 5 7 100; "
     "read totals -> read e0, 1020@400, 2028@400\n"
     "page e0 running 0; counted 5 7 100; read totals -> 1025@500, 2035@500\n"},
    {"page_is_readable_again_after_read_has_failed",
     "pages; group 0 2; self; flags user_read; open; off e1; counted 5 7 100; "
     "fail read 1 EIO; read totals -> read e0 EIO, error EIO -1, error EIO -1\n"
     "on_counter e1; counted 5 7 100; read totals -> 1010@200, 2014@200\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
