/* SPDX-License-Identifier: MIT */
/* What holds of any text that is parsed as names of events, for tests and for
 * the fuzzer. Without cmocka. */
#ifndef UVPERF_TEST_EVENT_NAME_CHECK_H
#define UVPERF_TEST_EVENT_NAME_CHECK_H

#include "name/label.h"

/* Parses the text as one event and as a list, under a root. Says what is wrong
 * with the outcome, NULL: nothing. *code receives what the list's parser gave.
 *
 * An error has a code, a cause, a reason and a column within the text or just
 * behind it, and nothing else is written. After a success each event's label
 * parses to the same event. */
const char *event_name_check(const char *root, const char *text, int *code);

/* The same for the label of one attr: it parses to the same attr, in all that
 * a label speaks of. The size of a label is told, and kept to. */
const char *event_label_check(const char *root,
                              const struct perf_event_attr *attr);

#endif
