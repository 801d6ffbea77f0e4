/* SPDX-License-Identifier: MIT */
/* Interns names, so that a place is a pair of numbers. Names come from other
 * processes, which choose them as they like: they are cleaned on the way in,
 * and their number is bounded. Does not know what is named. */
#include "profile_names.h"

#include <stdlib.h>
#include <string.h>

#include "profile_memory.h"

#define MAX_NAMES      (1u << 18)
#define MAX_NAME_BYTES 256

/* Bytes of the UTF-8 character at text, or 0 if it is none that may be printed:
 * a control character (C0, DEL, C1) or not UTF-8, overlong forms
 * of control characters included. */
static size_t printable_bytes(const unsigned char *text) {
  size_t i, nr;

  if (text[0] < 0x80)
    return text[0] >= 0x20 && text[0] != 0x7f;
  if (text[0] < 0xc2 || text[0] > 0xf4)
    return 0;
  if ((text[0] == 0xc2 && text[1] < 0xa0) ||
      (text[0] == 0xe0 && text[1] < 0xa0) ||
      (text[0] == 0xf0 && text[1] < 0x90))
    return 0;
  nr = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
  for (i = 1; i < nr; i++) {
    if ((text[i] & 0xc0) != 0x80)
      return 0;
  }
  return nr;
}

void profile_name_clean(char *clean, size_t size, const char *name) {
  const unsigned char *text = (const unsigned char *)name;
  size_t used = 0, nr;

  while (*text != '\0') {
    nr = printable_bytes(text);
    if (used + (nr == 0 ? 1 : nr) >= size)
      break;
    if (nr == 0) {
      clean[used++] = '?';
      text++;
      continue;
    }
    memcpy(clean + used, text, nr);
    used += nr;
    text += nr;
  }
  clean[used] = '\0';
}

/* FNV-1a. */
static uint32_t hash_name(const char *name) {
  uint32_t hash = 2166136261u;

  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash;
}

static uint32_t *find_bucket(const profile_names_t *names, const char *name) {
  size_t i = hash_name(name) & (names->nr_buckets - 1);

  while (names->buckets[i] != 0 &&
         strcmp(names->names[names->buckets[i] - 1], name) != 0)
    i = (i + 1) & (names->nr_buckets - 1);
  return &names->buckets[i];
}

static void grow_buckets(profile_names_t *names) {
  size_t id;

  names->nr_buckets *= 2;
  free(names->buckets);
  names->buckets = profile_calloc(names->nr_buckets, sizeof(uint32_t));
  for (id = 0; id < names->nr; id++)
    *find_bucket(names, names->names[id]) = (uint32_t)id + 1;
}

void profile_names_init(profile_names_t *names) {
  memset(names, 0, sizeof(*names));
  names->nr_buckets = 1024;
  names->buckets = profile_calloc(names->nr_buckets, sizeof(uint32_t));
  profile_names_add(names, "[other]");
}

void profile_names_free(profile_names_t *names) {
  size_t id;

  for (id = 0; id < names->nr; id++)
    free(names->names[id]);
  free(names->names);
  free(names->buckets);
  memset(names, 0, sizeof(*names));
}

uint32_t profile_names_add(profile_names_t *names, const char *name) {
  char clean[MAX_NAME_BYTES];
  uint32_t *bucket;
  size_t size;

  profile_name_clean(clean, sizeof(clean), name);
  bucket = find_bucket(names, clean);
  if (*bucket != 0)
    return *bucket - 1;
  if (names->nr == MAX_NAMES)
    return PROFILE_NAME_OTHER;
  if (names->nr == names->capacity)
    names->names =
        profile_grow(names->names, &names->capacity, sizeof(*names->names));
  size = strlen(clean) + 1;
  names->names[names->nr] = profile_calloc(size, 1);
  memcpy(names->names[names->nr], clean, size);
  *bucket = (uint32_t)++names->nr;
  if (names->nr > names->nr_buckets / 2)
    grow_buckets(names);
  return (uint32_t)names->nr - 1;
}

const char *profile_names_get(const profile_names_t *names, uint32_t id) {
  return names->names[id];
}
