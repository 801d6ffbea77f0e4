/* SPDX-License-Identifier: MIT */
/* The parts of the page, as embed.cmake made them from page.html, page.css and
 * page.js. */
#ifndef PAGE_PARTS_H
#define PAGE_PARTS_H

#include <stddef.h>

typedef struct page_part_s {
  const char *text;
  size_t bytes;
} page_part_t;

extern const page_part_t page_html;
extern const page_part_t page_style;
extern const page_part_t page_script;

/* For the Content-Security-Policy: "sha256-…". */
extern const page_part_t page_style_hash;
extern const page_part_t page_script_hash;

#endif
