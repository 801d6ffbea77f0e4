/* SPDX-License-Identifier: MIT */
/* Causes and reasons for EACCES and EPERM of perf_event_open(2), on a scripted
 * machine: check_explain_rows.h explains the rows. */
#include "check_explain_rows.h"

static const explain_row_t rows[] = {
    {"eacces_names_what_lifts_paranoid",
     "attr cpu_clock\n"
     "EACCES -> permission the kernel side needs kernel.perf_event_paranoid "
     "<= 1 (it is 2) or CAP_PERFMON; or set exclude_kernel\n"
     "EACCES pid -1 cpu 0 -> permission a whole CPU needs "
     "kernel.perf_event_paranoid <= 0 (it is 2)\n"
     "attr 96 0\n"
     "EACCES -> permission the kernel side needs kernel.perf_event_paranoid "
     "<= 1 (it is 2) or CAP_PERFMON; or set exclude_kernel, if this PMU can\n"
     "attr user_clock sample_type=PHYS_ADDR\n"
     "EACCES -> permission PHYS_ADDR needs kernel.perf_event_paranoid <= 1 (it "
     "is 2)\n"},
    {"eacces_of_tracepoint_data_everywhere_asks_for_minus_1",
     "attr tracepoint 316 sample_type=RAW\n"
     "EACCES pid -1 cpu 0 -> permission perf_event_paranoid <= -1\n"
     "EACCES -> permission perf_event_paranoid <= 1\n"},
    {"eacces_of_kernel_branches_asks_for_1",
     "attr cycles exclude_kernel=1 sample_type=BRANCH_STACK "
     "branch_sample_type=BRANCH_ANY\n"
     "EACCES -> permission more than PERF_SAMPLE_BRANCH_USER needs "
     "kernel.perf_event_paranoid <= 1\n"
     "set exclude_hv=1\n"
     "EACCES -> permission despite capabilities and\n"
     "set branch_sample_type=BRANCH_ANY|BRANCH_KERNEL\n"
     "EACCES -> permission more than PERF_SAMPLE_BRANCH_USER needs "
     "kernel.perf_event_paranoid <= 1\n"
     "set branch_sample_type=BRANCH_ANY|BRANCH_USER\n"
     "EACCES -> permission despite capabilities and\n"},
    {"eacces_at_a_distributions_level_wants_sys_admin",
     "file paranoid 3\n"
     "attr user_clock\n"
     "EACCES -> permission any event needs kernel.perf_event_paranoid "
     "<= 2 (it is 3) or CAP_SYS_ADMIN\n"
     "capabilities 0000004000000000\n"
     "EACCES -> permission at kernel.perf_event_paranoid 3 CAP_PERFMON "
     "is not enough\n"
     "capabilities 0000000000200000\n"
     "EACCES -> permission perhaps by a security module\n"},
    {"eacces_before_linux_5_8_wants_sys_admin",
     "attr cpu_clock\n"
     "file release 5.8.0\n"
     "EACCES -> permission (it is 2) or CAP_PERFMON\n"
     "file release 5.7.19\n"
     "EACCES -> permission (it is 2) or CAP_SYS_ADMIN\n"},
    {"eperm_of_tracepoint_data_asks_for_minus_1",
     "attr tracepoint 316 exclude_kernel=1 sample_type=RAW\n"
     "EPERM -> permission a tracepoint's data needs "
     "kernel.perf_event_paranoid <= -1\n"},
    {"eacces_of_a_uprobe_wants_sys_admin",
     "attr 8 0\n"
     "EACCES -> permission a uprobe needs CAP_SYS_ADMIN at any\n"
     "capabilities 0000004000000000\n"
     "EACCES -> permission a uprobe needs CAP_SYS_ADMIN at any\n"
     "capabilities 0000000000200000\n"
     "EACCES -> permission perhaps by a security module\n"},
    {"eperm_of_a_kernel_breakpoint_wants_sys_admin",
     "attr 5 0 bp_type=2 config1=0xfffffffffffffff8 config2=8\n"
     "capabilities 0000004000000000\n"
     "EPERM -> permission a kernel address needs CAP_SYS_ADMIN\n"
     "capabilities 0000000000200000\n"
     "EPERM -> permission perhaps by a security module\n"},
    {"eperm_under_lockdown_says_so",
     "attr user_clock\n"
     "file lockdown 'none integrity [confidentiality]'\n"
     "EPERM -> permission perhaps by a security module\n"
     "set sample_type=REGS_INTR\n"
     "EPERM -> permission forbids PERF_SAMPLE_REGS_INTR\n"
     "file lockdown 'none [integrity] confidentiality'\n"
     "EPERM -> permission perhaps by a security module\n"},
    {"eacces_of_a_thread_names_its_user",
     "attr user_clock\n"
     "EACCES pid 77 -> permission belongs to another user (uid 0); run as that "
     "user or with CAP_PERFMON\n"
     "EACCES pid 78 -> permission tracing it needs\n"
     "EACCES pid 79 -> permission belongs to another user (uid 0)\n"
     "EACCES pid 80 -> permission tracing it needs\n"
     "set sigtrap=1\n"
     "EACCES pid 78 -> permission right to ptrace(2) the thread (see "
     "kernel.yama.ptrace_scope), or CAP_PERFMON and CAP_KILL\n"},
    {"eacces_at_every_level_says_so",
     "attr user_clock namespaces=1\n"
     "EACCES -> permission attr.namespaces needs CAP_PERFMON at any\n"
     "attr 6 0\n"
     "EACCES -> permission a kprobe needs CAP_PERFMON at any\n"},
    {"eacces_in_spite_of_the_capability_is_a_security_modules",
     "attr user_clock\n"
     "capabilities 0000004000000000\n"
     "EACCES -> permission perhaps by a security module; see the audit\n"
     "EACCES pid 77 -> permission perhaps by a security module; see the audit\n"
     "set sigtrap=1\n"
     "EACCES pid 77 -> permission or CAP_PERFMON and CAP_KILL\n"},
    /* A container's root that is a user outside has every capability there. */
    {"eacces_in_a_user_namespace_says_where_it_is_needed",
     "file status Uid:\t0\t0\t0\t0|CapEff:\t000001ffffffffff\n"
     "file /proc/self/uid_map '0 1000 1'\n"
     "attr cpu_clock\n"
     "EACCES -> permission needs kernel.perf_event_paranoid <= 1 (it is "
     "2) or CAP_PERFMON outside this user namespace\n"
     "set exclude_kernel=1\n"
     "EACCES pid 78 -> permission run as that user or with CAP_PERFMON "
     "outside this user namespace\n"
     "set namespaces=1\n"
     "EACCES -> permission attr.namespaces needs CAP_PERFMON outside "
     "this user namespace at any\n"
     "attr 8 0\n"
     "EACCES -> permission a uprobe needs CAP_SYS_ADMIN outside this "
     "user namespace\n"
     "file paranoid 3\n"
     "attr user_clock\n"
     "EACCES -> permission <= 2 (it is 3) or CAP_SYS_ADMIN outside "
     "this user namespace\n"},
    {"eacces_without_proc_still_has_a_reason",
     "no_host\n"
     "attr user_clock\n"
     "EACCES -> permission which cannot be read\n"},
    /* Containers have filters that let perf_event_open pass, too. Distributions
     * refuse every event by EACCES, never by EPERM. The last profile is from
     * before it knew the capability. */
    {"denied_under_seccomp_is_the_filters_only_if_it_says_the_same",
     "attr cpu_clock\n"
     "capabilities 0 filter\n"
     "probe EPERM\n"
     "EPERM -> no_perf a seccomp filter forbids perf_event_open(2); "
     "run the container with --cap-add PERFMON, or allow it in its "
     "profile (systemd: SystemCallFilter=)\n"
     "probe ENOSYS\n"
     "ENOSYS -> no_perf seccomp\n"
     "probe EACCES\n"
     "EACCES -> no_perf seccomp\n"
     "probe EFAULT\n"
     "EACCES -> permission the kernel side\n"
     "probe EFAULT\n"
     "EPERM -> permission the kernel side\n"
     "file paranoid 3\n"
     "probe EACCES\n"
     "EACCES -> permission the kernel side\n"
     "probe EPERM\n"
     "EPERM -> no_perf seccomp\n"
     "capabilities 0000004000000000 filter\n"
     "probe EPERM\n"
     "EPERM -> no_perf a seccomp filter forbids "
     "perf_event_open(2) despite CAP_PERFMON; allow it in the "
     "container's profile\n"},
    /* Such a kernel has no perf_event_paranoid either. systemd's ProcSubset=pid
     * hides all of /proc/sys. */
    {"enosys_under_seccomp_may_be_the_kernels",
     "no_host\n"
     "attr user_clock\n"
     "capabilities 0 filter\n"
     "probe ENOSYS\n"
     "ENOSYS -> no_perf a seccomp filter forbids\n"
     "file release 6.1.0-9-amd64\n"
     "probe ENOSYS\n"
     "ENOSYS -> no_perf CONFIG_PERF_EVENTS\n"},
};

int main(void) {
  return EXPLAIN_ROWS(&explain_opens, rows);
}
