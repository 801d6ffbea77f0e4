# SPDX-License-Identifier: MIT
# A header as doxygen wants it: its plain comments become doxygen's, their
# tables of codes become lists, and what is indented stays as it is.
#
#   awk -f filter.awk HEADER

function flush_verbatim() {
  if (verbatim)
    print "@endverbatim"
  verbatim = 0
}

# Text in which doxygen finds neither HTML nor commands but ours.
function escape(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/</, "\\<", text)
  gsub(/#/, "\\#", text)
  gsub(/%/, "\\%", text)
  while (match(text, /`[^`]+`/))
    text = substr(text, 1, RSTART - 1) "<tt>" \
      substr(text, RSTART + 1, RLENGTH - 2) "</tt>" \
      substr(text, RSTART + RLENGTH)
  return text
}

# A line of a table: "UV_EINVAL  why". Not text that happens to begin so.
function code_of(line) {
  if (line ~ /^ +(0|another|any|[1-9][0-9]*|NULL)  +[^ ]/ ||
      line ~ /^ +(UV_|-E)[A-Z0-9]+(, (UV_|-E)[A-Z0-9]+)*  +[^ ]/ ||
      (line ~ /^ +(UV_|-E)[A-Z0-9]+ [^ ]/ && before ~ /([:;,.]|or)$/)) {
    match(line, /^ +((UV_|-E)[A-Z0-9]+(, (UV_|-E)[A-Z0-9]+)*|[^ ]+)/)
    return RLENGTH
  }
  return 0
}

function indent_of(line) {
  match(line, /^ */)
  return RLENGTH
}

# One line of a comment, without what all of its lines begin with.
function put(line,   size, indent) {
  indent = indent_of(line)
  if (line ~ /^@(param|return)/) {
    flush_verbatim()
    section = line ~ /^@param/ ? "param" : "return"
    table = 0
    print " * " escape(line)
  } else if (line ~ /^Source: /) {
    flush_verbatim()
    section = "source"
    table = 0
    print " * @par Source\n * " escape(substr(line, 9))
  } else if (section != "" && (size = code_of(line)) > 0) {
    table = indent
    print " *   - <tt>" substr(line, indent + 1, size - indent) "</tt> " \
      escape(substr(line, size + 1))
  } else if (section != "" && line != "") {
    if (table > 0 && indent <= table) {
      table = 0
      print " *   ." # ends the list, and not the parameter
    }
    print " * " (table > 0 ? "    " : "") escape(substr(line, indent + 1))
  } else if (line == "") {
    if (!verbatim)
      print " *"
    dashes = 0
    pending = verbatim
  } else if (verbatim && indent >= 2 ||
             !dashes && indent >= 2 && before ~ /^$|[:.]$/) {
    if (!verbatim)
      print " *\n * @verbatim"
    else if (pending)
      print ""
    verbatim = 1
    pending = 0
    print line
  } else {
    flush_verbatim()
    if (line ~ /^- /)
      dashes = 1
    else if (indent == 0)
      dashes = 0
    print " * " escape(line)
  }
  before = line
}

# A whole comment: nr lines, the first without "/*", the last without "*/".
function put_comment(prefix, opener, nr,   i, least, line) {
  least = 99
  for (i = 2; i <= nr; i++) {
    sub(/^ *\* ?/, "", lines[i])
    sub(/ +$/, "", lines[i])
    if (lines[i] != "" && indent_of(lines[i]) < least)
      least = indent_of(lines[i])
  }
  section = before = ""
  table = verbatim = dashes = 0
  print prefix opener
  for (i = 1; i <= nr; i++) {
    line = lines[i]
    if (i > 1)
      line = substr(line, least + 1)
    put(line)
  }
  flush_verbatim()
  print " */"
}

function take_comment(text,   nr) {
  nr = 1
  while ((at = index(text, "*/")) == 0) {
    lines[nr++] = text
    if ((getline text) <= 0)
      break
  }
  lines[nr] = substr(text, 1, at - 1)
  sub(/ +$/, "", lines[nr])
  sub(/^ +/, "", lines[1])
  rest = substr(text, at + 2)
  return nr
}

# Doxygen would add a comment that stands alone to the next one. It warns of a
# command that it does not know.
{ alone = ended; ended = 0 }
alone && /^$|^ *\/\*/ {
  printf "/** @comment_before_line_%d_stands_alone */ ", FNR
}

/SPDX-License-Identifier|^ *\/\* -- |^ *\/\/|_H \*\/$/ { print; next }

# Before a declaration, or of the file.
/^ *\/\*/ {
  match($0, /^ *\/\*+/)
  prefix = substr($0, 1, index($0, "/") - 1)
  nr = take_comment(substr($0, RLENGTH + 1))
  put_comment(prefix, NR_COMMENTS++ == 0 ? "/** @file" : "/**", nr)
  field = ""
  documented = 1
  ended = NR_COMMENTS > 1 && lines[1] !~ /^@page/
  next
}

# What is documented by the comment before it, or behind it.
function put_field(line, comment,   kind, names, nr, i) {
  match(line, /[*]*[a-z_][a-z0-9_]*(, [a-z_][a-z0-9_]*)*(\[[^\]]*\])?;$/)
  kind = substr(line, 1, RSTART - 1)
  nr = split(substr(line, RSTART, RLENGTH - 1), names, ", ")
  for (i = 1; i <= nr; i++) {
    print kind names[i] ";" comment
    if (field == "" && (comment != "" || documented)) {
      field = names[i]
      gsub(/[*]|\[.*/, "", field)
    }
    if (field != "")
      comment = " /**< See " field ". */"
  }
  documented = 0
}

# Room for later fields.
/^ +[a-z0-9_ ]*\*?reserved[a-z0-9_]*(\[[0-9]+\])?;$/ {
  print $0 " /**< 0. */"
  next
}

# A struct without a name, inside of another: a field whose comment ends with
# the code of the struct. doxygen would list its fields before it.
/^  struct \{$/ {
  text = " * @verbatim\nstruct {\n"
  while ((getline line) > 0 && line !~ /^  \} [a-z_]+;$/) {
    sub(/^  /, "", line)
    if (sub(/\/\* ?/, "// ", line))
      sub(/ ?\*\/$/, "", line)
    else if (sub(/^ +\* /, "  // ", line))
      sub(/ ?\*\/$/, "", line)
    text = text line "\n"
  }
  match(line, /[a-z_]+/)
  name = substr(line, RSTART, RLENGTH)
  print "  struct " name " " name "; /**<"
  print text "} " name ";\n@endverbatim */"
  field = ""
  documented = 0
  next
}

# A union without a name: its fields are the struct's.
/^  union \{$/ { in_union = 1; next }
in_union && /^  \};$/ { in_union = 0; next }

# Behind one.
/[;,{)] *\/\* / || /^#define .*[^\/]\/\* / {
  at = index($0, "/*")
  code = substr($0, 1, at - 1)
  sub(/ +$/, "", code)
  others = ""
  if (code ~ /^ .*[a-z0-9_], [a-z0-9_, ]+;$/) {
    others = substr(code, index(code, ", ") + 2)
    match(code, /[a-z_][a-z0-9_]*, /)
    kind = substr(code, 1, RSTART - 1)
    code = substr(code, 1, index(code, ",") - 1) ";"
    field = substr(code, RSTART, length(code) - RSTART)
  }
  nr = take_comment(substr($0, at + 2))
  put_comment(code " ", "/**<", nr)
  if (others != "")
    put_field(kind others, " /**< See " field ". */")
  field = ""
  next
}

# A field below one with a comment, which is of both; more names of one type.
/^ +[A-Za-z_][A-Za-z0-9_ *]*[ *][a-z_][a-z0-9_]*(, [a-z_][a-z0-9_]*)*(\[[0-9A-Z_]+\])?;$/ {
  put_field($0, field == "" ? "" : " /**< See " field ". */")
  next
}

{
  if ($0 !~ /^ *\/\//)
    field = ""
  print
}
