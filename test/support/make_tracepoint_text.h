/* SPDX-License-Identifier: MIT */
/* Texts of format files as Linux 6.18 has them, for the tests of
 * tracepoints. */
#ifndef UVPERF_TEST_MAKE_TRACEPOINT_TEXT_H
#define UVPERF_TEST_MAKE_TRACEPOINT_TEXT_H

#define TEXT_FIELD(declaration, offset, size, is_signed)                       \
  "\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size                 \
  ";\tsigned:" #is_signed ";\n"

/* The header, and the fields that every tracepoint has: 8 bytes. */
#define TEXT_HEAD(name, id)                                                    \
  "name: " name "\nID: " #id                                                   \
  "\nformat:\n" TEXT_FIELD("unsigned short common_type", 0, 2, 0)              \
      TEXT_FIELD("unsigned char common_flags", 2, 1, 0)                        \
          TEXT_FIELD("unsigned char common_preempt_count", 3, 1, 0)            \
              TEXT_FIELD("int common_pid", 4, 4, 1) "\n"

#define TEXT_SWITCH                                                            \
  TEXT_HEAD("sched_switch", 372)                                               \
  TEXT_FIELD("char prev_comm[16]", 8, 16, 0)                                   \
  TEXT_FIELD("pid_t prev_pid", 24, 4, 1)                                       \
  TEXT_FIELD("int prev_prio", 28, 4, 1)                                        \
  TEXT_FIELD("long prev_state", 32, 8, 1)                                      \
  TEXT_FIELD("char next_comm[16]", 40, 16, 0)                                  \
  TEXT_FIELD("pid_t next_pid", 56, 4, 1)                                       \
  TEXT_FIELD("int next_prio", 60, 4, 1)                                        \
  "\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> "    \
  "next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, "   \
  "REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state "  \
  "& 0xff, \"|\", { 0x01, \"S\" }, { 0x02, \"D\" }) : \"R\", "                 \
  "REC->next_comm, REC->next_pid, REC->next_prio\n"

#endif
