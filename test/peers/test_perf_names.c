/* SPDX-License-Identifier: MIT */
/* Names parse to the same events as in perf(1). The test replays the table of
 * perf_names.sh on the same sysfs. */
#include "support.h"
#include "make_tree.h"

#include "attr/attr.h"
#include "name/list.h"
#include "fake_host.h"
#include "make_names.h"

#define TABLE UVPERF_TEST_DIR "/support/names/perf_names.txt"

/* perf(1) prints these fields. A field that is not in a line of the table is
 * 0. */
static const struct {
  const char *name;
  enum uvperf_attr_field field;
} fields[] = {
    {"type", UVPERF_ATTR_TYPE},
    {"config", UVPERF_ATTR_CONFIG},
    {"config1", UVPERF_ATTR_CONFIG1},
    {"config2", UVPERF_ATTR_CONFIG2},
    {"bp_type", UVPERF_ATTR_BP_TYPE},
    {"precise_ip", UVPERF_ATTR_PRECISE_IP},
    {"exclude_user", UVPERF_ATTR_EXCLUDE_USER},
    {"exclude_kernel", UVPERF_ATTR_EXCLUDE_KERNEL},
    {"exclude_hv", UVPERF_ATTR_EXCLUDE_HV},
    {"exclude_host", UVPERF_ATTR_EXCLUDE_HOST},
    {"exclude_guest", UVPERF_ATTR_EXCLUDE_GUEST},
    {"exclude_idle", UVPERF_ATTR_EXCLUDE_IDLE},
    {"pinned", UVPERF_ATTR_PINNED},
    {"exclusive", UVPERF_ATTR_EXCLUSIVE},
};

#define NR_FIELDS (COUNT_OF(fields))

typedef struct event_s {
  uint64_t values[NR_FIELDS];
} event_t;

typedef struct trees_s {
  make_tree_t *plain;
  make_tree_t *hybrid;
} trees_t;

static int trees_setup(void **state) {
  trees_t *trees = calloc(1, sizeof(*trees));

  *state = trees;
  return trees == NULL || make_tree_setup((void **)&trees->plain) != 0 ||
         make_tree_setup((void **)&trees->hybrid) != 0 ||
         make_names_plant(trees->plain->root, "tree.txt") != 0 ||
         make_names_plant(trees->hybrid->root, "hybrid_tree.txt") != 0;
}

static int trees_teardown(void **state) {
  trees_t *trees = *state;
  int rc = fake_host_real(NULL) | make_tree_teardown((void **)&trees->plain) |
           make_tree_teardown((void **)&trees->hybrid);

  free(trees);
  return rc;
}

/* A line of the table: a name, and the events that perf(1) makes of it. */
typedef struct line_s {
  char text[512];
  const char *tree;
  const char *name;
  size_t nr; /* 0: refused */
  event_t events[4];
} line_t;

static void read_field(char *text, event_t *event) {
  char *value = strchr(text, '=');
  size_t i = 0;

  assert_non_null(value);
  *value = '\0';
  while (strcmp(text, fields[i].name) != 0)
    assert_true(++i < NR_FIELDS);
  event->values[i] = strtoull(value + 1, NULL, 0);
}

static void read_event(char *text, event_t *event) {
  char *save, *field;

  memset(event, 0, sizeof(*event));
  for (field = strtok_r(text, " ", &save); field != NULL;
       field = strtok_r(NULL, " ", &save))
    read_field(field, event);
}

static int next_line(FILE *table, line_t *line) {
  char *at = line->text;
  char *event;

  do
    if (fgets(line->text, sizeof(line->text), table) == NULL)
      return 0;
  while (line->text[0] == '#');
  line->text[strcspn(line->text, "\n")] = '\0';
  line->tree = strsep(&at, "\t");
  line->name = strsep(&at, "\t");
  line->nr = 0;
  while ((event = strsep(&at, "\t")) != NULL)
    if (strcmp(event, "refused") != 0) {
      assert_true(line->nr < 4);
      read_event(event, &line->events[line->nr++]);
    }
  return 1;
}

/* Names that we parse differently from perf 6.1, and why. */
static const struct {
  const char *tree;
  const char *name;
  const char *why;
} differences[] = {
    {"tree", "branches-loads", "'branches' is a spelling of the cache too"},
    {"tree", "branches-load-misses", "'branches' is a spelling of the cache"},
    {"tree", "branches-misses", "'branches' is a spelling of the cache"},
    {"tree", "branch-misses-loads", "the cache's misses, then its loads"},
    {"tree", "CYCLES", "any case, as in newer perf"},
    {"tree", "Cycles", "any case, as in newer perf"},
    {"tree", "L1-DCACHE-loads", "any case, as in newer perf"},
    {"tree", "l1D", "any case, as in newer perf"},
    {"tree", "cycles:", "a ':' promises modifiers"},
    {"tree", "mem:0x1000:", "a ':' promises an access or modifiers"},
    {"tree", "cycles:W", "weak is for groups"},
    {"tree", "cycles:ukhGHpppPSDeIW", "weak is for groups"},
    {"tree", "cycles:b", "it makes perf count by BPF"},
    {"tree", "cpu/mem-loads,ldlat=30/", "the last one counts, perf ORs them"},
    {"tree", "cpu/ldlat=30,mem-loads/", "the last one counts, perf ORs them"},
    {"tree", "cpu/mem-stores,umask=0x1/", "the last one counts, perf ORs them"},
    {"tree", "cpu/r1a8,umask=2/", "the last one counts, perf ORs them"},
    {"tree", "cpu/event=1,event=2/", "the last one counts, perf ORs them"},
    {"tree", "uncore_imc_?/clockticks/", "patterns of PMUs"},
    {"tree", "uncore_*/clockticks/", "patterns of PMUs"},
    {"tree", "uprobe/retprobe/", "a uprobe needs a file and a place"},
    {"tree", "uprobe/retprobe,ref_ctr_offset=0x10/", "a uprobe needs a file"},
    {"tree", "uprobe/ref_ctr_offset=0xffffffff/", "a uprobe needs a file"},
    {"tree", "slots", "an event of cpu like any other"},
};

/* A code breakpoint has the length of a long. The table was made on a machine
 * whose long has 8 bytes. */
static int has_other_length(const line_t *line) {
  return sizeof(long) != 8 && strncmp(line->name, "mem:", 4) == 0 &&
         strstr(line->name, ":x") != NULL;
}

/* Returns why a name is parsed differently, or NULL if it should not be. */
static const char *find_difference(const line_t *line) {
  size_t i;

  for (i = 0; i < COUNT_OF(differences); i++)
    if (strcmp(line->tree, differences[i].tree) == 0 &&
        strcmp(line->name, differences[i].name) == 0)
      return differences[i].why;
  return NULL;
}

/* perf(1) finds out the value of P only when it opens the event. */
static int has_precise_max(const char *name) {
  const char *modifiers = strpbrk(name, ":/") != NULL ? name : "";
  const char *at;

  for (at = name; *at != '\0'; at++)
    if (*at == ':' || *at == '/')
      modifiers = at;
  return strchr(modifiers, 'P') != NULL;
}

static int is_event(const struct perf_event_attr *attr, const event_t *event,
                    const char *name) {
  size_t i;

  for (i = 0; i < NR_FIELDS; i++)
    if (uvperf__attr_value(attr, fields[i].field) != event->values[i] &&
        !(fields[i].field == UVPERF_ATTR_PRECISE_IP && has_precise_max(name)))
      return 0;
  return 1;
}

/* Returns whether the list has these events. Any order is right, because
 * perf(1) uses the order of a directory. */
static int are_events(const uvperf_event_list_t *list, const line_t *line) {
  size_t i, k;

  if (list == NULL || uvperf_event_list_count(list) != line->nr)
    return line->nr == 0 && list == NULL;
  for (i = 0; i < line->nr; i++) {
    for (k = 0; k < line->nr; k++)
      if (is_event(uvperf_event_list_get(list, k)->attr, &line->events[i],
                   line->name))
        break;
    if (k == line->nr)
      return 0;
  }
  return 1;
}

static void names_of_the_table_parse_as_perf_parses_them(void **state) {
  const trees_t *trees = *state;
  unsigned int same = 0, different = 0, faults = 0;
  FILE *table = fopen(TABLE, "re");
  uvperf_event_list_t *list;
  uvperf_error_t error;
  line_t line;

  assert_non_null(table);
  while (next_line(table, &line)) {
    int is_hybrid = strcmp(line.tree, "hybrid_tree") == 0;

    fake_host_set((is_hybrid ? trees->hybrid : trees->plain)->root);
    error.reason[0] = '\0';
    uvperf_event_list_parse(&list, line.name, &error);
    if (are_events(list, &line) || has_other_length(&line)) {
      same++;
    } else if (find_difference(&line) != NULL) {
      print_message("%s: %s\n", line.name, find_difference(&line));
      different++;
    } else {
      print_message("%s %s: %s\n", line.tree, line.name,
                    list == NULL ? error.reason
                                 : "other events than perf(1)'s");
      faults++;
    }
    uvperf_event_list_free(list);
  }
  fclose(table);
  print_message("%u names as perf(1), %u otherwise on purpose\n", same,
                different);
  assert_int_equal(different, COUNT_OF(differences));
  assert_int_equal(faults, 0);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(
          names_of_the_table_parse_as_perf_parses_them, trees_setup,
          trees_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
