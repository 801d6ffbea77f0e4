/* SPDX-License-Identifier: MIT */
/* Kernel names only. */
#include "common/symbols/symbols.h"

#include <stdlib.h>

#include "common/memory.h"
#include "common/symbols/kallsyms.h"

typedef struct answer_s {
  symbols_place_t place;
  symbols_name_t name;
  struct answer_s *next;
} answer_t;

struct symbols_s {
  uv_idle_t idle;
  symbols_kallsyms_t kernel;
  const char *kallsyms;
  int is_loaded;
  uint32_t nr;
  answer_t *answers;
  symbols_cb cb;
  void *arg;
};

symbols_t *symbols_new(uv_loop_t *loop, const symbols_options_t *options) {
  symbols_t *symbols = common_calloc(1, sizeof(*symbols));

  symbols->kallsyms =
      options->kallsyms != NULL ? options->kallsyms : "/proc/kallsyms";
  uv_idle_init(loop, &symbols->idle);
  symbols->idle.data = symbols;
  return symbols;
}

uint32_t symbols_object(symbols_t *symbols, const symbols_mapping_t *mapping) {
  (void)mapping;
  return ++symbols->nr;
}

void symbols_want(symbols_t *symbols, uint32_t object, uint64_t offset) {
  (void)offset;
  if (object == SYMBOLS_KERNEL && !symbols->is_loaded)
    symbols_kallsyms_load(&symbols->kernel, symbols->kallsyms);
  symbols->is_loaded |= object == SYMBOLS_KERNEL;
}

const symbols_place_t *symbols_find(const symbols_t *symbols, uint32_t object,
                                    uint64_t offset) {
  symbols_t *owner = (symbols_t *)(uintptr_t)symbols;
  const symbols_kallsym_t *found;
  answer_t *answer;

  if (object != SYMBOLS_KERNEL)
    return NULL;
  found = symbols_kallsyms_find(&symbols->kernel, offset);
  if (found == NULL)
    return NULL;
  answer = common_calloc(1, sizeof(*answer));
  answer->next = owner->answers;
  owner->answers = answer;
  answer->name.name = answer->name.linked_name =
      symbols_kallsyms_name(&symbols->kernel, found);
  answer->name.file = "";
  answer->place.address = offset;
  answer->place.nr = 1;
  answer->place.names = &answer->name;
  return &answer->place;
}

const char *symbols_reason(const symbols_t *symbols, uint32_t object) {
  return object == SYMBOLS_KERNEL ? symbols->kernel.reason : "";
}

size_t symbols_build_id(const symbols_t *symbols, uint32_t object,
                        const unsigned char **build_id) {
  (void)symbols;
  (void)object;
  *build_id = (const unsigned char *)"";
  return 0;
}

void symbols_refresh(symbols_t *symbols, uint32_t object) {
  (void)symbols;
  (void)object;
}

static void on_idle(uv_idle_t *idle) {
  symbols_t *symbols = idle->data;

  uv_idle_stop(idle);
  symbols->cb(symbols->arg);
}

void symbols_wait(symbols_t *symbols, symbols_cb cb, void *arg) {
  symbols->cb = cb;
  symbols->arg = arg;
  uv_idle_start(&symbols->idle, on_idle);
}

void symbols_close(symbols_t *symbols, symbols_cb cb, void *arg) {
  (void)cb;
  (void)arg;
  uv_close((uv_handle_t *)&symbols->idle, NULL);
}

void symbols_free(symbols_t *symbols) {
  answer_t *answer;

  while ((answer = symbols->answers) != NULL) {
    symbols->answers = answer->next;
    free(answer);
  }
  symbols_kallsyms_free(&symbols->kernel);
  free(symbols);
}
