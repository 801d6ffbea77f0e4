/* SPDX-License-Identifier: MIT */
/* list: prints the names of the events that this machine has. This file finds
 * them and prints them. */
#include <stdio.h>

#include "common/stdio.h"
#include "list/print.h"

static size_t print_text(const list_names_t *names) {
  size_t nr = list_print_text(names, stdout);

  if (names->options->forms) {
    if (names->nr > 0)
      fputc('\n', stdout);
    list_print_forms(stdout);
    nr++;
  }
  return nr;
}

static int run(const list_options_t *options) {
  list_names_t names;
  int status;

  list_names_find(&names, options);
  list_names_say_unmatched(&names);
  status = list_names_try(&names);
  if (status == 0 && options->json)
    status = list_print_json(&names, stdout) == 0;
  else if (status == 0)
    status = print_text(&names) == 0;
  list_names_free(&names);
  return status;
}

int main(int argc, char **argv) {
  list_options_t options;
  int status;

  common_stdio_init();
  status = list_options_parse(&options, argc, argv);
  if (status != 0)
    return status;
  status = run(&options);
  return common_stdio_close(stdout, "stdout") != 0 ? 1 : status;
}
