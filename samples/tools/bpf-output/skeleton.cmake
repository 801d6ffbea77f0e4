# Builds BPF programs in C, for samples: makes NAME.skel.h, which contains the
# compiled program, from NAME.bpf.c. Samples that need it are left out if
# something is missing:
#
#   UVPERF_BPF_LACKS  what is missing; empty if nothing is
#   uvperf_bpf_skeleton(target name)  allows a target to include "NAME.skel.h"

include(CheckStructHasMember)
include(TestBigEndian)

set(UVPERF_BPF_DIR ${CMAKE_CURRENT_LIST_DIR})
set(UVPERF_BPF_LACKS "")

find_program(UVPERF_CLANG clang DOC "A clang that has the target bpf")
# Not on the PATH of all users.
find_program(UVPERF_BPFTOOL bpftool PATHS /usr/sbin /sbin
             DOC "Makes skeletons of BPF programs")

# bpf-output uses this member. The headers may be older than libbpf.
check_struct_has_member("struct bpf_prog_info" recursion_misses linux/bpf.h
                        UVPERF_HAS_RECURSION_MISSES)

# The programs have the byte order of the machine that loads them.
test_big_endian(UVPERF_IS_BIG_ENDIAN)
if(UVPERF_IS_BIG_ENDIAN)
  set(UVPERF_BPF_TARGET bpfeb)
else()
  set(UVPERF_BPF_TARGET bpfel)
endif()

# asm/types.h may be in a directory that only this machine's compiler searches.
# clang's own directories come before that.
# The debug information of -g is part of the program, so it must not contain the
# path of the build.
set(UVPERF_BPF_FLAGS -target ${UVPERF_BPF_TARGET} -O2 -g -Wall -Wextra
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
    -ffile-prefix-map=${PROJECT_BINARY_DIR}=.)
foreach(directory ${UVPERF_LIBBPF_INCLUDE_DIRS})
  list(APPEND UVPERF_BPF_FLAGS -isystem ${directory})
endforeach()
foreach(directory ${CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES})
  list(APPEND UVPERF_BPF_FLAGS -idirafter ${directory})
endforeach()
if(UVPERF_WERROR)
  list(APPEND UVPERF_BPF_FLAGS -Werror)
endif()

# Whether a command works: uvperf_bpf_try(variable command…)
function(uvperf_bpf_try works)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
                  OUTPUT_QUIET ERROR_QUIET)
  set(${works} OFF PARENT_SCOPE)
  if(result EQUAL 0)
    set(${works} ON PARENT_SCOPE)
  endif()
endfunction()

# Tries the tools: bpftool may be a script that needs another package for each
# kernel.
function(uvperf_bpf_find_lacks lacks)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/bpf_probe)
  file(WRITE ${probe}.bpf.c
       "#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n"
       "int probe SEC(\".data\") = 1;\n")
  if(UVPERF_CLANG)
    uvperf_bpf_try(compiles ${UVPERF_CLANG} ${UVPERF_BPF_FLAGS}
                   -c ${probe}.bpf.c -o ${probe}.bpf.o)
  endif()
  if(UVPERF_BPFTOOL)
    uvperf_bpf_try(generates ${UVPERF_BPFTOOL} gen skeleton ${probe}.bpf.o)
  endif()
  if(NOT UVPERF_LIBBPF_FOUND)
    set(what "no libbpf >= ${UVPERF_LIBBPF_LEAST} (Debian: libbpf-dev)")
  elseif(NOT UVPERF_HAS_RECURSION_MISSES)
    set(what "linux/bpf.h is older than Linux 5.12")
  elseif(NOT UVPERF_CLANG)
    set(what "no clang")
  elseif(NOT compiles)
    set(what "${UVPERF_CLANG} compiles no BPF program")
  elseif(NOT UVPERF_BPFTOOL)
    set(what "no bpftool")
  elseif(NOT generates)
    set(what "${UVPERF_BPFTOOL} makes no skeleton")
  endif()
  set(${lacks} "${what}" PARENT_SCOPE)
endfunction()

uvperf_bpf_find_lacks(UVPERF_BPF_LACKS)

function(uvperf_bpf_skeleton target name)
  set(source ${UVPERF_BPF_DIR}/${name}.bpf.c)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/skeleton)
  set(object ${directory}/${name}.bpf.o)
  set(skeleton ${directory}/${name}.skel.h)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${UVPERF_CLANG} ${UVPERF_BPF_FLAGS} -c ${source} -o ${object}
    DEPENDS ${source} ${UVPERF_BPF_DIR}/${name}.h
    COMMENT "Building the BPF program ${name}.bpf.o" VERBATIM)
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND ${UVPERF_BPFTOOL} gen skeleton ${object} name ${name}_bpf
            > ${skeleton}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
    DEPENDS ${object}
    COMMENT "Generating ${name}.skel.h" VERBATIM)
  target_sources(${target} PRIVATE ${skeleton})
  # SYSTEM, because our warnings do not apply to the code of bpftool.
  target_include_directories(${target} SYSTEM PRIVATE ${directory})
  target_link_libraries(${target} PRIVATE PkgConfig::UVPERF_LIBBPF)
endfunction()
