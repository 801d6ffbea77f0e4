/* SPDX-License-Identifier: MIT */
/* Takes records from a file. Each turn of the loop reads a slice of the file,
 * so that signals are handled and symbol files are opened meanwhile. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "common/list.h"
#include "common/memory.h"
#include "common/proc.h"
#include "common/recording/recording.h"
#include "common/say.h"
#include "common/text.h"
#include "profile/kernel.h"
#include "profile/profile.h"

#define SLICE_NS 5000000
#define TICK_MS  1000

/* How many bytes of samples may wait to be unwound. Unwinding is slower than
 * reading. Samples beyond the limit of the queue would have no callers. */
#define UNWINDING_BYTES ((size_t)16 << 20)

/* How exactly the times of records are known in the time since 1970. */
#define CLOCK_ERROR_NS 2000000000

#define NONE SIZE_MAX

typedef struct recorded_s {
  profile_t *profile;
  recording_t *recording;
  profile_kernel_t kernel;
  uv_idle_t idle;
  uv_poll_t poll;
  int has_poll;
  int has_ended;   /* the whole file is read */
  int has_line;    /* a line of progress is on the terminal */
  size_t event;    /* its samples are counted; NONE: none yet */
  uint64_t fields; /* PERF_SAMPLE_* that its samples have */
  /* Number of samples by event. Events past the end of the array have no
   * samples. */
  uint64_t *samples;
  size_t nr_samples;
  uint64_t first_ns, last_ns;
  uint64_t end_ns;        /* of the last record of any kind */
  size_t unwinding_bytes; /* read since the last wait for unwinding */
  int is_unwinding;       /* reading waits for it */
  int ends;               /* the end waits for it too */
  int no_unwinding;       /* stacks of that machine cannot be unwound */
  const char *no_kernel;  /* why the kernel has no names, or NULL */
  char name[256];         /* of the event */
} recorded_t;

static recorded_t *recorded_of(const common_session_t *session) {
  return ((profile_t *)session->data)->source;
}

/* -- events ---------------------------------------------------------------- */

/* Tracepoints and dynamic PMUs have other numbers on each machine, and after
 * each boot. So have the kinds of cores, in the upper half of config. */
static int is_same_everywhere(const struct perf_event_attr *attr) {
  return attr->type < PERF_TYPE_MAX && attr->type != PERF_TYPE_TRACEPOINT &&
         ((attr->type != PERF_TYPE_HARDWARE &&
           attr->type != PERF_TYPE_HW_CACHE) ||
          attr->config <= UINT32_MAX);
}

/* A file whose end is missing has no names of events. Then the name is made
 * from the attr: it says what the event counts, not how it was sampled. */
static void name_of(const recorded_t *recorded, size_t i, char *name,
                    size_t size) {
  recording_event_t event;

  recording_event(recorded->recording, i, &event);
  if (event.name[0] != '\0')
    snprintf(name, size, "%s", event.name);
  else if (!is_same_everywhere(event.attr) ||
           common_list_label(event.attr, name, size) != 0)
    snprintf(name, size, "event %zu", i);
}

/* "cycles" also selects "cycles:P". */
static int is_asked_for(const recorded_t *recorded, size_t i) {
  const char *asked = recorded->profile->options.event;
  char name[256];

  if (asked == NULL)
    return 1;
  name_of(recorded, i, name, sizeof(name));
  if (strcmp(name, asked) == 0)
    return 1;
  name[strcspn(name, ":")] = '\0';
  return strcmp(name, asked) == 0;
}

static const char *unit_of(const struct perf_event_attr *attr) {
  if (attr->type == PERF_TYPE_SOFTWARE &&
      (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
       attr->config == PERF_COUNT_SW_TASK_CLOCK))
    return "ns";
  if (attr->type == PERF_TYPE_HARDWARE &&
      attr->config == PERF_COUNT_HW_CPU_CYCLES)
    return "cycles";
  return "events";
}

/* Does nothing if the event's samples have no copies of stacks. */
static void start_unwinding(recorded_t *recorded,
                            const struct perf_event_attr *attr) {
  const uint64_t needed = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
  profile_t *profile = recorded->profile;

  if ((attr->sample_type & needed) != needed ||
      profile->account.unwinding != NULL)
    return;
  profile->options.stack_bytes = attr->sample_stack_user;
  recorded->no_unwinding =
      profile_unwinding_init(&profile->unwinding, &profile->account,
                             recording_arch(recorded->recording)) != 0;
}

/* Only the end of the file shows which event is the first with samples. If an
 * earlier event gets its first sample, the counts of the later event are
 * dropped. */
static void choose(recorded_t *recorded, size_t i) {
  profile_t *profile = recorded->profile;
  recording_event_t event;

  if (recorded->event != NONE)
    profile_account_restart(&profile->account);
  recorded->event = i;
  recorded->fields = 0;
  recorded->first_ns = recorded->last_ns = 0;
  name_of(recorded, i, recorded->name, sizeof(recorded->name));
  recording_event(recorded->recording, i, &event);
  profile->event = recorded->name;
  profile->unit = unit_of(event.attr);
  start_unwinding(recorded, event.attr);
}

/* -- records --------------------------------------------------------------- */

static size_t find_build_id(void *arg, const char *path,
                            unsigned char build_id[20]) {
  return recording_build_id(arg, path, build_id);
}

/* Call it at the first sample. By then the header is known, even if the
 * recording comes from a pipe. */
static void make_symbols(recorded_t *recorded) {
  profile_t *profile = recorded->profile;
  profile_account_t *account = &profile->account;
  const char *host = recording_hostname(recorded->recording);
  symbols_options_t options = {.inlined = profile->options.inlined,
                               .timeout_ms = profile->options.names_ms};
  struct utsname here;

  account->is_elsewhere =
      host != NULL && uname(&here) == 0 && strcmp(host, here.nodename) != 0;
  account->is_homeless = host == NULL;
  account->build_id = find_build_id;
  account->build_id_arg = recorded->recording;
  recorded->no_kernel = profile_kernel_decide(
      &recorded->kernel, recorded->recording, account, &options);
  profile->symbols = symbols_new(&profile->session.loop, &options);
  account->symbols = profile->symbols;
}

static void take_sample(recorded_t *recorded, const uvperf_record_t *record) {
  size_t i = recording_event_of(recorded->recording, record);
  profile_t *profile = recorded->profile;

  if (i == NONE)
    return;
  while (recorded->nr_samples <= i)
    recorded->samples = common_grow(recorded->samples, &recorded->nr_samples,
                                    sizeof(*recorded->samples));
  recorded->samples[i]++;
  if (i > recorded->event || !is_asked_for(recorded, i))
    return;
  if (profile->symbols == NULL)
    make_symbols(recorded);
  if (i < recorded->event)
    choose(recorded, i);
  recorded->fields |= record->present;
  if (recorded->first_ns == 0)
    recorded->first_ns = record->time;
  if (record->time > recorded->last_ns)
    recorded->last_ns = record->time;
  if (profile->account.unwinding != NULL)
    recorded->unwinding_bytes += record->size;
  profile_account_record(&profile->account, record);
}

static void take_record(recorded_t *recorded, const uvperf_record_t *record) {
  profile_t *profile = recorded->profile;

  profile->totals.records++;
  switch (record->type) {
    case PERF_RECORD_SAMPLE:
      take_sample(recorded, record);
      return;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      common_lost_record(&profile->totals.lost, record);
      return;
    default:
      profile_kernel_see(&recorded->kernel, record);
      profile_account_record(&profile->account, record);
      return;
  }
}

static void on_readable(uv_poll_t *poll, int status, int events);

/* Waits until the pipe has more data. */
static void wait_for_pipe(recorded_t *recorded) {
  int rc = 0;

  uv_idle_stop(&recorded->idle);
  if (!recorded->has_poll)
    rc = uv_poll_init(&recorded->profile->session.loop, &recorded->poll,
                      recording_fd(recorded->recording));
  recorded->has_poll = rc == 0;
  recorded->poll.data = recorded;
  if (rc == 0)
    rc = uv_poll_start(&recorded->poll, UV_READABLE, on_readable);
  if (rc == 0)
    return;
  common_say("%s: %s\n", recorded->profile->options.input, uv_strerror(rc));
  recorded->profile->failed = 1;
  common_session_stop(&recorded->profile->session);
}

static void on_unwound(void *arg);

static void wait_for_unwinding(recorded_t *recorded) {
  uv_idle_stop(&recorded->idle);
  recorded->is_unwinding = 1;
  recorded->unwinding_bytes = 0;
  profile_unwinding_wait(&recorded->profile->unwinding, on_unwound, recorded);
}

static void on_idle(uv_idle_t *idle) {
  recorded_t *recorded = idle->data;
  uint64_t until = uv_hrtime() + SLICE_NS, last = 0;
  const uvperf_record_t *record;
  int rc = 1;
  size_t i;

  for (i = 0; rc == 1 && recorded->unwinding_bytes < UNWINDING_BYTES &&
              (i % 64 != 0 || uv_hrtime() < until);
       i++) {
    rc = recording_next(recorded->recording, &record);
    if (rc == 1) {
      take_record(recorded, record);
      last = record->time;
    }
  }
  if (last > recorded->end_ns)
    recorded->end_ns = last;
  profile_account_reap(&recorded->profile->account, last);
  if (rc == RECORDING_WAIT)
    wait_for_pipe(recorded);
  else if (rc == 1 && recorded->unwinding_bytes >= UNWINDING_BYTES)
    wait_for_unwinding(recorded);
  if (rc == 1 || rc == RECORDING_WAIT)
    return;
  recorded->has_ended = 1;
  common_session_stop(&recorded->profile->session);
}

static void on_unwound(void *arg) {
  recorded_t *recorded = arg;

  recorded->is_unwinding = 0;
  if (recorded->ends)
    profile_end(recorded->profile);
  else
    uv_idle_start(&recorded->idle, on_idle);
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  recorded_t *recorded = poll->data;

  (void)status;
  (void)events;
  uv_poll_stop(poll);
  uv_idle_start(&recorded->idle, on_idle);
}

/* -- messages -------------------------------------------------------------- */

static void print_progress(recorded_t *recorded) {
  uint64_t bytes = recording_bytes(recorded->recording);
  char share[16] = "";

  if (recorded->profile->options.quiet || !isatty(STDERR_FILENO))
    return;
  if (bytes > 0)
    snprintf(share, sizeof(share), "%3.0f %%  ",
             100.0 * (double)recording_offset(recorded->recording) /
                 (double)bytes);
  fprintf(stderr, "\r%s%" PRIu64 " samples      ", share,
          recorded->profile->account.samples);
  recorded->has_line = 1;
}

/* Reports in one line which events have samples. */
static void say_events(const recorded_t *recorded) {
  const char *separator = "; others: ";
  char text[1024] = "", name[256];
  size_t i, used = 0;

  for (i = 0; i < recorded->nr_samples && used < sizeof(text) - 320; i++) {
    if (i == recorded->event || recorded->samples[i] == 0)
      continue;
    name_of(recorded, i, name, sizeof(name));
    used +=
        (size_t)snprintf(text + used, sizeof(text) - used, "%s%s (%" PRIu64 ")",
                         separator, name, recorded->samples[i]);
    separator = ", ";
  }
  common_say("%" PRIu64 " samples of %s%s%s\n",
             recorded->samples[recorded->event], recorded->name, text,
             used > 0 ? "; --event chooses one" : "");
}

static void say_nothing_there(const recorded_t *recorded) {
  const profile_options_t *options = &recorded->profile->options;
  char text[1024] = "", name[256];
  size_t i, used = 0, nr = recording_nr_events(recorded->recording);

  for (i = 0; i < nr && used < sizeof(text) - 320; i++) {
    name_of(recorded, i, name, sizeof(name));
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                             i == 0 ? "; its events are " : ", ", name);
  }
  if (options->event == NULL)
    common_say("%s has no samples%s\n", options->input, text);
  else
    common_say("%s has no samples of %s%s\n", options->input, options->event,
               text);
}

/* Returns an array, for free(), with 1 for each object that is in a stack. */
static unsigned char *find_sampled(const profile_account_t *account) {
  unsigned char *sampled = common_calloc(account->objects.nr, 1);
  const common_tally_t *tally = &account->stacks;
  const profile_frame_t *frames;
  size_t i, k;

  for (i = 0; i < tally->nr; i++) {
    frames = tally->entries[i]->items;
    for (k = 0; k < tally->entries[i]->nr; k++)
      sampled[frames[k].object] = 1;
  }
  return sampled;
}

/* Reports missing files, for a recording of another machine: a file that was
 * found has a build id in symbols. Otherwise reports files that the recording
 * does not identify: their paths may lead to any file here, so they are not
 * read. */
static void say_files(const recorded_t *recorded,
                      const unsigned char *sampled) {
  const profile_account_t *account = &recorded->profile->account;
  const unsigned char *build_id;
  const profile_object_t *object;
  size_t i, nr = 0, missing = 0, unidentified = 0;
  char host[128];

  for (i = PROFILE_OBJECTS_FIXED; i < account->objects.nr; i++) {
    object = profile_objects_get(&account->objects, (uint32_t)i);
    if (!sampled[i] || object->kind != SYMBOLS_FILE || object->is_function ||
        object->path[0] != '/')
      continue;
    nr++;
    missing +=
        !object->has_symbols ||
        symbols_build_id(account->symbols, object->symbols, &build_id) == 0;
    unidentified += object->inode == 0 && object->build_id_bytes == 0;
  }
  if (account->is_elsewhere && missing > 0) {
    common_text_clean(host, sizeof(host),
                      recording_hostname(recorded->recording));
    common_say("recorded on %s: %zu of %zu files do not exist here with the "
               "same build id\n",
               host, missing, nr);
  } else if (!account->is_elsewhere && unidentified > 0) {
    common_say("%zu file%s not read, because the recording has neither inodes "
               "nor build ids:\n  record with perf record --buildid-mmap or "
               "uvperf-record\n",
               unidentified, unidentified == 1 ? " was" : "s were");
  }
}

static void say_unnamed(const recorded_t *recorded) {
  const profile_t *profile = recorded->profile;
  unsigned char *sampled = find_sampled(&profile->account);

  say_files(recorded, sampled);
  if (recorded->no_kernel != NULL &&
      (sampled[PROFILE_OBJECT_KERNEL] || sampled[PROFILE_OBJECT_OUTSIDE]))
    common_say("functions of the kernel have no names: %s\n",
               recorded->no_kernel);
  free(sampled);
  if (recorded->no_unwinding)
    common_say("stacks of %s cannot be unwound: no callers are known\n",
               recording_arch(recorded->recording) == NULL
                   ? "that machine"
                   : recording_arch(recorded->recording));
  else if (!(recorded->fields &
             (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER)))
    common_say("no callers are known: record with -g\n");
}

static void say_damage(const recorded_t *recorded) {
  uint64_t damaged = recording_damaged(recorded->recording);
  uint64_t late = recording_late(recorded->recording);

  if (recording_message(recorded->recording)[0] != '\0')
    common_say("%s\n", recording_message(recorded->recording));
  if (damaged > 0)
    common_say("%" PRIu64 " damaged records were left out\n", damaged);
  if (late > 0)
    common_say("%" PRIu64 " records came too late to be put in time order\n",
               late);
  if (!recorded->has_ended)
    common_say("%s was not read to its end\n",
               recorded->profile->options.input);
}

/* -- the session ----------------------------------------------------------- */

static void on_tick(common_session_t *session) {
  recorded_t *recorded = recorded_of(session);

  profile_unwinding_flush(&recorded->profile->unwinding);
  print_progress(recorded);
  if (ferror(stderr))
    common_session_stop(session);
}

static void on_stop(common_session_t *session) {
  recorded_t *recorded = recorded_of(session);
  profile_totals_t *totals = &recorded->profile->totals;

  uv_idle_stop(&recorded->idle);
  if (recorded->has_poll)
    uv_poll_stop(&recorded->poll);
  if (recorded->has_line)
    fputc('\n', stderr);
  totals->samples = recorded->profile->account.samples;
  totals->seconds = (double)(recorded->last_ns - recorded->first_ns) / 1e9;
}

static void close_handles(recorded_t *recorded) {
  uv_close((uv_handle_t *)&recorded->idle, NULL);
  if (recorded->has_poll)
    uv_close((uv_handle_t *)&recorded->poll, NULL);
}

static void on_written(profile_t *profile) {
  recorded_t *recorded = profile->source;
  int is_quiet = profile->options.quiet;

  if (!is_quiet && profile_options_has_functions(&profile->options))
    say_unnamed(recorded);
  if (!is_quiet && profile->options.view.by == STACKS_BY_CGROUP &&
      !(recorded->fields & PERF_SAMPLE_CGROUP))
    common_say("no cgroups are known: record with --all-cgroups\n");
  close_handles(recorded);
}

/* Converts the times of records. They count from a boot, and this machine may
 * have been booted again. But the file is completed after its last record, and
 * a copy of it is newer. */
static void find_epoch(recorded_t *recorded) {
  profile_account_t *account = &recorded->profile->account;
  uint64_t booted =
      common_proc_clock(CLOCK_REALTIME) - common_proc_clock(CLOCK_MONOTONIC);
  struct stat info;

  account->error_ns = CLOCK_ERROR_NS;
  account->recorded_ns = common_proc_clock(CLOCK_REALTIME);
  if (stat(recorded->profile->options.input, &info) == 0 &&
      S_ISREG(info.st_mode))
    account->recorded_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000 +
                           (uint64_t)info.st_mtim.tv_nsec;
  account->epoch_ns = account->recorded_ns - recorded->end_ns;
  if (booted < account->epoch_ns)
    account->epoch_ns = booted;
}

static void on_close(common_session_t *session) {
  recorded_t *recorded = recorded_of(session);
  profile_t *profile = recorded->profile;

  if (recorded->recording == NULL) {
    close_handles(recorded);
    return;
  }
  say_damage(recorded);
  find_epoch(recorded);
  if (recorded->event != NONE) {
    if (!profile->options.quiet)
      say_events(recorded);
    recorded->ends = 1;
    if (!recorded->is_unwinding)
      profile_end(profile);
    return;
  }
  profile->failed = 1;
  if (recording_message(recorded->recording)[0] == '\0' && recorded->has_ended)
    say_nothing_there(recorded);
  if (profile->symbols != NULL)
    symbols_close(profile->symbols, NULL, NULL);
  close_handles(recorded);
}

static int on_late_signal(common_session_t *session) {
  return profile_end_now(session->data);
}

int profile_recorded_run(profile_t *profile) {
  recorded_t recorded = {.profile = profile, .event = NONE};
  common_session_t *session = &profile->session;
  char message[512];
  int status;

  profile->source = &recorded;
  profile->account.is_recorded = 1;
  /* The pid namespace of this program says nothing about the recorded one. */
  profile_tasks_name(&profile->account.tasks, 0,
                     stacks_names_add(&profile->account.names, "swapper"));
  profile->on_written = on_written;
  session->on_stop = on_stop;
  session->on_tick = on_tick;
  session->on_close = on_close;
  session->on_late_signal = on_late_signal;
  uv_idle_init(&session->loop, &recorded.idle);
  recorded.idle.data = &recorded;
  status = recording_open(&recorded.recording, profile->options.input, message,
                          sizeof(message)) != 0;
  if (status != 0) {
    common_say("%s\n", message);
  } else {
    common_session_listen(session);
    common_session_start(session, TICK_MS, 0);
    uv_idle_start(&recorded.idle, on_idle);
  }
  status = common_session_run(session, status);
  recording_free(recorded.recording);
  profile_kernel_free(&recorded.kernel);
  free(recorded.samples);
  return status;
}
