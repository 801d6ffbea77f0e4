/* SPDX-License-Identifier: MIT */
/* Scripted: the programs of all events, also of targets that come later: by
 * links, and by ioctls if the kernel has no links. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"program_is_duplicated_for_later_places",
     "attrs 1; cpus 0-1; open; program 0 -> bpf link e0 e1\n"
     "add cpus 2 -> open e2@2, bpf link e2\n"
     "elsewhere cpus 3 -> open e3@3, bpf link e3\n"},
    /* Another program may take its place until then. */
    {"program_of_an_attr_without_places_is_for_the_first",
     "attrs 1; open; program 0 ->\n"
     "program 0 ->\n"
     "enable; add cpus 0 -> open e0@0, bpf link e0, ENABLE e0\n"},
    {"cookie_is_that_of_each_link_also_of_later_places",
     "attrs 1; cpus 0-1; open; program 0 77 -> bpf link e0 77 e1 77\n"
     "add cpus 2 -> open e2@2, bpf link e2 77\n"},
    /* No ioctl stands in for the link: the program would see another cookie.
     * And one without a cookie can be attached. */
    {"cookie_without_a_link_is_refused",
     "attrs 1; cpus 0; open; fail link 1 EINVAL; "
     "program 0 1 -> bpf link e0 1 EINVAL, EINVAL argument a0 t0\n"
     "program 0 -> bpf link e0\n"},
    {"cookie_in_an_older_kernel_is_refused",
     "attrs 1; cpus 0; open; fail link 1 ENOSYS; "
     "program 0 1 -> bpf link e0 1 ENOSYS, EOPNOTSUPP old_kernel a0 t0\n"
     "program 0 -> bpf link e0\n"},
    {"cookie_without_permission_is_refused",
     "attrs 1; cpus 0; open; fail link 1 EPERM; "
     "program 0 1 -> bpf link e0 1 EPERM, EPERM permission a0 t0\n"
     "program 0 -> bpf link e0\n"},
    {"cookie_without_an_fd_is_refused",
     "attrs 1; cpus 0; open; fail link 1 EMFILE; "
     "program 0 1 -> bpf link e0 1 EMFILE, EMFILE files a0 t0\n"
     "program 0 -> bpf link e0\n"},
    {"second_program_is_refused",
     "attrs 1; cpus 0-1; open; program 0; program 0 -> EEXIST exists a0 t0\n"},
    /* The ioctl fails too, and its error is reported. Another program may be
     * attached, still by links. */
    {"program_that_nothing_takes_is_closed",
     "attrs 1; cpus 0-1; open; ioctls SET_BPF EINVAL; fail link 1 EINVAL; "
     "fail link 2 EINVAL; "
     "program 0 -> bpf link e0 EINVAL, SET_BPF e0 EINVAL, bpf link e1 EINVAL, "
     "SET_BPF e1 EINVAL, EINVAL argument a0 t0\n"
     "ioctls SET_BPF 0; program 0 -> bpf link e0 e1\n"},
    {"program_that_one_event_refuses_is_reported",
     "attrs 1; cpus 0-1; open; fail link 2 EEXIST; "
     "program 0 -> bpf link e0 e1 EEXIST, EEXIST exists a0 t0\n"},
    /* For an added target it makes the call fail. */
    {"link_without_memory_is_enomem",
     "attrs 1; cpus 0; open; fail link 1 ENOMEM; "
     "program 0 -> bpf link e0 ENOMEM, ENOMEM memory a0 t0\n"
     "program 0 -> bpf link e0\n"
     "fail link 1 ENOMEM; "
     "add cpus 1 -> open e1@1, bpf link e1 ENOMEM, close e1, "
     "ENOMEM memory a0 t1\n"},
    {"kernel_without_links_is_asked_once",
     "attrs 1; cpus 0-1; open; fail link 1 EINVAL; "
     "program 0 -> bpf link e0 EINVAL, SET_BPF e0 e1\n"
     "add cpus 2 -> open e2@2, SET_BPF e2\n"
     "detach ->\n"
     "close -> close e0 e1 e2\n"},
    {"kernel_without_bpf_links_at_all_is_asked_once",
     "attrs 1; cpus 0-1; open; fail link 1 ENOSYS; "
     "program 0 -> bpf link e0 ENOSYS, SET_BPF e0 e1\n"},
    {"kernel_that_forbids_links_is_asked_once",
     "attrs 1; cpus 0-1; open; fail link 1 EPERM; "
     "program 0 -> bpf link e0 EPERM, SET_BPF e0 e1\n"},
    {"kernel_that_denies_links_is_asked_once",
     "attrs 1; cpus 0-1; open; fail link 1 EACCES; "
     "program 0 -> bpf link e0 EACCES, SET_BPF e0 e1\n"},
    /* The next one may have it: it is not the kernel. */
    {"link_without_an_fd_is_an_ioctl",
     "attrs 1; cpus 0-1; open; fail link 1 EMFILE; "
     "program 0 -> bpf link e0 EMFILE, SET_BPF e0, bpf link e1\n"},
    {"link_without_an_fd_in_the_system_is_an_ioctl",
     "attrs 1; cpus 0-1; open; fail link 1 ENFILE; "
     "program 0 -> bpf link e0 ENFILE, SET_BPF e0, bpf link e1\n"},
    /* A tracepoint has a list of programs for all of its events. If the event
     * through which it is attached is closed, another takes it. It has stopped
     * before. */
    {"program_of_a_tracepoint_is_attached_once",
     "attrs 1; attr 0 type=2; cpus 0; open; add cpus 1-2; share 0; "
     "program 0 -> bpf link e0 e1 EEXIST, bpf link e2 EEXIST\n"
     "add cpus 3 -> open e3@3, bpf link e3 EEXIST\n"
     "failures ->\n"
     "share 0; remove 0 -> DISABLE e0, close link e0, close e0, bpf link e1\n"
     "remove 2 -> close e3\n"},
    {"program_of_a_tracepoint_is_attached_once_without_links",
     "attrs 1; attr 0 type=2; cpus 0; open; add cpus 1-2; share 0; "
     "fail link 1+ EINVAL; "
     "program 0 -> bpf link e0 EINVAL, SET_BPF e0 e1 EEXIST, "
     "SET_BPF e2 EEXIST\n"
     "share 0; remove 0 -> close e0, SET_BPF e1\n"},
    {"program_of_a_tracepoint_that_others_attached_is_refused",
     "attrs 1; attr 0 type=2; cpus 0-1; open; share 1; "
     "program 0 -> bpf link e0 EEXIST, bpf link e1 EEXIST, "
     "EEXIST exists a0 t0\n"},
    {"program_of_a_tracepoint_is_attached_again_when_a_cpu_is_back",
     "attrs 1; attr 0 type=2; cpus 0-1; open; share 0; program 0; share 0; "
     "back 0 -> read e0 e0, DISABLE e0, close link e0, close e0, open e2@0, "
     "bpf link e2\n"},
    {"detached_events_stay_open_and_close_without_their_links",
     "attrs 1; cpus 0-1; open; program 0; disable -> DISABLE e0 e1\n"
     "detach -> close link e0 e1\n"
     "detach ->\n"
     "close -> close e0 e1\n"},
    /* The child's fds of the links are closed with those of the events;
     * neither ends what the parent has. */
    {"forked_child_stops_none_of_the_parents_events",
     "attrs 1; cpus 0-1; open; program 0; fork; "
     "program 0 -> EPERM argument a0 t0\n"
     "detach ->\n"
     "close -> close link e0, close e0, close link e1, close e1\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
