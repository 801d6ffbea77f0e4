/* SPDX-License-Identifier: MIT */
/* What kernel/events/hw_breakpoint.c, and the code of the processor below it,
 * refuse of a breakpoint. */
#include <errno.h>

#include "explain/internal.h"

/* <linux/hw_breakpoint.h>. */
#define BREAKPOINT_READ  1
#define BREAKPOINT_WRITE 2
#define BREAKPOINT_X     4

#if defined(__x86_64__) || defined(__i386__)
#define IS_X86 1
#else
#define IS_X86 0
#endif

/* HBP_NUM of arch/x86/include/asm/hw_breakpoint.h. */
#define X86_SLOTS 4

static int is_power_of_2(uint64_t number) {
  return number != 0 && (number & (number - 1)) == 0;
}

static const char *type_fault(uint32_t type) {
  if (type == 0 || type > BREAKPOINT_X)
    return "bp_type must be HW_BREAKPOINT_W, _RW or _X";
  if (IS_X86 && type == BREAKPOINT_READ)
    return "x86 has no breakpoint for reading alone: use HW_BREAKPOINT_RW";
  if (type > (BREAKPOINT_READ | BREAKPOINT_WRITE) && type != BREAKPOINT_X)
    return "bp_type must be HW_BREAKPOINT_W, _RW or _X";
  return NULL;
}

/* arch_build_bp_info and hw_breakpoint_arch_parse of x86. Other processors know
 * other lengths: 3 bytes on arm64, say. */
static const char *place_fault(const struct perf_event_attr *attr) {
  if (IS_X86 && attr->bp_type == BREAKPOINT_X && attr->bp_len != sizeof(long))
    return "HW_BREAKPOINT_X needs bp_len sizeof(long)";
  if (attr->bp_len == 0 || (IS_X86 && !is_power_of_2(attr->bp_len)))
    return "bp_len must be 1, 2, 4 or 8";
  if (IS_X86 && attr->bp_type != BREAKPOINT_X &&
      attr->bp_addr % attr->bp_len != 0)
    return "bp_addr must be aligned to bp_len";
  /* The kernels of 32 bits do not all begin at the same address. */
  if (attr->exclude_kernel && attr->bp_addr >> 63)
    return "bp_addr is of the kernel, and exclude_kernel excludes that";
  return NULL;
}

static void explain_slots(const uvperf__attempt_t *attempt) {
  if (IS_X86)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_BREAKPOINT_SLOTS,
        "all %d breakpoint slots of the CPU are in use by this thread, "
        "CPU-wide events or a debugger: close one",
        X86_SLOTS);
  else
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_BREAKPOINT_SLOTS,
        "all breakpoint slots of the CPU are in use by this thread, CPU-wide "
        "events or a debugger: close one");
  attempt->error->limit = IS_X86 ? X86_SLOTS : 0;
  attempt->error->needed = IS_X86 ? X86_SLOTS + 1 : 0;
}

const char *uvperf__breakpoint_fault(const struct perf_event_attr *attr,
                                     int code) {
  const char *fault;

  if (code == -EOPNOTSUPP)
    return attr->bp_len > 8 ? "this CPU has no breakpoints longer than 8 "
                              "bytes: bp_len must be 1, 2, 4 or 8"
                            : NULL;
  fault = type_fault(attr->bp_type);
  return fault != NULL ? fault : place_fault(attr);
}

int uvperf__attempt_breakpoint(const uvperf__attempt_t *attempt) {
  if (attempt->attr->type != PERF_TYPE_BREAKPOINT)
    return 0;
  switch (attempt->code) {
    case -EINVAL:
      return uvperf__attempt_fault(
          attempt, UVPERF_CAUSE_ARGUMENT,
          uvperf__breakpoint_fault(attempt->attr, attempt->code));
    case -ENOSPC:
      explain_slots(attempt);
      return 1;
    case -EOPNOTSUPP:
      return uvperf__attempt_fault(
          attempt, UVPERF_CAUSE_NOT_SUPPORTED,
          uvperf__breakpoint_fault(attempt->attr, attempt->code));
    default:
      return 0;
  }
}
