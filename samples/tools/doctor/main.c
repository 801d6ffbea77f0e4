/* SPDX-License-Identifier: MIT */
/* doctor: checks what this process may measure, and with which rings. This file
 * runs the checks in order and prints the report. */
#include <stdio.h>

#include "common/stdio.h"
#include "doctor/check.h"
#include "doctor/options.h"

static int run(const doctor_options_t *options) {
  doctor_report_t report = {NULL, 0, 0};
  doctor_machine_t machine;
  int status = doctor_machine_init(&machine);

  if (status == 0) {
    doctor_system(&report, &machine);
    doctor_targets(&report, &machine);
    doctor_events(&report, &machine);
    doctor_fields(&report, &machine);
    doctor_rings(&report, &machine);
    doctor_symbols(&report, &machine);
    status = uv_loop_close(&machine.loop) != 0;
    if (options->json)
      doctor_report_print_json(&report, stdout);
    else
      doctor_report_print_text(&report, stdout);
  }
  doctor_machine_free(&machine);
  doctor_report_free(&report);
  return status;
}

int main(int argc, char **argv) {
  doctor_options_t options;
  int status;

  common_stdio_init();
  status = doctor_options_parse(&options, argc, argv);
  if (status != 0)
    return status;
  status = run(&options);
  return common_stdio_close(stdout, "stdout") != 0 ? 1 : status;
}
