# Makes a C file of a text file, as a string with this name:
#
#   cmake -DIN=help.txt -DNAME=stat_help -DOUT=help.c -P embed.cmake
#
# Without IN it only has the function, for other scripts.

# Converts a file to the elements of a C array: embed_bytes(variable file)
function(embed_bytes out file)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes
         "${bytes}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

if(IN)
  embed_bytes(bytes ${IN})
  file(WRITE ${OUT} "extern const char ${NAME}[];\n"
    "const char ${NAME}[] = {\n${bytes}0};\n")
endif()
