/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine: opening a target shows whether it can be watched. */
#include "watch/options.h"

#include <string.h>

#define USUAL_KINDS                                                            \
  (WATCH_BIT(WATCH_FORK) | WATCH_BIT(WATCH_EXEC) | WATCH_BIT(WATCH_EXIT) |     \
   WATCH_BIT(WATCH_COMM))
#define THREAD_KINDS (WATCH_BIT(WATCH_THREAD) | WATCH_BIT(WATCH_THREAD_EXIT))

/* Returns 0 if the word is not a kind. */
static uint32_t kinds_of(const char *word, size_t size) {
  static const struct {
    const char *word;
    uint32_t kinds;
  } words[] = {
      {"fork", WATCH_BIT(WATCH_FORK)},
      {"exec", WATCH_BIT(WATCH_EXEC)},
      {"exit", WATCH_BIT(WATCH_EXIT)},
      {"comm", WATCH_BIT(WATCH_COMM)},
      {"mmap", WATCH_BIT(WATCH_MMAP)},
      {"thread", THREAD_KINDS},
      {"all", ~0u},
  };
  size_t i;

  for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    if (strlen(words[i].word) == size &&
        strncmp(words[i].word, word, size) == 0)
      return words[i].kinds;
  return 0;
}

static int parse_kinds(void *arg, const char *text) {
  watch_options_t *options = arg;
  const char *word = text;
  uint32_t added;
  size_t size;

  for (;;) {
    size = strcspn(word, ",");
    added = kinds_of(word, size);
    if (added == 0)
      return common_options_bad("-k wants kinds such as fork,exec,exit, "
                                "not '%s'",
                                text);
    options->kinds |= added;
    if (word[size] == '\0')
      return 0;
    word += size + 1;
  }
}

static int parse_pid(void *pid, const char *text) {
  uint64_t number;

  if (common_options_number(text, INT32_MAX, &number) != 0)
    return common_options_bad("-p wants the id of a process, not '%s'", text);
  *(int32_t *)pid = (int32_t)number;
  return 0;
}

#define AT(field) .offset = offsetof(watch_options_t, field)

static const common_option_t list[] = {
    {'a', NULL, COMMON_FLAG, AT(all)},
    {'d', "duration", COMMON_SECONDS, AT(duration_ms)},
    {0, "json", COMMON_FLAG, AT(json)},
    {'k', NULL, COMMON_CALL, .parse = parse_kinds},
    {'m', NULL, COMMON_RING, AT(ring_bytes)},
    {'o', NULL, COMMON_FILE, AT(file)},
    {'p', NULL, COMMON_CALL, AT(pid), parse_pid},
    {0, "threads", COMMON_FLAG, AT(with_threads)},
};

int watch_options_parse(watch_options_t *options, int argc, char **argv) {
  static const common_options_t of = {list, sizeof(list) / sizeof(*list),
                                      watch_help, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  rc = common_options_parse(&of, options, argc, argv, &options->command);
  if (options->kinds == 0)
    options->kinds = USUAL_KINDS;
  if (options->with_threads)
    options->kinds |= THREAD_KINDS;
  options->kinds |= WATCH_BIT(WATCH_LOST);
  if (rc == 0 && options->pid != 0 && options->command != NULL)
    rc = common_options_bad("choose one of -p and a command");
  if (rc == 0 && options->pid != 0 && options->all)
    rc = common_options_bad("choose one of -a and -p");
  if (options->pid == 0 && options->command == NULL)
    options->all = 1;
  return rc;
}
