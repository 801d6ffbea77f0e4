/* SPDX-License-Identifier: MIT */
/* Properties of any text that is parsed as event names, for tests and the
 * fuzzer. Does not need cmocka. */
#ifndef UVPERF_TEST_CHECK_NAME_H
#define UVPERF_TEST_CHECK_NAME_H

#include "name/label.h"

/* Parses the text as one event and as a list. Returns a description of what is
 * wrong, or NULL. *code receives the result of the list's parser.
 *
 * An error must have a code, a cause, a reason and a column within the text or
 * just after it, and nothing else may be written. After a success, each event's
 * label must parse to the same event. */
const char *event_name_check(const char *text, int *code);

/* The same for the label of one attr: it must parse to the same attr, in every
 * field that a label expresses. The size of a label must be reported and
 * respected. */
const char *event_label_check(const struct perf_event_attr *attr);

#endif
