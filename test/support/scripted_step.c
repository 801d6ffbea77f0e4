/* SPDX-License-Identifier: MIT */
#include "scripted_step.h"

#include "attr/attr.h"

void step_fail(const char *text, const char *what) {
  fail_msg("\"%s\": %s", text, what);
}

/* Splits a step into words. A text in '' is one word. */
void step_split(char *text, step_t *step) {
  char *at = text, *end;

  for (step->nr = 0; *(at += strspn(at, " ")) != '\0'; step->nr++) {
    if (step->nr == STEP_WORDS)
      step_fail(step->text, "too many words");
    end = at + strcspn(at, " ");
    if (*at == '\'')
      for (end = strchr(++at, '\'');
           end != NULL && strchr(" ", end[1]) == NULL;)
        end = strchr(end + 1, '\'');
    if (end == NULL)
      step_fail(step->text, "a text has no end");
    step->words[step->nr] = at;
    at = end;
    if (*at != '\0')
      *at++ = '\0';
  }
}

const char *step_word(const step_t *step, size_t nr) {
  if (nr >= step->nr)
    step_fail(step->text, "a word is missing");
  return step->words[nr];
}

int step_is(const step_t *step, size_t nr, const char *text) {
  return strcmp(step_word(step, nr), text) == 0;
}

uint64_t step_number(const char *text) {
  char *end;
  uint64_t value = strtoull(text, &end, 0);

  if (*text == '\0' || *end != '\0')
    step_fail(text, "is no number");
  return value;
}

uint64_t step_value(const step_t *step, size_t nr) {
  return step_number(step_word(step, nr));
}

size_t step_nth(const step_t *step, size_t nr) {
  return (size_t)step_value(step, nr);
}

long step_meaning(const step_name_t *names, size_t nr, const char *word) {
  size_t i;

  for (i = 0; i < nr; i++)
    if (strcmp(names[i].name, word) == 0)
      return names[i].value;
  step_fail(word, "has no meaning here");
  return 0;
}

static const step_name_t codes[] = {{"0", 0},
                                    {"EACCES", EACCES},
                                    {"EAGAIN", EAGAIN},
                                    {"EBADF", EBADF},
                                    {"EBUSY", EBUSY},
                                    {"ECANCELED", ECANCELED},
                                    {"ECHILD", ECHILD},
                                    {"EEXIST", EEXIST},
                                    {"EFAULT", EFAULT},
                                    {"EINVAL", EINVAL},
                                    {"EIO", EIO},
                                    {"EMFILE", EMFILE},
                                    {"ENFILE", ENFILE},
                                    {"ENODEV", ENODEV},
                                    {"ENOENT", ENOENT},
                                    {"ENOMEM", ENOMEM},
                                    {"ENOSYS", ENOSYS},
                                    {"ENOTTY", ENOTTY},
                                    {"EPERM", EPERM},
                                    {"EPROTO", EPROTO},
                                    {"ESRCH", ESRCH},
                                    {"E2BIG", E2BIG},
                                    {"EINTR", EINTR},
                                    {"EUCLEAN", EUCLEAN},
                                    {"ENOSPC", ENOSPC},
                                    {"EXDEV", EXDEV},
                                    {"ECONNRESET", ECONNRESET},
                                    {"EOF", -UV_EOF},
                                    {"ETIMEDOUT", ETIMEDOUT},
                                    {"EOPNOTSUPP", EOPNOTSUPP},
                                    {"EOVERFLOW", EOVERFLOW}};

int step_code(const char *name) {
  return -(int)step_meaning(codes, COUNT_OF(codes), name);
}

const char *step_code_name(int code) {
  size_t i = 0;

  while (i < COUNT_OF(codes) && codes[i].value != -code)
    i++;
  if (i == COUNT_OF(codes))
    fail_msg("the code %d has no name", code);
  return codes[i].name;
}

enum uvperf_attr_field step_field(const char *name) {
  unsigned field = 0;

  while (field < STEP_FIELDS &&
         strcmp(uvperf__attr_field_name(field), name) != 0)
    field++;
  if (field == STEP_FIELDS)
    step_fail(name, "is no field");
  return (enum uvperf_attr_field)field;
}

uint64_t step_split_value(char *text) {
  char *equals = strchr(text, '=');

  if (equals == NULL)
    step_fail(text, "has no =");
  *equals = '\0';
  return step_number(equals + 1);
}

uint64_t step_bits(const step_t *step, const step_name_t *names, size_t nr) {
  uint64_t bits = 0;
  size_t i;

  for (i = 1; i < step->nr; i++)
    bits |= step->words[i][0] <= '9'
                ? step_number(step->words[i])
                : (uint64_t)step_meaning(names, nr, step->words[i]);
  return bits;
}

uint32_t step_fallbacks(const step_t *step) {
  static const step_name_t names[] = {{"all", UVPERF_FALLBACK_ALL},
                                      {"clock", UVPERF_FALLBACK_CLOCK},
                                      {"user", UVPERF_FALLBACK_USER},
                                      {"kernel", UVPERF_FALLBACK_KERNEL},
                                      {"precise", UVPERF_FALLBACK_PRECISE}};

  return (uint32_t)step_bits(step, names, COUNT_OF(names));
}

void step_set_fields(const step_t *step, size_t at,
                     struct perf_event_attr *attr) {
  uint64_t field;

  for (; at < step->nr; at++) {
    field = step_split_value(step->words[at]);
    if (step_is(step, at, "size"))
      attr->size = (uint32_t)field;
    else if (uvperf_attr_set(attr, step_field(step->words[at]), field) != 0)
      step_fail(step->text, "the field does not take this");
  }
}
