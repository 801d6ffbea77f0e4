/* SPDX-License-Identifier: MIT */
/* What the command lines of the samples have in common. */
#ifndef SHARED_OPTIONS_H
#define SHARED_OPTIONS_H

#include <getopt.h>
#include <stdint.h>

/* Exit status for a command line that cannot be right. */
#define SHARED_EXIT_USAGE 2

/* Says what is wrong with the command line, and gives SHARED_EXIT_USAGE. */
int shared_options_bad(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Says what is wrong with the option that getopt_long refused: ':' or '?' with
 * opterr 0 and an optstring that starts with "+:". */
int shared_options_refused(int option, const struct option *names, char **argv);

/* A number from 1 to max, all of the text: 0, or -1. */
int shared_options_number(const char *text, unsigned long max,
                          unsigned long *number);

/* The values of -d and -p: 0, or SHARED_EXIT_USAGE after a message. */
int shared_options_seconds(const char *text, uint64_t *duration_ms);
int shared_options_pid(const char *text, int32_t *pid);

/* Finds the command behind the options: 0, or SHARED_EXIT_USAGE after a message
 * if there is a "--" and nothing behind it. *command is NULL if there is
 * none. */
int shared_options_command(int argc, char **argv, char ***command);

#endif
