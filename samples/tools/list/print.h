/* SPDX-License-Identifier: MIT */
/* Prints names. */
#ifndef LIST_PRINT_H
#define LIST_PRINT_H

#include <stdio.h>

#include "list/names.h"

/* Both return the number of printed names. */

/* Prints text, in groups and aligned. */
size_t list_print_text(const list_names_t *names, FILE *file);

/* Prints JSON, an array of objects. */
size_t list_print_json(const list_names_t *names, FILE *file);

/* Prints forms without a name, as text. */
void list_print_forms(FILE *file);

#endif
