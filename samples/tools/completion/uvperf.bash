# SPDX-License-Identifier: MIT
# Completion of uvperf's tools for bash, with bash-completion: options from
# --help, events from uvperf-list. Installed once for each tool, because
# bash-completion loads a file by the command's name.

# Prints a line for each option of --help: the option, a tab, its argument or -.
_uvperf_options() {
  "$1" --help 2>/dev/null | awk '
    function is_argument(word) {
      return word ~ /^[A-Z]|[|]|^fifo:|^fd:|^(ms|runs|seconds|size|hits|kinds)$/
    }
    /^Not here/ { exit }
    /^  command/ { print "command\t-" }
    /^  -/ {
      nr = split(substr($0, 3), pieces, ", ")
      taken = "-"
      for (i = 1; i <= nr && pieces[i] ~ /^-/; i++) {
        split(pieces[i], words, " ")
        options[i] = words[1]
        sub(/[=\[].*/, "", options[i])
        if (is_argument(words[2]))
          taken = words[2]
        if (pieces[i] ~ /  / || (words[2] != "" && !is_argument(words[2])))
          nr = i # the description follows
      }
      for (i--; i > 0; i--)
        print options[i] "\t" taken
    }'
}

# Prints the names of events, also aliases. uvperf-trace also accepts the names
# of system calls.
_uvperf_events() {
  local list=${1%/*}/uvperf-list

  [[ $1 == */* && -x $list ]] || list=uvperf-list
  "$list" hw sw cache pmu tracepoint 2>/dev/null | awk -v tool="${1##*/}" '
    /^  [A-Za-z]/ {
      print $1
      if ($2 == "OR") print $3
      if (tool == "uvperf-trace" && sub(/^syscalls:sys_enter_/, "", $1))
        print $1
    }'
}

_uvperf_reply() {
  mapfile -t COMPREPLY < <(compgen -P "${2-}" -W "$1" -- "$cur")
}

# Completes the last event of a list.
_uvperf_complete_events() {
  local done=

  [[ $cur =~ ^(.*[,{])([^,{]*)$ ]] &&
    { done=${BASH_REMATCH[1]}; cur=${BASH_REMATCH[2]}; }
  _uvperf_reply "$(_uvperf_events "$1")" "$done"
  cur=$done$cur
  compopt -o nospace
  __ltrim_colon_completions "$cur"
}

_uvperf() {
  local cur prev words cword tool option options=() taken i
  local -A takes=()

  _init_completion -n =: || return
  tool=${words[0]/#\~\//$HOME/}
  while IFS=$'\t' read -r option taken; do
    takes[$option]=$taken
    [[ $option == command ]] || options+=("$option")
  done < <(_uvperf_options "$tool")
  # perf's long names, which --help leaves out, have the arguments of the short
  # options.
  for option in e:event o:output p:pid t:tid C:cpu G:cgroup G:for-each-cgroup \
    c:count F:freq r:repeat I:interval-print x:field-separator l:limit; do
    : "${takes[--${option#*:}]:=${takes[-${option%:*}]--}}"
  done
  # The words of a command have the completion of that command.
  for ((i = 1; i < cword; i++)); do
    if [[ ${words[i]} == -- ]]; then
      _command_offset $((i + 1))
      return
    elif [[ ${words[i]} != -* ]]; then
      [[ ${takes[command]-} ]] || continue
      _command_offset "$i"
      return
    elif [[ ${takes[${words[i]}]--} != - ]]; then
      ((++i))
    fi
  done
  taken=${takes[$prev]--}
  case $taken in
    EVENTS*) _uvperf_complete_events "$tool" ;;
    FILE*) _filedir ;;
    PID*) _uvperf_reply "$(ps -eo pid=)" ;;
    fifo:* | fd:*)
      _uvperf_reply "fifo: fd:"
      compopt -o nospace
      ;;
    *'|'*)
      taken=${taken/\[*\]/}
      _uvperf_reply "${taken//|/ }"
      ;;
    -)
      if [[ $cur != -* && ${tool##*/} == uvperf-list ]]; then
        _uvperf_reply "hw sw cache pmu tracepoint forms
          $(_uvperf_events "$tool")"
        __ltrim_colon_completions "$cur"
      elif [[ $cur != -* && ${takes[command]-} ]]; then
        _command_offset "$cword"
      else
        _uvperf_reply "${options[*]}"
      fi
      ;;
  esac
}
complete -F _uvperf uvperf-doctor uvperf-list uvperf-profile uvperf-record \
  uvperf-stat uvperf-trace uvperf-watch
