#!/bin/bash
# refusals.sh PROGRAM: what a program of OP2 is told where it cannot run, and that what runs by the safe reading is an error where it is checked.
set -u
program=$1
failures=0

expect() { # WORDS VARIABLE...: the program ends with an error that has the words
  local words=$1 said
  shift
  said=$("$program" "$@" 2>&1) && {
    echo "no error with $*"
    failures=$((failures + 1))
    return
  }
  [[ $said == *"$words"* ]] && return
  printf 'with %s it was expected to say "%s", and said:\n%s\n' "$*" "$words" "$said"
  failures=$((failures + 1))
}

expect "needs the kernel's text" OP2_BACKEND=openmp OP2_VARIANT=gather
expect "the kernel did not write component 0, which it promised to write" OP2_BACKEND=seq OP2_CHECK=on
exit "$failures"
