/* SPDX-License-Identifier: MIT */
#include "check_pmus.h"
#include "support.h"

#include "host/pmu.h"

int check_pmus_add(const char *name, void *data) {
  check_pmus_t *names = data;
  size_t at = strlen(names->text);

  assert_true(at + strlen(name) + 3 < sizeof(names->text));
  sprintf(names->text + at, " %s ", name);
  names->nr += 1;
  return 0;
}

int check_pmus_has(const check_pmus_t *names, const char *name) {
  char blank[UVPERF__PMU_NAME_BYTES + 2];

  snprintf(blank, sizeof(blank), " %s ", name);
  return strstr(names->text, blank) != NULL;
}
