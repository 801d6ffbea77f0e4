/* SPDX-License-Identifier: MIT */
/* Explains why an ioctl on an open event, or a command of bpf(2), failed. A
 * comment that only names a kernel function says which function returns the
 * error. These functions are in kernel/events/core.c unless another file is
 * named. */
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
#include "host/tracefs.h"
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
  const uvperf__control_t *control;
} refusal_t;

/* -- the failed request --------------------------------------------------- */

static const struct {
  unsigned long request;
  const char *name;
} names[] = {
    {PERF_EVENT_IOC_ENABLE, "enable"},
    {PERF_EVENT_IOC_DISABLE, "disable"},
    {PERF_EVENT_IOC_REFRESH, "refresh"},
    {PERF_EVENT_IOC_RESET, "reset"},
    {PERF_EVENT_IOC_PERIOD, "set the period of"},
    {PERF_EVENT_IOC_SET_OUTPUT, "redirect the records of"},
    {PERF_EVENT_IOC_SET_FILTER, "filter"},
    {PERF_EVENT_IOC_ID, "read the id of"},
    {PERF_EVENT_IOC_SET_BPF, "attach a BPF program to"},
    {PERF_EVENT_IOC_PAUSE_OUTPUT, "pause the records of"},
    {PERF_EVENT_IOC_QUERY_BPF, "list the BPF programs of"},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, "modify"},
};

static const char *name_of(unsigned long request) {
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++)
    if (names[i].request == request)
      return names[i].name;
  return "control";
}

/* Finds the name of a tracepoint whose filter was refused. Returns 1 if it was
 * found, else 0. This takes up to a tenth of a second, which is too long for
 * other requests, because a program may repeat those on its loop. */
static int name_tracepoint(const refusal_t *refusal, char *name, size_t size) {
  const struct perf_event_attr *attr = refusal->control->attr;

  return refusal->control->request == PERF_EVENT_IOC_SET_FILTER &&
         attr->type == PERF_TYPE_TRACEPOINT &&
         uvperf__tracefs_name(attr->config, name, size) == 0;
}

/* Writes " by \"prev_pid == 1\"". A long filter is cut, because it may have a
 * page. */
static void describe_filter(char *text, size_t size, const char *filter) {
  snprintf(text, size, " by \"%.32s%s\"", filter,
           strlen(filter) > 32 ? "..." : "");
}

/* Fills the error with the request, the event and the reason. Always returns 1,
 * because the reason is known. */
static int control_say(const refusal_t *refusal, int cause, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

static int control_say(const refusal_t *refusal, int cause, const char *format,
                       ...) {
  const uvperf__control_t *control = refusal->control;
  char reason[sizeof(refusal->error->reason)];
  char event[UVPERF__DESCRIBE_BYTES], name[80], by[48] = "";
  va_list args;

  va_start(args, format);
  vsnprintf(reason, sizeof(reason), format, args);
  va_end(args);
  if (name_tracepoint(refusal, name, sizeof(name)))
    snprintf(event, sizeof(event), "tracepoint %s", name);
  else
    uvperf__describe_event(event, sizeof(event), control->attr);
  if (control->request == PERF_EVENT_IOC_SET_FILTER)
    describe_filter(by, sizeof(by), control->filter);
  uvperf__error_set(refusal->error, refusal->code, cause, "cannot %s %s%s: %s",
                    name_of(control->request), event, by, reason);
  return 1;
}

/* Fills limit and needed, after the reason. Always returns 1. */
static int control_limit(const refusal_t *refusal, uint64_t limit,
                         uint64_t needed) {
  return uvperf__error_limit(refusal->error, 1, limit, needed);
}

/* -- REFRESH, PERIOD ------------------------------------------------------ */

/* Each of these functions is a test of the table below. Those named after a
 * request also fill the error if they return 1. */

static int is_counting(const refusal_t *refusal) {
  return refusal->control->attr->sample_period == 0;
}

static int is_inherited(const refusal_t *refusal) {
  return refusal->control->attr->inherit;
}

/* _perf_event_period. */
static int period_einval(const refusal_t *refusal) {
  uint64_t value = refusal->control->value;
  int is_freq = refusal->control->attr->freq;
  int64_t most;

  if (value == 0)
    return control_say(refusal, UVPERF_CAUSE_ARGUMENT,
                       "the %s is 0; to stop sampling, disable the event",
                       is_freq ? "frequency" : "period");
  if (!is_freq && value >> 63)
    return control_say(refusal, UVPERF_CAUSE_ARGUMENT,
                       "the period is not below 2^63; use a shorter one");
  if (!is_freq)
    return control_say(refusal, UVPERF_CAUSE_NOT_SUPPORTED,
                       "the PMU does not accept this period; try a longer one");
  if (uvperf__system_number(UVPERF__MAX_SAMPLE_RATE, &most) != 0 || most < 0 ||
      value <= (uint64_t)most)
    return 0;
  control_say(
      refusal, UVPERF_CAUSE_SAMPLE_RATE,
      "%llu Hz is above kernel.perf_event_max_sample_rate, %lld; sample less "
      "often or raise it",
      (unsigned long long)value, (long long)most);
  return control_limit(refusal, (uint64_t)most, value);
}

/* -- SET_FILTER ----------------------------------------------------------- */

static int is_tracepoint(const refusal_t *refusal) {
  return refusal->control->attr->type == PERF_TYPE_TRACEPOINT;
}

static int is_tracing(const refusal_t *refusal) {
  return is_tracepoint(refusal) ||
         uvperf__pmu_is_probe(refusal->control->attr->type) == 1;
}

/* /sys/bus/event_source/devices/<pmu>/nr_addr_filters: nr_addr_filters_show. */
static int has_addr_filters(const refusal_t *refusal) {
  char pmu[24], path[96];
  int64_t nr;

  if (uvperf__pmu_name(refusal->control->attr->type, pmu, sizeof(pmu)) != 0)
    return 0;
  snprintf(path, sizeof(path),
           "/sys/bus/event_source/devices/%s/nr_addr_filters", pmu);
  return uvperf__system_number(path, &nr) == 0 && nr > 0;
}

/* perf_event_set_filter (strndup_user accepts one page, with the NUL at the
 * end), and process_preds in kernel/trace/trace_events_filter.c. */
static int filter_einval(const refusal_t *refusal) {
  const char *filter = refusal->control->filter;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char name[128], by[48], text[sizeof(refusal->error->reason) - 1];
  int used;

  if (strlen(filter) >= page)
    return control_say(
        refusal, UVPERF_CAUSE_ARGUMENT,
        "the filter has %zu bytes; it must be shorter than a page, %zu bytes",
        strlen(filter), page);
  if (name_tracepoint(refusal, name, sizeof(name))) {
    describe_filter(by, sizeof(by), filter);
    used = snprintf(text, sizeof(text), "cannot filter tracepoint %s%s: ", name,
                    by);
    if (uvperf__filter_describe(name, filter, text + used,
                                sizeof(text) - (size_t)used) == 0) {
      uvperf__error_set(refusal->error, refusal->code, UVPERF_CAUSE_ARGUMENT,
                        "%s", text);
      return 1;
    }
  }
  return 0;
}

/* -- SET_BPF, QUERY_BPF --------------------------------------------------- */

static int bpf_ebadf(const refusal_t *refusal) {
  return control_say(refusal, UVPERF_CAUSE_ARGUMENT, "fd %d is not open",
                     (int)refusal->control->value);
}

/* Returns the program type that __perf_event_set_bpf_prog requires. */
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

/* bpf_prog_show_fdinfo in kernel/bpf/syscall.c prints the type. The probes of
 * tracefs have PERF_TYPE_TRACEPOINT too. */
static int bpf_einval(const refusal_t *refusal) {
  int fd = (int)refusal->control->value;
  const char *wanted_name;
  int wanted = wanted_program(refusal, &wanted_name);
  char path[64], type[16];
  int rc;

  snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", fd);
  rc = uvperf__system_line(path, "prog_type:", type, sizeof(type));
  if (rc == -ENODATA)
    return control_say(refusal, UVPERF_CAUSE_ARGUMENT,
                       "fd %d is not a BPF program", fd);
  if (rc != 0)
    return control_say(refusal, UVPERF_CAUSE_ARGUMENT,
                       "fd %d is not a BPF program of the type %s (%d)", fd,
                       wanted_name, wanted);
  if (atoi(type) != wanted)
    return control_say(refusal, UVPERF_CAUSE_ARGUMENT,
                       "the program has type %d, but the event needs %s (%d)",
                       atoi(type), wanted_name, wanted);
  if (wanted == BPF_TRACEPOINT)
    return control_say(
        refusal, UVPERF_CAUSE_ARGUMENT,
        "the event does not accept this program; for a probe that was "
        "made in tracefs, load it as BPF_PROG_TYPE_KPROBE (%d)",
        BPF_KPROBE);
  return control_say(
      refusal, UVPERF_CAUSE_ARGUMENT,
      "the event does not accept this program; only some probes accept "
      "one that sleeps, writes registers or overrides a return value");
}

static int bpf_e2big(const refusal_t *refusal) {
  control_say(
      refusal, UVPERF_CAUSE_BPF_PROGRAMS,
      "%d programs are attached to it, which is the limit; detach one by "
      "closing its event",
      MOST_PROGRAMS);
  return control_limit(refusal, MOST_PROGRAMS, MOST_PROGRAMS + 1);
}

/* Returns the words after the name of a capability. capable() in the kernel
 * checks for it in the initial user namespace. */
static const char *control_where(void) {
  return uvperf__system_is_user_namespace() == 1
             ? " outside this user namespace"
             : "";
}

/* perf_event_query_prog_array in kernel/trace/bpf_trace.c. */
static int query_eperm(const refusal_t *refusal) {
  if (uvperf__system_is_perfmon() == 1)
    return 0;
  return control_say(
      refusal, UVPERF_CAUSE_PERMISSION,
      "this needs CAP_PERFMON%s at any kernel.perf_event_paranoid",
      control_where());
}

static int has_cookie(const refusal_t *refusal) {
  return refusal->control->has_cookie;
}

static int bpf_link(const refusal_t *refusal) {
  if (has_cookie(refusal))
    uvperf__explain_bpf(refusal->error, refusal->code,
                        "cannot make the BPF link that the cookie needs");
  return has_cookie(refusal);
}

static int query_enospc(const refusal_t *refusal) {
  control_say(refusal, UVPERF_CAUSE_BPF_PROGRAMS,
              "%llu programs are attached; pass an array for this many ids",
              (unsigned long long)refusal->control->value);
  return control_limit(refusal, 0, refusal->control->value);
}

/* -- MODIFY_ATTRIBUTES ---------------------------------------------------- */

/* Whether a field may differ. perf_event_modify_attr and
 * hw_breakpoint_copy_attr (kernel/events/hw_breakpoint.c) accept other values
 * of some fields, and the library sets some fields itself. */
static int may_differ(unsigned int field) {
  return field == UVPERF_ATTR_DISABLED || field == UVPERF_ATTR_BP_TYPE ||
         field == UVPERF_ATTR_CONFIG1 || field == UVPERF_ATTR_CONFIG2 ||
         field == UVPERF_ATTR_SIG_DATA;
}

/* Returns the first field that differs but must not differ, or NULL if there is
 * no such field. */
static const char *modify_difference(const uvperf__control_t *control) {
  unsigned int field;

  /* The type is checked first, because it decides the meaning of the other
   * fields. */
  if (control->attr->type != control->wanted->type)
    return uvperf__attr_field_name(UVPERF_ATTR_TYPE);
  for (field = 0; field <= UVPERF_ATTR_CONFIG4; field++)
    if (!may_differ(field) && uvperf__attr_value(control->attr, field) !=
                                  uvperf__attr_value(control->wanted, field))
      return uvperf__attr_field_name(field);
  return NULL;
}

static int modify_einval(const refusal_t *refusal) {
  const char *field = modify_difference(refusal->control);
  const char *fault =
      uvperf__breakpoint_fault(refusal->control->wanted, refusal->code);

  if (field != NULL)
    return control_say(
        refusal, UVPERF_CAUSE_ARGUMENT,
        "attr.%s differs from uvperf_handle_attr(); only bp_addr, "
        "bp_len, bp_type and sig_data may change",
        field);
  return fault != NULL &&
         control_say(refusal, UVPERF_CAUSE_ARGUMENT, "%s", fault);
}

/* perf_event_modify_attr, or for a breakpoint the code for the processor. */
static int modify_enotsup(const refusal_t *refusal) {
  const char *fault =
      uvperf__breakpoint_fault(refusal->control->wanted, refusal->code);

  if (refusal->control->attr->type != PERF_TYPE_BREAKPOINT)
    fault = "only breakpoints can be modified; open another event";
  return control_say(refusal, UVPERF_CAUSE_NOT_SUPPORTED, "%s",
                     fault != NULL ? fault
                                   : "this CPU has no such breakpoints");
}

/* perf_copy_attr has written the size that it knows into the attr. */
static int modify_e2big(const refusal_t *refusal) {
  control_say(
      refusal, UVPERF_CAUSE_OLD_KERNEL,
      "the attr has fields after the %u bytes that this kernel knows; leave "
      "them 0",
      refusal->control->wanted->size);
  return control_limit(refusal, refusal->control->wanted->size, 0);
}

/* -- every request -------------------------------------------------------- */

#define ONLY_COUNTS                                                            \
  "it has no period, so it only counts; open it with attr.sample_period or "   \
  "attr.sample_freq"
#define OVERFLOWS_RAN_OUT                                                      \
  "its overflows ran out, and since Linux 6.16 an event of another thread "    \
  "then stays stopped; close it and open it again"
#define TOO_MANY_CONDITIONS                                                    \
  "the filter has more conditions than this kernel allows; use fewer"
#define NO_BPF                                                                 \
  "this kernel does not run BPF programs on perf events; it needs "            \
  "CONFIG_BPF_EVENTS and CONFIG_BPF_SYSCALL"

/* The first row whose request, code and test fit is the reason. Request 0
 * matches every request, and a row without a test always fits. If a row has no
 * text, its test fills the error. */
static const struct {
  unsigned long request;
  int code;
  int (*test)(const refusal_t *refusal);
  int cause;
  const char *text;
} reasons[] = {
    /* _perf_event_refresh. */
    {PERF_EVENT_IOC_REFRESH, -EINVAL, is_counting, UVPERF_CAUSE_ARGUMENT,
     ONLY_COUNTS},
    {PERF_EVENT_IOC_REFRESH, -EINVAL, is_inherited, UVPERF_CAUSE_ARGUMENT,
     "an event with attr.inherit does not count its overflows; open it without "
     "inherit"},
    /* The library's own code, not the kernel's: enable_alone of
     * event/control.c. */
    {PERF_EVENT_IOC_REFRESH, -EOPNOTSUPP, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
     OVERFLOWS_RAN_OUT},
    {PERF_EVENT_IOC_ENABLE, -EOPNOTSUPP, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
     OVERFLOWS_RAN_OUT},
    {PERF_EVENT_IOC_PERIOD, -EINVAL, is_counting, UVPERF_CAUSE_ARGUMENT,
     ONLY_COUNTS},
    {PERF_EVENT_IOC_PERIOD, -EINVAL, period_einval, 0, NULL},
    {PERF_EVENT_IOC_PAUSE_OUTPUT, -EINVAL, NULL, UVPERF_CAUSE_ARGUMENT,
     "it has no ring"},
    {PERF_EVENT_IOC_SET_FILTER, -EINVAL, filter_einval, 0, NULL},
    {PERF_EVENT_IOC_SET_FILTER, -EINVAL, is_tracing, UVPERF_CAUSE_ARGUMENT,
     "the filter is not valid; events/<category>/<name>/format in tracefs "
     "lists "
     "the fields"},
    {PERF_EVENT_IOC_SET_FILTER, -EINVAL, has_addr_filters,
     UVPERF_CAUSE_ARGUMENT,
     "the filter is not valid; write it as in \"filter 0x1000/0x200@/path\""},
    {PERF_EVENT_IOC_SET_FILTER, -EINVAL, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
     "it takes no filter; only tracepoints, probes and PMUs that trace "
     "instructions do"},
    /* The codes -2 and -3 of calc_stack in kernel/trace/trace_events_filter.c
     * arrive as ENOENT and ESRCH. */
    {PERF_EVENT_IOC_SET_FILTER, -ENOENT, is_tracing, UVPERF_CAUSE_ARGUMENT,
     "a bracket is not closed"},
    {PERF_EVENT_IOC_SET_FILTER, -ENOENT, NULL, UVPERF_CAUSE_ARGUMENT,
     "the file that the filter names does not exist"},
    {PERF_EVENT_IOC_SET_FILTER, -ESRCH, NULL, UVPERF_CAUSE_ARGUMENT,
     "a quotation mark is not closed"},
    {PERF_EVENT_IOC_SET_FILTER, -EEXIST, NULL, UVPERF_CAUSE_EXISTS,
     "it already has a filter, and can have only one; open another event for "
     "the other filter"},
    /* MAX_FILTER_PRED of kernels before 4.17. */
    {PERF_EVENT_IOC_SET_FILTER, -ENOSPC, NULL, UVPERF_CAUSE_ARGUMENT,
     TOO_MANY_CONDITIONS},
    {PERF_EVENT_IOC_SET_FILTER, -E2BIG, NULL, UVPERF_CAUSE_ARGUMENT,
     TOO_MANY_CONDITIONS},
    /* perf_event_set_addr_filter. */
    {PERF_EVENT_IOC_SET_FILTER, -EOPNOTSUPP, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
     "the PMU does not support this kind or number of address filters; see its "
     "nr_addr_filters in /sys"},
    {PERF_EVENT_IOC_SET_BPF, -EBADF, bpf_ebadf, 0, NULL},
    {PERF_EVENT_IOC_SET_BPF, -EINVAL, bpf_einval, 0, NULL},
    {PERF_EVENT_IOC_SET_BPF, -E2BIG, bpf_e2big, 0, NULL},
    /* For tracepoints, EACCES comes from __perf_event_set_bpf_prog. For other
     * events it comes from a security module. */
    {PERF_EVENT_IOC_SET_BPF, -EACCES, is_tracepoint, UVPERF_CAUSE_ARGUMENT,
     "the program reads beyond the tracepoint's fields (see its format in "
     "tracefs), or a security module forbids it"},
    {PERF_EVENT_IOC_SET_BPF, -EPERM, bpf_link, 0, NULL},
    {PERF_EVENT_IOC_SET_BPF, -EMFILE, bpf_link, 0, NULL},
    {PERF_EVENT_IOC_SET_BPF, -ENFILE, bpf_link, 0, NULL},
    /* perf_event_attach_bpf_prog, bpf_prog_array_copy. */
    {PERF_EVENT_IOC_SET_BPF, -EEXIST, NULL, UVPERF_CAUSE_EXISTS,
     "it already has a program, and can have only one, or this program is "
     "already attached through another event"},
    /* perf_event_set_bpf_handler. */
    {PERF_EVENT_IOC_SET_BPF, -EPROTO, NULL, UVPERF_CAUSE_ARGUMENT,
     "the program reads stacks, which needs PERF_SAMPLE_CALLCHAIN of kernel "
     "and user with precise_ip; set it, or clear precise_ip"},
    /* uvperf__ioctl_bpf returns this code if the kernel makes no link. */
    {PERF_EVENT_IOC_SET_BPF, -EOPNOTSUPP, has_cookie, UVPERF_CAUSE_OLD_KERNEL,
     "a cookie needs a BPF link, which this kernel does not have for such a "
     "program (Linux 5.15 does); use cookie 0"},
    {PERF_EVENT_IOC_SET_BPF, -EOPNOTSUPP, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
     NO_BPF},
    {PERF_EVENT_IOC_QUERY_BPF, -EOPNOTSUPP, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
     NO_BPF},
    {PERF_EVENT_IOC_QUERY_BPF, -EINVAL, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
     "only an event of PERF_TYPE_TRACEPOINT can list its programs"},
    {PERF_EVENT_IOC_QUERY_BPF, -EPERM, query_eperm, 0, NULL},
    {PERF_EVENT_IOC_QUERY_BPF, -ENOSPC, query_enospc, 0, NULL},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -EINVAL, modify_einval, 0, NULL},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -EOPNOTSUPP, modify_enotsup, 0, NULL},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -E2BIG, modify_e2big, 0, NULL},
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -ENOSPC, NULL,
     UVPERF_CAUSE_BREAKPOINT_SLOTS,
     "all of the CPU's slots for breakpoints of the new bp_type are in use; "
     "close one"},
    /* hw_breakpoint_parse in kernel/events/hw_breakpoint.c. */
    {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -EPERM, NULL, UVPERF_CAUSE_PERMISSION,
     "a bp_addr in the kernel needs CAP_SYS_ADMIN"},
    {0, -EACCES, NULL, UVPERF_CAUSE_PERMISSION,
     "a security module (SELinux?) forbids it; see its log, or run the program "
     "in another domain"},
    {0, -EPERM, NULL, UVPERF_CAUSE_PERMISSION,
     "a seccomp filter or a security module forbids it"},
    /* Only in PERF_EVENT_STATE_REVOKED, after perf_pmu_unregister. */
    {0, -ENODEV, NULL, UVPERF_CAUSE_NO_EVENT,
     "the PMU was unregistered and its driver unloaded; close the event"},
    {0, -ENOMEM, NULL, UVPERF_CAUSE_MEMORY, "out of memory"},
    {0, -ENOTTY, NULL, UVPERF_CAUSE_OLD_KERNEL,
     "this kernel does not have this ioctl"},
};

int uvperf__explain_control(uvperf_error_t *error, int code,
                            const uvperf__control_t *control) {
  refusal_t refusal = {error, code, control};
  size_t i;

  if (error == NULL)
    return code;
  for (i = 0; i < COUNT_OF(reasons); i++) {
    if (reasons[i].code != code ||
        (reasons[i].request != 0 && reasons[i].request != control->request) ||
        (reasons[i].test != NULL && !reasons[i].test(&refusal)))
      continue;
    if (reasons[i].text != NULL)
      control_say(&refusal, reasons[i].cause, "%s", reasons[i].text);
    return code;
  }
  control_say(&refusal, UVPERF_CAUSE_UNKNOWN, "the kernel returned errno %d",
              -code);
  return code;
}

/* -- bpf(2) ---------------------------------------------------------------- */

/* Since Linux 4.4, each kernel with bpf(2) has this file. */
#define BPF_LEVEL "/proc/sys/kernel/unprivileged_bpf_disabled"

/* If kernel.unprivileged_bpf_disabled is not 0, bpf(2) needs the capability. Up
 * to Linux 5.18 every command needs it (__sys_bpf in kernel/bpf/syscall.c).
 * Later only some commands do. Whatever the setting is, some commands always
 * need the capability. Seccomp profiles of containers allow the call to
 * processes that have the capability. */
static int explain_denied(uvperf_error_t *error, int code, const char *what) {
  int has_filter = uvperf__system_has_filter();
  const char *elsewhere = control_where();
  int64_t level = 0;

  uvperf__system_number(BPF_LEVEL, &level);
  /* Before Linux 5.8 CAP_SYS_ADMIN was needed, and it is still enough. */
  if (*elsewhere != '\0' ||
      (uvperf__system_has_capability(UVPERF__CAP_BPF) != 1 &&
       uvperf__system_has_capability(UVPERF__CAP_SYS_ADMIN) != 1))
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_PERMISSION,
        "%s: bpf(2) needs CAP_BPF%s, or CAP_SYS_ADMIN before Linux 5.8 "
        "(kernel.unprivileged_bpf_disabled is %lld)%s",
        what, elsewhere, (long long)level,
        has_filter ? "; a container needs --cap-add BPF" : "");
  if (has_filter)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_PERMISSION,
        "%s: denied despite CAP_BPF by a seccomp filter or a security module; "
        "allow bpf in the container's profile or in systemd's "
        "SystemCallFilter=, or see the audit log",
        what);
  return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                           "%s: denied despite CAP_BPF, perhaps by a security "
                           "module; see the audit log",
                           what);
}

static int explain_enosys(uvperf_error_t *error, int code, const char *what) {
  int64_t level;

  return uvperf__error_set(
      error, code, UVPERF_CAUSE_NOT_SUPPORTED, "%s: this kernel has %s", what,
      uvperf__system_number(BPF_LEVEL, &level) == 0 ||
              (uvperf__system_has_filter() && !uvperf__system_lacks(BPF_LEVEL))
          ? "bpf(2), but a seccomp filter or a sandbox hides it; allow it in "
            "the container's profile or by --cap-add BPF"
          : "no bpf(2); it needs CONFIG_BPF_SYSCALL");
}

int uvperf__explain_bpf(uvperf_error_t *error, int code, const char *what) {
  if (error == NULL)
    return code;
  if (uvperf__is_shortage(code))
    return uvperf__error_shortage(error, code, what);
  switch (code) {
    case -EPERM:
    case -EACCES:
      return explain_denied(error, code, what);
    case -ENOSYS:
      return explain_enosys(error, code, what);
    default:
      return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                               "%s: bpf(2) returned errno %d", what, -code);
  }
}
