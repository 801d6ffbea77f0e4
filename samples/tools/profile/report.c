/* SPDX-License-Identifier: MIT */
/* Prints counts as a table and as folded stacks. Counts nothing itself. */
#include "profile/report.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_FRAME_BYTES 320

static uint64_t total_weight(const profile_tally_t *tally,
                             profile_entry_t **entries, size_t nr) {
  uint64_t sum = tally->other_weight;
  size_t i;

  for (i = 0; i < nr; i++)
    sum += entries[i]->weight;
  return sum;
}

static void print_row(FILE *file, uint64_t weight, uint64_t total,
                      uint64_t samples, const char *command,
                      const char *place) {
  double percent = total == 0 ? 0.0 : 100.0 * (double)weight / (double)total;

  fprintf(file, "%7.2f%% %8" PRIu64 "  %-16s  %s\n", percent, samples, command,
          place);
}

static void print_rows(FILE *file, const profile_account_t *account) {
  const profile_tally_t *tally = &account->places;
  char place[MAX_FRAME_BYTES];
  profile_entry_t **entries;
  uint64_t total;
  size_t i, nr;

  entries = profile_tally_sorted(tally, &nr);
  total = total_weight(tally, entries, nr);
  fprintf(file, "%8s %8s  %-16s  %s\n", "percent", "samples", "command",
          "place");
  for (i = 0; i < nr && i < PROFILE_REPORT_PLACES; i++) {
    profile_frame_t frame = {entries[i]->words[1], entries[i]->words[2]};
    uint32_t comm = (uint32_t)entries[i]->words[0];

    profile_account_frame(account, &frame, place, sizeof(place));
    print_row(file, entries[i]->weight, total, entries[i]->samples,
              profile_names_get(&account->names, comm), place);
  }
  if (tally->other_samples > 0)
    print_row(file, tally->other_weight, total, tally->other_samples, "[other]",
              "[other]");
  if (nr > PROFILE_REPORT_PLACES)
    fprintf(file, "and %zu cooler places\n", nr - PROFILE_REPORT_PLACES);
  free(entries);
}

void profile_report_table(FILE *file, const profile_account_t *account,
                          const profile_totals_t *totals) {
  double seconds = totals->seconds > 0 ? totals->seconds : 1e-9;

  if (totals->samples == 0)
    fputs("no samples: nothing ran, or not for long enough\n", file);
  else
    print_rows(file, account);
  fprintf(file,
          "%" PRIu64 " samples, %" PRIu64
          " records in %.1f s, %.1f records/s, %" PRIu64 " lost\n",
          totals->samples, totals->records, totals->seconds,
          (double)totals->records / seconds, totals->lost);
}

/* A semicolon is what separates frames. */
static void put_part(FILE *file, const char *text) {
  for (; *text != '\0'; text++)
    putc(*text == ';' ? ':' : *text, file);
}

static void put_stack(FILE *file, const profile_account_t *account,
                      const profile_entry_t *entry) {
  char text[MAX_FRAME_BYTES];
  size_t i;

  put_part(file, profile_names_get(&account->names, (uint32_t)entry->words[0]));
  for (i = entry->nr; i > 1; i -= 2) {
    profile_frame_t frame = {entry->words[i - 2], entry->words[i - 1]};

    profile_account_frame(account, &frame, text, sizeof(text));
    putc(';', file);
    put_part(file, text);
  }
  fprintf(file, " %" PRIu64 "\n", entry->samples);
}

void profile_report_folded(FILE *file, const profile_account_t *account) {
  profile_entry_t **entries;
  size_t i, nr;

  entries = profile_tally_sorted(&account->stacks, &nr);
  for (i = 0; i < nr; i++)
    put_stack(file, account, entries[i]);
  free(entries);
  if (account->stacks.other_samples > 0)
    fprintf(file, "[other] %" PRIu64 "\n", account->stacks.other_samples);
}
