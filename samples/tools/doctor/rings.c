/* SPDX-License-Identifier: MIT */
/* Checks which rings are possible: the largest ring, and how many rings at
 * once. Each ring is mapped and unmapped. */
#include "doctor/check.h"

#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "common/memory.h"

/* The size that uvperf_event_init maps by default, if permitted. */
#define DEFAULT_BYTES ((size_t)512 << 10)
/* This is more than any program needs. If little memory is free, a smaller ring
 * is tried. */
#define MAX_BYTES ((size_t)64 << 20)

static const doctor_check_t own = {.need = DOCTOR_NEED_OWN};

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

static void try_ring(doctor_try_t *try, size_t bytes) {
  doctor_try_software(try, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&try->attr, 1000000);
  try->options.flags = 0;
  try->options.ring_bytes = bytes;
}

/* Adds the answer for a ring that was tried. */
static doctor_item_t *answer(doctor_report_t *report,
                             const doctor_machine_t *machine, const char *key,
                             const char *title, int rc,
                             const uvperf_error_t *error) {
  doctor_item_t *item = doctor_report_add(report, "rings", key, title,
                                          rc == 0 ? DOCTOR_YES : DOCTOR_NO);
  doctor_try_t try;

  if (rc == 0)
    return item;
  item->error = *error;
  doctor_try_software(&try, PERF_COUNT_SW_CPU_CLOCK);
  doctor_remedy(item, machine, &own, &try);
  return item;
}

static void default_ring(doctor_report_t *report, doctor_machine_t *machine) {
  doctor_item_t *item;
  uvperf_error_t error;
  doctor_try_t try;
  size_t bytes = 0;
  int rc;

  try_ring(&try, 0);
  rc = doctor_try_open(&try, machine, &bytes, &error);
  item = answer(report, machine, "default", "default size", rc, &error);
  if (rc == 0)
    doctor_item_number(item, (int64_t)bytes, "bytes");
}

static void overwritable_ring(doctor_report_t *report,
                              doctor_machine_t *machine) {
  uvperf_error_t error;
  doctor_try_t try;
  int rc;

  try_ring(&try, 0);
  try.attr.write_backward = 1;
  rc = doctor_try_open(&try, machine, NULL, &error);
  answer(report, machine, "overwritable", "overwritable", rc, &error);
}

/* Returns the first size to try. A ring of this size must leave other programs
 * the memory that they need. */
static size_t most_bytes(void) {
  struct sysinfo about;
  size_t bytes = MAX_BYTES;

  if (sysinfo(&about) == 0) {
    while (bytes > page_bytes() && bytes / about.mem_unit > about.freeram / 16)
      bytes /= 2;
  }
  return bytes;
}

static void largest_ring(doctor_report_t *report, doctor_machine_t *machine) {
  size_t most = most_bytes(), bytes;
  doctor_item_t *item;
  uvperf_error_t error;
  doctor_try_t try;
  int rc = -1;

  for (bytes = most; bytes >= page_bytes(); bytes /= 2) {
    try_ring(&try, bytes);
    rc = doctor_try_open(&try, machine, NULL, &error);
    if (rc == 0)
      break;
  }
  item =
      answer(report, machine, "largest",
             bytes == most ? "largest size (that was tried)" : "largest size",
             rc, &error);
  if (rc == 0)
    doctor_item_number(item, (int64_t)bytes, "bytes");
}

/* Maps rings on all CPUs at the same time. Returns the number of CPUs on which
 * that worked. */
static size_t map_on_all(doctor_machine_t *machine, size_t bytes,
                         uvperf_error_t *error) {
  uvperf_event_t *events = common_calloc(machine->cpus.nr, sizeof(*events));
  doctor_try_t try;
  size_t nr, i;

  try_ring(&try, bytes);
  for (nr = 0; nr < machine->cpus.nr; nr++) {
    try.options.cpu = machine->cpus.ids[nr];
    try.options.flags |= UVPERF_EVENT_CPU;
    if (uvperf_event_init(&machine->loop, &events[nr], &try.attr, &try.options,
                          error) != 0)
      break;
  }
  for (i = 0; i < nr; i++)
    uvperf_close(&events[i].handle, NULL);
  uv_run(&machine->loop, UV_RUN_DEFAULT);
  free(events);
  return nr;
}

static void rings_of_all(doctor_report_t *report, doctor_machine_t *machine) {
  size_t bytes = DEFAULT_BYTES, nr;
  doctor_item_t *item;
  uvperf_error_t error;

  nr = map_on_all(machine, bytes, &error);
  item = answer(report, machine, "default_on_all", "512 KiB on each CPU",
                nr < machine->cpus.nr, &error);
  doctor_item_text(item, "%zu of %zu CPUs", nr, machine->cpus.nr);
  while (nr < machine->cpus.nr && bytes > page_bytes()) {
    bytes /= 2;
    nr = map_on_all(machine, bytes, &error);
  }
  item = answer(report, machine, "largest_on_all", "largest size on each CPU",
                nr < machine->cpus.nr, &error);
  if (nr == machine->cpus.nr)
    doctor_item_number(item, (int64_t)bytes, "bytes");
}

void doctor_rings(doctor_report_t *report, doctor_machine_t *machine) {
  default_ring(report, machine);
  overwritable_ring(report, machine);
  largest_ring(report, machine);
  rings_of_all(report, machine);
}
