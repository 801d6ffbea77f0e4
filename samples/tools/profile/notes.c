/* SPDX-License-Identifier: MIT */
/* All longer messages of the profiler. They are in one place to stay
 * consistent, and to keep the life-cycle short. */
#include "profile/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/say.h"
#include "profile/naming.h"
#include "profile/symbols/filter.h"

/* Context switches can be measured in the kernel only. So no smaller
 * measurement can be suggested. */
static int refused_off_cpu(const profile_options_t *options,
                           const uvperf_error_t *error) {
  if (error->cause == UVPERF_CAUSE_PERMISSION)
    common_say("--off-cpu measures in the kernel, where threads are switched. "
               "It needs\n"
               "  root, CAP_PERFMON or kernel.perf_event_paranoid <= %d. For a "
               "container,\n"
               "  run it on the host with -p\n",
               options->all ? 0 : 1);
  return 1;
}

int profile_notes_refused(const profile_options_t *options,
                          const uvperf_error_t *error) {
  common_say_error(error);
  if (error->cause == UVPERF_CAUSE_LOCKED_MEMORY && options->ring_bytes != 0)
    common_say("try a smaller -m, or leave it out\n");
  if (options->off_cpu)
    return refused_off_cpu(options, error);
  if (error->cause == UVPERF_CAUSE_SAMPLE_RATE)
    return COMMON_EXIT_USAGE;
  if (error->cause != UVPERF_CAUSE_PERMISSION || !options->all)
    return 1;
  common_say("profiling the whole machine needs root, CAP_PERFMON or\n"
             "  kernel.perf_event_paranoid <= 0. If that is at most 2, you can "
             "profile\n"
             "  without privileges:\n"
             "    uvperf-profile -- command...   a command of your own\n"
             "    uvperf-profile -p PID          a process of your own\n"
             "  Try 'uvperf-profile --help'.\n");
  return 1;
}

void profile_notes_opened(const profile_options_t *options,
                          const profile_events_t *events) {
  size_t nr_cpus = uvperf_nr_rings(&events->set.handle);

  if (events->off_cpu) {
    common_say("context switches, %zu CPU%s%s\n", nr_cpus,
               nr_cpus == 1 ? "" : "s",
               options->duration_ms == 0 ? "; Ctrl-C ends it" : "");
    return;
  }
  common_say("%s%s, %" PRIu64 " Hz, %zu CPU%s, %s%s\n",
             options->all_by_default ? "the whole machine: " : "",
             events->hardware ? "hardware cycles"
                              : "cpu-clock (there are no hardware cycles here)",
             options->frequency_hz, nr_cpus, nr_cpus == 1 ? "" : "s",
             events->kernel ? "user and kernel" : "user only",
             options->duration_ms == 0 ? "; Ctrl-C ends it" : "");
  if (!events->kernel)
    common_say(
        "more privileges would add the kernel side (root, CAP_PERFMON or\n"
        "  kernel.perf_event_paranoid <= 1) and the whole machine, -a (root,\n"
        "  CAP_PERFMON or <= 0)\n");
}

/* A target fails on each CPU, so each target is counted once. */
void profile_notes_missing(const profile_events_t *events) {
  const uvperf_set_failure_t *list;
  uint32_t last = UINT32_MAX;
  size_t nr, missing = 0, i;

  list = uvperf_set_failures(&events->set, &nr);
  for (i = 0; i < nr; i++) {
    if (list[i].error.cause == UVPERF_CAUSE_NO_TASK ||
        list[i].error.target_index == last)
      continue;
    last = list[i].error.target_index;
    if (missing++ == 0)
      common_say_error(&list[i].error);
  }
  if (missing > 1)
    common_say("%zu more targets are not profiled either\n", missing - 1);
}

static int has_progress(const profile_options_t *options) {
  return !options->quiet && isatty(STDERR_FILENO);
}

/* The padding overwrites the rest of a longer line. */
void profile_notes_live(const profile_options_t *options,
                        const profile_totals_t *totals, uint64_t new_samples) {
  if (has_progress(options))
    fprintf(stderr,
            "\r%5.0f s  %" PRIu64 " samples  %" PRIu64 "/s  %" PRIu64
            " lost      ",
            totals->seconds, totals->samples, new_samples,
            common_lost_total(&totals->lost));
}

void profile_notes_live_end(const profile_options_t *options) {
  if (has_progress(options))
    fputc('\n', stderr);
}

void profile_notes_stats(const profile_options_t *options,
                         const profile_events_t *events,
                         const profile_totals_t *totals, uint64_t damaged) {
  uint64_t lost = common_lost_total(&totals->lost);

  if (lost > 0)
    common_say("%" PRIu64 " records were lost%s: a ring of %zu KiB was full;\n"
               "  try a larger -m%s\n",
               lost, options->off_cpu ? ", and the waits in them" : "",
               events->ring_bytes / 1024,
               !options->off_cpu ? " or a lower -F"
               : options->all    ? ", or one process with -p"
               : options->stack_bytes > 0
                   ? ", or a smaller --call-graph dwarf,SIZE"
                   : "");
  if (damaged > 0)
    common_say("%" PRIu64 " damaged records were left out\n", damaged);
}

/* Reports files without names because of the time, and a worker without its
 * filter. */
static void note_names(const profile_account_t *account) {
  size_t nr_late = symbols_nr_late(account->symbols);
  const char *lack = symbols_filter_lack();

  if (nr_late > 0)
    common_say("%zu file%s lack%s names, because reading them took too long: "
               "--names-time\n  allows more time\n",
               nr_late, nr_late == 1 ? "" : "s", nr_late == 1 ? "s" : "");
  if (lack != NULL)
    common_say("the process that reads names may make any system call: %s\n",
               lack);
}

void profile_notes_other(const profile_account_t *account) {
  if (account->other.samples > 0)
    common_say("%" PRIu64 " samples are in [other], because 128 MiB of "
               "different stacks are full\n",
               account->other.samples);
}

void profile_notes_gaps(const profile_account_t *account) {
  profile_gap_t gaps[3];
  int has_jit = 0;
  size_t i, nr;

  nr = profile_naming_gaps(account, gaps, 3);
  for (i = 0; i < nr; i++) {
    common_say("no function names for %.0f %% of the total, in %s%s%s\n",
               100 * gaps[i].share, gaps[i].object,
               gaps[i].reason[0] == '\0' ? "" : ":\n  ", gaps[i].reason);
    if (gaps[i].outside >= 0.01)
      common_say("%.0f %% of the total, in %s,\n  are outside of every "
                 "function that the file describes, such as assembler:\n"
                 "  they are shown by their offset\n",
                 100 * gaps[i].outside, gaps[i].object);
    has_jit |= gaps[i].is_jit;
  }
  if (has_jit)
    common_say("a JIT compiler can name its functions in /tmp/perf-PID.map:\n"
               "    node --perf-basic-prof\n"
               "    python3 -X perf, since 3.12\n"
               "    java -XX:+PreserveFramePointer, and while it runs,\n"
               "      jcmd PID Compiler.perfmap, since 17\n");
  note_names(account);
}

void profile_notes_callers(const profile_account_t *account,
                           const profile_options_t *options) {
  double share = profile_naming_without_callers(account);

  if (options->input != NULL || options->no_stacks ||
      options->stack_bytes > 0 || share < 0.2)
    return;
  common_say("%.0f %% of the user stacks lack callers: the code has no frame\n"
             "  pointers; try --call-graph dwarf\n",
             100 * share);
}

void profile_notes_waits(uint64_t nr_unknown) {
  if (nr_unknown > 0)
    common_say("%" PRIu64 " waits are left out: their start or end was lost\n",
               nr_unknown);
}

/* A share below 1 % is not worth a message. */
static void note_share(uint64_t part, uint64_t all, const char *text) {
  if (part * 100 >= all && part > 0)
    common_say("%.0f %% of the user stacks %s\n",
               100 * (double)part / (double)all, text);
}

void profile_notes_unwound(const profile_unwinding_t *unwinding,
                           const profile_options_t *options) {
  const unwind_stats_t *stats;
  char text[160];
  uint64_t all;
  size_t i;

  if (unwinding->queue == NULL)
    return;
  stats = unwind_queue_stats(unwinding->queue);
  all = stats->full + unwinding->nr_32_bit;
  for (i = 0; i <= UNWIND_NO_FILE; i++)
    all += stats->ends[i];
  snprintf(text, sizeof(text),
           "are longer than the\n  %" PRIu32 " bytes that were copied%s",
           options->stack_bytes,
           options->stack_bytes < 65528
               ? "; copy more: --call-graph dwarf,65528"
               : "");
  note_share(stats->ends[UNWIND_CUT], all, text);
  note_share(stats->ends[UNWIND_NO_INFO], all,
             "end in code without\n  unwind information, such as that of a JIT "
             "or assembler");
  note_share(stats->ends[UNWIND_NO_FILE], all,
             "end in files that could not be read");
  note_share(stats->ends[UNWIND_LONG], all, "have more than 127 frames");
  note_share(unwinding->nr_32_bit, all,
             "are of 32-bit\n  programs, which are not unwound");
  note_share(stats->ends[UNWIND_SLOW], all, "took too long to unwind");
  note_share(stats->ends[UNWIND_DROPPED] + stats->full, all,
             "were not unwound:\n  the process that unwinds was too slow, or "
             "ended");
}

void profile_notes_idle(const profile_options_t *options,
                        const profile_totals_t *totals, size_t nr_cpus) {
  double most =
      (double)options->frequency_hz * (double)nr_cpus * totals->seconds;
  double taken = (double)(totals->samples + common_lost_total(&totals->lost));

  if (options->all && options->pids.nr == 0 && taken < most / 2)
    common_say("the CPUs were idle for about %.0f %% of the time\n",
               100 - 100 * taken / most);
}

void profile_notes_command(int status) {
  if (WIFSIGNALED(status))
    common_say("the command was ended by signal %d (%s)\n", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    common_say("the command ended with status %d\n", WEXITSTATUS(status));
}
