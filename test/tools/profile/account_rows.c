/* SPDX-License-Identifier: MIT */
#include "account_rows.h"

#include "profile/naming.h"
#include "support.h"

static void on_named(void *arg) {
  *(int *)arg = 1;
}

void account_rows_find_names(const profile_account_t *account,
                             uv_loop_t *loop) {
  int is_named = 0;

  profile_naming_ask(account);
  symbols_wait(account->symbols, on_named, &is_named);
  while (!is_named)
    uv_run(loop, UV_RUN_ONCE);
}

void account_rows_expect(const profile_account_t *account,
                         const char *expected) {
  char text[512] = "";
  stacks_row_t *rows;
  stacks_t stacks;
  size_t i, nr, used = 0;

  stacks_init(&stacks);
  profile_naming_build(account, &stacks);
  rows = stacks_rank(&stacks, account->by, &nr);
  for (i = 0; i < nr; i++)
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s,%u,%llu;",
                             rows[i].name, rows[i].id,
                             (unsigned long long)rows[i].self);
  free(rows);
  stacks_free(&stacks);
  assert_string_equal(text, expected);
}

void account_rows_sample_kernel(profile_account_t *account, uint64_t ip,
                                uint64_t period) {
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = PERF_RECORD_SAMPLE;
  record.misc = PERF_RECORD_MISC_KERNEL;
  record.pid = record.tid = 5;
  record.ip = ip;
  record.period = period;
  record.present = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
  profile_account_record(account, &record);
}
