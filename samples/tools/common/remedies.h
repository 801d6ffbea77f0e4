/* SPDX-License-Identifier: MIT */
/* The library's reasons say what a program can do, in the terms of the API. But
 * users of a tool only have options and names of events. */
#ifndef COMMON_REMEDIES_H
#define COMMON_REMEDIES_H

/* Replaces fields and flags of the API in a text, in place: "set
 * exclude_kernel" becomes "add the modifier u". Without `has_options` no
 * phrase becomes an option such as "-C". The text does not grow. */
void common_remedies_for_users(char *text, int has_options);

#endif
