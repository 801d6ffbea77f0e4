/* SPDX-License-Identifier: MIT */
/* Tables of checks. Each check opens an event. */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "doctor/machine.h"
#include "doctor/report.h"

#define DOCTOR_MOUNT_PROC  "as root: mount -t proc proc /proc"
#define DOCTOR_MOUNT_SYSFS "as root: mount -t sysfs sysfs /sys"

/* The privilege that the kernel requires. The remedy depends on it. */
typedef enum doctor_need_e {
  /* For these, CAP_PERFMON is enough too. */
  DOCTOR_NEED_OWN,    /* perf_event_paranoid <= 2 */
  DOCTOR_NEED_KERNEL, /* <= 1 */
  DOCTOR_NEED_CPU,    /* <= 0 */
  DOCTOR_NEED_DATA,   /* <= -1 */
  /* For these, no level is enough. */
  DOCTOR_NEED_PERFMON, /* CAP_PERFMON */
  DOCTOR_NEED_ADMIN,   /* CAP_SYS_ADMIN */
  DOCTOR_NEED_OWNER    /* the target's user, or CAP_PERFMON */
} doctor_need_t;

typedef struct doctor_try_s doctor_try_t;

typedef struct doctor_check_s {
  const char *key;
  const char *title;
  /* Fills `try` and returns DOCTOR_YES. If there is nothing to open, returns
   * the final answer instead, with the error in its item. */
  doctor_result_t (*make)(doctor_try_t *try);
  uint64_t arg; /* of make */
  doctor_need_t need;
  const char *since; /* the first version of Linux with it; NULL: 5.0 */
} doctor_check_t;

/* A check that needs no privileges, of a feature that every kernel has. */
#define DOCTOR_OWN(key, title, make, arg)                                      \
  { key, title, make, arg, DOCTOR_NEED_OWN, NULL }

/* The event to open; by default on the user side of the calling thread. */
struct doctor_try_s {
  struct perf_event_attr attr;
  uvperf_event_options_t options;
  const doctor_machine_t *machine;
  const doctor_check_t *check;
  doctor_item_t *item;
};

/* Sets the error of an item whose answer is DOCTOR_NO or DOCTOR_UNKNOWN, with a
 * reason of our own. Returns `result`. */
doctor_result_t doctor_cannot(doctor_item_t *item, doctor_result_t result,
                              int code, int cause, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Fills `try` with an event that needs no privileges up to perf_event_paranoid
 * 2. */
void doctor_try_software(doctor_try_t *try, uint64_t config);

/* Opens the event and closes it. Returns 0, or a UV_E* with the reason in
 * *error. ring_bytes may be NULL. */
int doctor_try_open(const doctor_try_t *try, doctor_machine_t *machine,
                    size_t *ring_bytes, uvperf_error_t *error);

/* Answers "unknown", because a file could not be read. `mount` is the remedy if
 * the file does not exist. */
doctor_result_t doctor_unreadable(doctor_item_t *item,
                                  const doctor_machine_t *machine, int code,
                                  const char *what, const char *mount);

/* Returns who may set a sysctl or mount a file system: "as root", or as root of
 * the host or of the initial user namespace. */
const char *doctor_root(const doctor_machine_t *machine);

/* Returns 1 if setcap(8) can give this capability to the program. */
int doctor_can_setcap(const doctor_machine_t *machine, int capability);

/* Sets the remedy for the item's error, if the error has no remedy yet. */
void doctor_remedy(doctor_item_t *item, const doctor_machine_t *machine,
                   const doctor_check_t *check, const doctor_try_t *try);

/* Runs the checks of a table. */
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
