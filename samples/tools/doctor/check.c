/* SPDX-License-Identifier: MIT */
/* Opens events to answer the checks. */
#include "doctor/check.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "common/remedies.h"

doctor_result_t doctor_cannot(doctor_item_t *item, doctor_result_t result,
                              int code, int cause, const char *format, ...) {
  va_list args;

  item->error.code = code;
  item->error.cause = cause;
  va_start(args, format);
  vsnprintf(item->error.reason, sizeof(item->error.reason), format, args);
  va_end(args);
  return result;
}

void doctor_try_software(doctor_try_t *try, uint64_t config) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.flags = UVPERF_EVENT_NO_RING;
  try->options = options;
  uvperf_attr_software(&try->attr, config);
  try->attr.exclude_kernel = 1;
  try->attr.exclude_hv = 1;
}

int doctor_try_open(const doctor_try_t *try, doctor_machine_t *machine,
                    size_t *ring_bytes, uvperf_error_t *error) {
  uvperf_event_t event;
  uvperf_ring_info_t ring;
  int rc = uvperf_event_init(&machine->loop, &event, &try->attr, &try->options,
                             error);

  if (rc == 0) {
    if (ring_bytes != NULL && uvperf_ring(&event.handle, 0, &ring) == 0)
      *ring_bytes = (size_t)ring.bytes;
    uvperf_close(&event.handle, NULL);
  } else {
    common_remedies_for_users(error->reason, 0);
  }
  uv_run(&machine->loop, UV_RUN_DEFAULT);
  return rc;
}

void doctor_checks_run(doctor_report_t *report, doctor_machine_t *machine,
                       const char *group, const doctor_check_t *checks,
                       size_t nr) {
  doctor_item_t *item;
  doctor_try_t try;
  size_t i;

  for (i = 0; i < nr; i++) {
    item = doctor_report_add(report, group, checks[i].key, checks[i].title,
                             DOCTOR_YES);
    doctor_try_software(&try, PERF_COUNT_SW_DUMMY);
    try.machine = machine;
    try.check = &checks[i];
    try.item = item;
    item->result = checks[i].make(&try);
    if (item->result == DOCTOR_YES &&
        doctor_try_open(&try, machine, NULL, &item->error) != 0)
      item->result = DOCTOR_NO;
    if ((try.options.flags & UVPERF_EVENT_CGROUP) && try.options.cgroup >= 0)
      close(try.options.cgroup);
    if (item->result != DOCTOR_YES)
      doctor_remedy(item, machine, &checks[i], &try);
  }
}
