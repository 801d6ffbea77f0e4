/* SPDX-License-Identifier: MIT */
/* What the test programs share: cmocka with the headers that it wants before
 * it, and a fixture that owns a loop. */
#ifndef UVPERF_TEST_SUPPORT_H
#define UVPERF_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

/* Setup and teardown for cmocka_unit_test_setup_teardown: *state is a
 * uv_loop_t *. The teardown runs the loop once more and fails if
 * uv_loop_close() is not 0. */
int support_loop_setup(void **state);
int support_loop_teardown(void **state);

#endif
