/* SPDX-License-Identifier: MIT */
/* A program of a user, which reads a record by the names of its fields and
 * exits with 0 if the values are as expected. */
#include <stdio.h>
#include <string.h>

#include <uvperf/tracepoint.h>

static const char format[] =
    "name: x\nID: 7\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:int pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"pid=%d\", REC->pid\n";

int main(void) {
  static const int32_t raw[] = {7, -5};
  uvperf_tracepoint_t *tracepoint;
  uvperf_error_t error;
  uint64_t pid = 0;
  char text[32];
  size_t size = sizeof(text);

  if (uvperf_tracepoint_new_from_format(&tracepoint, "mine", format,
                                        strlen(format), &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  if (uvperf_field_value(uvperf_tracepoint_find(tracepoint, "pid"), raw,
                         sizeof(raw), &pid) != 0 ||
      (int64_t)pid != -5)
    return 2;
  if (uvperf_tracepoint_print(tracepoint, raw, sizeof(raw), text, &size) != 0 ||
      strcmp(text, "pid=-5") != 0)
    return 3;
  uvperf_tracepoint_free(tracepoint);
  return uvperf_version() != UVPERF_VERSION_HEX;
}
