# SPDX-License-Identifier: MIT
# zsh -f completion.zsh DIRECTORY LINE...: types each line and a tab into a shell
# that has the functions in DIRECTORY, and prints what the line is then.
zmodload zsh/zpty || exit 1
# It cannot stop a process that is in the background of a terminal.
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
# It is ready when its line editor is: what is typed before can get lost.
zpty shell zsh -f -i
zpty -w shell "{
fpath=(${(q)1} \$fpath)
autoload -Uz compinit && compinit -u -D
unsetopt beep
KEYTIMEOUT=1
READY() { print READ''Y }
zle -N zle-line-init READY
TELL() { print -r -- \"<\$BUFFER>\"; BUFFER= }
zle -N TELL
bindkey '^I' complete-word '^O' TELL
PROMPT=
}"
zpty -r -m shell text '*READY*'
for line in "${@[2,-1]}"; do
  zpty -w -n shell "$line"$'\t\x0f'
  zpty -r -m shell text $'*<*>\r\n*'
  text=${text##*<}
  print -r -- ${${text%%>*}##*/uvperf-}
done
zpty -d shell
