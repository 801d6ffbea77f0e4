# SPDX-License-Identifier: MIT
# A guide as doxygen wants it: pages and headings have ids, so that their names
# in HTML stay, and links lead to these ids.
#
#   awk -f guide.awk GUIDE

function slug_of(title) {
  title = tolower(title)
  gsub(/[^a-z0-9 _-]/, "", title)
  gsub(/ /, "-", title)
  return title
}

function id_of(guide, heading) {
  sub(/\.md$/, "", guide)
  return "guide_" guide (heading == "" ? "" : "_" heading)
}

# A link's target as doxygen's: other guides, headings, samples, headers.
function link_to(text, target,   parts) {
  split(target, parts, "#")
  if (target ~ /^#/)
    return "\\ref " id_of(name, parts[2]) " \"" text "\""
  if (target ~ /^[a-z-]+\.md/)
    return "\\ref " id_of(parts[1], parts[2]) " \"" text "\""
  if (target ~ /^\.\.\/(node\/)?[A-Za-z0-9_]+\.(c|cpp|md)$/)
    return "<a href=\"examples/" substr(target, 4) "\">" text "</a>"
  if (target ~ /^\.\.\/\.\.\/include\//)
    return "\\ref " substr(target, 15) " \"" text "\""
  if (target ~ /^https?:/)
    return "[" text "](" target ")"
  return text # a file that is not installed
}

# A paragraph; a link may go on in the next line.
function put(text,   at, link, target) {
  while (match(text, /\[[^][]+\]\([^() ]+\)/)) {
    at = index(substr(text, RSTART, RLENGTH), "](")
    link = substr(text, RSTART + 1, at - 2)
    gsub(/\n/, " ", link)
    target = substr(text, RSTART + at + 1, RLENGTH - at - 2)
    printf "%s%s", substr(text, 1, RSTART - 1), link_to(link, target)
    text = substr(text, RSTART + RLENGTH)
  }
  print text
}

function flush() {
  if (paragraph != "")
    put(paragraph)
  paragraph = ""
}

FNR == 1 {
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.md$/, "", name)
}
/^```/ { flush(); is_code = !is_code; print; next }
is_code || paragraph == "" && /^    / { print; next }
/^# / {
  print $0 " {#" (name == "README" ? "mainpage" : id_of(name, "")) "}"
  next
}
/^##+ / {
  flush()
  title = $0
  sub(/^#+ /, "", title)
  print $0 " {#" id_of(name, slug_of(title)) "}"
  next
}
/^$/ { flush(); print; next }
/^\|/ { put($0); next }
{ paragraph = paragraph == "" ? $0 : paragraph "\n" $0 }
END { flush() }
