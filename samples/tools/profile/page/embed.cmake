# Makes a C file of the parts of the page, see parts.h:
#
#   cmake -DOUT=page_parts.c -P embed.cmake

include(${CMAKE_CURRENT_LIST_DIR}/../../embed.cmake)

# Digits of base64 for 6 hexadecimal ones: embed_base64(variable six digits)
function(embed_base64 out six digits)
  set(alphabet
    ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  foreach(shift 18 12 6 0)
    math(EXPR at "(0x${six} >> ${shift}) & 63")
    string(SUBSTRING ${alphabet} ${at} 1 digit)
    string(APPEND text ${digit})
  endforeach()
  string(SUBSTRING ${text} 0 ${digits} text)
  set(${out} ${text} PARENT_SCOPE)
endfunction()

# The 32 bytes of a SHA-256: 10 groups of 3, and 2 that are left.
function(embed_hash out file)
  file(SHA256 ${file} hex)
  set(text "sha256-")
  foreach(at RANGE 0 54 6)
    string(SUBSTRING ${hex} ${at} 6 six)
    embed_base64(digits ${six} 4)
    string(APPEND text ${digits})
  endforeach()
  string(SUBSTRING ${hex} 60 4 rest)
  embed_base64(digits ${rest}00 3)
  set(${out} "${text}${digits}=" PARENT_SCOPE)
endfunction()

set(source "#include \"profile/page/parts.h\"\n")
foreach(part html:html style:css script:js)
  string(REPLACE ":" ";" part ${part})
  list(GET part 0 name)
  list(GET part 1 suffix)
  set(file ${CMAKE_CURRENT_LIST_DIR}/page.${suffix})
  embed_bytes(bytes ${file})
  string(APPEND source "static const unsigned char ${name}[] = {\n${bytes}};\n"
    "const page_part_t page_${name} = {\n"
    "  (const char *)${name}, sizeof(${name})};\n")
  if(NOT name STREQUAL html)
    embed_hash(hash ${file})
    string(APPEND source "const page_part_t page_${name}_hash = {\n"
      "  \"${hash}\", sizeof(\"${hash}\") - 1};\n")
  endif()
endforeach()
file(WRITE ${OUT} "${source}")
