#!/bin/bash
# refusals.sh SURFACE VERDICTS: what a program of OP2 is told where it cannot run; and that what runs by the safe reading gets one warning
# for each loop, and is an error where it is checked.
set -u
surface=$1 verdicts=$2
failures=0

tell() { # WHAT SAID
  printf '%s:\n%s\n' "$1" "$2"
  failures=$((failures + 1))
}

refused() { # WORDS PROGRAM WORD...: it ends with an error that has the words
  local words=$1 said
  shift
  said=$("$@" 2>&1) && tell "no error with $*" "$said"
  [[ $said == *"$words"* ]] || tell "with $* it was expected to say '$words'" "$said"
}

warned() { # COUNT WORDS PROGRAM WORD...: it ends well, with so many warnings that have the words
  local count=$1 words=$2 said
  shift 2
  said=$("$@" 2>&1) || tell "an error with $*" "$said"
  [ "$(grep -c "warning: .*$words" <<<"$said")" -eq "$count" ] || tell "with $* it was expected to warn $count times '$words'" "$said"
}

# A strategy that needs a text is left out where there is none.
said=$("$surface" OP2_BACKEND=openmp OP2_VARIANT=gather 2>&1) || tell "OP2_VARIANT=gather" "$said"
# By the prover, or where the text is not known while it runs.
refused "write component 0" "$surface" OP2_BACKEND=seq OP2_CHECK=on
warned 1 "the result would depend on the order of execution" "$verdicts" OP2_BACKEND=openmp OP2_THREADS=3
warned 1 "loop rise, argument 1 .*OP_RW.* both reach element" "$verdicts" --mapped OP2_BACKEND=openmp OP2_THREADS=2
refused "op_get_size: the set is NULL" "$verdicts" --unmade OP2_BACKEND=openmp
refused OP_ERR_ALIAS "$verdicts" --aliased OP2_BACKEND=openmp OP2_CHECK=on
warned 0 "" "$verdicts" --mapped OP2_BACKEND=seq OP2_CHECK=on
# A mistake that only made-up values show is a warning, one for each line of the program, also where it is checked.
for check in off on list; do
  warned 1 "loop put: kernel put .*argument 2 (out) has dim 1, and the kernel uses component 1" "$verdicts" --guarded OP2_BACKEND=openmp OP2_CHECK=$check
  warned 0 "both write" "$verdicts" --equal OP2_BACKEND=openmp OP2_CHECK=$check
done
# A list: the loop runs as without the check, and the status of the process says it, for op_exit returns nothing.
refused "loop look_and_rise, alias: a dat is passed twice, and both arguments reach one element; seen 1 time, first:" "$verdicts" --aliased \
  OP2_BACKEND=seq OP2_CHECK=list
refused "it runs as if OP_WRITE were OP_RW" "$surface" OP2_BACKEND=seq OP2_CHECK=list
exit "$failures"
