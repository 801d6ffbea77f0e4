/* SPDX-License-Identifier: MIT */
/* The events through which BPF programs write. This file chooses the events'
 * CPUs, opens the events with their rings, puts them into the map and takes
 * them out, and opens events for CPUs that come online. A CPU's key in the map
 * is its id, and ids have gaps. */
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
  const char *root;
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

static bpf_output_t *find_output(const uvperf__bpf_outputs_t *outputs,
                                 int cpu) {
  size_t i;

  for (i = 0; i < outputs->nr; i++)
    if (outputs->outputs[i].cpu == cpu)
      return &outputs->outputs[i];
  return NULL;
}

static int no_memory_for_cpus(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM,
                                "cannot open the events of the CPUs");
}

static int add_output(uvperf__bpf_outputs_t *outputs, int cpu,
                      bpf_output_t **added, uvperf_error_t *error) {
  bpf_output_t *grown = uvperf__grow(outputs->outputs, outputs->nr,
                                     &outputs->room, 4, sizeof(*grown));

  if (grown == NULL)
    return no_memory_for_cpus(error);
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
static int is_online(const uvperf__bpf_outputs_t *outputs, int cpu) {
  return uvperf__system_has_cpu(outputs->root, "online", cpu) != 0;
}

/* Without a list from the user, the events of all planned CPUs are opened. */
static int is_to_open(const uvperf__bpf_outputs_t *outputs, int cpu) {
  return outputs->cpus == NULL || is_online(outputs, cpu);
}

static int has_entry(const uvperf__bpf_outputs_t *outputs, int cpu) {
  return (uint32_t)cpu < outputs->map.max_entries;
}

static int list_cpus(const uvperf__bpf_outputs_t *outputs, int *cpus,
                     size_t *nr) {
  if (outputs->cpus != NULL)
    return uvperf__cpu_list_parse(outputs->cpus, cpus, nr);
  return uvperf__system_cpus(outputs->root, "online", cpus, nr);
}

static int explain_list(const uvperf__bpf_outputs_t *outputs, int code,
                        uvperf_error_t *error) {
  if (code == -ENOMEM)
    return no_memory_for_cpus(error);
  if (outputs->cpus != NULL)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "options.cpus \"%.64s\" is not a list of CPUs; "
                             "write it as in \"0-3,8\"",
                             outputs->cpus);
  return uvperf__error_online(error, code, "list the CPUs in options.cpus");
}

/* The list may grow between two readings, when a CPU comes online. */
static int read_list(const uvperf__bpf_outputs_t *outputs, int **cpus,
                     size_t *nr, uvperf_error_t *error) {
  int rc;

  *cpus = NULL;
  *nr = 0;
  while ((rc = list_cpus(outputs, *cpus, nr)) == -ENOBUFS) {
    uvperf__free(*cpus);
    *cpus = uvperf__calloc(*nr, sizeof(**cpus));
    if (*cpus == NULL)
      return explain_list(outputs, -ENOMEM, error);
  }
  if (rc == 0 && *nr == 0)
    rc = -ENODATA;
  return rc == 0 ? 0 : explain_list(outputs, rc, error);
}

/* Each CPU of the user's list must have an entry in the map. Without a list,
 * online CPUs without an entry are left out. */
static int plan_cpu(uvperf__bpf_outputs_t *outputs, int cpu,
                    uvperf_error_t *error) {
  bpf_output_t *added;

  if (has_entry(outputs, cpu))
    return add_output(outputs, cpu, &added, error);
  if (outputs->cpus == NULL)
    return 0;
  return uvperf__error_set(
      error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
      "options.cpus has CPU %d, but the map has %u entries; create it with "
      "more max_entries, or leave that CPU out",
      cpu, outputs->map.max_entries);
}

static int plan_cpus(uvperf__bpf_outputs_t *outputs, uvperf_error_t *error) {
  int *cpus = NULL;
  size_t nr, i;
  int rc = read_list(outputs, &cpus, &nr, error);

  for (i = 0; rc == 0 && i < nr; i++)
    rc = plan_cpu(outputs, cpus[i], error);
  uvperf__free(cpus);
  return rc;
}

/* -- one event ------------------------------------------------------------- */

static void close_output(bpf_output_t *output, uvperf__leftovers_t *leftovers) {
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

/* On E2BIG the kernel writes its own size into the attr. */
static int open_event(uvperf__bpf_outputs_t *outputs, bpf_output_t *output,
                      uvperf_error_t *error) {
  struct perf_event_attr *attr = outputs->attr;
  uint32_t asked_size = attr->size;
  uvperf__open_call_t call = {
      .error = error,
      .root = outputs->root,
      .attr = attr,
      .asked_size = asked_size,
      .pid = -1,
      .cpu = output->cpu,
      .cgroup = -1,
      .is_by_program = outputs->opener.open != NULL,
  };

  output->fd = uvperf__open(&outputs->opener, attr, -1, output->cpu, -1,
                            PERF_FLAG_FD_CLOEXEC);
  if (output->fd >= 0)
    return 0;
  call.code = output->fd;
  output->fd = -1;
  uvperf__explain_open(&call);
  attr->size = asked_size;
  return call.code;
}

static int explain_ioctl(const uvperf__bpf_outputs_t *outputs, int code,
                         unsigned long request, uvperf_error_t *error) {
  const uvperf__control_t control = {.request = request, .attr = outputs->attr};

  return uvperf__explain_control(error, code, outputs->root, &control);
}

/* An event writes into the ring of its CPU, even if the rings are
 * overwritable. */
static int join_ring(uvperf__bpf_outputs_t *outputs, bpf_output_t *output,
                     uvperf_error_t *error) {
  uvperf__cpu_ring_t *ring;
  int rc = uvperf__cpu_rings_get(outputs->rings, output->cpu, &ring, error);

  if (rc != 0)
    return rc;
  rc = uvperf__cpu_ring_join(ring, output->fd);
  if (rc != 0)
    return explain_ioctl(outputs, rc, PERF_EVENT_IOC_SET_OUTPUT, error);
  output->ring = ring;
  return 0;
}

static int enable_output(const uvperf__bpf_outputs_t *outputs,
                         const bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (output->fd < 0)
    return 0;
  rc = uvperf__sys_ioctl(output->fd, PERF_EVENT_IOC_ENABLE, 0);
  return rc >= 0 ? 0 : explain_ioctl(outputs, rc, PERF_EVENT_IOC_ENABLE, error);
}

static int open_output(uvperf__bpf_outputs_t *outputs, bpf_output_t *output,
                       uvperf_error_t *error) {
  int rc = open_event(outputs, output, error);

  if (rc == 0)
    rc = join_ring(outputs, output, error);
  if (rc != 0)
    close_output(output, NULL);
  output->status = rc;
  return rc;
}

static int put_output(const uvperf__bpf_outputs_t *outputs,
                      bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (output->fd < 0 || output->is_put)
    return 0;
  rc = uvperf__bpf_map_put(&outputs->map, (uint32_t)output->cpu, output->fd,
                           error);
  output->is_put = rc == 0;
  return rc;
}

static int take_output(const uvperf__bpf_outputs_t *outputs,
                       bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (!output->is_put)
    return 0;
  rc = uvperf__bpf_map_take(&outputs->map, (uint32_t)output->cpu, error);
  output->is_put = rc != 0;
  return rc;
}

/* -- opening all ----------------------------------------------------------- */

static int explain_none(const uvperf__bpf_outputs_t *outputs,
                        uvperf_error_t *error) {
  char online[UVPERF__TEXT_BYTES];

  if (uvperf__system_cpu_list(outputs->root, "online", online) != 0)
    strcpy(online, "unknown");
  return uvperf__error_set(error, -ENODEV, UVPERF_CAUSE_NO_CPU,
                           "no CPU%s%.40s%s that has one of the map's %u "
                           "entries is online; the online CPUs are %.47s",
                           outputs->cpus != NULL ? " of options.cpus \"" : "",
                           outputs->cpus != NULL ? outputs->cpus : "",
                           outputs->cpus != NULL ? "\"" : "",
                           outputs->map.max_entries, online);
}

static size_t nr_to_open(const uvperf__bpf_outputs_t *outputs) {
  size_t nr = 0;
  size_t i;

  for (i = 0; i < outputs->nr; i++)
    nr += (size_t)is_to_open(outputs, outputs->outputs[i].cpu);
  return nr;
}

static void close_all(uvperf__bpf_outputs_t *outputs,
                      uvperf__leftovers_t *leftovers) {
  size_t i;

  for (i = 0; i < outputs->nr; i++)
    close_output(&outputs->outputs[i], leftovers);
}

/* A CPU that is offline, or goes offline before its event is open, gets its
 * event when it comes online. */
static int open_next(uvperf__bpf_outputs_t *outputs) {
  bpf_opening_t *opening = &outputs->opening;
  bpf_output_t *output = &outputs->outputs[opening->next++];
  int rc;

  if (!is_to_open(outputs, output->cpu))
    return 0;
  rc = open_output(outputs, output, &opening->why);
  opening->nr_open += rc == 0;
  return rc == -ENODEV ? 0 : rc;
}

static int end_open(uvperf__bpf_outputs_t *outputs) {
  bpf_opening_t *opening = &outputs->opening;

  if (opening->nr_open == 0)
    return opening->why.code == 0 ? explain_none(outputs, &opening->why)
                                  : -ENODEV;
  opening->rc = 0;
  opening->stage = STAGE_DONE;
  return 0;
}

/* If the first rings used up the locked memory, all rings are opened again,
 * with a smaller size. */
static void fail_open(uvperf__bpf_outputs_t *outputs, int rc) {
  bpf_opening_t *opening = &outputs->opening;
  size_t nr = uvperf__cpu_rings_nr(outputs->rings);

  close_all(outputs, NULL);
  uvperf__cpu_rings_cut(outputs->rings, 0);
  opening->rc = rc;
  opening->stage = STAGE_DONE;
  if (!uvperf__cpu_rings_shrink(outputs->rings, nr))
    return;
  opening->stage = STAGE_OPEN;
  opening->next = 0;
  opening->nr_open = 0;
  opening->why.code = 0;
}

static int cancel_open(uvperf__bpf_outputs_t *outputs) {
  close_all(outputs, NULL);
  uvperf__cpu_rings_cut(outputs->rings, 0);
  outputs->opening.stage = STAGE_DONE;
  outputs->opening.rc = -ECANCELED;
  return 0;
}

int uvperf__bpf_outputs_open_next(uvperf__bpf_outputs_t *outputs,
                                  int is_cancelled) {
  bpf_opening_t *opening = &outputs->opening;
  int rc = 0;

  if (is_cancelled)
    return cancel_open(outputs);
  if (opening->stage == STAGE_PLAN) {
    uvperf__bpf_attr_ask_format(outputs->attr, outputs->root,
                                outputs->opener.open == NULL);
    rc = plan_cpus(outputs, &opening->why);
    opening->stage = STAGE_OPEN;
  } else if (opening->stage == STAGE_OPEN) {
    rc = opening->next < outputs->nr ? open_next(outputs) : end_open(outputs);
  }
  if (rc != 0)
    fail_open(outputs, rc);
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
        enable_output(outputs, &outputs->outputs[i], first == 0 ? error : NULL);
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
static int move_all(uvperf__bpf_outputs_t *outputs, int put,
                    uvperf_error_t *error) {
  bpf_output_t *all = outputs->outputs;
  size_t i, undone;
  int rc = check_process(outputs, error);

  if (rc != 0 || outputs->is_put == put)
    return rc;
  for (i = 0; i < outputs->nr && rc == 0; i++)
    rc = put ? put_output(outputs, &all[i], error)
             : take_output(outputs, &all[i], error);
  if (rc == 0) {
    outputs->is_put = put;
    return 0;
  }
  for (undone = 0; undone < i; undone++) {
    if (put)
      take_output(outputs, &all[undone], NULL);
    else
      put_output(outputs, &all[undone], NULL);
  }
  return rc;
}

int uvperf__bpf_outputs_put(uvperf__bpf_outputs_t *outputs,
                            uvperf_error_t *error) {
  return move_all(outputs, 1, error);
}

int uvperf__bpf_outputs_take(uvperf__bpf_outputs_t *outputs,
                             uvperf_error_t *error) {
  return move_all(outputs, 0, error);
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
      take_output(outputs, &outputs->outputs[i], NULL);
  for (i = 0; i < outputs->nr; i++)
    outputs->outputs[i].is_put = 0;
  outputs->is_put = 0;
  uvperf__bpf_map_close(&outputs->map);
}

/* -- new and free ---------------------------------------------------------- */

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM, "cannot make the reader");
}

static int copy_cpus(uvperf__bpf_outputs_t *outputs, const char *cpus,
                     uvperf_error_t *error) {
  size_t size;

  if (cpus == NULL)
    return 0;
  size = strlen(cpus) + 1;
  outputs->cpus = uvperf__calloc(1, size);
  if (outputs->cpus == NULL)
    return no_memory(error);
  memcpy(outputs->cpus, cpus, size);
  return 0;
}

static int make_rings(uvperf__bpf_outputs_t *outputs,
                      const uvperf__bpf_outputs_options_t *options,
                      uvperf_error_t *error) {
  uvperf__cpu_rings_options_t rings;
  int rc = uvperf__bpf_attr_rings(&rings, options, outputs->attr, error);

  rings.opener = outputs->opener;
  if (rc == 0 && uvperf__cpu_rings_new(&outputs->rings, &rings) != 0)
    rc = no_memory(error);
  return rc;
}

static int make_decoder(uvperf__bpf_outputs_t *outputs, uvperf_error_t *error) {
  const uvperf_source_t *source = &outputs->source;
  int rc;

  outputs->source.size = sizeof(outputs->source);
  outputs->source.attr = outputs->attr;
  outputs->source.pid = -1;
  outputs->source.cpu = -1;
  rc = uvperf_decoder_new(&outputs->decoder, &source, 1);
  if (rc == 0)
    return 0;
  if (rc == -ENOMEM)
    return no_memory(error);
  return uvperf__error_set(error, rc, UVPERF_CAUSE_ARGUMENT,
                           "cannot decode the records of this attr");
}

/* Steps that do not need the kernel come first. */
static int make(uvperf__bpf_outputs_t *outputs,
                const uvperf__bpf_outputs_options_t *options,
                uvperf_error_t *error) {
  int rc = uvperf__bpf_attr_make(&outputs->attr, options, error);

  if (rc == 0)
    rc = make_rings(outputs, options, error);
  if (rc == 0)
    rc = make_decoder(outputs, error);
  if (rc == 0)
    rc = copy_cpus(outputs, options->cpus, error);
  if (rc == 0)
    rc = uvperf__bpf_map_open(&outputs->map, options->root, options->map_fd,
                              options->path, error);
  return rc;
}

/* One more fd would not help, so the error reports how many are needed in all.
 * Called when everything is closed again. If the program opens the events
 * itself, nr is 0 and nothing is explained, because another process may have
 * run out of fds. */
static void explain_fds(size_t nr, uvperf_error_t *error) {
  uvperf__fd_limits_t fds;
  uint64_t needed;

  if (error == NULL || error->code != -EMFILE || nr == 0)
    return;
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
}

int uvperf__bpf_outputs_begin(uvperf__bpf_outputs_t **outputs,
                              const uvperf__bpf_outputs_options_t *options,
                              uvperf_error_t *error) {
  uvperf__bpf_outputs_t *made = uvperf__calloc(1, sizeof(*made));
  int rc;

  *outputs = NULL;
  if (made == NULL)
    return no_memory(error);
  made->root = options->root;
  made->process = uvperf__process();
  made->is_fixed = options->is_fixed;
  made->opener = options->opener;
  made->opener.calls = &made->calls;
  made->map.fd = -1;
  rc = make(made, options, error);
  if (rc == 0)
    *outputs = made;
  else
    uvperf__bpf_outputs_free(made);
  return rc;
}

int uvperf__bpf_outputs_end(uvperf__bpf_outputs_t **outputs,
                            uvperf_error_t *error) {
  bpf_opening_t *opening = &(*outputs)->opening;
  int rc = opening->rc;
  size_t nr;

  if (rc == 0)
    return 0;
  if (error != NULL)
    *error = opening->why;
  nr = (*outputs)->opener.open == NULL ? nr_to_open(*outputs) : 0;
  uvperf__bpf_outputs_free(*outputs);
  *outputs = NULL;
  explain_fds(nr, error);
  return rc;
}

int uvperf__bpf_outputs_new(uvperf__bpf_outputs_t **outputs,
                            const uvperf__bpf_outputs_options_t *options,
                            uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_begin(outputs, options, error);

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
  close_all(outputs, leftovers);
  uvperf__cpu_rings_give_up(outputs->rings, leftovers);
}

/* The events are disabled before they are closed, because a forked child that
 * has not executed another program still has them open. */
void uvperf__bpf_outputs_free(uvperf__bpf_outputs_t *outputs) {
  if (outputs == NULL)
    return;
  uvperf__bpf_outputs_leave_map(outputs);
  uvperf__bpf_outputs_disable(outputs);
  close_all(outputs, NULL);
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
static void close_gone(uvperf__bpf_outputs_t *outputs, bpf_output_t *output) {
  take_output(outputs, output, NULL);
  output_count_lost(outputs, output);
  close_output(output, NULL);
  output->status = -ENODEV;
}

void uvperf__bpf_outputs_cpu_gone(uvperf__bpf_outputs_t *outputs, int cpu) {
  bpf_output_t *output = find_output(outputs, cpu);

  if (output != NULL && check_process(outputs, NULL) == 0)
    close_gone(outputs, output);
}

/* The old event, if there is one, stays in the map until the new one is
 * there. */
static int reopen(uvperf__bpf_outputs_t *outputs, bpf_output_t *output,
                  uvperf_error_t *error) {
  size_t nr = uvperf__cpu_rings_nr(outputs->rings);
  bpf_output_t fresh = {output->cpu, -1, 0, 0, 0, NULL};
  int rc = open_output(outputs, &fresh, error);

  if (rc == 0 && outputs->is_enabled)
    rc = enable_output(outputs, &fresh, error);
  if (rc == 0 && outputs->is_put)
    rc = put_output(outputs, &fresh, error);
  if (rc == 0) {
    output_count_lost(outputs, output);
    close_output(output, NULL);
    *output = fresh;
    return 0;
  }
  close_output(&fresh, NULL);
  uvperf__cpu_rings_cut(outputs->rings, nr);
  close_gone(outputs, output);
  output->status = rc;
  return rc;
}

int uvperf__bpf_outputs_cpu_come(uvperf__bpf_outputs_t *outputs, int cpu,
                                 uvperf_error_t *error) {
  bpf_output_t *output;
  int rc = check_process(outputs, error);

  if (rc != 0 || outputs->is_fixed)
    return rc;
  output = find_output(outputs, cpu);
  if (output == NULL) {
    if (outputs->cpus != NULL || cpu < 0 || !has_entry(outputs, cpu))
      return 0; /* it should have no event */
    rc = add_output(outputs, cpu, &output, error);
    if (rc != 0)
      return rc;
  }
  return reopen(outputs, output, error);
}

int uvperf__bpf_outputs_cpu_status(const uvperf__bpf_outputs_t *outputs,
                                   int cpu) {
  const bpf_output_t *output = find_output(outputs, cpu);
  int status = output != NULL ? output->status : -ENODEV;

  if (cpu < 0 || cpu > UVPERF__MAX_CPU ||
      (output == NULL && outputs->cpus != NULL))
    return -ENOENT;
  if (status != -ENODEV)
    return status;
  if (uvperf__system_has_cpu(outputs->root, "possible", cpu) == 0)
    return -ENOENT;
  if (!has_entry(outputs, cpu))
    return -E2BIG;
  return outputs->is_fixed && is_online(outputs, cpu) ? -ENOENT : -ENODEV;
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
