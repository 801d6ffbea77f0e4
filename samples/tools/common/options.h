/* SPDX-License-Identifier: MIT */
/* What the command lines of the tools have in common. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

#include "common/targets.h"

/* Exit status for a command line that cannot be right. */
#define COMMON_EXIT_USAGE 2

/* Says what is wrong with the command line, and gives COMMON_EXIT_USAGE. */
int common_options_bad(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Says what is wrong with the option that getopt_long refused: ':' or '?' with
 * opterr 0 and an optstring that starts with "+:". */
int common_options_refused(int option, const struct option *names, char **argv);

/* The same in a tool of perf's name. `absent` is the part of its help that has
 * lines such as "  -x, --name: why it is not here": a line that goes on begins
 * with more spaces. Names the reason if the option is one of these. */
int common_options_absent(const char *absent, int option,
                          const struct option *names, char **argv);

/* A number from 1 to max, all of the text: 0, or -1. */
int common_options_number(const char *text, uint64_t max, uint64_t *number);

/* The values of options: 0, or COMMON_EXIT_USAGE after a message, which names
 * the option. */
int common_options_seconds(const char *option, const char *text,
                           uint64_t *duration_ms);
/* Of -p. */
int common_options_pid(const char *text, int32_t *pid);
/* Adds ids such as "17,18" to a list, each once. */
int common_options_ids(const char *option, const char *text,
                       common_ids_t *list);
/* Looks whether a text is a list of CPUs such as "0-3,8". */
int common_options_cpus(const char *option, const char *text);
/* The size of a ring, of -m: "512K", "4M", or a number of pages as in perf. */
int common_options_ring(const char *text, size_t *bytes);

/* Finds the command behind the options: 0, or COMMON_EXIT_USAGE after a message
 * if there is a "--" and nothing behind it. *command is NULL if there is
 * none. */
int common_options_command(int argc, char **argv, char ***command);

#endif
