/* SPDX-License-Identifier: MIT */
/* Writes names down. */
#ifndef LIST_PRINT_H
#define LIST_PRINT_H

#include <stdio.h>

#include "list/names.h"

/* Both return how many names were written. */

/* For people: in groups, aligned. */
size_t list_print_text(const list_names_t *names, FILE *file);

/* For programs: an array of objects. */
size_t list_print_json(const list_names_t *names, FILE *file);

/* What can be written that is no name, for people. */
void list_print_forms(FILE *file);

#endif
