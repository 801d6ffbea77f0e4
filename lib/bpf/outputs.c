/* SPDX-License-Identifier: MIT */
/* The events through which BPF programs write. Opening them has these steps:
 *
 *   1. uvperf__bpf_outputs_begin checks the options, and opens the map.
 *   2. uvperf__bpf_outputs_open_next lists the CPUs (outputs_plan). Each
 *      further call opens the event of one CPU, with its ring (output_open).
 *   3. uvperf__bpf_outputs_end: all are open, or none (opening_fail).
 *
 * Then the events are enabled, and put into the map. A CPU's key in the map is
 * its id, and ids have gaps. */
#include "bpf/outputs.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bpf/attr.h"
#include "ring/bpf_map.h"
#include "decode/read_format.h"
#include "explain/explain.h"
#include "host/cpu_list.h"
#include "host/system.h"
#include "sys/fork.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/grow.h"

/* The event of a CPU. */
typedef struct bpf_output_s {
  int cpu;
  int fd;                   /* -1: no event */
  int status;               /* 0, or why there is no event */
  int is_put;               /* into the map, by us */
  uint64_t lost;            /* lost by this fd, already added to ring->lost */
  uvperf__cpu_ring_t *ring; /* the fd writes into it */
} bpf_output_t;

enum stage {
  STAGE_PLAN,
  STAGE_OPEN, /* one CPU after the other */
  STAGE_DONE
};

/* The progress of opening. */
typedef struct bpf_opening_s {
  enum stage stage;
  size_t next;
  size_t nr_open;
  int rc;
  uvperf_error_t why;
} bpf_opening_t;

struct uvperf__bpf_outputs_s {
  uint32_t process; /* the one that opened them */
  uvperf__bpf_map_t map;
  struct perf_event_attr *attr; /* as each event is opened */
  char *cpus;                   /* the list, or NULL */
  int is_fixed;
  uvperf__opener_t opener;
  uvperf__calls_t calls; /* opener.calls */
  uvperf__cpu_rings_t *rings;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  bpf_output_t *outputs; /* of each CPU that should have an event */
  size_t nr;
  size_t room;
  int is_enabled;
  int is_put;
  bpf_opening_t opening;
};

/* Returns 0. In a forked child returns -EPERM and the error. */
static int check_process(const uvperf__bpf_outputs_t *outputs,
                         uvperf_error_t *error) {
  if (uvperf__process() == outputs->process)
    return 0;
  return uvperf__error_forked(error, "reader");
}

/* -- which CPUs ------------------------------------------------------------ */

static bpf_output_t *outputs_find(const uvperf__bpf_outputs_t *outputs,
                                  int cpu) {
  size_t i;

  for (i = 0; i < outputs->nr; i++)
    if (outputs->outputs[i].cpu == cpu)
      return &outputs->outputs[i];
  return NULL;
}

static int outputs_add(uvperf__bpf_outputs_t *outputs, int cpu,
                       bpf_output_t **added, uvperf_error_t *error) {
  bpf_output_t *grown = uvperf__grow(outputs->outputs, outputs->nr,
                                     &outputs->room, 4, sizeof(*grown));

  if (grown == NULL)
    return uvperf__error_shortage(error, -ENOMEM,
                                  "cannot open the events of the CPUs");
  outputs->outputs = grown;
  *added = &grown[outputs->nr++];
  memset(*added, 0, sizeof(**added));
  (*added)->cpu = cpu;
  (*added)->fd = -1;
  (*added)->status = -ENODEV;
  return 0;
}

/* Also returns 1 if this is not known, so that the caller tries to open the
 * event. */
static int cpu_is_online(int cpu) {
  return uvperf__system_has_cpu("online", cpu) != 0;
}

/* Without a list from the user, the events of all planned CPUs are opened. */
static int cpu_is_to_open(const uvperf__bpf_outputs_t *outputs, int cpu) {
  return outputs->cpus == NULL || cpu_is_online(cpu);
}

static int cpu_has_entry(const uvperf__bpf_outputs_t *outputs, int cpu) {
  return (uint32_t)cpu < outputs->map.max_entries;
}

/* Lists the user's CPUs, or the online CPUs. That list may grow between two
 * readings, when a CPU comes online. */
static int list_cpus(const uvperf__bpf_outputs_t *outputs, int **cpus,
                     size_t *nr, uvperf_error_t *error) {
  int rc;

  *cpus = NULL;
  *nr = 0;
  do {
    rc = outputs->cpus != NULL ? uvperf_cpu_list_parse(outputs->cpus, *cpus, nr)
                               : uvperf__system_cpus("online", *cpus, nr);
    if (rc != -ENOBUFS)
      break;
    uvperf__free(*cpus);
    *cpus = uvperf__calloc(*nr, sizeof(**cpus));
    rc = -ENOMEM;
  } while (*cpus != NULL);
  if (rc == 0 && *nr == 0)
    rc = -ENODATA;
  if (rc == 0)
    return 0;
  if (rc == -ENOMEM)
    return uvperf__error_shortage(error, rc,
                                  "cannot open the events of the CPUs");
  if (outputs->cpus != NULL)
    return uvperf__error_argument(error,
                                  "options.cpus \"%.64s\" is not a list of "
                                  "CPUs; write it as in \"0-3,8\"",
                                  outputs->cpus);
  return uvperf__error_online(error, rc, "list the CPUs in options.cpus");
}

/* Each CPU of the user's list must have an entry in the map. Without a list,
 * online CPUs without an entry are left out. */
static int outputs_plan(uvperf__bpf_outputs_t *outputs, uvperf_error_t *error) {
  bpf_output_t *added;
  int *cpus = NULL;
  size_t nr, i;
  int rc = list_cpus(outputs, &cpus, &nr, error);

  for (i = 0; rc == 0 && i < nr; i++) {
    if (cpu_has_entry(outputs, cpus[i]))
      rc = outputs_add(outputs, cpus[i], &added, error);
    else if (outputs->cpus != NULL)
      rc = uvperf__error_argument(
          error,
          "options.cpus has CPU %d, but the map has %u entries; create it with "
          "more max_entries, or leave that CPU out",
          cpus[i], outputs->map.max_entries);
  }
  uvperf__free(cpus);
  return rc;
}

/* -- one event ------------------------------------------------------------- */

static void output_close(bpf_output_t *output, uvperf__leftovers_t *leftovers) {
  if (output->fd < 0)
    return;
  uvperf__leftovers_add(leftovers, NULL, 0, output->fd);
  output->fd = -1;
  if (output->ring != NULL)
    uvperf__cpu_ring_leave(output->ring);
  output->ring = NULL;
}

static void output_count_lost(const uvperf__bpf_outputs_t *outputs,
                              bpf_output_t *output) {
  uint64_t format = outputs->attr->read_format;
  uvperf__value_t value;

  if (output->fd < 0 || output->ring == NULL ||
      !uvperf__read_format_has_lost(format) ||
      !uvperf__ring_may_have_lost(&output->ring->ring) ||
      uvperf__read_format_fd(output->fd, format, &value) != 0)
    return;
  output->ring->lost += value.lost - output->lost;
  output->lost = value.lost;
}

static int explain_ioctl(const uvperf__bpf_outputs_t *outputs, int code,
                         unsigned long request, uvperf_error_t *error) {
  const uvperf__control_t control = {.request = request, .attr = outputs->attr};

  return uvperf__explain_control(error, code, &control);
}

static int output_enable(const uvperf__bpf_outputs_t *outputs,
                         const bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (output->fd < 0)
    return 0;
  rc = uvperf__sys_ioctl(output->fd, PERF_EVENT_IOC_ENABLE, 0);
  return rc >= 0 ? 0 : explain_ioctl(outputs, rc, PERF_EVENT_IOC_ENABLE, error);
}

/* Opens the event of a CPU. It writes into the ring of its CPU, even if the
 * rings are overwritable. On E2BIG the kernel writes its own size into the
 * attr. */
static int output_open(uvperf__bpf_outputs_t *outputs, bpf_output_t *output,
                       uvperf_error_t *error) {
  struct perf_event_attr *attr = outputs->attr;
  uvperf__open_call_t call = {
      .error = error,
      .attr = attr,
      .asked_size = attr->size,
      .pid = -1,
      .cpu = output->cpu,
      .cgroup = -1,
      .is_by_program = outputs->opener.open != NULL,
  };
  uvperf__cpu_ring_t *ring;

  call.code = uvperf__open(&outputs->opener, attr, -1, output->cpu, -1,
                           PERF_FLAG_FD_CLOEXEC);
  if (call.code < 0) {
    uvperf__explain_open(&call);
    attr->size = call.asked_size;
    output->status = call.code;
    return call.code;
  }
  output->fd = call.code;
  output->status =
      uvperf__cpu_rings_get(outputs->rings, output->cpu, &ring, error);
  if (output->status == 0) {
    output->status = uvperf__cpu_ring_join(ring, output->fd);
    if (output->status == 0)
      output->ring = ring;
    else
      explain_ioctl(outputs, output->status, PERF_EVENT_IOC_SET_OUTPUT, error);
  }
  if (output->status != 0)
    output_close(output, NULL);
  return output->status;
}

static int output_put(const uvperf__bpf_outputs_t *outputs,
                      bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (output->fd < 0 || output->is_put)
    return 0;
  rc = uvperf__bpf_map_put(&outputs->map, (uint32_t)output->cpu, output->fd,
                           error);
  output->is_put = rc == 0;
  return rc;
}

static int output_take(const uvperf__bpf_outputs_t *outputs,
                       bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (!output->is_put)
    return 0;
  rc = uvperf__bpf_map_take(&outputs->map, (uint32_t)output->cpu, error);
  output->is_put = rc != 0;
  return rc;
}

/* -- opening all ----------------------------------------------------------- */

static void outputs_close_all(uvperf__bpf_outputs_t *outputs,
                              uvperf__leftovers_t *leftovers) {
  size_t i;

  for (i = 0; i < outputs->nr; i++)
    output_close(&outputs->outputs[i], leftovers);
}

static int opening_explain_none(const uvperf__bpf_outputs_t *outputs,
                                uvperf_error_t *error) {
  char online[UVPERF__TEXT_BYTES];

  if (uvperf__system_cpu_list("online", online) != 0)
    strcpy(online, "unknown");
  return uvperf__error_set(error, -ENODEV, UVPERF_CAUSE_NO_CPU,
                           "no CPU%s%.40s%s that has one of the map's %u "
                           "entries is online; the online CPUs are %.47s",
                           outputs->cpus != NULL ? " of options.cpus \"" : "",
                           outputs->cpus != NULL ? outputs->cpus : "",
                           outputs->cpus != NULL ? "\"" : "",
                           outputs->map.max_entries, online);
}

/* Opens one more event, or ends the opening. A CPU that is offline, or goes
 * offline before its event is open, gets its event when it comes online. */
static int opening_open_next(uvperf__bpf_outputs_t *outputs) {
  bpf_opening_t *opening = &outputs->opening;
  bpf_output_t *output;
  int rc;

  if (opening->next < outputs->nr) {
    output = &outputs->outputs[opening->next++];
    if (!cpu_is_to_open(outputs, output->cpu))
      return 0;
    rc = output_open(outputs, output, &opening->why);
    opening->nr_open += rc == 0;
    return rc == -ENODEV ? 0 : rc;
  }
  if (opening->nr_open == 0)
    return opening->why.code == 0 ? opening_explain_none(outputs, &opening->why)
                                  : -ENODEV;
  opening->rc = 0;
  opening->stage = STAGE_DONE;
  return 0;
}

/* If the first rings used up the locked memory, all rings are opened again,
 * with a smaller size. */
static void opening_fail(uvperf__bpf_outputs_t *outputs, int rc) {
  bpf_opening_t *opening = &outputs->opening;
  size_t nr = uvperf__cpu_rings_nr(outputs->rings);

  outputs_close_all(outputs, NULL);
  uvperf__cpu_rings_cut(outputs->rings, 0);
  opening->rc = rc;
  opening->stage = STAGE_DONE;
  if (rc == -ECANCELED || !uvperf__cpu_rings_shrink(outputs->rings, nr))
    return;
  opening->stage = STAGE_OPEN;
  opening->next = 0;
  opening->nr_open = 0;
  opening->why.code = 0;
}

int uvperf__bpf_outputs_open_next(uvperf__bpf_outputs_t *outputs,
                                  int is_cancelled) {
  bpf_opening_t *opening = &outputs->opening;
  int rc = 0;

  if (is_cancelled) {
    rc = -ECANCELED;
  } else if (opening->stage == STAGE_PLAN) {
    uvperf__bpf_attr_ask_format(outputs->attr, outputs->opener.open == NULL);
    rc = outputs_plan(outputs, &opening->why);
    opening->stage = STAGE_OPEN;
  } else if (opening->stage == STAGE_OPEN) {
    rc = opening_open_next(outputs);
  }
  if (rc != 0)
    opening_fail(outputs, rc);
  return opening->stage != STAGE_DONE;
}

/* -- enabling -------------------------------------------------------------- */

int uvperf__bpf_outputs_enable(uvperf__bpf_outputs_t *outputs,
                               uvperf_error_t *error) {
  int first = check_process(outputs, error);
  size_t i;
  int rc;

  if (first != 0)
    return first;
  for (i = 0; i < outputs->nr; i++) {
    rc =
        output_enable(outputs, &outputs->outputs[i], first == 0 ? error : NULL);
    if (first == 0)
      first = rc;
  }
  outputs->is_enabled = 1;
  return first;
}

void uvperf__bpf_outputs_disable(uvperf__bpf_outputs_t *outputs) {
  size_t i;

  if (check_process(outputs, NULL) != 0)
    return;
  for (i = 0; i < outputs->nr; i++)
    if (outputs->outputs[i].fd >= 0)
      uvperf__sys_ioctl(outputs->outputs[i].fd, PERF_EVENT_IOC_DISABLE, 0);
  outputs->is_enabled = 0;
}

/* -- in the map ------------------------------------------------------------ */

/* `is_put` of each output records the progress. If an output fails, the outputs
 * before it are undone. This restores the old state, because before the call
 * either no event or every event was in the map. */
static int outputs_move(uvperf__bpf_outputs_t *outputs, int put,
                        uvperf_error_t *error) {
  bpf_output_t *all = outputs->outputs;
  size_t i, undone;
  int rc = check_process(outputs, error);

  if (rc != 0 || outputs->is_put == put)
    return rc;
  for (i = 0; i < outputs->nr && rc == 0; i++)
    rc = put ? output_put(outputs, &all[i], error)
             : output_take(outputs, &all[i], error);
  if (rc == 0) {
    outputs->is_put = put;
    return 0;
  }
  for (undone = 0; undone < i; undone++) {
    if (put)
      output_take(outputs, &all[undone], NULL);
    else
      output_put(outputs, &all[undone], NULL);
  }
  return rc;
}

int uvperf__bpf_outputs_put(uvperf__bpf_outputs_t *outputs,
                            uvperf_error_t *error) {
  return outputs_move(outputs, 1, error);
}

int uvperf__bpf_outputs_take(uvperf__bpf_outputs_t *outputs,
                             uvperf_error_t *error) {
  return outputs_move(outputs, 0, error);
}

int uvperf__bpf_outputs_are_put(const uvperf__bpf_outputs_t *outputs) {
  return outputs->is_put;
}

/* If closing the map deletes the entries, they are left alone here, because
 * another process may have replaced an entry by now. */
void uvperf__bpf_outputs_leave_map(uvperf__bpf_outputs_t *outputs) {
  size_t i;

  if (check_process(outputs, NULL) == 0 &&
      !uvperf__bpf_map_clears(&outputs->map))
    for (i = 0; i < outputs->nr; i++)
      output_take(outputs, &outputs->outputs[i], NULL);
  for (i = 0; i < outputs->nr; i++)
    outputs->outputs[i].is_put = 0;
  outputs->is_put = 0;
  uvperf__bpf_map_close(&outputs->map);
}

/* -- new and free ---------------------------------------------------------- */

/* Steps that do not need the kernel come first. */
static int outputs_make(uvperf__bpf_outputs_t *outputs, int map_fd,
                        const uvperf_bpf_reader_options_t *options,
                        uvperf_error_t *error) {
  const uvperf_source_t *source = &outputs->source;
  uvperf__cpu_rings_options_t rings;
  size_t size;
  int rc = uvperf__bpf_attr_make(&outputs->attr, options, error);

  if (rc == 0)
    rc = uvperf__bpf_attr_rings(&rings, options, outputs->attr, error);
  if (rc != 0)
    return rc;
  outputs->source.size = sizeof(outputs->source);
  outputs->source.attr = outputs->attr;
  outputs->source.pid = -1;
  outputs->source.cpu = -1;
  rings.opener = outputs->opener;
  rc = uvperf__cpu_rings_new(&outputs->rings, &rings);
  if (rc == 0)
    rc = uvperf_decoder_new(&outputs->decoder, &source, 1);
  if (rc == 0 && options->cpus != NULL) {
    size = strlen(options->cpus) + 1;
    outputs->cpus = uvperf__calloc(1, size);
    if (outputs->cpus != NULL)
      memcpy(outputs->cpus, options->cpus, size);
    else
      rc = -ENOMEM;
  }
  if (rc == -ENOMEM)
    return uvperf__error_shortage(error, rc, "cannot make the reader");
  if (rc != 0)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_ARGUMENT,
                             "cannot decode the records of this attr");
  return uvperf__bpf_map_open(&outputs->map, map_fd, options->path, error);
}

int uvperf__bpf_outputs_begin(uvperf__bpf_outputs_t **outputs, int map_fd,
                              const uvperf_bpf_reader_options_t *options,
                              uvperf_error_t *error) {
  uvperf__bpf_outputs_t *made = uvperf__calloc(1, sizeof(*made));
  int rc;

  *outputs = NULL;
  if (made == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot make the reader");
  made->process = uvperf__process();
  made->is_fixed = (options->flags & UVPERF_BPF_READER_FIXED_CPUS) != 0;
  made->opener.open = options->open;
  made->opener.arg = options->open_arg;
  made->opener.calls = &made->calls;
  made->map.fd = -1;
  rc = outputs_make(made, map_fd, options, error);
  if (rc == 0)
    *outputs = made;
  else
    uvperf__bpf_outputs_free(made);
  return rc;
}

/* One more fd would not help, so the error reports how many are needed in all.
 * If the program opens the events itself, nothing is explained, because another
 * process may have run out of fds. */
int uvperf__bpf_outputs_end(uvperf__bpf_outputs_t **outputs,
                            uvperf_error_t *error) {
  uvperf__bpf_outputs_t *failed = *outputs;
  int rc = failed->opening.rc;
  uvperf__fd_limits_t fds;
  uint64_t needed;
  size_t nr = 0;
  size_t i;

  if (rc == 0)
    return 0;
  if (error != NULL)
    *error = failed->opening.why;
  for (i = 0; failed->opener.open == NULL && i < failed->nr; i++)
    nr += (size_t)cpu_is_to_open(failed, failed->outputs[i].cpu);
  uvperf__bpf_outputs_free(failed);
  *outputs = NULL;
  if (error == NULL || error->code != -EMFILE || nr == 0)
    return rc;
  needed = uvperf__fds_needed(2 * (uint64_t)nr + 1);
  uvperf__fd_limits(&fds);
  uvperf__error_set(error, -EMFILE, UVPERF_CAUSE_FILES,
                    "cannot open an event and a ring for each of %zu CPUs: "
                    "this needs RLIMIT_NOFILE %llu, and it is %llu (hard limit "
                    "%llu); raise it with setrlimit(2) or ulimit -n",
                    nr, (unsigned long long)needed,
                    (unsigned long long)fds.soft, (unsigned long long)fds.hard);
  error->limit = fds.soft;
  error->needed = needed;
  return rc;
}

int uvperf__bpf_outputs_new(uvperf__bpf_outputs_t **outputs, int map_fd,
                            const uvperf_bpf_reader_options_t *options,
                            uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_begin(outputs, map_fd, options, error);

  if (rc != 0)
    return rc;
  while (uvperf__bpf_outputs_open_next(*outputs, 0))
    continue;
  return uvperf__bpf_outputs_end(outputs, error);
}

void uvperf__bpf_outputs_give_up(uvperf__bpf_outputs_t *outputs,
                                 uvperf__leftovers_t *leftovers) {
  if (check_process(outputs, NULL) != 0 || outputs->nr < UVPERF__MANY_EVENTS)
    return;
  outputs_close_all(outputs, leftovers);
  uvperf__cpu_rings_give_up(outputs->rings, leftovers);
}

/* The events are disabled before they are closed, because a forked child that
 * has not executed another program still has them open. */
void uvperf__bpf_outputs_free(uvperf__bpf_outputs_t *outputs) {
  if (outputs == NULL)
    return;
  uvperf__bpf_outputs_leave_map(outputs);
  uvperf__bpf_outputs_disable(outputs);
  outputs_close_all(outputs, NULL);
  uvperf__free(outputs->outputs);
  uvperf_decoder_free(outputs->decoder);
  uvperf__cpu_rings_free(outputs->rings);
  uvperf__free(outputs->attr);
  uvperf__free(outputs->cpus);
  uvperf__free(outputs);
}

/* -- CPUs that come and go ------------------------------------------------- */

/* The kernel has disabled the event for good (perf_event_exit_cpu in
 * kernel/events/core.c). If the event stayed in the map, programs that name the
 * CPU would get -EOPNOTSUPP. If the entry cannot be deleted now, the deletion
 * is tried again when all entries are taken out. */
static void output_close_gone(uvperf__bpf_outputs_t *outputs,
                              bpf_output_t *output) {
  output_take(outputs, output, NULL);
  output_count_lost(outputs, output);
  output_close(output, NULL);
  output->status = -ENODEV;
}

void uvperf__bpf_outputs_cpu_gone(uvperf__bpf_outputs_t *outputs, int cpu) {
  bpf_output_t *output = outputs_find(outputs, cpu);

  if (output != NULL && check_process(outputs, NULL) == 0)
    output_close_gone(outputs, output);
}

/* The old event, if there is one, stays in the map until the new one is
 * there. */
int uvperf__bpf_outputs_cpu_come(uvperf__bpf_outputs_t *outputs, int cpu,
                                 uvperf_error_t *error) {
  bpf_output_t fresh = {cpu, -1, 0, 0, 0, NULL};
  bpf_output_t *output;
  size_t nr_rings;
  int rc = check_process(outputs, error);

  if (rc != 0 || outputs->is_fixed)
    return rc;
  output = outputs_find(outputs, cpu);
  if (output == NULL) {
    if (outputs->cpus != NULL || cpu < 0 || !cpu_has_entry(outputs, cpu))
      return 0; /* it should have no event */
    rc = outputs_add(outputs, cpu, &output, error);
    if (rc != 0)
      return rc;
  }
  nr_rings = uvperf__cpu_rings_nr(outputs->rings);
  rc = output_open(outputs, &fresh, error);
  if (rc == 0 && outputs->is_enabled)
    rc = output_enable(outputs, &fresh, error);
  if (rc == 0 && outputs->is_put)
    rc = output_put(outputs, &fresh, error);
  if (rc == 0) {
    output_count_lost(outputs, output);
    output_close(output, NULL);
    *output = fresh;
    return 0;
  }
  output_close(&fresh, NULL);
  uvperf__cpu_rings_cut(outputs->rings, nr_rings);
  output_close_gone(outputs, output);
  output->status = rc;
  return rc;
}

int uvperf__bpf_outputs_cpu_status(const uvperf__bpf_outputs_t *outputs,
                                   int cpu) {
  const bpf_output_t *output = outputs_find(outputs, cpu);
  int status = output != NULL ? output->status : -ENODEV;

  if (cpu < 0 || cpu > UVPERF__MAX_CPU ||
      (output == NULL && outputs->cpus != NULL))
    return -ENOENT;
  if (status != -ENODEV)
    return status;
  if (uvperf__system_has_cpu("possible", cpu) == 0)
    return -ENOENT;
  if (!cpu_has_entry(outputs, cpu))
    return -E2BIG;
  return outputs->is_fixed && cpu_is_online(cpu) ? -ENOENT : -ENODEV;
}

/* -- lost samples ---------------------------------------------------------- */

int uvperf__bpf_outputs_count_lost(uvperf__bpf_outputs_t *outputs) {
  size_t i;

  for (i = 0; i < outputs->nr; i++)
    output_count_lost(outputs, &outputs->outputs[i]);
  return uvperf__read_format_has_lost(outputs->attr->read_format);
}

/* -- getters --------------------------------------------------------------- */

uvperf__calls_t *uvperf__bpf_outputs_calls(uvperf__bpf_outputs_t *outputs) {
  return &outputs->calls;
}

uvperf__cpu_rings_t *
uvperf__bpf_outputs_rings(const uvperf__bpf_outputs_t *outputs) {
  return outputs->rings;
}

uvperf_decoder_t *
uvperf__bpf_outputs_decoder(const uvperf__bpf_outputs_t *outputs) {
  return outputs->decoder;
}

const struct perf_event_attr *
uvperf__bpf_outputs_attr(const uvperf__bpf_outputs_t *outputs) {
  return outputs->attr;
}
