#!/bin/bash
# iterations.sh RUN ITERATIONS POISSON MOST2 MOST3 RANKS...: iterations of conjugate gradients with multigrid hardly grow, from 32 squares
# along a side to MOST2, and from 16 cubes to MOST3, nor with ranks (0: without MPI): the most are at most 1.4 times the fewest.
set -u
run=$1 iterations=$2 poisson=$3 most2=$4 most3=$5
shift 5
failures=0
launch() { # RANKS PROGRAM...
  local ranks=$1
  shift
  if [ "$ranks" = 0 ]; then "$@"; else "$run" openmpi "$ranks" "$@"; fi
}
expect() { # WHAT SAID
  grep -o '[0-9]* iterations' <<<"$2" | sort -n | awk -v what="$1" '
    NR == 1 { least = $1 }
    { most = $1 }
    END {
      good = NR > 1 && least > 0 && most <= 1.4 * least
      print what ": from " least " to " most " iterations" (good ? "" : ", which is too many more")
      exit !good
    }' || failures=$((failures + 1))
}
two='' three=''
for ranks; do
  two+=$(launch "$ranks" "$iterations" 32 "$most2") || exit 1
  two+=$'\n'
  for ((n = 32; n <= most3; n *= 2)); do
    three+=$(launch "$ranks" "$poisson" --n "$n" | grep 'tetrahedra') || exit 1
    three+=$'\n'
  done
done
printf '%s%s' "$two" "$three"
expect "two dimensions" "$two"
expect "three dimensions" "$three"
exit $failures
