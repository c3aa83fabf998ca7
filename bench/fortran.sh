#!/bin/bash
# What a kernel costs that is a procedure in Fortran, called by its address for each element, beside the same kernel as C that the library
# compiled: airfoil's res_calc, by each compiler. Usage: bench/fortran.sh BUILD
#   THREADS  how many, one after the other [1 2]
#   CELLS    of the mesh, likewise [45000 720000]
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ulimit -s unlimited # flang has temporary arrays on the stack
export LD_LIBRARY_PATH=$build OP2_KERNELS=$root/samples/airfoil OP2_TUNE=off
sed '/^program airfoil/,$d' "$root/samples/airfoil/airfoil.f90" >modules.f90
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
      OP2_THREADS=$threads ./bench "$cells" $((360000 / cells + 1)) || exit 1
    done
  done
done
