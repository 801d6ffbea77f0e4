/* SPDX-License-Identifier: MIT */
/* What an account of made-up records shows as a table. */
#ifndef UVPERF_TEST_ACCOUNT_ROWS_H
#define UVPERF_TEST_ACCOUNT_ROWS_H

#include "profile/account.h"

/* Runs the loop until all names are looked up. */
void account_rows_find_names(const profile_account_t *account, uv_loop_t *loop);

/* Expects rows, the heaviest first: "name,id,self;". */
void account_rows_expect(const profile_account_t *account,
                         const char *expected);

/* Adds a sample of process 5 in the kernel. */
void account_rows_sample_kernel(profile_account_t *account, uint64_t ip,
                                uint64_t period);

#endif
