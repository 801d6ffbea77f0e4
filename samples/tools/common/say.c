/* SPDX-License-Identifier: MIT */
/* Messages on stderr. */
#include "common/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <uvperf.h>

#include "common/remedies.h"
#include "common/text.h"

void common_say(const char *format, ...) {
  char *text = NULL;
  va_list args;

  va_start(args, format);
  if (vasprintf(&text, format, args) < 0)
    text = NULL;
  va_end(args);
  if (text != NULL)
    common_remedies_for_users(text, 1);
  fprintf(stderr, "%s: %s", program_invocation_short_name,
          text == NULL ? "out of memory\n" : text);
  free(text);
}

int common_say_code(const char *what, int code) {
  common_say("%s: %s\n", what, uv_strerror(code));
  return 1;
}

void common_say_of(const char *label, const char *text) {
  char clean[256];

  common_text_clean(clean, sizeof(clean), label);
  common_say("%s: %s\n", clean, text);
}

int common_say_error(const uvperf_error_t *error) {
  common_say("%s\n", error->reason);
  return 1;
}
