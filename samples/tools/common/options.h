/* SPDX-License-Identifier: MIT */
/* Command lines: the parts that tools share. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

#include "common/targets.h"

/* The exit status for a wrong command line. */
#define COMMON_EXIT_USAGE 2

/* Prints what is wrong with the command line. Returns COMMON_EXIT_USAGE. */
int common_options_bad(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* How the value of an option is parsed, and the type of its field. */
enum common_option_kind {
  COMMON_FLAG,       /* no value; int, which becomes 1 */
  COMMON_IGNORED,    /* no value, no effect: it is always on */
  COMMON_CHOICE,     /* no value; an enum, which becomes `max`, once */
  COMMON_CALL_FLAG,  /* no value: `parse` gets NULL */
  COMMON_CALL,       /* a value for `parse` */
  COMMON_CALL_MAYBE, /* the same, or no value */
  COMMON_ABSENT,     /* refused; otherwise it would abbreviate another name */
  COMMON_TEXT,       /* const char * */
  COMMON_NUMBER,     /* uint64_t, from 1 to `max` */
  COMMON_FILE,       /* const char *: a file's name, not empty */
  COMMON_CPUS,       /* const char * */
  COMMON_IDS,        /* common_ids_t */
  COMMON_CGROUPS,    /* common_texts_t */
  COMMON_EVENTS,     /* common_events_t: names of events */
  COMMON_FILTER,     /* the same: a filter for the last names */
  COMMON_CONTROL,    /* const char * */
  COMMON_DELAY,      /* common_delay_t; `max` allows ranges */
  COMMON_SECONDS,    /* uint64_t, in milliseconds */
  COMMON_RING        /* size_t, in bytes */
};

typedef struct common_option_s {
  int letter;       /* 0: none */
  const char *name; /* NULL: none */
  enum common_option_kind kind;
  size_t offset; /* of the field in the tool's struct */
  /* Parses the value into the field. Without an offset, the field is the whole
   * struct. Returns 0, or COMMON_EXIT_USAGE after a message. */
  int (*parse)(void *field, const char *text);
  /* The number that is wanted, as for common_options_count. For COMMON_CHOICE,
   * the message if the enum has another value already. */
  const char *what;
  uint64_t max;
} common_option_t;

/* The options of a tool, besides --help and --version. */
typedef struct common_options_s {
  const common_option_t *list;
  size_t nr;
  /* The text of --help. After a line "Not here, but in perf …:" it can have
   * lines such as "  -x, --name: why it is not here". A continued line begins
   * with more spaces. The message about such an option has the reason. */
  const char *help;
  int is_mixed; /* options may follow other words */
} common_options_t;

/* Parses a command line into a struct of zeros, or prints the help and ends the
 * program. *command receives the words after the options, or NULL. If `command`
 * is NULL, the caller parses the words from optind on. Returns 0, or
 * COMMON_EXIT_USAGE after a message. The strings belong to argv. */
int common_options_parse(const common_options_t *of, void *options, int argc,
                         char **argv, char ***command);

/* Parses a number from 1 to max. Otherwise prints that `option` wants `what`,
 * such as "a number of runs". Returns 0, or COMMON_EXIT_USAGE. */
int common_options_count(const char *option, const char *what, uint64_t max,
                         const char *text, uint64_t *number);

/* Parses a text that is a number from 1 to max. Returns 0 or -1. */
int common_options_number(const char *text, uint64_t max, uint64_t *number);

/* Parses the value of -m, the size of a ring: "512K", "4M", or a number of
 * pages as in perf. Returns 0, or COMMON_EXIT_USAGE after a message. */
int common_options_ring(const char *text, size_t *bytes);

#endif
