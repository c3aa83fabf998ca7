#!/bin/bash
# ./dev bench op2: three loops of a program of OP2 against the same loops by hand in the same file (op2/turns.cpp), in turns, with each
# compiler's usual options, on a mesh that fits the caches and on the usual one. Given the build directory. A row: nanoseconds an element
# by hand on one thread and by the library on one and two, medians and in brackets the least; the library's time on one thread over that
# by hand; and how much faster two threads are than one, by the times by hand beside each. On a busy machine the least says most.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build OP2_PLUGINS=$work/plugins OP2_CACHE=off OP2_BACKEND=openmp
mkdir "$work/plugins"
find "$build" -name 'op2jit-*.so' -exec ln -s {} "$work/plugins/" \;
cc -O2 -c -I"$root" "$root/samples/airfoil/mesh.c" -o "$work/mesh.o" || exit 1

row() { # COMPILER CELLS ROUNDS
  OP2_THREADS=1 "$work/turns" "$2" "$3" >"$work/one" && OP2_THREADS=2 "$work/turns" "$2" "$3" >"$work/two" || return 1
  paste -d ' ' "$work/one" "$work/two" | awk -v compiler="$1" -v cells="$2" '{
    printf "%-12s %7d  %-9s %7.2f (%6.2f) %8.2f (%6.2f) %8.2f (%6.2f) %8.3f (%5.3f) %7.2f (%4.2f)\n", compiler, cells, $1, $2, $3, $4, $5,
      $9, $10, $4 / $2, $5 / $3, ($4 / $2) / ($9 / $7), ($5 / $3) / ($10 / $8) }'
}

printf '%-12s %7s  %-9s %16s %17s %17s %16s %14s\n' compiler cells loop 'by hand' 'one thread' 'two threads' 'one / by hand' 'speedup'
status=0
for options in 'g++ -O2' 'g++ -O3' 'clang++ -O2'; do
  read -ra compiler <<<"$options"
  command -v "${compiler[0]}" >/dev/null || {
    echo "left out: there is no ${compiler[0]}"
    continue
  }
  "${compiler[@]}" -std=c++17 -w -I"$root" -I"$root/include" -I"$root/include/op2" "$root/bench/op2/turns.cpp" "$work/mesh.o" \
    -o "$work/turns" -L"$build" -lop2jit -lm || exit 1
  row "$options" 20000 "${ROUNDS:-200}" && row "$options" 720000 "${ROUNDS:-15}" || status=1
done
exit $status
