#!/bin/bash
# What kernels in Fortran cost beside those in C. Airfoil's res_calc by each compiler: compiled by its text in C and in Fortran, and as a
# procedure that is called by its address for each element. Then the whole samples airfoil.c and airfoil.f90 in turns: seconds in loops, and
# what a first start costs more than the next one. Usage: bench/fortran.sh BUILD
#   THREADS  how many, one after the other [1 2]
#   CELLS    of the mesh, likewise [45000 720000]
#   ROUNDS   of the samples; 0: none [9]
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ulimit -s unlimited # flang has temporary arrays on the stack
export LD_LIBRARY_PATH=$build OP2_KERNELS=$root/samples/airfoil OP2_TUNE=off
sed '/^program airfoil/,$d' "$root/samples/airfoil/airfoil.f90" >modules.f90

run() { # PROGRAM CACHE CELLS ITERATIONS: seconds in loops, and of the whole process
  local start=$EPOCHREALTIME
  OP2_BACKEND=openmp OP2_CACHE=$2 OP2_TIMING=json:$work/report.json "$1" --cells "$3" --iters "$4" >said 2>&1 || cat said
  echo "$start $EPOCHREALTIME"
  sed -n 's/^,\?{"name":"[^"]*","calls":[0-9]*,"seconds":\([-+.0-9e]*\),.*/\1/p' "$work/report.json" | xargs
}
median() { # of the numbers of a line each
  sort -g | awk '{ v[NR] = $1 } END { printf "%.4f", v[int((NR + 1) / 2)] }'
}
loops() { awk 'NR == 2 { for (i = 1; i <= NF; i++) all += $i; print all }'; }
whole() { awk 'NR == 1 { print $2 - $1 }'; }

samples() { # CELLS ITERATIONS, for one of the two programs after the other
  local round program
  rm -f loops.* cold.* ratio
  for program in c fortran; do run ./$program warm.$program.db "$1" "$2" >/dev/null; done
  for ((round = 0; round < ${ROUNDS:-9}; round++)); do
    for program in c fortran; do
      run ./$program warm.$program.db "$1" "$2" | loops >>loops.$program
      rm -f cold.db*
      { run ./$program cold.db 2000 1 | whole; run ./$program cold.db 2000 1 | whole; } | xargs | awk '{ print 1000 * ($1 - $2) }' >>cold.$program
    done
  done
  paste loops.fortran loops.c | awk '{ print $1 / $2 }' >ratio
  echo "airfoil, $1 cells, $2 iterations, threads: $OP2_THREADS: in loops $(median <loops.c) s in C, $(median <loops.fortran) s in Fortran:" \
    "$(median <ratio) times; a first start costs $(median <cold.c) ms more in C, $(median <cold.fortran) ms in Fortran"
}

for compiler in gfortran flang-new-19; do
  command -v $compiler >/dev/null || {
    echo "$compiler is not here (Debian's gfortran, flang-19)"
    continue
  }
  $compiler -O2 "$build/fortran/op2jit.f90" "$build/fortran/op2_fortran.f90" modules.f90 "$root/bench/fortran.f90" -L"$build" -lop2jit \
    -o bench >said 2>&1 || {
    cat said
    exit 1
  }
  for cells in ${CELLS:-45000 720000}; do
    for threads in ${THREADS:-1 2}; do
      echo "$compiler -O2, $cells cells, threads: $threads (by hand and native: 1)"
      OP2_LAZY=off OP2_THREADS=$threads ./bench "$cells" $((360000 / cells + 1)) || exit 1
    done
  done
done
[ "${ROUNDS:-9}" -gt 0 ] || exit 0
gfortran -O2 "$build/fortran/op2jit.f90" "$root/samples/airfoil/airfoil.f90" -L"$build" -lop2jit -o fortran || exit 1
cp "$build/samples/airfoil" c
for cells in ${CELLS:-45000 720000}; do
  for threads in ${THREADS:-1 2}; do
    export OP2_THREADS=$threads
    samples "$cells" $((45000000 / cells))
  done
done
