# Writes trace/syscall_names.h into the build directory, with a line for each
# system call of the target architecture. The names are those of the macros
# __NR_name in the headers of the C library or the kernel.
set(asks ${CMAKE_CURRENT_BINARY_DIR}/trace/ask_syscalls.c)
file(WRITE ${asks} "#include <sys/syscall.h>\n")
separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
if(CMAKE_SYSROOT)
  list(APPEND flags --sysroot=${CMAKE_SYSROOT})
endif()
if(CMAKE_C_COMPILER_TARGET)
  list(APPEND flags ${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET})
endif()
execute_process(
  COMMAND ${CMAKE_C_COMPILER} ${CMAKE_C_COMPILER_ARG1} ${flags} -dM -E ${asks}
  OUTPUT_VARIABLE macros ERROR_VARIABLE error)
string(REGEX MATCHALL "#define __NR_[a-z_][a-z0-9_]* " macros "${macros}")
set(lines "")
foreach(macro ${macros})
  string(REGEX REPLACE "#define __NR_(.*) " "\\1" name ${macro})
  # These two are not calls, but the number of calls, and the first number that
  # belongs to one architecture.
  if(NOT name MATCHES "^(syscalls|arch_specific_syscall)$")
    string(APPEND lines "{__NR_${name}, \"${name}\"},\n")
  endif()
endforeach()
if(lines STREQUAL "")
  message(STATUS "uvperf-trace -s prints numbers, not names, of system calls: "
                 "the compiler lists no __NR_* of sys/syscall.h ${error}")
endif()
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/trace/syscall_names.h
     CONTENT "${lines}")
target_include_directories(tools_common PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
