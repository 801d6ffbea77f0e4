/* SPDX-License-Identifier: MIT */
/* Looks up each frame once, for all stacks that contain it. */
#include "profile/naming.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/proc.h"

/* Returns 0 and the id of an object's symbols, or -1 if it has none. */
static int symbols_of(const profile_account_t *account, uint64_t index,
                      uint32_t *id) {
  const profile_object_t *object;

  if (index == PROFILE_OBJECT_KERNEL) {
    *id = SYMBOLS_KERNEL;
    return 0;
  }
  object = profile_objects_get(&account->objects, (uint32_t)index);
  *id = object->symbols;
  return object->has_symbols ? 0 : -1;
}

/* Returns when something was done, since 1970, but rather too early; 0 if that
 * is not known. */
static uint64_t epoch_of(const profile_account_t *account, uint64_t time) {
  if (time == 0 || account->epoch_ns == 0)
    return 0;
  return account->epoch_ns + time - account->error_ns;
}

/* A map file that was changed after the recording belongs to it only if the
 * process still runs. */
static int has_ended(const profile_account_t *account, uint32_t pid) {
  uint64_t start;

  return common_proc_start((int32_t)pid, &start) != 0 ||
         start > account->recorded_ns;
}

static void set_time(const profile_account_t *account,
                     const profile_object_t *object) {
  uint64_t until = epoch_of(account, object->until);

  if (object->until != 0 && until == 0)
    until = 1;
  if (until == 0 && account->recorded_ns != 0 &&
      has_ended(account, object->pid))
    until = account->recorded_ns + account->error_ns;
  symbols_set_time(account->symbols, object->symbols,
                   epoch_of(account, object->since), until);
}

/* Asks again about memory of JIT compilers, where functions may have been
 * added. */
static void ask_again(const profile_account_t *account) {
  const profile_object_t *object;
  size_t i;

  for (i = 0; i < account->objects.nr; i++) {
    object = profile_objects_get(&account->objects, (uint32_t)i);
    if (object->has_symbols && object->kind == SYMBOLS_JIT) {
      set_time(account, object);
      symbols_refresh(account->symbols, object->symbols);
    }
  }
}

/* Returns when the file of a recorded mapping may have been changed last; 0 if
 * it is not recorded. */
static uint64_t last_change_of(const profile_account_t *account,
                               const profile_object_t *object) {
  uint64_t mapped = account->epoch_ns + object->since + account->error_ns;

  return account->recorded_ns != 0 && object->since != 0 &&
                 mapped < account->recorded_ns
             ? mapped
             : account->recorded_ns;
}

static void require_inode(const profile_account_t *account, size_t i) {
  const profile_object_t *object =
      profile_objects_get(&account->objects, (uint32_t)i);

  if (object->has_symbols)
    symbols_set_inode(account->symbols, object->symbols, object->inode);
}

/* The table of a recording has one build id for a path. If several files had
 * the path, it is not known whose it is. */
static void find_shared_paths(const profile_account_t *account) {
  const profile_object_t *object;
  common_entry_t *entry;
  common_tally_t paths;
  size_t i;

  common_tally_init(&paths, sizeof(uint64_t));
  for (i = PROFILE_OBJECTS_FIXED; i < account->objects.nr; i++) {
    object = profile_objects_get(&account->objects, (uint32_t)i);
    if (object->kind != SYMBOLS_FILE || object->inode == 0)
      continue;
    entry = common_tally_text(&paths, object->path);
    if (entry == NULL || entry->samples++ == 0) {
      if (entry != NULL)
        entry->weight = i;
      continue;
    }
    require_inode(account, i);
    require_inode(account, (size_t)entry->weight);
  }
  common_tally_free(&paths);
}

/* A file that was not changed since it was opened is the one that was mapped.
 * For a recording, the time of its mapping counts. */
void profile_naming_check(const profile_account_t *account) {
  const profile_object_t *object;
  size_t i;

  if (account->build_id != NULL)
    find_shared_paths(account);
  for (i = 0; i < account->objects.nr; i++) {
    object = profile_objects_get(&account->objects, (uint32_t)i);
    if (!object->has_symbols || object->kind != SYMBOLS_FILE)
      continue;
    symbols_set_time(account->symbols, object->symbols, 0,
                     last_change_of(account, object));
    symbols_refresh(account->symbols, object->symbols);
  }
}

void profile_naming_ask(const profile_account_t *account) {
  const common_tally_t *tally = &account->stacks;
  const common_entry_t *entry;
  const profile_frame_t *frames;
  uint32_t id;
  size_t i, k;

  ask_again(account);
  for (i = 0; i < tally->nr; i++) {
    entry = tally->entries[i];
    frames = entry->items;
    for (k = 0; entry->samples > 0 && k < entry->nr; k++) {
      if (symbols_of(account, frames[k].object, &id) == 0)
        symbols_want(account->symbols, id, frames[k].offset);
    }
  }
}

/* -- building -------------------------------------------------------------- */

typedef struct builder_s {
  const profile_account_t *account;
  stacks_t *stacks;
  uint32_t *objects; /* index in `stacks` + 1, by index in the account */
  /* Frames by object and offset. An entry's weight is the index of its first
   * frame in `frames`, and its samples are the number of its frames. */
  common_tally_t known;
  stacks_frame_t *frames;
  size_t nr_frames, frame_capacity;
  stacks_frame_t *stack; /* room for one stack */
  size_t stack_capacity;
} builder_t;

static uint32_t object_in(builder_t *builder, uint64_t index) {
  const profile_object_t *object;
  stacks_object_t copy;
  const unsigned char *build_id;

  object = profile_objects_get(&builder->account->objects, (uint32_t)index);
  if (object->is_function)
    return object_in(builder, PROFILE_OBJECT_KERNEL);
  if (builder->objects[index] != 0)
    return builder->objects[index] - 1;
  memset(&copy, 0, sizeof(copy));
  copy.name = object->name;
  copy.path = object->kind == SYMBOLS_JIT ? "" : object->path;
  if (object->has_symbols) {
    copy.build_id_bytes =
        symbols_build_id(builder->account->symbols, object->symbols, &build_id);
    memcpy(copy.build_id, build_id, copy.build_id_bytes);
  }
  builder->objects[index] = stacks_object(builder->stacks, &copy) + 1;
  return builder->objects[index] - 1;
}

static void add_frame(builder_t *builder, const symbols_name_t *name,
                      uint32_t object, uint64_t address) {
  const stacks_function_t function = {name->name, name->linked_name, name->file,
                                      object};
  stacks_frame_t *frame;

  frame =
      COMMON_ADD(builder->frames, builder->nr_frames, builder->frame_capacity);
  frame->address = address;
  frame->function = stacks_function(builder->stacks, &function);
  frame->line = name->line & INT32_MAX;
}

static void add_function(builder_t *builder, const profile_frame_t *key,
                         uint32_t object) {
  symbols_name_t name = {.file = ""};

  name.name = name.linked_name =
      profile_objects_get(&builder->account->objects, (uint32_t)key->object)
          ->name;
  add_frame(builder, &name, object, key->offset);
}

/* Uses the start of the function if it is known, so that the function is one
 * row. All memory of JIT compilers without names is one row, because nothing is
 * known about its functions. */
static void add_unnamed(builder_t *builder, const profile_frame_t *key,
                        uint32_t object, const symbols_place_t *place) {
  uint64_t first = place == NULL ? key->offset : place->first;
  uint64_t address = place == NULL ? key->offset : place->address;
  const profile_object_t *mapped =
      profile_objects_get(&builder->account->objects, (uint32_t)key->object);
  symbols_name_t name = {.file = ""};
  char text[320];

  if (key->object != PROFILE_OBJECT_KERNEL &&
      key->object != PROFILE_OBJECT_OUTSIDE &&
      key->object < PROFILE_OBJECTS_FIXED)
    snprintf(text, sizeof(text), "%s", mapped->name);
  else if (mapped->kind == SYMBOLS_JIT)
    snprintf(text, sizeof(text), "[JIT]");
  else
    snprintf(text, sizeof(text), "%s+0x%" PRIx64, mapped->name, first);
  name.name = name.linked_name = text;
  add_frame(builder, &name, object, address);
}

/* The functions at an address: several if some are inlined. */
static const common_entry_t *frames_of(builder_t *builder,
                                       const profile_frame_t *key) {
  const profile_frame_t outside = {PROFILE_OBJECT_OUTSIDE, key->offset};
  const symbols_place_t *place = NULL;
  common_entry_t *entry;
  uint32_t object, id;
  size_t i;

  if (profile_objects_get(&builder->account->objects, (uint32_t)key->object)
          ->is_gone)
    key = &outside;
  entry = common_tally_get(&builder->known, 0, key, 1);
  if (entry == NULL || entry->samples > 0)
    return entry;
  entry->weight = builder->nr_frames;
  object = object_in(builder, key->object);
  if (symbols_of(builder->account, key->object, &id) == 0)
    place = symbols_find(builder->account->symbols, id, key->offset);
  for (i = 0; place != NULL && i < place->nr; i++) {
    add_frame(builder, &place->names[i], object, place->address);
    builder->frames[builder->nr_frames - 1].is_inlined = i + 1 < place->nr;
  }
  if (profile_objects_get(&builder->account->objects, (uint32_t)key->object)
          ->is_function)
    add_function(builder, key, object);
  else if (place == NULL || place->nr == 0)
    add_unnamed(builder, key, object, place);
  entry->samples = builder->nr_frames - entry->weight;
  return entry;
}

static const char *cgroup_path(const profile_account_t *account, uint64_t id) {
  const common_entry_t *entry =
      common_tally_find(&account->cgroups, id, NULL, 0);

  return entry == NULL
             ? ""
             : stacks_names_get(&account->names, (uint32_t)entry->weight);
}

static uint32_t *add_tasks(const builder_t *builder) {
  const profile_account_t *account = builder->account;
  size_t i, nr = account->whos.nr;
  uint32_t *tasks = common_calloc(nr + 1, sizeof(*tasks));
  const profile_who_t *who;
  stacks_task_t task;

  for (i = 0; i < nr; i++) {
    who = profile_account_get_who(account, i);
    memset(&task, 0, sizeof(task));
    task.pid = who->pid;
    task.tid = who->tid;
    task.thread = stacks_names_get(&account->names, who->thread);
    task.process = stacks_names_get(&account->names, who->process);
    task.cgroup = cgroup_path(account, who->cgroup);
    tasks[i] = stacks_task(builder->stacks, &task);
  }
  return tasks;
}

static const stacks_frame_t other = {0, STACKS_OTHER, 0, 0};

static void add_stack(builder_t *builder, uint32_t task,
                      const common_entry_t *entry) {
  const profile_frame_t *frames = entry->items;
  const common_entry_t *known;
  size_t i, k, nr = 0;

  for (i = 0; i < entry->nr; i++) {
    known = frames_of(builder, &frames[i]);
    if (known == NULL)
      *COMMON_ADD(builder->stack, nr, builder->stack_capacity) = other;
    for (k = 0; known != NULL && k < known->samples; k++)
      *COMMON_ADD(builder->stack, nr, builder->stack_capacity) =
          builder->frames[known->weight + k];
  }
  stacks_add(builder->stacks, task, builder->stack, nr, entry->samples,
             entry->weight);
}

void profile_naming_build(const profile_account_t *account, stacks_t *stacks) {
  builder_t builder = {.account = account, .stacks = stacks};
  const common_tally_t *tally = &account->stacks;
  const common_entry_t *entry;
  uint32_t *tasks;
  size_t i;

  builder.objects =
      common_calloc(account->objects.nr, sizeof(*builder.objects));
  common_tally_init(&builder.known, sizeof(profile_frame_t));
  tasks = add_tasks(&builder);
  for (i = 0; i < tally->nr; i++) {
    entry = tally->entries[i];
    if (entry->samples > 0)
      add_stack(&builder, tasks[entry->number], entry);
  }
  if (account->other.samples > 0)
    stacks_add(stacks, STACKS_OTHER, &other, 1, account->other.samples,
               account->other.weight);
  common_tally_free(&builder.known);
  free(builder.objects);
  free(builder.frames);
  free(builder.stack);
  free(tasks);
}

/* -- samples without a name ------------------------------------------------ */

/* Returns 0 and the place of a frame, or -1 if it has a name. *place is NULL if
 * nothing is known about it. */
static int find_unnamed(const profile_account_t *account,
                        const profile_frame_t *frame,
                        const symbols_place_t **place) {
  const profile_object_t *object =
      profile_objects_get(&account->objects, (uint32_t)frame->object);
  uint32_t id;

  *place = NULL;
  if (frame->object == PROFILE_OBJECT_READY ||
      frame->object == PROFILE_OBJECT_BEFORE ||
      (object->is_function && !object->is_gone))
    return -1;
  if (symbols_of(account, frame->object, &id) == 0)
    *place = symbols_find(account->symbols, id, frame->offset);
  return *place != NULL && (*place)->nr > 0 ? -1 : 0;
}

/* The weight of an object's samples without a name. */
typedef struct unnamed_s {
  uint64_t weight;
  uint64_t outside; /* outside of every function that its file describes */
} unnamed_t;

static void fill_gap(const profile_account_t *account, size_t object,
                     const unnamed_t *unnamed, uint64_t all,
                     profile_gap_t *gap) {
  const profile_object_t *mapped =
      profile_objects_get(&account->objects, (uint32_t)object);
  uint32_t id;

  gap->object = mapped->name;
  gap->outside = 0;
  gap->is_jit = mapped->kind == SYMBOLS_JIT;
  gap->reason = "";
  if (object == PROFILE_OBJECT_UNKNOWN && account->nr_refused > 0)
    gap->reason = "the mappings of some processes may not be read";
  else if (symbols_of(account, object, &id) == 0)
    gap->reason = symbols_reason(account->symbols, id);
  else if (gap->is_jit && account->is_elsewhere)
    gap->reason = "its /tmp/perf-PID.map is on another machine";
  else if (gap->is_jit && account->is_homeless)
    gap->reason = "the recording does not name the machine of its "
                  "/tmp/perf-PID.map";
  if ((object == PROFILE_OBJECT_KERNEL || object == PROFILE_OBJECT_OUTSIDE) &&
      gap->reason[0] == '\0')
    gap->reason = "in no function that is known at that time and address";
  gap->share = (double)unnamed->weight / (double)all;
  if (symbols_of(account, object, &id) == 0 &&
      symbols_is_read(account->symbols, id))
    gap->outside = (double)unnamed->outside / (double)all;
}

static size_t heaviest_object(const unnamed_t *unnamed, size_t nr) {
  size_t i, best = 0;

  for (i = 1; i < nr; i++) {
    if (unnamed[i].weight > unnamed[best].weight)
      best = i;
  }
  return best;
}

static int is_file(const profile_account_t *account, uint64_t object) {
  return object >= PROFILE_OBJECTS_FIXED &&
         profile_objects_get(&account->objects, (uint32_t)object)->kind ==
             SYMBOLS_FILE;
}

/* Sets *unnamed to an array by object, for free(). Returns the weight of all
 * samples. */
static uint64_t weigh_unnamed(const profile_account_t *account,
                              unnamed_t **unnamed) {
  const common_tally_t *tally = &account->stacks;
  const common_entry_t *entry;
  const symbols_place_t *place;
  const profile_frame_t *leaf;
  uint64_t all = 0, object;
  size_t i;

  *unnamed = common_calloc(account->objects.nr, sizeof(**unnamed));
  for (i = 0; i < tally->nr; i++) {
    entry = tally->entries[i];
    all += entry->weight;
    leaf = entry->items;
    if (entry->nr == 0 || find_unnamed(account, leaf, &place) != 0)
      continue;
    object = leaf->object;
    if (profile_objects_get(&account->objects, (uint32_t)object)->is_gone)
      object = PROFILE_OBJECT_OUTSIDE;
    (*unnamed)[object].weight += entry->weight;
    if (place != NULL && place->is_outside && is_file(account, leaf->object))
      (*unnamed)[object].outside += entry->weight;
  }
  return all;
}

size_t profile_naming_gaps(const profile_account_t *account,
                           profile_gap_t *gaps, size_t most) {
  unnamed_t *unnamed;
  uint64_t all = weigh_unnamed(account, &unnamed);
  size_t object, nr = 0;

  while (nr < most) {
    object = heaviest_object(unnamed, account->objects.nr);
    if (unnamed[object].weight == 0 || unnamed[object].weight < all / 100)
      break;
    fill_gap(account, object, &unnamed[object], all, &gaps[nr++]);
    unnamed[object].weight = 0;
  }
  free(unnamed);
  return nr;
}

static int is_user(const profile_account_t *account,
                   const profile_frame_t *frame) {
  return frame->object == PROFILE_OBJECT_UNKNOWN ||
         (frame->object >= PROFILE_OBJECTS_FIXED &&
          !profile_objects_get(&account->objects, (uint32_t)frame->object)
               ->is_function);
}

/* The C library calls these functions, and its own code has no frame pointers.
 * Nothing is missing if the frames beyond them are unknown. */
static int is_first_of_thread(const profile_account_t *account,
                              const profile_frame_t *frame) {
  const symbols_place_t *place;
  const char *name;

  if (find_unnamed(account, frame, &place) == 0 || place == NULL)
    return 0;
  name = place->names[place->nr - 1].name;
  return strcmp(name, "main") == 0 || strcmp(name, "start_thread") == 0;
}

static int has_first_of_thread(const profile_account_t *account,
                               const common_entry_t *stack) {
  const profile_frame_t *frames = stack->items;
  size_t i;

  for (i = 0; i < stack->nr; i++) {
    if (is_user(account, &frames[i]) && is_first_of_thread(account, &frames[i]))
      return 1;
  }
  return 0;
}

/* The callers of a thread that has waited since before the start can never be
 * found. */
double profile_naming_without_callers(const profile_account_t *account) {
  const common_tally_t *tally = &account->stacks;
  uint64_t all = 0, without = 0;
  const common_entry_t *entry;
  const profile_frame_t *innermost, *outermost;
  size_t i;

  for (i = 0; i < tally->nr; i++) {
    entry = tally->entries[i];
    if (entry->nr == 0)
      continue;
    innermost = entry->items;
    outermost = innermost + entry->nr - 1;
    if (!is_user(account, outermost) ||
        innermost->object == PROFILE_OBJECT_BEFORE)
      continue;
    all += entry->weight;
    if ((entry->nr == 1 || !is_user(account, outermost - 1) ||
         outermost->object == PROFILE_OBJECT_UNKNOWN) &&
        !has_first_of_thread(account, entry))
      without += entry->weight;
  }
  return all == 0 ? 0 : (double)without / (double)all;
}
