/* SPDX-License-Identifier: MIT */
/* Parses options that several tools have, and explains mistakes in them. Does
 * not depend on what the options do. */
#include "common/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/control.h"
#include "common/delay.h"
#include "common/filters.h"
#include "common/stdio.h"
#include "uvperf/system.h"
#include "uvperf/version.h"

#define MAX_DURATION_S 1e7
#define MAX_RING_MIB   1024u

int common_options_bad(const char *format, ...) {
  va_list args;

  fprintf(stderr, "%s: ", program_invocation_short_name);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\nTry '%s --help'.\n", program_invocation_short_name);
  return COMMON_EXIT_USAGE;
}

/* strtoull accepts signs, spaces and an empty string, so the first character is
 * checked here. */
int common_options_number(const char *text, uint64_t max, uint64_t *number) {
  char *end;

  if (text[0] < '0' || text[0] > '9')
    return -1;
  errno = 0;
  *number = strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || *number == 0 || *number > max)
    return -1;
  return 0;
}

int common_options_count(const char *option, const char *what, uint64_t max,
                         const char *text, uint64_t *number) {
  if (common_options_number(text, max, number) == 0)
    return 0;
  return common_options_bad("%s wants %s, 1 to %llu, not '%s'", option, what,
                            (unsigned long long)max, text);
}

static int parse_seconds(const char *option, const char *text,
                         uint64_t *duration_ms) {
  char *end;
  double seconds;

  errno = 0;
  seconds = strtod(text, &end);
  if (errno != 0 || end == text || *end != '\0' || !isfinite(seconds) ||
      seconds < 0.001 || seconds > MAX_DURATION_S)
    return common_options_bad("%s wants seconds, 0.001 to %.0f, not '%s'",
                              option, MAX_DURATION_S, text);
  *duration_ms = (uint64_t)(seconds * 1000.0 + 0.5);
  return 0;
}

/* An id that is named twice is added once. */
static int parse_ids(const char *option, const char *text, common_ids_t *list) {
  const char *all = text;
  uint64_t number;
  char digits[16];
  size_t size;

  for (;;) {
    size = strcspn(text, ",");
    snprintf(digits, sizeof(digits), "%.*s", (int)size, text);
    if (size >= sizeof(digits) ||
        common_options_number(digits, INT32_MAX, &number) != 0)
      return common_options_bad("%s wants ids such as 17 or 17,18, not '%s'",
                                option, all);
    if (!common_ids_has(list, (int32_t)number))
      common_ids_add(list, (int32_t)number);
    if (text[size] == '\0')
      return 0;
    text += size + 1;
  }
}

/* Adds the names of cgroups, such as "a,b/c", to a list. */
static int parse_cgroups(const char *text, common_texts_t *list) {
  const char *all = text;
  size_t size;

  for (;;) {
    size = strcspn(text, ",");
    if (size == 0)
      return common_options_bad("-G wants the names of cgroups, such as a or "
                                "a,b/c, not '%s'",
                                all);
    common_texts_add(list, text, size);
    if (text[size] == '\0')
      return 0;
    text += size + 1;
  }
}

/* Checks that a text is a list of CPUs such as "0-3,8". */
static int parse_cpus(const char *option, const char *text) {
  size_t nr = 0;
  int rc = uvperf_cpu_list_parse(text, NULL, &nr);

  if (nr > 0 && (rc == 0 || rc == -ENOBUFS))
    return 0;
  return common_options_bad("%s wants a list of CPUs such as 0 or 0-3,8, "
                            "not '%s'",
                            option, text);
}

int common_options_ring(const char *text, size_t *bytes) {
  static const char units[] = "BKMG";
  size_t size = strlen(text), unit = (size_t)sysconf(_SC_PAGESIZE);
  uint64_t number;
  char digits[16];
  const char *letter;

  if (size > 0 && (letter = strchr(units, text[size - 1])) != NULL) {
    unit = (size_t)1 << 10 * (letter - units);
    size--;
  }
  snprintf(digits, sizeof(digits), "%.*s", (int)size, text);
  if (size >= sizeof(digits) ||
      common_options_number(digits, (MAX_RING_MIB << 20) / unit, &number) != 0)
    return common_options_bad("-m wants a size such as 512K or 4M, or a number "
                              "of pages, up to %uM, not '%s'",
                              MAX_RING_MIB, text);
  *bytes = (size_t)number * unit;
  return 0;
}

/* Finds the command after the options. *command is NULL if there is no command.
 * Returns 0, or COMMON_EXIT_USAGE after a message if nothing follows a "--". */
static int find_command(int argc, char **argv, char ***command) {
  *command = NULL;
  if (optind < argc)
    *command = argv + optind;
  else if (optind > 1 && strcmp(argv[optind - 1], "--") == 0)
    return common_options_bad("a command is missing after --");
  return 0;
}

/* -- tables ---------------------------------------------------------------- */

#define MAX_OPTIONS 64
/* The value of --version. */
#define VERSION 1
/* Options without a letter are numbered from here on. */
#define FIRST_LONG 256

static int value_of(const common_options_t *of, size_t i) {
  const common_option_t *option = &of->list[i];

  if (option->kind == COMMON_ABSENT)
    return '?';
  return option->letter != 0 ? option->letter : FIRST_LONG + (int)i;
}

static int argument_of(const common_option_t *option) {
  switch (option->kind) {
    case COMMON_FLAG:
    case COMMON_IGNORED:
    case COMMON_CHOICE:
    case COMMON_CALL_FLAG:
    case COMMON_ABSENT:
      return no_argument;
    case COMMON_CALL_MAYBE:
      return optional_argument;
    default:
      return required_argument;
  }
}

/* Makes the tables of getopt_long. Usually the options end at the first word
 * that is not an option. The rest is the command, with or without -- before
 * it. */
static void make_tables(const common_options_t *of, struct option *names,
                        char *letters) {
  static const struct option usual[] = {
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, VERSION}};
  const common_option_t *option;
  size_t i;

  letters = stpcpy(letters, of->is_mixed ? ":h" : "+:h");
  for (i = 0; i < of->nr; i++) {
    option = &of->list[i];
    if (option->name != NULL)
      *names++ = (struct option){option->name, argument_of(option), NULL,
                                 value_of(of, i)};
    if (option->letter != 0)
      *letters++ = (char)option->letter;
    if (option->letter != 0 && argument_of(option) == required_argument)
      *letters++ = ':';
  }
  *letters = '\0';
  memcpy(names, usual, sizeof(usual));
  memset(names + 2, 0, sizeof(*names));
}

/* Returns 1 if a word is "--name=value" of an option without a value. For such
 * an option getopt_long returns the option's letter as if the option were
 * unknown. */
static int has_needless_value(const struct option *names, const char *word) {
  size_t size = strcspn(word, "=");

  if (strncmp(word, "--", 2) != 0 || word[size] != '=')
    return 0;
  while (names->name != NULL && (strlen(names->name) != size - 2 ||
                                 strncmp(names->name, word + 2, size - 2) != 0))
    names++;
  return names->name != NULL && names->has_arg == no_argument;
}

static int refuse_option(int option, const struct option *names, char **argv) {
  const char *word = argv[optind - 1];

  if (option == ':')
    return common_options_bad("option '%s' wants a value", word);
  if (has_needless_value(names, word))
    return common_options_bad("option '%.*s' takes no value",
                              (int)strcspn(word, "="), word);
  if (optopt != 0)
    return common_options_bad("unknown option '-%c'", optopt);
  return common_options_bad("unknown option '%s'", word);
}

/* Returns the reason why an option is absent, or NULL. The reasons do not
 * mention other absent options. */
static const char *find_reason(const char *help, const char *name) {
  const char *absent = strstr(help, "\nNot here, but in perf");
  size_t size = strlen(name);

  while (absent != NULL && (absent = strstr(absent, name)) != NULL) {
    if (absent[-1] == ' ' && (absent[size] == ',' || absent[size] == ':'))
      return strchr(absent, ':') + 1;
    absent += size;
  }
  return NULL;
}

static int explain_unknown(const char *help, int option,
                           const struct option *names, char **argv) {
  const char *word = argv[optind - 1], *reason;
  char name[32], text[256] = "";
  size_t nr = 0;

  if (optopt != 0)
    snprintf(name, sizeof(name), "-%c", optopt);
  else
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
  reason = option == '?' ? find_reason(help, name) : NULL;
  if (reason == NULL)
    return refuse_option(option, names, argv);
  /* Join the lines of the reason. */
  for (reason += strspn(reason, " \n"); nr < sizeof(text) - 1; reason++) {
    if (*reason == '\n' && strncmp(reason, "\n    ", 5) != 0)
      break;
    if (*reason == '\n')
      reason += 4;
    text[nr++] = *reason;
  }
  return common_options_bad("%s is not here: %s", name, text);
}

static int parse_file(const char *option, const char **file) {
  *file = optarg;
  return optarg[0] != '\0'
             ? 0
             : common_options_bad("%s wants the name of a file", option);
}

static int option_choose(const common_option_t *option, unsigned *value) {
  if (*value != 0 && *value != option->max)
    return common_options_bad("%s", option->what);
  *value = (unsigned)option->max;
  return 0;
}

static int parse_one(const common_option_t *option, void *options) {
  void *field = (char *)options + option->offset;
  char name[32];

  if (option->letter != 0)
    snprintf(name, sizeof(name), "-%c", option->letter);
  else
    snprintf(name, sizeof(name), "--%s", option->name);
  switch (option->kind) {
    case COMMON_FLAG:
      *(int *)field = 1;
      return 0;
    case COMMON_TEXT:
      *(const char **)field = optarg;
      return 0;
    case COMMON_NUMBER:
      return common_options_count(name, option->what, option->max, optarg,
                                  field);
    case COMMON_FILE:
      return parse_file(name, field);
    case COMMON_CPUS:
      *(const char **)field = optarg;
      return parse_cpus(name, optarg);
    case COMMON_IDS:
      return parse_ids(name, optarg, field);
    case COMMON_CGROUPS:
      return parse_cgroups(optarg, field);
    case COMMON_EVENTS:
      return common_events_add(field, optarg);
    case COMMON_FILTER:
      return common_events_add_filter(field, optarg);
    case COMMON_CONTROL:
      *(const char **)field = optarg;
      return common_control_check(optarg);
    case COMMON_DELAY:
      return common_delay_parse(field, optarg, option->max != 0);
    case COMMON_SECONDS:
      return parse_seconds(name, optarg, field);
    case COMMON_RING:
      return common_options_ring(optarg, field);
    case COMMON_IGNORED:
      return 0;
    case COMMON_CHOICE:
      return option_choose(option, field);
    default:
      return option->parse(field, optarg);
  }
}

int common_options_parse(const common_options_t *of, void *options, int argc,
                         char **argv, char ***command) {
  struct option names[MAX_OPTIONS + 3];
  char letters[2 * MAX_OPTIONS + 4];
  int value, rc = 0;
  size_t i;

  make_tables(of, names, letters);
  opterr = 0;
  while (rc == 0 &&
         (value = getopt_long(argc, argv, letters, names, NULL)) != -1) {
    if (value == 'h')
      fputs(of->help, stdout);
    else if (value == VERSION)
      printf("%s %s\n", program_invocation_short_name, uvperf_version_string());
    if (value == 'h' || value == VERSION)
      exit(common_stdio_close(stdout, "stdout"));
    for (i = 0; i < of->nr && value_of(of, i) != value; i++)
      ;
    if (i < of->nr && value != '?')
      rc = parse_one(&of->list[i], options);
    else
      rc = explain_unknown(of->help, value, names, argv);
  }
  if (rc != 0 || command == NULL)
    return rc;
  return find_command(argc, argv, command);
}
