/* SPDX-License-Identifier: MIT */
/* Questions that opening an event answers, as tables of them. */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "doctor/machine.h"
#include "doctor/report.h"

#define DOCTOR_MOUNT_PROC  "as root: mount -t proc proc /proc"
#define DOCTOR_MOUNT_SYSFS "as root: mount -t sysfs sysfs /sys"

/* What the kernel asks for, of which the remedy is made. */
typedef enum doctor_need_e {
  DOCTOR_NEED_OWN,     /* perf_event_paranoid 2 or less */
  DOCTOR_NEED_KERNEL,  /* 1 */
  DOCTOR_NEED_CPU,     /* 0 */
  DOCTOR_NEED_DATA,    /* -1; CAP_PERFMON instead of each of these */
  DOCTOR_NEED_PERFMON, /* CAP_PERFMON, whatever the level */
  DOCTOR_NEED_ADMIN,   /* CAP_SYS_ADMIN, whatever the level */
  DOCTOR_NEED_OWNER    /* to be the target's user, or CAP_PERFMON */
} doctor_need_t;

/* What is opened: where nothing else is said, an event of the calling thread's
 * user side. */
typedef struct doctor_try_s {
  struct perf_event_attr attr;
  uvperf_event_options_t options;
} doctor_try_t;

typedef struct doctor_check_s {
  const char *key;
  const char *title;
  /* Fills what to open: DOCTOR_YES; else the answer is there already, in the
   * item with its error. */
  doctor_result_t (*make)(doctor_try_t *try, const doctor_machine_t *machine,
                          const struct doctor_check_s *check,
                          doctor_item_t *item);
  uint64_t arg; /* of make */
  doctor_need_t need;
  const char
      *since; /* the version of Linux that brought it; NULL: 5.0 had it */
} doctor_check_t;

/* Answers a no, or that it is not known, for a reason of ours. */
doctor_result_t doctor_cannot(doctor_item_t *item, doctor_result_t result,
                              int code, int cause, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* An event that needs no privileges below perf_event_paranoid 3. */
void doctor_try_software(doctor_try_t *try, uint64_t config);

/* Opens and closes it: 0, or a UV_E* and why. *ring_bytes may be NULL. */
int doctor_try_open(const doctor_try_t *try, doctor_machine_t *machine,
                    size_t *ring_bytes, uvperf_error_t *error);

/* Answers that it is not known, as a file could not be read; `mount` is what
 * helps where there is none. */
doctor_result_t doctor_unreadable(doctor_item_t *item,
                                  const doctor_machine_t *machine, int code,
                                  const char *what, const char *mount);

/* Who may set a sysctl or mount: "as root", or where that is root. */
const char *doctor_root(const doctor_machine_t *machine);

/* Whether setcap(8) can give the program a capability, by its number. */
int doctor_can_setcap(const doctor_machine_t *machine, int capability);

/* Says what would help against the item's error, unless that is said. */
void doctor_remedy(doctor_item_t *item, const doctor_machine_t *machine,
                   const doctor_check_t *check, const doctor_try_t *try);

/* Asks the questions of a table. */
void doctor_checks_run(doctor_report_t *report, doctor_machine_t *machine,
                       const char *group, const doctor_check_t *checks,
                       size_t nr);

/* The groups. */
void doctor_system(doctor_report_t *report, const doctor_machine_t *machine);
void doctor_targets(doctor_report_t *report, doctor_machine_t *machine);
void doctor_events(doctor_report_t *report, doctor_machine_t *machine);
void doctor_fields(doctor_report_t *report, doctor_machine_t *machine);
void doctor_rings(doctor_report_t *report, doctor_machine_t *machine);
void doctor_symbols(doctor_report_t *report, const doctor_machine_t *machine);

#endif
