/* SPDX-License-Identifier: MIT */
/* Samples of one process are sent together, as a batch. So if a process's files
 * harm the worker, other processes lose no stacks. */
#include "profile/symbols/unwind_queue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/by_id.h"
#include "common/memory.h"
#include "common/sorted.h"
#include "profile/symbols/open.h"

#define MAX_BYTES     ((size_t)64 << 20)
#define BATCH_SAMPLES 64
#define BATCH_BYTES   ((size_t)1 << 20)
#define TIMEOUT_MS    5000
/* If this number of batches of a process have ended the worker, the process is
 * ignored. */
#define MAX_STRIKES 3

/* An object. The object never changes while the queue lives, because jobs read
 * it. */
typedef struct object_s {
  symbols_mapping_t mapping;
  char *path;
} object_t;

typedef struct range_s {
  unwind_range_t range;
  const object_t *object;
} range_t;

/* One version of a process's mappings. */
typedef struct maps_s {
  size_t refs;
  uint64_t version;
  size_t nr;
  range_t ranges[]; /* sorted by start */
} maps_t;

typedef struct process_s process_t;

typedef struct batch_s {
  symbols_job_t job;
  unwind_queue_t *queue;
  process_t *process;
  maps_t *maps;
  size_t nr;
  size_t nr_at; /* where the request has the number of samples */
  symbols_message_t request, response;
  common_buffer_t contexts; /* each is its size in 8 bytes, then its bytes */
  int failed;
} batch_t;

/* Lives as long as its batches. */
struct process_s {
  common_item_t item; /* its id is the pid */
  size_t refs;
  atomic_int strikes; /* set on the pool */
  int has_worked;     /* used on the pool: a batch had an answer */
  int is_sent;        /* the first batch of these mappings is sent */
  maps_t *maps;
  batch_t *batch; /* being filled, or NULL */
};

struct unwind_queue_s {
  symbols_jobs_t *jobs;
  unwind_queue_options_t options;
  unwind_stats_t stats;
  object_t **objects; /* by number; NULL for unknown ones */
  size_t nr_objects;
  common_by_id_t processes;
  uint64_t last_version;
  size_t bytes;     /* in all batches */
  uint64_t lost_ms; /* used on the pool: time of failed batches */
};

typedef struct wait_s {
  symbols_job_t job;
  void (*cb)(void *arg);
  void *arg;
} wait_t;

static int open_mapped(const symbols_mapping_t *mapping) {
  char reason[SYMBOLS_REASON_BYTES];

  return mapping->kind == SYMBOLS_VDSO ? symbols_open_vdso(mapping, reason)
                                       : symbols_open_file(mapping, reason);
}

unwind_queue_t *unwind_queue_new(symbols_jobs_t *jobs,
                                 const unwind_queue_options_t *options) {
  unwind_queue_t *queue = common_calloc(1, sizeof(*queue));

  queue->jobs = jobs;
  queue->options = *options;
  if (queue->options.max_bytes == 0)
    queue->options.max_bytes = MAX_BYTES;
  if (queue->options.timeout_ms == 0)
    queue->options.timeout_ms = TIMEOUT_MS;
  if (queue->options.open == NULL)
    queue->options.open = open_mapped;
  return queue;
}

const unwind_stats_t *unwind_queue_stats(const unwind_queue_t *queue) {
  return &queue->stats;
}

/* -- objects and mappings -------------------------------------------------- */

void unwind_queue_object(unwind_queue_t *queue, uint32_t number,
                         const symbols_mapping_t *mapping) {
  object_t *object;

  while (queue->nr_objects <= number)
    queue->objects = common_grow(queue->objects, &queue->nr_objects,
                                 sizeof(*queue->objects));
  if (queue->objects[number] != NULL)
    return;
  object = common_calloc(1, sizeof(*object));
  object->mapping = *mapping;
  object->path = common_copy_text(mapping->path);
  object->mapping.path = object->path;
  queue->objects[number] = object;
}

static void drop_maps(maps_t *maps) {
  if (maps != NULL && --maps->refs == 0)
    free(maps);
}

static void drop_process(process_t *process) {
  if (--process->refs > 0)
    return;
  drop_maps(process->maps);
  free(process);
}

static void send_batch(process_t *process);

void unwind_queue_map(unwind_queue_t *queue, uint32_t pid,
                      const unwind_range_t *ranges, size_t nr) {
  process_t *process = common_by_id_find(&queue->processes, pid);
  maps_t *maps = common_calloc(1, sizeof(*maps) + nr * sizeof(*maps->ranges));
  size_t i;

  if (process == NULL) {
    process = common_by_id_get(&queue->processes, pid, sizeof(*process));
    process->refs = 1;
  }
  send_batch(process);
  drop_maps(process->maps);
  maps->refs = 1;
  maps->version = ++queue->last_version;
  for (i = 0; i < nr; i++) {
    maps->ranges[i].range = ranges[i];
    if (ranges[i].object < queue->nr_objects)
      maps->ranges[i].object = queue->objects[ranges[i].object];
  }
  maps->nr = nr;
  qsort(maps->ranges, nr, sizeof(*maps->ranges), common_sorted_compare);
  process->maps = maps;
  process->is_sent = 0;
}

void unwind_queue_forget(unwind_queue_t *queue, uint32_t pid) {
  process_t *process = common_by_id_find(&queue->processes, pid);

  if (process == NULL)
    return;
  send_batch(process);
  common_by_id_remove(&queue->processes, process);
  drop_process(process);
}

/* -- asking the worker, on the pool ---------------------------------------- */

static int has_time(const unwind_queue_t *queue) {
  return queue->lost_ms < 2 * queue->options.timeout_ms;
}

static int ask(const unwind_queue_t *queue, symbols_worker_t *worker,
               symbols_message_t *request, symbols_message_t *response) {
  char reason[SYMBOLS_REASON_BYTES];
  uint64_t timeout_ms = worker->timeout_ms;
  int rc;

  worker->timeout_ms = queue->options.timeout_ms / (has_time(queue) ? 1 : 10);
  rc = symbols_worker_ask(worker, request, response, reason);
  worker->timeout_ms = timeout_ms;
  return rc;
}

static const symbols_mapping_t *mapping_of(const maps_t *maps,
                                           uint64_t number) {
  size_t i;

  for (i = 0; i < maps->nr; i++) {
    if (maps->ranges[i].range.object == number &&
        maps->ranges[i].object != NULL)
      return &maps->ranges[i].object->mapping;
  }
  return NULL;
}

static void put_file(symbols_message_t *request, const batch_t *batch,
                     uint64_t number) {
  const symbols_mapping_t *mapping = mapping_of(batch->maps, number);
  int fd = -1;

  if (mapping != NULL && mapping->kind != SYMBOLS_JIT)
    fd = batch->queue->options.open(mapping);
  symbols_put_number(request, number);
  symbols_put_number(request, fd >= 0);
  symbols_put_bytes(request, mapping != NULL ? mapping->build_id : NULL,
                    mapping != NULL ? mapping->build_id_bytes : 0);
  if (fd >= 0)
    request->fds[request->nr_fds++] = fd;
}

/* Sends the files that the worker does not have, as many as fit into one
 * message. */
static int send_files(const batch_t *batch, symbols_worker_t *worker,
                      symbols_message_t *missing) {
  symbols_message_t request = {0}, response = {0};
  size_t nr = missing->body.used / sizeof(uint64_t);
  int rc;

  if (nr > SYMBOLS_WIRE_FDS)
    nr = SYMBOLS_WIRE_FDS;
  symbols_message_begin(&request, SYMBOLS_REQUEST_UNWIND_FILES);
  symbols_put_number(&request, (uint64_t)batch->queue->options.machine);
  symbols_put_number(&request, nr);
  while (nr-- > 0)
    put_file(&request, batch, symbols_get_number(missing));
  rc = ask(batch->queue, worker, &request, &response);
  while (request.nr_fds > 0)
    close(request.fds[--request.nr_fds]);
  symbols_message_free(&request);
  symbols_message_free(&response);
  return rc;
}

/* Sends the mappings to the worker, and the files that the worker does not
 * have. */
static int send_maps(const batch_t *batch, symbols_worker_t *worker) {
  const maps_t *maps = batch->maps;
  symbols_message_t request = {0}, response = {0};
  size_t i, left = maps->nr + 1;
  int rc;

  symbols_message_begin(&request, SYMBOLS_REQUEST_UNWIND_MAP);
  symbols_put_number(&request, batch->process->item.id);
  symbols_put_number(&request, maps->version);
  symbols_put_number(&request, (uint64_t)batch->queue->options.machine);
  symbols_put_number(&request, maps->nr);
  for (i = 0; i < maps->nr; i++) {
    symbols_put_number(&request, maps->ranges[i].range.start);
    symbols_put_number(&request, maps->ranges[i].range.end);
    symbols_put_number(&request, maps->ranges[i].range.pgoff);
    symbols_put_number(&request, maps->ranges[i].range.object);
  }
  /* Each time fewer files are missing. */
  do {
    rc = ask(batch->queue, worker, &request, &response);
    if (rc == 0 && response.body.used > 0)
      rc = send_files(batch, worker, &response);
  } while (rc == 0 && response.body.used > 0 && left-- > 0);
  symbols_message_free(&request);
  symbols_message_free(&response);
  return rc;
}

static int ask_batch(batch_t *batch, symbols_worker_t *worker) {
  const uint64_t nr = batch->nr;
  int rc;

  memcpy(batch->request.body.text + batch->nr_at, &nr, sizeof(nr));
  rc = ask(batch->queue, worker, &batch->request, &batch->response);
  /* The worker does not know these mappings, or has forgotten them. */
  if (rc == 0 && batch->response.body.used == 0) {
    rc = send_maps(batch, worker);
    if (rc == 0)
      rc = ask(batch->queue, worker, &batch->request, &batch->response);
  }
  return rc;
}

/* Batches that wait are checked, too: each could take the whole time. */
static int is_ignored(const batch_t *batch) {
  const process_t *process = batch->process;
  int strikes = atomic_load(&process->strikes);

  if (has_time(batch->queue))
    return strikes >= MAX_STRIKES;
  return strikes > 0 || !process->has_worked;
}

static void run_batch(symbols_job_t *job, symbols_worker_t *worker) {
  batch_t *batch = (batch_t *)job;
  uint64_t begin = uv_hrtime();

  batch->failed = is_ignored(batch) || ask_batch(batch, worker) != 0;
  if (!batch->failed) {
    batch->process->has_worked = 1;
    return;
  }
  batch->queue->lost_ms += (uv_hrtime() - begin) / 1000000;
  atomic_fetch_add(&batch->process->strikes, 1);
}

/* -- answers, on the loop -------------------------------------------------- */

static unwind_place_t find_place(const maps_t *maps, uint64_t address) {
  unwind_place_t place = {UNWIND_NO_OBJECT, address};
  const range_t *range =
      common_sorted_last(maps->ranges, maps->nr, sizeof(*range), address);

  if (range == NULL || address >= range->range.end)
    return place;
  place.object = range->range.object;
  if (range->object == NULL || range->object->mapping.kind != SYMBOLS_JIT)
    place.offset = address - range->range.start + range->range.pgoff;
  return place;
}

/* Memory of a JIT compiler has no file. Without the file of other code, frame
 * pointers were tried, so it is unknown where the caller would be. */
static int lacks_file(const maps_t *maps, const unwind_place_t *place) {
  const symbols_mapping_t *mapping = mapping_of(maps, place->object);

  return mapping != NULL && mapping->kind != SYMBOLS_JIT;
}

/* Reads the frames of the next stack in a response. Returns their number; *end
 * is how the stack ended. */
static size_t take_stack(batch_t *batch, unwind_place_t *places,
                         unwind_end_t *end) {
  symbols_message_t *response = &batch->response;
  uint64_t number = symbols_get_number(response), ip;
  uint64_t is_without_file = symbols_get_number(response);
  size_t i, ip_bytes, nr;
  const char *ips = symbols_get_bytes(response, &ip_bytes);
  const unsigned char *is_return = symbols_get_bytes(response, &nr);

  *end = UNWIND_DROPPED;
  if (response->is_damaged || number >= UNWIND_DROPPED || nr > UNWIND_FRAMES ||
      ip_bytes != nr * sizeof(ip)) {
    response->is_damaged = 1;
    return 0;
  }
  *end = (unwind_end_t)number;
  for (i = 0; i < nr; i++) {
    memcpy(&ip, ips + i * sizeof(ip), sizeof(ip));
    places[i] = find_place(batch->maps, ip - (is_return[i] != 0));
  }
  if (is_without_file && nr > 0 && lacks_file(batch->maps, &places[nr - 1]) &&
      (*end == UNWIND_CUT || *end == UNWIND_NO_INFO))
    *end = UNWIND_NO_FILE;
  return nr;
}

static size_t bytes_of(const batch_t *batch) {
  return batch->request.body.used + batch->contexts.used;
}

static void free_batch(batch_t *batch) {
  symbols_message_free(&batch->request);
  symbols_message_free(&batch->response);
  common_buffer_free(&batch->contexts);
  drop_maps(batch->maps);
  drop_process(batch->process);
  free(batch);
}

static void answer(batch_t *batch) {
  unwind_queue_t *queue = batch->queue;
  unwind_place_t places[UNWIND_FRAMES];
  const char *context = batch->contexts.text;
  unwind_end_t end;
  uint64_t size;
  size_t i, nr;

  if (batch->failed)
    batch->response.is_damaged = 1;
  for (i = 0; i < batch->nr; i++) {
    nr = take_stack(batch, places, &end);
    queue->stats.ends[end]++;
    memcpy(&size, context, sizeof(size));
    queue->options.on_stack(queue->options.arg, context + sizeof(size), end,
                            places, nr);
    context += sizeof(size) + size;
  }
}

static void batch_done(symbols_job_t *job) {
  batch_t *batch = (batch_t *)job;

  batch->queue->bytes -= bytes_of(batch);
  answer(batch);
  free_batch(batch);
}

/* -- samples --------------------------------------------------------------- */

static void send_batch(process_t *process) {
  batch_t *batch = process->batch;

  if (batch == NULL)
    return;
  process->batch = NULL;
  process->is_sent = 1;
  symbols_jobs_add(batch->queue->jobs, &batch->job);
}

static batch_t *new_batch(unwind_queue_t *queue, process_t *process) {
  batch_t *batch = common_calloc(1, sizeof(*batch));

  batch->job.run = run_batch;
  batch->job.done = batch_done;
  batch->queue = queue;
  batch->process = process;
  process->refs++;
  batch->maps = process->maps;
  batch->maps->refs++;
  symbols_message_begin(&batch->request, SYMBOLS_REQUEST_UNWIND);
  symbols_put_number(&batch->request, process->item.id);
  symbols_put_number(&batch->request, process->maps->version);
  batch->nr_at = batch->request.body.used;
  symbols_put_number(&batch->request, 0);
  queue->bytes += bytes_of(batch);
  return batch;
}

/* Contexts are padded, so that each is aligned to 8 bytes. */
static void put_sample(batch_t *batch, const uvperf_sample_t *sample,
                       const void *context, size_t context_bytes) {
  const uint64_t size = (context_bytes + 7) / 8 * 8;
  static const char zeros[8];

  symbols_put_number(&batch->request, sample->regs_user.abi);
  symbols_put_number(&batch->request, sample->regs_user.mask);
  symbols_put_bytes(&batch->request, sample->regs_user.regs,
                    (size_t)sample->regs_user.nr *
                        sizeof(*sample->regs_user.regs));
  symbols_put_bytes(&batch->request, sample->stack_user.data,
                    (size_t)sample->stack_user.dyn_size);
  symbols_put_number(&batch->request,
                     sample->stack_user.dyn_size == sample->stack_user.size);
  common_buffer_add(&batch->contexts, (const char *)&size, sizeof(size));
  common_buffer_add(&batch->contexts, context, context_bytes);
  common_buffer_add(&batch->contexts, zeros, (size_t)size - context_bytes);
  batch->nr++;
}

int unwind_queue_add(unwind_queue_t *queue, uint32_t pid,
                     const uvperf_sample_t *sample, const void *context,
                     size_t context_bytes) {
  process_t *process = common_by_id_find(&queue->processes, pid);
  size_t before;

  if (process == NULL || atomic_load(&process->strikes) >= MAX_STRIKES ||
      queue->bytes + sample->stack_user.dyn_size + context_bytes >
          queue->options.max_bytes) {
    queue->stats.full++;
    return -1;
  }
  if (process->batch == NULL)
    process->batch = new_batch(queue, process);
  before = bytes_of(process->batch);
  put_sample(process->batch, sample, context, context_bytes);
  queue->bytes += bytes_of(process->batch) - before;
  /* Send the first sample at once, so that files are opened while the process
   * lives. */
  if (!process->is_sent || process->batch->nr == BATCH_SAMPLES ||
      bytes_of(process->batch) >= BATCH_BYTES)
    send_batch(process);
  return 0;
}

void unwind_queue_flush(unwind_queue_t *queue) {
  process_t *process = NULL;

  while ((process = common_by_id_next(&queue->processes, process)) != NULL)
    send_batch(process);
}

static void run_nothing(symbols_job_t *job, symbols_worker_t *worker) {
  (void)job;
  (void)worker;
}

static void waited(symbols_job_t *job) {
  wait_t *wait = (wait_t *)job;

  wait->cb(wait->arg);
  free(wait);
}

void unwind_queue_wait(unwind_queue_t *queue, void (*cb)(void *arg),
                       void *arg) {
  wait_t *wait = common_calloc(1, sizeof(*wait));

  unwind_queue_flush(queue);
  wait->job.run = run_nothing;
  wait->job.done = waited;
  wait->cb = cb;
  wait->arg = arg;
  symbols_jobs_add(queue->jobs, &wait->job);
}

static void end_process(void *item) {
  process_t *process = item;

  if (process->batch != NULL)
    free_batch(process->batch);
  drop_process(process);
}

void unwind_queue_free(unwind_queue_t *queue) {
  size_t i;

  if (queue == NULL)
    return;
  common_by_id_free(&queue->processes, end_process);
  for (i = 0; i < queue->nr_objects; i++) {
    if (queue->objects[i] != NULL)
      free(queue->objects[i]->path);
    free(queue->objects[i]);
  }
  free(queue->objects);
  free(queue);
}
