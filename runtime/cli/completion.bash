# bash completion of op2jit: commands and options as op2jit --help has them, files behind these.
_op2jit() {
  local word=${COMP_WORDS[COMP_CWORD]} help words=() i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do # options and variables are no part of the command
    [[ ${COMP_WORDS[i]} == -* || ${COMP_WORDS[i]} == *=* ]] || words+=("${COMP_WORDS[i]}")
  done
  help=$("${COMP_WORDS[0]}" --help 2>/dev/null) || return
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--help --json $("${COMP_WORDS[0]}" "${words[@]:0:2}" --help 2>/dev/null |
      sed -nE 's/^  (-[-a-z]+|-o) .*/\1/p')" -- "$word")
  elif [ ${#words[@]} -eq 0 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sed -nE 's/^  ([a-z][-a-z]*).*/\1/p' <<<"$help" | sort -u)" -- "$word")
  elif [ ${#words[@]} -eq 1 ] && grep -qE "^  ${words[0]} [a-z]" <<<"$help"; then
    mapfile -t COMPREPLY < <(compgen -W "$(sed -nE "s/^  ${words[0]} ([a-z]+).*/\1/p" <<<"$help")" -- "$word")
  fi
}
complete -o default -F _op2jit op2jit
