/* SPDX-License-Identifier: MIT */
#include "json_pick.h"

#include "support.h"

static const char *find_value(const char *text, const char *key) {
  char pattern[32];
  const char *found;

  snprintf(pattern, sizeof(pattern), "\"%s\":", key);
  found = strstr(text, pattern);
  return found == NULL ? NULL : found + strlen(pattern);
}

long json_pick_number(const char *text, const char *key, long missing) {
  const char *value = find_value(text, key);

  return value == NULL ? missing : strtol(value, NULL, 10);
}

double json_pick_double(const char *text, const char *key) {
  const char *value = find_value(text, key);

  if (value == NULL)
    print_error("no %s in %s\n", key, text);
  assert_non_null(value);
  return strtod(value, NULL);
}

void json_pick_string(const char *text, const char *key, char *copy,
                      size_t size) {
  const char *value = find_value(text, key);
  size_t i;

  copy[0] = '\0';
  if (value == NULL || *value++ != '"')
    return;
  for (i = 0; value[i] != '"' && i + 2 < size; i++) {
    copy[i] = value[i];
    if (value[i] == '\\') {
      i++;
      copy[i] = value[i];
    }
  }
  copy[i] = '\0';
}
