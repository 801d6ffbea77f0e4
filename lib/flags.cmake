# Flags that harden our own builds and make them reproducible. CMakeLists.txt
# includes this file only if this project is built alone: a project that adds
# this one chooses its own flags. They are not exported to users of the library.
# The packager's -f and -z options (CFLAGS, LDFLAGS) come after them and win.
#
# Builds with sanitizers get none of them: sanitizers have checks of their own
# and need whole file names.
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

# _FORTIFY_SOURCE is set only for a configuration that optimizes, because glibc
# warns otherwise. It is not set if the compiler or the flags define it. Level 3
# needs gcc 12 or clang 9; glibc warns if it must use 2 instead.
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

# Relocations are done at the start and read-only afterwards; no executable
# stack.
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

# Position-independent programs. Not with -static, which would need -static-pie,
# and not if the packager has chosen.
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE AND
   NOT "${CMAKE_C_FLAGS} ${CMAKE_EXE_LINKER_FLAGS} " MATCHES
   "-static |-static-pie |-no-pie |-fno-(pie|PIE) ")
  check_pie_supported(LANGUAGES C)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

# -- reproducible builds -------------------------------------------------------

# Debuggers find the source if they run in its top directory, or with gdb's
# `directory`. The compiler tries the last option first.
check_c_compiler_flag(-ffile-prefix-map=/a=b UVPERF_HAS_FILE_PREFIX_MAP)
if(UVPERF_HAS_FILE_PREFIX_MAP AND NOT CMAKE_C_FLAGS MATCHES "-prefix-map")
  add_compile_options(
    $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>
    $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_BINARY_DIR}=.>)
endif()
