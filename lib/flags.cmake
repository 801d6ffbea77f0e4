# Flags that harden what is built here, and that make a second build of it
# identical. Included by CMakeLists.txt for builds of this project alone: a
# project that adds this one chooses for itself. They are no part of what is
# exported to users of the library. The packager's -f and -z options (CFLAGS,
# LDFLAGS) come after them and win.
#
# Sanitizers have checks of their own, and names of files are to be whole there.
if(UVPERF_SANITIZE OR CMAKE_C_FLAGS MATCHES "-fsanitize")
  return()
endif()

include(CheckCSourceCompiles)
include(CheckPIESupported)

# -- code ----------------------------------------------------------------------

foreach(flag stack-protector-strong stack-clash-protection)
  string(MAKE_C_IDENTIFIER "UVPERF_HAS_${flag}" has)
  string(TOUPPER ${has} has)
  check_c_compiler_flag(-f${flag} ${has})
  if(${has})
    set(CMAKE_C_FLAGS "-f${flag} ${CMAKE_C_FLAGS}")
  endif()
endforeach()

# For a configuration that optimizes, otherwise glibc warns; not if the compiler
# defines it unasked, or the flags decide. Level 3 needs gcc 12 or clang 9, and
# glibc warns if it has to take 2 instead.
set(UVPERF_FORTIFY_PROBE "
#if !defined __OPTIMIZE__ || defined _FORTIFY_SOURCE
#error
#endif
#define _FORTIFY_SOURCE UVPERF_LEVEL
#include <string.h>
int main(void) { return 0; }")

function(uvperf_fortify config)
  string(TOUPPER "${config}" upper)
  set(flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${upper}}")
  if(flags MATCHES "_FORTIFY_SOURCE")
    return()
  endif()
  string(MD5 key "${flags}")
  foreach(level 3 2)
    set(CMAKE_REQUIRED_FLAGS
        "${CMAKE_C_FLAGS_${upper}} -Werror -DUVPERF_LEVEL=${level}")
    check_c_source_compiles("${UVPERF_FORTIFY_PROBE}"
                            UVPERF_CAN_FORTIFY_${level}_${key})
    if(UVPERF_CAN_FORTIFY_${level}_${key})
      add_compile_options($<$<CONFIG:${config}>:-D_FORTIFY_SOURCE=${level}>)
      return()
    endif()
  endforeach()
endfunction()

foreach(config ${CMAKE_BUILD_TYPE} ${CMAKE_CONFIGURATION_TYPES})
  uvperf_fortify(${config})
endforeach()

# Threads may have small stacks.
if(UVPERF_WERROR)
  add_compile_options(-Wframe-larger-than=16384)
endif()

# -- linking -------------------------------------------------------------------

# All relocations at the start, and read-only then; no stack that is executed.
foreach(flag RELRO NOW NOEXECSTACK)
  string(TOLOWER ${flag} option)
  string(PREPEND option -Wl,-z,)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${option})
  check_c_source_compiles("int main(void) { return 0; }" UVPERF_HAS_Z_${flag})
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(UVPERF_HAS_Z_${flag})
    foreach(kind EXE SHARED)
      set(CMAKE_${kind}_LINKER_FLAGS
          "${option} ${CMAKE_${kind}_LINKER_FLAGS}")
    endforeach()
  endif()
endforeach()

# Programs that can be loaded anywhere. Not with -static, which would need
# -static-pie, nor where the packager has chosen.
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE AND
   NOT "${CMAKE_C_FLAGS} ${CMAKE_EXE_LINKER_FLAGS} " MATCHES
   "-static |-static-pie |-no-pie |-fno-(pie|PIE) ")
  check_pie_supported(LANGUAGES C)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

# -- the same again ------------------------------------------------------------

# Debuggers find the source from its top, or by `directory` of gdb. The compiler
# tries the last one first.
check_c_compiler_flag(-ffile-prefix-map=/a=b UVPERF_HAS_FILE_PREFIX_MAP)
if(UVPERF_HAS_FILE_PREFIX_MAP AND NOT CMAKE_C_FLAGS MATCHES "-prefix-map")
  add_compile_options(
    $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>
    $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_BINARY_DIR}=.>)
endif()
