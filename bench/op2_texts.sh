#!/bin/bash
# ./dev bench op2_texts: airfoil as a program of OP2, whose kernels get their texts from its source, beside the airfoil sample, with the same
# kernels, mesh and loops, in turns and after a first run of each: milliseconds a call of each loop, medians of the turns and in brackets
# the least, by the sample and by the program, and the program's time over the sample's. Then what the first start costs: the CPU seconds of
# reading the source (the whole command), and of compiling each kernel. Given the build directory.
#   ROUNDS [9]   CELLS ["20000 720000"]   CHECKOUT  OP2's: its own airfoil is read too
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build OP2_PLUGINS=$work/plugins OP2_TUNE=off
mkdir "$work/plugins"
find "$build" -name 'op2jit-*.so' -exec ln -s {} "$work/plugins/" \;
cc -O2 -c -I"$root" "$root/samples/airfoil/mesh.c" -o "$work/mesh.o" || exit 1
g++ -O2 -g1 -w -std=c++17 -I"$root" -I"$root/include" -I"$root/include/op2" "$root/bench/op2/airfoil.cpp" "$work/mesh.o" -o "$work/program" \
  -L"$build" -lop2jit -lm || exit 1
export OP2_CXXFLAGS="-I$root"
cp "$root/bench/op2/airfoil.cpp" "$work/" && cd "$work" || exit 1

note() { # WHO FILE: of each loop milliseconds a call; of loops of one name together
  sed -n 's/^,\?{"name":"\([^"]*\)","calls":\([0-9]*\),"seconds":\([-+.0-9e]*\),.*/\1 \2 \3/p' "$2" |
    awk -v who="$1" '{ calls[$1] += $2; time[$1] += $3; all += $3 } END { for (l in calls) print who, l, 1000 * time[l] / calls[l] }' >>took
}
turn() { # THREADS CELLS ITERATIONS
  OP2_BACKEND=openmp OP2_THREADS=$1 OP2_CACHE=$work/sample.db OP2_TIMING=json:one.json "$build/samples/airfoil" --cells "$2" --iters "$3" >said
  OP2_BACKEND=openmp OP2_THREADS=$1 OP2_CACHE=$work/program.db OP2_TIMING=json:two.json OP2_LOG=info,jit ./program "$2" "$3" >said 2>log
  grep 'runs as the program' log
}
status=0
for threads in 1 2; do
  for cells in ${CELLS:-20000 720000}; do
    iterations=$((cells > 100000 ? 10 : 200))
    rm -f took
    turn $threads "$cells" $iterations
    for ((i = 0; i < ${ROUNDS:-9}; i++)); do
      turn $threads "$cells" $iterations
      note sample one.json
      note program two.json
    done
    printf '%d threads, %d cells %15s %20s %15s\n' "$threads" "$cells" sample program ratio
    for loop in save_soln adt_calc res_calc bres_calc update; do
      for who in sample program; do
        awk -v w=$who -v l=$loop '$1 == w && $2 == l { print $3 }' took | sort -g |
          awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1] }'
      done | xargs | awk -v l=$loop '{ printf "  %-12s %12.4f (%8.4f) %10.4f (%8.4f) %8.3f (%5.3f)\n", l, $1, $2, $3, $4, $3 / $1, $4 / $2 }'
    done
  done
done
TIMEFORMAT='%U %S'
for source in airfoil.cpp ${CHECKOUT:+"$CHECKOUT/apps/c/airfoil/airfoil_plain/dp/airfoil.cpp"}; do
  for i in 1 2 3; do
    { time "$build/runtime/cli/op2jit" texts --headers "$root/include/op2" "$source" -- -I"$root" >said; } 2>&1
  done | awk -v s="$source" '{ print s ": read in " $1 + $2 " s of CPU" }'
done
OP2_BACKEND=seq OP2_CACHE=off OP2_LOG=info,jit ./program 20000 1 2>&1 | grep 'compiled in' | sed 's/^op2jit: jit: //'
exit $status
