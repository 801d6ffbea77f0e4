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

/* The value of --version, which each tool has. common_options_refused prints
 * the version and ends the program. */
#define COMMON_OPTION_VERSION 1

/* Prints what is wrong with the command line. Returns COMMON_EXIT_USAGE. */
int common_options_bad(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Call it when getopt_long returned ':' or '?'. Prints what is wrong with this
 * option. opterr must be 0, and the optstring must start with "+:". */
int common_options_refused(int option, const struct option *names, char **argv);

/* Does the same for a tool with the options of perf. `absent` is the part of
 * the tool's help with lines such as "  -x, --name: why it is not here". A
 * continued line begins with more spaces. If the option is in `absent`, the
 * message has the reason. */
int common_options_absent(const char *absent, int option,
                          const struct option *names, char **argv);

/* Parses a text that is a number from 1 to max. Returns 0 or -1. */
int common_options_number(const char *text, uint64_t max, uint64_t *number);

/* These functions parse the values of options. They return 0, or
 * COMMON_EXIT_USAGE after a message that names the option. */
int common_options_seconds(const char *option, const char *text,
                           uint64_t *duration_ms);
/* Parses the value of -p. */
int common_options_pid(const char *text, int32_t *pid);
/* Adds ids such as "17,18" to a list, each once. */
int common_options_ids(const char *option, const char *text,
                       common_ids_t *list);
/* Adds the names of cgroups, such as "a,b/c", to a list. */
int common_options_cgroups(const char *text, common_texts_t *list);
/* Checks that a text is a list of CPUs such as "0-3,8". */
int common_options_cpus(const char *option, const char *text);
/* Parses the value of -m, the size of a ring: "512K", "4M", or a number of
 * pages as in perf. */
int common_options_ring(const char *text, size_t *bytes);

/* Finds the command after the options. *command is NULL if there is no command.
 * Returns 0, or COMMON_EXIT_USAGE after a message if nothing follows a "--". */
int common_options_command(int argc, char **argv, char ***command);

#endif
