/* SPDX-License-Identifier: MIT */
/* The only calls of bpf(2), one function for each command, and the calls of
 * fcntl(2) that fds of BPF objects need. The rules are the same as in sys.h:
 * -errno for a failure, no policy, and tests replace each function with the
 * linker's --wrap.
 *
 * Each returned fd is close-on-exec. */
#ifndef UVPERF_LIB_SYS_BPF_H
#define UVPERF_LIB_SYS_BPF_H

#include <stdint.h>

/* The beginning of struct bpf_map_info in <linux/bpf.h>, which is the same in
 * every kernel that has it. */
typedef struct uvperf__bpf_map_info_s {
  uint32_t type; /* BPF_MAP_TYPE_* */
  uint32_t id;
  uint32_t key_size; /* in bytes, like value_size */
  uint32_t value_size;
  uint32_t max_entries;
  uint32_t map_flags; /* BPF_F_* */
} uvperf__bpf_map_info_t;

/* BPF_LINK_CREATE: attaches a program to an event. bpf_get_attach_cookie()
 * returns `cookie` to the program. Returns the fd of the link, or -errno. */
int uvperf__sys_bpf_link(int prog_fd, int event_fd, uint64_t cookie);

/* BPF_OBJ_GET_INFO_BY_FD of a map. Returns 0 or -errno; -EBADFD means that the
 * fd is not open. Another kind of BPF object has other fields at the same
 * place. The function returns them as if they were the fields of a map. */
int uvperf__sys_bpf_info(int fd, uvperf__bpf_map_info_t *info);

/* BPF_MAP_GET_FD_BY_ID. Returns an fd that shares its open file with no other
 * fd, or -errno. The flags are 0, BPF_F_RDONLY or BPF_F_WRONLY. */
int uvperf__sys_bpf_map_by_id(uint32_t id, uint32_t flags);

/* BPF_OBJ_GET. Returns an fd of the object that is pinned at `path`, with an
 * open file of its own, or -errno. */
int uvperf__sys_bpf_pinned(const char *path);

/* BPF_MAP_UPDATE_ELEM with BPF_ANY, for a map with keys and values of 32 bits.
 * Returns 0 or -errno. */
int uvperf__sys_bpf_update(int fd, uint32_t key, uint32_t value);

/* BPF_MAP_LOOKUP_ELEM. The caller knows the sizes of the map's keys and values.
 * A map with a value for each CPU has values of value_size, rounded up to a
 * multiple of 8, for all possible CPUs. Returns 0 or -errno. */
int uvperf__sys_bpf_lookup(int fd, const void *key, void *value);

/* BPF_MAP_DELETE_ELEM, for the same kind of map. Returns 0 or -errno. */
int uvperf__sys_bpf_delete(int fd, uint32_t key);

/* fcntl(2), F_DUPFD_CLOEXEC. Returns another fd of the same file, or -errno. */
int uvperf__sys_dup(int fd);

/* fcntl(2), F_GETFL. Returns O_RDONLY, O_WRONLY or O_RDWR, or -errno. */
int uvperf__sys_access(int fd);

#endif
