#!/bin/sh
# ./dev bench spmv [--rows N] [--rounds N] [KIND...]: see spmv/spmv.c. Given the build directory, or - to look at the options
# only. First each loop finds its variant, then all run in turns, each by the variant that was found: so a loop keeps the
# number of threads of its table.
build=$1
shift
rows=1000000 rounds=21 kinds=''
while [ $# -gt 0 ]; do
  case $1 in
    --rows) rows=$2 && shift 2 ;;
    --rounds) rounds=$2 && shift 2 ;;
    five | power | banded | ring) kinds="$kinds $1" && shift ;;
    *)
      echo "usage: ./dev bench spmv [--rows N] [--rounds N] [five|power|banded|ring ...]"
      [ "$1" = --help ] || [ "$1" = -h ]
      exit
      ;;
  esac
done
[ "$build" = - ] && exit 0
echo "the library's time by that of a loop over rows with OpenMP: medians of $rounds rounds, quartiles of the ratio"
echo "threads  matrix       rows    entries   hand ms    op2jit  ratio             of triad GB/s   any order         by fixed arity"
found=$(mktemp) || exit 1
all=$(nproc) # asks OMP_NUM_THREADS too
for threads in 1 "$all"; do
  for kind in ${kinds:-five power banded ring}; do
    export OP2_THREADS="$threads" OMP_NUM_THREADS="$threads" OP2_CACHE=off
    OP2_TUNE=force OP2_LOG=tune "$build/bench/spmv_rows" "$kind" "$rows" 1 >"$found" 2>&1 || cat "$found"
    variants=$(sed -n 's/.*loop \([a-z_]*\): \([^ ]*\) is the best of .*/\1:\2/p' "$found" | sort -u | paste -sd,)
    OP2_VARIANT="$variants" "$build/bench/spmv_rows" "$kind" "$rows" "$rounds" || exit 1
    echo "         $variants"
  done
  [ "$all" -gt 1 ] || break
done
rm -f "$found"
