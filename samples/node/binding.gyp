# Needs uvperf as an installed package, whose static library is linked, and no
# libuv: node exports its own, and node-gyp has the headers.
{
  "targets": [{
    "target_name": "uvperf",
    "sources": ["addon.c"],
    "cflags_c": ["-std=gnu11"],
    "include_dirs": ["<!(pkg-config --variable=includedir uvperf)"],
    "libraries": ["<!(pkg-config --variable=libdir uvperf)/libuvperf.a"]
  }]
}
