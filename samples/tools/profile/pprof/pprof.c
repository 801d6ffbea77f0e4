/* SPDX-License-Identifier: MIT */
/* Writes a sequence of messages: a Profile with one sample, a Profile with one
 * string, and so on. Together they are the whole Profile, because protobuf
 * merges successive messages. So the whole Profile is never in memory. */
#include "profile/pprof/pprof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/tally.h"
#include "profile.pb-c.h"

#define NR_VALUES  2
#define MAX_LABELS 5

/* Facts about an object, from its frames. */
typedef struct object_s {
  unsigned is_used : 1, has_files : 1, has_lines : 1, has_inlined : 1;
} object_t;

typedef struct writer_s {
  const stacks_t *stacks;
  gzFile gzip;
  int error; /* 0, or the first one */
  common_buffer_t packed;
  common_tally_t texts;     /* by address; the weight is the index */
  common_tally_t locations; /* by frames; the weight is the id */
  uint64_t nr_texts, nr_locations;
  unsigned char *has_function; /* by its index: it has been written */
  object_t *objects;           /* by their index */
  Pprof__Line *lines;          /* of the location being written */
  Pprof__Line **line_pointers;
  size_t line_capacity, line_pointer_capacity;
  uint64_t *stack; /* of the sample being written: ids of locations */
  size_t stack_capacity;
} writer_t;

static void note_error(writer_t *writer) {
  if (writer->error == 0)
    writer->error = errno != 0 ? -errno : -EIO;
}

static void put(writer_t *writer, const Pprof__Profile *part) {
  common_buffer_t *packed = &writer->packed;
  size_t bytes = pprof__profile__get_packed_size(part);

  common_buffer_reserve(packed, bytes);
  pprof__profile__pack(part, (uint8_t *)packed->text);
  if (gzfwrite(packed->text, 1, bytes, writer->gzip) != bytes)
    note_error(writer);
}

/* All numbers of the format are signed. */
static int64_t number(uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t put_text(writer_t *writer, const char *text) {
  Pprof__Profile part = PPROF__PROFILE__INIT;
  char *string = (char *)(uintptr_t)text;

  part.string_table = &string;
  part.n_string_table = 1;
  put(writer, &part);
  return (int64_t)writer->nr_texts++;
}

/* Returns the index of a text. The text is written the first time. A name in
 * the stacks is identified by its address, because each name is stored once. */
static int64_t index_of(writer_t *writer, const char *text) {
  size_t before = writer->texts.nr;
  common_entry_t *entry;

  if (text[0] == '\0')
    return 0;
  entry = common_tally_get(&writer->texts, (uintptr_t)text, NULL, 0);
  if (entry == NULL)
    return put_text(writer, text);
  if (writer->texts.nr > before)
    entry->weight = (uint64_t)put_text(writer, text);
  return (int64_t)entry->weight;
}

/* If a name equals its system name, pprof simplifies the name. Without a system
 * name, pprof shows our name as it is. */
static uint64_t function_id(writer_t *writer, uint32_t i) {
  const stacks_function_t *function = stacks_get_function(writer->stacks, i);
  Pprof__Profile part = PPROF__PROFILE__INIT;
  Pprof__Function message = PPROF__FUNCTION__INIT, *messages = &message;

  if (writer->has_function[i])
    return i + UINT64_C(1);
  writer->has_function[i] = 1;
  message.id = i + UINT64_C(1);
  message.name = index_of(writer, function->name);
  if (strcmp(function->name, function->linked_name) != 0)
    message.system_name = index_of(writer, function->linked_name);
  message.filename = index_of(writer, function->file);
  part.function = &messages;
  part.n_function = 1;
  put(writer, &part);
  return message.id;
}

/* Notes facts about an object that its frames show. */
static void note_object(writer_t *writer, uint32_t object,
                        const stacks_frame_t *frames, size_t nr) {
  object_t *noted = &writer->objects[object];
  const stacks_function_t *function;
  size_t i;

  noted->is_used = 1;
  if (nr > 1)
    noted->has_inlined = 1;
  for (i = 0; i < nr; i++) {
    function = stacks_get_function(writer->stacks, frames[i].function);
    if (function->file[0] != '\0')
      noted->has_files = 1;
    if (frames[i].line != 0)
      noted->has_lines = 1;
  }
}

static void reserve_lines(writer_t *writer, size_t nr) {
  while (writer->line_capacity < nr)
    writer->lines = common_grow(writer->lines, &writer->line_capacity,
                                sizeof(*writer->lines));
  while (writer->line_pointer_capacity < nr)
    writer->line_pointers =
        common_grow(writer->line_pointers, &writer->line_pointer_capacity,
                    sizeof(*writer->line_pointers));
}

static uint64_t put_location(writer_t *writer, const stacks_frame_t *frames,
                             size_t nr) {
  Pprof__Profile part = PPROF__PROFILE__INIT;
  Pprof__Location message = PPROF__LOCATION__INIT, *messages = &message;
  uint32_t object =
      stacks_get_function(writer->stacks, frames[nr - 1].function)->object;
  size_t i;

  reserve_lines(writer, nr);
  for (i = 0; i < nr; i++) {
    pprof__line__init(&writer->lines[i]);
    writer->lines[i].function_id = function_id(writer, frames[i].function);
    writer->lines[i].line = frames[i].line;
    writer->line_pointers[i] = &writer->lines[i];
  }
  note_object(writer, object, frames, nr);
  message.id = ++writer->nr_locations;
  message.mapping_id = object + UINT64_C(1);
  message.address = frames[nr - 1].address;
  message.line = writer->line_pointers;
  message.n_line = nr;
  part.location = &messages;
  part.n_location = 1;
  put(writer, &part);
  return message.id;
}

/* The last frame is the function, the others are inlined into it. */
static uint64_t location_id(writer_t *writer, const stacks_frame_t *frames,
                            size_t nr) {
  size_t before = writer->locations.nr;
  common_entry_t *entry = common_tally_get(&writer->locations, 0, frames, nr);

  if (entry == NULL)
    return put_location(writer, frames, nr);
  if (writer->locations.nr > before)
    entry->weight = put_location(writer, frames, nr);
  return entry->weight;
}

static size_t find_locations(writer_t *writer, const stacks_stack_t *stack) {
  size_t first, end, nr = 0;

  for (first = 0; first < stack->nr_frames; first = end) {
    end = first + 1;
    while (end < stack->nr_frames && stack->frames[end - 1].is_inlined)
      end++;
    *COMMON_ADD(writer->stack, nr, writer->stack_capacity) =
        location_id(writer, stack->frames + first, end - first);
  }
  return nr;
}

static void add_label(writer_t *writer, Pprof__Sample *sample, const char *key,
                      const char *text, uint32_t value) {
  Pprof__Label *label = sample->label[sample->n_label];

  if (text[0] == '\0' && value == 0)
    return;
  pprof__label__init(label);
  label->key = index_of(writer, key);
  label->str = index_of(writer, text);
  label->num = value;
  sample->n_label++;
}

static void add_labels(writer_t *writer, Pprof__Sample *sample, uint32_t i) {
  const stacks_task_t *task = stacks_get_task(writer->stacks, i);

  add_label(writer, sample, "process", task->process, 0);
  add_label(writer, sample, "pid", "", task->pid);
  add_label(writer, sample, "thread", task->thread, 0);
  add_label(writer, sample, "tid", "", task->tid);
  add_label(writer, sample, "cgroup", task->cgroup, 0);
}

static void put_sample(writer_t *writer, const stacks_stack_t *stack) {
  Pprof__Profile part = PPROF__PROFILE__INIT;
  Pprof__Sample message = PPROF__SAMPLE__INIT, *messages = &message;
  Pprof__Label labels[MAX_LABELS], *pointers[MAX_LABELS];
  int64_t values[NR_VALUES];
  size_t i;

  for (i = 0; i < MAX_LABELS; i++)
    pointers[i] = &labels[i];
  message.label = pointers;
  add_labels(writer, &message, stack->task);
  values[0] = number(stack->samples);
  values[1] = number(stack->weight);
  message.value = values;
  message.n_value = NR_VALUES;
  message.n_location_id = find_locations(writer, stack);
  message.location_id = writer->stack;
  part.sample = &messages;
  part.n_sample = 1;
  put(writer, &part);
}

static void hex(char *text, const unsigned char *bytes, size_t nr) {
  static const char digits[] = "0123456789abcdef";
  size_t i;

  for (i = 0; i < nr; i++) {
    *text++ = digits[bytes[i] >> 4];
    *text++ = digits[bytes[i] & 15];
  }
  *text = '\0';
}

/* The addresses are already addresses of the symbol table. pprof does not
 * change them if the object covers all of memory. */
static void put_mapping(writer_t *writer, uint32_t i) {
  const stacks_object_t *object = stacks_get_object(writer->stacks, i);
  object_t *noted = &writer->objects[i];
  Pprof__Profile part = PPROF__PROFILE__INIT;
  Pprof__Mapping message = PPROF__MAPPING__INIT, *messages = &message;
  char build_id[2 * sizeof(object->build_id) + 1];

  if (!noted->is_used)
    return;
  noted->is_used = 0;
  hex(build_id, object->build_id, object->build_id_bytes);
  message.id = i + UINT64_C(1);
  message.memory_limit = UINT64_MAX;
  message.filename =
      index_of(writer, object->path[0] != '\0' ? object->path : object->name);
  if (build_id[0] != '\0')
    message.build_id = put_text(writer, build_id);
  message.has_functions = 1;
  message.has_filenames = noted->has_files;
  message.has_line_numbers = noted->has_lines;
  message.has_inline_frames = noted->has_inlined;
  part.mapping = &messages;
  part.n_mapping = 1;
  put(writer, &part);
}

/* pprof shows the first mapping as the program. This is the file that has
 * main() of the heaviest stack. If no stack has main(), it is the first file
 * that is not a library, because the stacks of threads begin in a library. */
static uint32_t program(const stacks_t *stacks, const stacks_stack_t *sorted,
                        size_t nr) {
  const stacks_function_t *function;
  const stacks_object_t *object;
  uint32_t first = STACKS_OTHER;
  size_t i, frame;

  for (i = 0; i < nr; i++) {
    for (frame = sorted[i].nr_frames; frame > 0; frame--) {
      function =
          stacks_get_function(stacks, sorted[i].frames[frame - 1].function);
      object = stacks_get_object(stacks, function->object);
      if (strcmp(function->name, "main") == 0)
        return function->object;
      if (first == STACKS_OTHER && object->path[0] != '\0' &&
          strstr(object->name, ".so") == NULL)
        first = function->object;
    }
  }
  return first;
}

/* pprof's name for CPU time. */
static const char *weight_type(const stacks_t *stacks) {
  if (strcmp(stacks->event, "cpu-clock") == 0 ||
      strcmp(stacks->event, "task-clock") == 0)
    return "cpu";
  return stacks->event;
}

static void put_head(writer_t *writer) {
  const stacks_t *stacks = writer->stacks;
  Pprof__Profile part = PPROF__PROFILE__INIT;
  Pprof__ValueType samples = PPROF__VALUE_TYPE__INIT;
  Pprof__ValueType weight = PPROF__VALUE_TYPE__INIT;
  Pprof__ValueType *types[NR_VALUES] = {&samples, &weight};

  put_text(writer, "");
  samples.type = index_of(writer, "samples");
  samples.unit = index_of(writer, "count");
  weight.type = index_of(writer, weight_type(stacks));
  weight.unit = index_of(writer, strcmp(stacks->unit, "ns") == 0 ? "nanoseconds"
                                                                 : "count");
  part.sample_type = types;
  part.n_sample_type = NR_VALUES;
  part.default_sample_type = weight.type;
  if (stacks->period != 0) {
    part.period_type = &weight;
    part.period = number(stacks->period);
  }
  part.time_nanos = number(stacks->start_ns);
  part.duration_nanos = number(stacks->duration_ns);
  put(writer, &part);
}

static void writer_free(writer_t *writer) {
  common_buffer_free(&writer->packed);
  common_tally_free(&writer->texts);
  common_tally_free(&writer->locations);
  free(writer->has_function);
  free(writer->objects);
  free(writer->lines);
  free(writer->line_pointers);
  free(writer->stack);
  free(writer);
}

int pprof_write(FILE *file, const stacks_t *stacks) {
  writer_t *writer = common_calloc(1, sizeof(*writer));
  stacks_stack_t *sorted;
  size_t i, nr;
  int rc = 0, fd;

  errno = 0;
  fd = fflush(file) == 0 ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
  writer->gzip = fd < 0 ? NULL : gzdopen(fd, "wb");
  if (writer->gzip == NULL) {
    rc = errno != 0 ? -errno : -ENOMEM;
    if (fd >= 0)
      close(fd);
    free(writer);
    return rc;
  }
  writer->stacks = stacks;
  common_tally_init(&writer->texts, sizeof(uint64_t));
  common_tally_init(&writer->locations, sizeof(stacks_frame_t));
  writer->has_function = common_calloc(stacks_nr_functions(stacks) + 1, 1);
  writer->objects =
      common_calloc(stacks_nr_objects(stacks) + 1, sizeof(*writer->objects));
  sorted = stacks_sorted(stacks, &nr);
  put_head(writer);
  for (i = 0; i < nr && writer->error == 0; i++)
    put_sample(writer, &sorted[i]);
  put_mapping(writer, program(stacks, sorted, nr));
  for (i = 0; i < stacks_nr_objects(stacks); i++)
    put_mapping(writer, (uint32_t)i);
  free(sorted);
  if (gzclose(writer->gzip) != Z_OK)
    note_error(writer);
  rc = writer->error;
  writer_free(writer);
  return rc;
}
