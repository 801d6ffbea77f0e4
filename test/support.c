/* SPDX-License-Identifier: MIT */
#include "support.h"

int support_loop_setup(void **state) {
  uv_loop_t *loop = calloc(1, sizeof(*loop));

  if (loop == NULL)
    return -1;
  *state = loop;
  return uv_loop_init(loop);
}

int support_loop_teardown(void **state) {
  uv_loop_t *loop = *state;
  int rc;

  uv_run(loop, UV_RUN_NOWAIT);
  rc = uv_loop_close(loop);
  if (rc != 0)
    fprintf(stderr, "uv_loop_close: %s\n", uv_strerror(rc));
  else
    free(loop);
  return rc;
}
