#!/bin/bash
# completion.sh COMMAND FILE: what the shell offers behind "op2jit" and some words.
set -u
command=$1
# shellcheck source=runtime/cli/completion.bash
. "$2"
failures=0

offers() { # WANTED... -- WORD...: the words so far, the last one to be completed
  local wanted=() answer word
  while [ "$1" != -- ]; do
    wanted+=("$1")
    shift
  done
  shift
  COMP_WORDS=("$command" "$@") COMP_CWORD=$#
  _op2jit
  answer=" ${COMPREPLY[*]} "
  for word in "${wanted[@]}"; do
    if [[ $word == no:* ]]; then
      [[ $answer != *" ${word#no:} "* ]] || { echo "'$*' offers ${word#no:}:$answer"; failures=1; }
    else
      [[ $answer == *" $word "* ]] || { echo "'$*' does not offer $word:$answer"; failures=1; }
    fi
  done
}

offers cache tune mesh report info warm new check -- ''
offers mesh no:cache -- m
offers info check no:ls -- mesh ''
offers check no:info -- mesh c
offers ls show why -- cache ''
offers --limit --json --help no:--cap -- cache why -
offers --limit -- OP2_CACHE=off cache why --
offers no:cache no:ls -- mesh info ''
[ $failures -eq 0 ] && echo "the shell offers what there is"
exit $failures
