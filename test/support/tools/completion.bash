# SPDX-License-Identifier: MIT
# bash completion.bash FILE LINE...: prints for each line "LINE: " and what
# completes its last word, as bash would call the functions in FILE.
. "$1" || exit 1
shift
for line in "$@"; do
  COMP_LINE=$line
  # A colon is a word of its own, as bash has it.
  read -ra COMP_WORDS <<<"${COMP_LINE//:/ : }"
  [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMP_POINT=${#COMP_LINE}
  COMPREPLY=()
  _uvperf 2>/dev/null # compopt: bash itself does not complete now
  echo "${line##*/uvperf-}: ${COMPREPLY[*]}"
done
