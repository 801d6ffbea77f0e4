/* SPDX-License-Identifier: MIT */
/* Prints the other forms that uvperf_attr_parse and uvperf_event_list_parse
 * accept: additions to names, and forms without a name. */
#include "list/print.h"

#include <string.h>

#include "common/text.h"

#define WORDS_COLUMN 40

typedef struct forms_s {
  FILE *file;
  int has_uprobes;
  int has_kprobes;
} forms_t;

/* The terms of one PMU, in the PMU's order. Terms that do not fit are cut. */
typedef struct terms_s {
  char text[2048];
} terms_t;

static void put_form(FILE *file, const char *form, const char *words) {
  int width = fprintf(file, "  %s", form);

  if (width >= WORDS_COLUMN) {
    fputc('\n', file);
    width = 0;
  }
  fprintf(file, "%*s", WORDS_COLUMN - width, "");
  common_words_put(file, WORDS_COLUMN, WORDS_COLUMN, words);
}

static int add_term(const uvperf_pmu_format_t *format, void *arg) {
  char name[256], text[256];
  terms_t *terms = arg;
  size_t used = strlen(terms->text);

  common_text_clean(name, sizeof(name), format->name);
  common_text_clean(text, sizeof(text), format->text);
  snprintf(terms->text + used, sizeof(terms->text) - used, "%s%s (%s)",
           used == 0 ? "" : ", ", name, text);
  return 0;
}

static int put_pmu(const uvperf_pmu_t *pmu, void *arg) {
  char form[512], name[256];
  terms_t terms = {""};
  forms_t *forms = arg;

  forms->has_uprobes |= strcmp(pmu->name, "uprobe") == 0;
  forms->has_kprobes |= strcmp(pmu->name, "kprobe") == 0;
  uvperf_pmu_walk_formats(pmu->name, add_term, &terms);
  if (terms.text[0] == '\0')
    return 0;
  common_text_clean(name, sizeof(name), pmu->name);
  snprintf(form, sizeof(form), "  %s/", name);
  put_form(forms->file, form, terms.text);
  return 0;
}

void list_print_forms(FILE *file) {
  forms_t forms = {file, 0, 0};

  fputs("Other forms\n", file);
  put_form(file, "rNNN", "a raw event of the CPU's PMU, in hex");
  put_form(file, "TYPE:CONFIG", "an event by its numbers");
  put_form(file, "type=N,config=N[,config1=N...]", "by all of its numbers");
  put_form(file, "mem:ADDR[/LEN][:rwx]",
           "a breakpoint: hits when these bytes are read, written or executed");
  put_form(file, "PMU/TERM=N[,TERM=N...]/",
           "an event of a PMU by its terms; on this machine:");
  uvperf_pmu_walk(put_pmu, &forms);
  if (forms.has_uprobes)
    put_form(file, "uprobe/path=FILE,symbol=NAME/",
             "a function of a file; or offset=N; with retprobe its return");
  if (forms.has_kprobes)
    put_form(file, "kprobe/func=NAME/",
             "a function of the kernel; or addr=N; with retprobe its return");
  put_form(file, "NAME/TERM=N[,TERM=N...]/",
           "with further terms: period, freq, call-graph, max-stack, "
           "branch_type, time, inherit, ...");
  put_form(file, "NAME:MODIFIERS",
           "u, k, h: only the user, kernel, hypervisor side; G, H: guest, "
           "host; I: not idle; p, pp, ppp, P: precise; S: with counts; D: "
           "pinned; e: exclusive");
  put_form(file, "{NAME,NAME...}:MODIFIERS", "a group, in lists of events");
}
