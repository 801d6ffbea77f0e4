/* SPDX-License-Identifier: MIT */
/* Why an ioctl on an open event failed, and a command of bpf(2). The kernel's
 * functions that are named here are in kernel/events/core.c unless said
 * otherwise. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/pmu.h"
#include "host/system.h"
#include "util/error.h"
#include "util/file.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* enum bpf_prog_type in <linux/bpf.h>, for headers without BPF. */
#define BPF_KPROBE     2
#define BPF_TRACEPOINT 5
#define BPF_PERF_EVENT 7

/* BPF_TRACE_MAX_PROGS in include/linux/trace_events.h. */
#define MOST_PROGRAMS 64

typedef struct refusal_s {
  uvperf_error_t *error;
  int code;
  const char *root;
  const uvperf__control_t *control;
} refusal_t;

/* -- what was tried ------------------------------------------------------- */

static const struct {
  unsigned long request;
  const char *name;
} names[] = {
    {PERF_EVENT_IOC_ENABLE, "ENABLE"},
    {PERF_EVENT_IOC_DISABLE, "DISABLE"},
    {PERF_EVENT_IOC_REFRESH, "REFRESH"},
    {PERF_EVENT_IOC_RESET, "RESET"},
    {PERF_EVENT_IOC_PERIOD, "PERIOD"},
    {PERF_EVENT_IOC_SET_OUTPUT, "SET_OUTPUT"},
    {PERF_EVENT_IOC_SET_FILTER, "SET_FILTER"},
    {PERF_EVENT_IOC_ID, "ID"},
    {PERF_EVENT_IOC_SET_BPF, "SET_BPF"},
    {PERF_EVENT_IOC_PAUSE_OUTPUT, "PAUSE_OUTPUT"},
    {PERF_EVENT_IOC_QUERY_BPF, "QUERY_BPF"},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, "MODIFY_ATTRIBUTES"},
};

static const char *name_of(unsigned long request) {
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++)
    if (names[i].request == request)
      return names[i].name;
  return "ioctl";
}

/* Puts what was tried before the reason. */
static void say(const refusal_t *refusal, int cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(const refusal_t *refusal, int cause, const char *format, ...) {
  const uvperf__control_t *control = refusal->control;
  char reason[sizeof(refusal->error->reason)];
  char event[UVPERF__DESCRIBE_BYTES];
  va_list args;

  va_start(args, format);
  vsnprintf(reason, sizeof(reason), format, args);
  va_end(args);
  uvperf__describe_event(event, sizeof(event), refusal->root, control->attr);
  uvperf__error_set(refusal->error, refusal->code, cause, "%s of %s: %s",
                    name_of(control->request), event, reason);
}

/* -- every request -------------------------------------------------------- */

static void explain_eacces(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_PERMISSION,
      "a security module (SELinux?) forbids it: see its log, or run it in "
      "another domain");
}

static void explain_eperm(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_PERMISSION,
      "a seccomp filter or a security module forbids it");
}

/* Only PERF_EVENT_STATE_REVOKED, after perf_pmu_unregister. */
static void explain_enodev(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_NO_EVENT,
      "the PMU was unregistered, its driver unloaded: close the event");
}

static void explain_enomem(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_MEMORY, "out of memory");
}

static void explain_enotty(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_OLD_KERNEL, "this kernel has no such ioctl");
}

static void explain_unknown(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_UNKNOWN, "errno %d", -refusal->code);
}

/* -- REFRESH, PERIOD, PAUSE_OUTPUT ---------------------------------------- */

static int explain_counting(const refusal_t *refusal) {
  if (refusal->control->attr->sample_period != 0)
    return 0;
  say(refusal, UVPERF_CAUSE_ARGUMENT,
      "it only counts: it must be opened with a sample_period or sample_freq");
  return 1;
}

/* _perf_event_refresh. */
static void refresh_einval(const refusal_t *refusal) {
  if (explain_counting(refusal))
    return;
  if (refusal->control->attr->inherit)
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "an inherited event has no limit of overflows: open it without "
        "inherit");
  else
    explain_unknown(refusal);
}

/* No answer of the kernel: uvperf__event_enable_alone. */
static void enable_enotsup(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_NOT_SUPPORTED,
      "its overflows ran out, and since Linux 6.16 an event of another thread "
      "stays stopped then: close it and open it again");
}

/* _perf_event_period. */
static void period_einval(const refusal_t *refusal) {
  uint64_t value = refusal->control->value;
  int is_freq = refusal->control->attr->freq;
  int64_t most;

  if (explain_counting(refusal))
    return;
  if (value == 0) {
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "0 is no %s: to stop sampling disable the event",
        is_freq ? "frequency" : "period");
  } else if (!is_freq) {
    say(refusal,
        value >> 63 ? UVPERF_CAUSE_ARGUMENT : UVPERF_CAUSE_NOT_SUPPORTED,
        value >> 63 ? "a period must be below 2^63"
                    : "the PMU cannot take this period: try a larger one");
  } else if (uvperf__system_max_sample_rate(refusal->root, &most) == 0 &&
             most >= 0 && value > (uint64_t)most) {
    say(refusal, UVPERF_CAUSE_SAMPLE_RATE,
        "%llu Hz is above kernel.perf_event_max_sample_rate, %lld: ask for "
        "less or raise it",
        (unsigned long long)value, (long long)most);
    refusal->error->limit = (uint64_t)most;
    refusal->error->needed = value;
  } else {
    explain_unknown(refusal);
  }
}

static void pause_einval(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_ARGUMENT, "it has no ring to pause");
}

/* -- SET_FILTER ----------------------------------------------------------- */

static int is_tracing(const refusal_t *refusal) {
  uint32_t type = refusal->control->attr->type;

  return type == PERF_TYPE_TRACEPOINT ||
         uvperf__pmu_is(refusal->root, type, "kprobe") ||
         uvperf__pmu_is(refusal->root, type, "uprobe");
}

/* /sys/bus/event_source/devices/<pmu>/nr_addr_filters: nr_addr_filters_show. */
static int has_addr_filters(const refusal_t *refusal) {
  char pmu[24], path[96];
  int64_t nr;

  if (uvperf__pmu_name(refusal->root, refusal->control->attr->type, pmu,
                       sizeof(pmu)) != 0)
    return 0;
  snprintf(path, sizeof(path),
           "/sys/bus/event_source/devices/%s/nr_addr_filters", pmu);
  return uvperf__system_number(refusal->root, path, &nr) == 0 && nr > 0;
}

/* perf_event_set_filter (strndup_user takes a page with the 0 at the end), and
 * process_preds in kernel/trace/trace_events_filter.c. */
static void filter_einval(const refusal_t *refusal) {
  const char *filter = refusal->control->filter;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);

  if (strlen(filter) >= page)
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "the filter has %zu bytes, and must have less than a page, %zu",
        strlen(filter), page);
  else if (is_tracing(refusal))
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "\"%.48s\" is no filter of its fields, which "
        "events/<category>/<name>/format in tracefs lists",
        filter);
  else if (has_addr_filters(refusal))
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "\"%.48s\" is no filter of addresses such as \"filter "
        "0x1000/0x200@/path\"",
        filter);
  else
    say(refusal, UVPERF_CAUSE_NOT_SUPPORTED,
        "only tracepoints, probes, and PMUs that trace instructions have "
        "filters");
}

static void filter_eexist(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_EXISTS,
      "it has a filter, and takes one only: open another event for another "
      "filter");
}

/* MAX_FILTER_PRED of kernels before 4.17. */
static void filter_enospc(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_ARGUMENT,
      "the filter has more conditions than this kernel takes");
}

/* perf_event_set_addr_filter. */
static void filter_enotsup(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_NOT_SUPPORTED,
      "the PMU does not take so many filters of addresses, or not of this "
      "kind: see its nr_addr_filters in /sys");
}

/* What calc_stack of kernel/trace/trace_events_filter.c counts as -2 and -3
 * comes out as these errnos. */
static void filter_enoent(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_ARGUMENT,
      is_tracing(refusal) ? "a bracket of \"%.48s\" is not closed"
                          : "there is no file as \"%.48s\" names it",
      refusal->control->filter);
}

static void filter_esrch(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_ARGUMENT,
      "a quotation mark of \"%.48s\" is not closed", refusal->control->filter);
}

/* -- SET_BPF, QUERY_BPF --------------------------------------------------- */

static void bpf_ebadf(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_ARGUMENT, "%d is not an open fd",
      (int)refusal->control->value);
}

/* Which type __perf_event_set_bpf_prog wants. */
static int wanted_program(const refusal_t *refusal, const char **name) {
  if (refusal->control->attr->type == PERF_TYPE_TRACEPOINT) {
    *name = "BPF_PROG_TYPE_TRACEPOINT";
    return BPF_TRACEPOINT;
  }
  if (is_tracing(refusal)) {
    *name = "BPF_PROG_TYPE_KPROBE";
    return BPF_KPROBE;
  }
  *name = "BPF_PROG_TYPE_PERF_EVENT";
  return BPF_PERF_EVENT;
}

/* bpf_prog_show_fdinfo in kernel/bpf/syscall.c tells the type. The probes of
 * tracefs are of PERF_TYPE_TRACEPOINT too. */
static void bpf_einval(const refusal_t *refusal) {
  int fd = (int)refusal->control->value;
  const char *wanted_name;
  int wanted = wanted_program(refusal, &wanted_name);
  char path[48], type[16];
  int rc;

  snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
  rc = uvperf__system_line(refusal->root, path, "prog_type:", type,
                           sizeof(type));
  if (rc == -ENODATA)
    say(refusal, UVPERF_CAUSE_ARGUMENT, "fd %d is no BPF program", fd);
  else if (rc != 0)
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "fd %d is no BPF program, or of another type than %s (%d)", fd,
        wanted_name, wanted);
  else if (atoi(type) != wanted)
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "the program has type %d, and the event takes %s (%d)", atoi(type),
        wanted_name, wanted);
  else if (wanted == BPF_TRACEPOINT)
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "the event does not take this program: if it is a probe, made in "
        "tracefs, it takes BPF_PROG_TYPE_KPROBE (%d)",
        BPF_KPROBE);
  else
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "the event does not take this program: one that sleeps, writes "
        "registers or overrides a return value is for some probes only");
}

/* perf_event_attach_bpf_prog, bpf_prog_array_copy. */
static void bpf_eexist(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_EXISTS,
      "it has a program, and takes one only, or this program is attached "
      "there through another event");
}

static void bpf_e2big(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_BPF_PROGRAMS,
      "%d programs are attached there, as many as can be: detach one by "
      "closing its event",
      MOST_PROGRAMS);
  refusal->error->limit = MOST_PROGRAMS;
  refusal->error->needed = MOST_PROGRAMS + 1;
}

/* __perf_event_set_bpf_prog of a tracepoint; for the rest it is a security
 * module's. */
static void bpf_eacces(const refusal_t *refusal) {
  if (refusal->control->attr->type == PERF_TYPE_TRACEPOINT)
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "the program reads behind the tracepoint's fields (see its format in "
        "tracefs), or a security module forbids it");
  else
    explain_eacces(refusal);
}

/* perf_event_set_bpf_handler. */
static void bpf_eproto(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_ARGUMENT,
      "with precise_ip a program can take a stack only if the event samples "
      "PERF_SAMPLE_CALLCHAIN, kernel and user side");
}

static void bpf_enotsup(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_NOT_SUPPORTED,
      "this kernel runs no BPF on perf events: it needs CONFIG_BPF_EVENTS and "
      "CONFIG_BPF_SYSCALL");
}

/* perf_event_query_prog_array in kernel/trace/bpf_trace.c. */
static void query_eperm(const refusal_t *refusal) {
  if (uvperf__system_has_perfmon(refusal->root) == 1)
    explain_eperm(refusal);
  else
    say(refusal, UVPERF_CAUSE_PERMISSION,
        "it needs CAP_PERFMON, whatever kernel.perf_event_paranoid is");
}

static void query_einval(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_NOT_SUPPORTED,
      "only events of PERF_TYPE_TRACEPOINT tell their programs");
}

static void query_enospc(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_BPF_PROGRAMS,
      "%llu programs are attached: give room for so many ids",
      (unsigned long long)refusal->control->value);
  refusal->error->needed = refusal->control->value;
}

/* -- MODIFY_ATTRIBUTES ---------------------------------------------------- */

/* What perf_event_modify_attr and hw_breakpoint_copy_attr
 * (kernel/events/hw_breakpoint.c) take, and what the library sets itself. */
static int may_differ(unsigned int field) {
  return field == UVPERF_ATTR_DISABLED || field == UVPERF_ATTR_BP_TYPE ||
         field == UVPERF_ATTR_CONFIG1 || field == UVPERF_ATTR_CONFIG2 ||
         field == UVPERF_ATTR_SIG_DATA;
}

/* The first field that differs and must not; NULL for none. */
static const char *difference(const uvperf__control_t *control) {
  unsigned int field;

  /* First, as it decides what the others mean. */
  if (control->attr->type != control->wanted->type)
    return uvperf__attr_field_name(UVPERF_ATTR_TYPE);
  for (field = 0; field <= UVPERF_ATTR_CONFIG4; field++)
    if (!may_differ(field) && uvperf__attr_value(control->attr, field) !=
                                  uvperf__attr_value(control->wanted, field))
      return uvperf__attr_field_name(field);
  return NULL;
}

static void modify_einval(const refusal_t *refusal) {
  const char *field = difference(refusal->control);
  const char *fault =
      uvperf__breakpoint_fault(refusal->control->wanted, refusal->code);

  if (field != NULL)
    say(refusal, UVPERF_CAUSE_ARGUMENT,
        "%s differs from uvperf_event_attr, and only bp_addr, bp_len, bp_type "
        "and sig_data may",
        field);
  else if (fault != NULL)
    say(refusal, UVPERF_CAUSE_ARGUMENT, "%s", fault);
  else
    explain_unknown(refusal);
}

/* perf_event_modify_attr; of a breakpoint it is the processor's. */
static void modify_enotsup(const refusal_t *refusal) {
  const char *fault =
      uvperf__breakpoint_fault(refusal->control->wanted, refusal->code);

  if (refusal->control->attr->type != PERF_TYPE_BREAKPOINT)
    fault = "only breakpoints can be modified: open another event";
  say(refusal, UVPERF_CAUSE_NOT_SUPPORTED, "%s",
      fault != NULL ? fault : "this CPU has no such breakpoints");
}

static void modify_enospc(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_BREAKPOINT_SLOTS,
      "the CPU's slots for breakpoints of the new bp_type are used up: close "
      "one");
}

/* hw_breakpoint_parse in kernel/events/hw_breakpoint.c. */
static void modify_eperm(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_PERMISSION,
      "a bp_addr in the kernel needs CAP_SYS_ADMIN");
}

/* perf_copy_attr has written the size that it knows. */
static void modify_e2big(const refusal_t *refusal) {
  say(refusal, UVPERF_CAUSE_OLD_KERNEL,
      "the attr has fields behind the %u bytes that this kernel knows: leave "
      "them 0",
      refusal->control->wanted->size);
  refusal->error->limit = refusal->control->wanted->size;
}

/* -- all ------------------------------------------------------------------ */

/* The first that fits counts; request 0 is any. */
static const struct {
  unsigned long request;
  int code;
  void (*explain)(const refusal_t *refusal);
} handlers[] = {
    {PERF_EVENT_IOC_REFRESH, -EINVAL, refresh_einval},
    {PERF_EVENT_IOC_REFRESH, -EOPNOTSUPP, enable_enotsup},
    {PERF_EVENT_IOC_ENABLE, -EOPNOTSUPP, enable_enotsup},
    {PERF_EVENT_IOC_PERIOD, -EINVAL, period_einval},
    {PERF_EVENT_IOC_PAUSE_OUTPUT, -EINVAL, pause_einval},
    {PERF_EVENT_IOC_SET_FILTER, -EINVAL, filter_einval},
    {PERF_EVENT_IOC_SET_FILTER, -EEXIST, filter_eexist},
    {PERF_EVENT_IOC_SET_FILTER, -ENOSPC, filter_enospc},
    {PERF_EVENT_IOC_SET_FILTER, -E2BIG, filter_enospc},
    {PERF_EVENT_IOC_SET_FILTER, -EOPNOTSUPP, filter_enotsup},
    {PERF_EVENT_IOC_SET_FILTER, -ENOENT, filter_enoent},
    {PERF_EVENT_IOC_SET_FILTER, -ESRCH, filter_esrch},
    {PERF_EVENT_IOC_SET_BPF, -EBADF, bpf_ebadf},
    {PERF_EVENT_IOC_SET_BPF, -EINVAL, bpf_einval},
    {PERF_EVENT_IOC_SET_BPF, -EEXIST, bpf_eexist},
    {PERF_EVENT_IOC_SET_BPF, -E2BIG, bpf_e2big},
    {PERF_EVENT_IOC_SET_BPF, -EACCES, bpf_eacces},
    {PERF_EVENT_IOC_SET_BPF, -EPROTO, bpf_eproto},
    {PERF_EVENT_IOC_SET_BPF, -EOPNOTSUPP, bpf_enotsup},
    {PERF_EVENT_IOC_QUERY_BPF, -EPERM, query_eperm},
    {PERF_EVENT_IOC_QUERY_BPF, -EINVAL, query_einval},
    {PERF_EVENT_IOC_QUERY_BPF, -ENOSPC, query_enospc},
    {PERF_EVENT_IOC_QUERY_BPF, -EOPNOTSUPP, bpf_enotsup},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -EINVAL, modify_einval},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -EOPNOTSUPP, modify_enotsup},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -ENOSPC, modify_enospc},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -EPERM, modify_eperm},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -E2BIG, modify_e2big},
    {0, -EACCES, explain_eacces},
    {0, -EPERM, explain_eperm},
    {0, -ENODEV, explain_enodev},
    {0, -ENOMEM, explain_enomem},
    {0, -ENOTTY, explain_enotty},
};

int uvperf__explain_control(uvperf_error_t *error, int code, const char *root,
                            const uvperf__control_t *control) {
  refusal_t refusal = {error, code, root, control};
  size_t i;

  if (error == NULL)
    return code;
  for (i = 0; i < COUNT_OF(handlers); i++) {
    if (handlers[i].code != code ||
        (handlers[i].request != 0 && handlers[i].request != control->request))
      continue;
    handlers[i].explain(&refusal);
    return code;
  }
  explain_unknown(&refusal);
  return code;
}

/* -- bpf(2) ---------------------------------------------------------------- */

/* SECCOMP_MODE_FILTER, proc(5). */
static int has_filter(const char *root) {
  char text[16];

  return uvperf__system_line(root, "/proc/self/status", "Seccomp:", text,
                             sizeof(text)) == 0 &&
         atoi(text) == 2;
}

/* Before Linux 5.8 CAP_SYS_ADMIN stands for it, and does so still. */
static int may_use_bpf(const char *root) {
  return uvperf__system_has_capability(root, UVPERF__CAP_BPF) == 1 ||
         uvperf__system_has_capability(root, UVPERF__CAP_SYS_ADMIN) == 1;
}

/* Where kernel.unprivileged_bpf_disabled is not 0 bpf(2) wants the capability,
 * up to Linux 5.18 for every command (__sys_bpf in kernel/bpf/syscall.c), and
 * some commands always do. */
static int explain_denied(uvperf_error_t *error, int code, const char *root,
                          const char *what) {
  int64_t level = 0;

  uvperf__system_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled",
                        &level);
  if (!may_use_bpf(root))
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_PERMISSION,
        "%s: bpf(2) needs CAP_BPF, before Linux 5.8 CAP_SYS_ADMIN "
        "(kernel.unprivileged_bpf_disabled is %lld)%s",
        what, (long long)level,
        has_filter(root) ? ", or a seccomp filter forbids it" : "");
  if (has_filter(root))
    return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                             "%s: this process has a seccomp filter: let the "
                             "container's profile allow bpf",
                             what);
  return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                           "%s: denied in spite of CAP_BPF: by a security "
                           "module? See the audit log",
                           what);
}

int uvperf__explain_bpf(uvperf_error_t *error, int code, const char *root,
                        const char *what) {
  if (error == NULL)
    return code;
  if (uvperf__is_shortage(code))
    return uvperf__error_shortage(error, code, what);
  switch (code) {
    case -EPERM:
    case -EACCES:
      return explain_denied(error, code, root, what);
    case -ENOSYS:
      return uvperf__error_set(error, code, UVPERF_CAUSE_NOT_SUPPORTED,
                               "%s: this kernel has no bpf(2): it needs "
                               "CONFIG_BPF_SYSCALL",
                               what);
    default:
      return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                               "%s: bpf(2) gave errno %d", what, -code);
  }
}
