/* SPDX-License-Identifier: MIT */
/* Reads the doctor's answers. Does not know which are right. */
#include "doctor_run.h"

#include "json_check.h"

void doctor_run(tool_run_t *run, const char *path, void (*prepare)(void),
                int as_nobody) {
  memset(run, 0, sizeof(*run));
  run->args[0] = path;
  run->args[1] = "--json";
  run->prepare = prepare;
  run->as_nobody = as_nobody;
  tool_run(run);
  tool_run_expect_status(run, 0);
  assert_string_equal(run->err, "");
  if (!json_is_tree(run->out))
    print_error("no tree of JSON:\n%s\n", run->out);
  assert_true(json_is_tree(run->out));
}

/* Where the value of a member begins in an object. Strings hold no unescaped
 * quote, so that a key cannot be found in one. */
static const char *find(const char *object, const char *key) {
  char quoted[64];
  const char *place;

  snprintf(quoted, sizeof(quoted), "\"%s\":", key);
  place = object == NULL ? NULL : strstr(object, quoted);
  return place == NULL ? NULL : place + strlen(quoted);
}

/* Where an object of strings and numbers, or of these, ends. */
static const char *end_of(const char *object) {
  int depth = 0, in_string = 0;

  for (; *object != '\0'; object++) {
    if (*object == '\\')
      object++;
    else if (*object == '"')
      in_string = !in_string;
    else if (!in_string)
      depth += (*object == '{') - (*object == '}');
    if (depth == 0)
      break;
  }
  return object;
}

const char *doctor_member(const tool_run_t *run, const char *group,
                          const char *key, const char *member) {
  static char text[1024];
  const char *object = find(run->out, group), *value = find(object, key);
  const char *end;

  text[0] = '\0';
  if (value == NULL || value > end_of(object))
    return text;
  end = end_of(value);
  if (member != NULL)
    value = *value == '{' ? find(value, member) : NULL;
  if (value == NULL || (member != NULL && value > end))
    return text;
  if (*value == '"')
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(value + 1, "\""),
             value + 1);
  else
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(value, ",}"), value);
  return text;
}

long long doctor_setting(const char *name) {
  long long value = 0;
  char path[96];
  FILE *file;

  snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
  file = fopen(path, "re");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lld", &value), 1);
  fclose(file);
  return value;
}

void doctor_expect(const tool_run_t *run, const char *group, const char *key,
                   const char *member, const char *text) {
  const char *found = doctor_member(run, group, key, member);

  if (strcmp(found, text) != 0)
    print_error("%s.%s.%s is '%s', not '%s', in:\n%s\n", group, key,
                member == NULL ? "" : member, found, text, run->out);
  assert_string_equal(found, text);
}

void doctor_expect_part(const tool_run_t *run, const char *group,
                        const char *key, const char *member, const char *part) {
  const char *found = doctor_member(run, group, key, member);

  if (strstr(found, part) == NULL)
    print_error("%s.%s.%s is '%s', without '%s'\n", group, key, member, found,
                part);
  assert_non_null(strstr(found, part));
}

void doctor_expect_all(const tool_run_t *run, const char *const (*answers)[2],
                       size_t nr, const char *result, const char *code,
                       const char *cause, const char *remedy) {
  const char *group, *key;
  size_t i;

  for (i = 0; i < nr; i++) {
    group = answers[i][0];
    key = answers[i][1];
    doctor_expect(run, group, key, "result", result);
    if (code != NULL)
      doctor_expect(run, group, key, "errno", code);
    if (cause != NULL)
      doctor_expect(run, group, key, "cause", cause);
    if (remedy != NULL)
      doctor_expect_part(run, group, key, "remedy", remedy);
  }
}

void doctor_expect_remedies(const tool_run_t *run) {
  const char *empty = strstr(run->out, "\"remedy\":\"\"");

  if (empty != NULL)
    fail_msg("%.300s", empty - run->out > 250 ? empty - 250 : run->out);
}

void doctor_run_with_fds(tool_run_t *run, const char *path, int nr) {
  static char number[12];

  memset(run, 0, sizeof(*run));
  snprintf(number, sizeof(number), "%d", nr);
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = "ulimit -n $1; exec \"$0\" --json";
  run->args[3] = path;
  run->args[4] = number;
  tool_run(run);
}
