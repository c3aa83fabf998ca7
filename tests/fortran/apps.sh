#!/bin/bash
# apps.sh CHECKOUT [CELLS [COMPILER...]]: builds the Fortran programs of a checkout of OP2 as they are, with each compiler (gfortran
# flang-new-19), and runs them on the native backend, on 1 and 2 threads and on 2 ranks (idx of the functional tests on 4). A table says
# what each program's own check said. airfoil and reduction read a mesh of CELLS cells; airfoil has its own check for 720000 [20000], else
# all its runs must end alike. jac1_long has four billion nodes: it is run with 65025. For people: no suite runs it.
#   BUILD  the build of op2jit that is used [build beside this script's tree]
#   ONLY   programs whose names match this pattern
#   TEXTS  yes: op2jit-fc compiles them, and how many of their loops ran by their texts is told
#   BACKENDS  others that each runs on, too, as "cuda opencl" (OP2_CUDA_DRIVER and OP2_NVRTC may name the tests' stand-in for a GPU)
# shellcheck disable=SC2015,SC2046,SC2053,SC2086,SC2206,SC2207 # lists of flags, and a pattern
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] && [ -d "$1/apps/fortran" ] || {
  echo "usage: apps.sh CHECKOUT [CELLS [COMPILER...]], a folder with OP2's apps/fortran" >&2
  exit 2
}
checkout=$(cd "$1" && pwd) cells=${2:-20000} build=${BUILD:-$here/build}
[ $# -gt 2 ] && compilers=("${@:3}") || compilers=(gfortran flang-new-19)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build OP2_PLUGINS=$work/plugins OP2_CACHE=off OP2_LOG=${OP2_LOG:-error}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir "$work/plugins" "$work/meshes" "$work/mpi"
find "$build" -name 'op2jit-*.so' -exec ln -sf {} "$work/plugins/" \;
failures=0

# The modules as a compiler has them: op2_fortran.o and its .mod files, and MPI's module. Debian's is gfortran's; others make one of mpif.h.
prepare() { # COMPILER
  local folder=$work/$1 include
  mkdir "$folder"
  "$1" -O2 -c "$build/fortran/op2_fortran.f90" -o "$folder/op2_fortran.o" -J "$folder" >"$work/said" 2>&1 || return 1
  [ "$1" = gfortran ] && return 0
  include=$(mpifort --showme:incdirs | tr ' ' '\n' | sed 's/^/-I/' | xargs)
  printf 'module mpi\n  include "mpif.h"\nend module\n' >"$work/mpi/mpi.f90" # not beside a program, which would have it in its texts
  "$1" $include -c "$work/mpi/mpi.f90" -o "$folder/mpi.o" -J "$folder" >"$work/said" 2>&1
}

compile() { # COMPILER PROGRAM FLAG-OR-SOURCE...
  local compiler=$1 program=$2 mpi=() folder=$work/$1
  shift 2
  if grep -qi '^ *use mpi' "${@:$#}"; then
    mpi=($(mpifort --showme:link))
    [ "$compiler" = gfortran ] && mpi+=($(mpifort --showme:compile))
  fi
  # Debian's launcher of gfortran links what MPI needs; flang takes its words but for the flags of gcc.
  [ "${TEXTS:-no}" = no ] || {
    export OP2JIT_FC=$compiler OP2JIT_COMMAND=$build/runtime/cli/op2jit OP2JIT_LIBRARY=$build
    compiler=$build/runtime/cli/op2jit-fc
  }
  (cd "$folder" && "$compiler" -O2 -cpp -I. "$@" op2_fortran.o -o "$program" -L"$build" -lop2jit ${mpi[@]+"${mpi[@]}"} \
    >"$work/said" 2>&1)
}

verdict() { # STATUS FILE
  if [ "$1" -ne 0 ]; then
    echo "status $1: $(grep -a -m 1 -iE 'error|signal' "$2" | cut -c 1-120)"
  elif grep -qa 'FAILED\|ERROR' "$2"; then
    echo "FAILED"
  elif grep -qa 'PASSED\|passed' "$2"; then
    echo "PASSED"
  else
    echo "ends well"
  fi
}

run() { # NAME LABEL PROGRAM WORD...: in a folder of its own
  local name=$1 label=$2 program=$3 status said end
  local folder=$work/run start=$SECONDS
  shift 3
  rm -rf "$folder"
  mkdir "$folder"
  find "$work/meshes" -type f -exec ln -sf {} "$folder/" \;
  [ "${TEXTS:-no}" = no ] || export OP2_TIMING=json:$work/report.json
  rm -f "$work/report.json"
  (cd "$folder" && timeout 900 env "$@" "$program" >"$work/out" 2>"$work/err" </dev/null)
  status=$?
  [ "$status" -eq 0 ] || cat "$work/err" >>"$work/out"
  said=$(verdict "$status" "$work/out")
  end=$(grep -aE '^ *[0-9]+ +[0-9.]+E-' "$work/out" | tail -n 1 | cut -c 1-28)
  [ -f "$work/first.$name" ] || echo "$end" >"$work/first.$name"
  [ "$end" = "$(cat "$work/first.$name")" ] || said="FAILED, other numbers than the first run"
  [ "$said" = PASSED ] || [ "$said" = "ends well" ] || failures=$((failures + 1))
  [[ $label == *native* ]] || [ ! -s "$work/report.json" ] || end+=" $(python3 -c 'import json, sys
loops = json.load(open(sys.argv[1]))["loops"]
why = [one["no_text"].split("\n")[0][:90] for one in loops if one["no_text"]]
print("by texts:", len(loops) - len(why), "of", len(loops), "loops", *set(why))' "$work/report.json")"
  printf '%-16s %-24s %4d s  %-10s %s\n' "$name" "$label" $((SECONDS - start)) "$said" "$end"
  [ ! -s "$work/err" ] || [ "$status" -ne 0 ] || sort -u "$work/err" | head -n 3 | sed 's/^/    /'
}

# name | sources, the program last | flags | how it runs: serial, ranks (with and without), or mpi (with only)
table="airfoil|apps/fortran/airfoil/airfoil_constants.F90 apps/fortran/airfoil/airfoil_kernels.F90 apps/fortran/airfoil/airfoil.F90|-DPLAIN|serial
airfoil_hdf5|apps/fortran/airfoil/airfoil_constants.F90 apps/fortran/airfoil/airfoil_kernels.F90 apps/fortran/airfoil/airfoil.F90|-DHDF5|ranks
jac1|apps/fortran/jac1/jac.F90||serial
jac1_long|apps/fortran/jac1_long/jac1_mpi.F90||mpi
reduction|apps/fortran/reduction/reduction.F90||serial
reduction_hdf5|apps/fortran/reduction/reduction.F90|-DHDF5|ranks
const|tests/functional/const_fortran/const_constants.F90 tests/functional/const_fortran/const_kernels.F90 tests/functional/const_fortran/const_tests.F90||serial
gbl|tests/functional/gbl_fortran/gbl_kernels.F90 tests/functional/gbl_fortran/gbl_tests.F90||serial
gbl_par|tests/functional/gbl_fortran/gbl_kernels.F90 tests/functional/gbl_fortran/gbl_tests.F90|-DUSE_MPI|mpi
strides|tests/functional/strides_fortran/stride_kernels.F90 tests/functional/strides_fortran/stride_tests.F90||serial
strides_par|tests/functional/strides_fortran/stride_kernels.F90 tests/functional/strides_fortran/stride_tests.F90|-DUSE_MPI|mpi
reductions|tests/functional/dat_reductions_fortran/reduc_kernels.F90 tests/functional/dat_reductions_fortran/reduc_tests.F90||serial
reductions_par|tests/functional/dat_reductions_fortran/reduc_kernels.F90 tests/functional/dat_reductions_fortran/reduc_tests.F90|-DUSE_MPI|mpi
idx|tests/functional/idx_fortran/idx_kernels.F90 tests/functional/idx_fortran/idx_tests.F90||serial
idx_par|tests/functional/idx_fortran/idx_kernels.F90 tests/functional/idx_fortran/idx_tests.F90|-DUSE_MPI|mpi"

"$build/samples/airfoil" --cells "$cells" --iters 1 --write-mesh "$work/meshes/new_grid.dat" >/dev/null 2>&1 ||
  [ -s "$work/meshes/new_grid.dat" ] || echo "the airfoil sample wrote no mesh"
# As OP2's converter makes it of that, with the dats that its Fortran reads.
converter=$checkout/apps/c/airfoil/airfoil_hdf5/dp/convert_mesh.cpp
g++ -std=c++17 -w -I"$here/include" -I"$here/include/op2" $(pkg-config --cflags hdf5) $(mpicxx --showme:compile) "$converter" \
  -o "$work/convert" -L"$build" -lop2jit $(pkg-config --libs hdf5) $(mpicxx --showme:link) >"$work/said" 2>&1 &&
  (cd "$work/meshes" && OP2_THREADS=1 "$work/convert" >"$work/said" 2>&1 && mv new_grid_out.h5 new_grid.h5) ||
  echo "no new_grid.h5: $(grep -m 1 -i error "$work/said")"

for compiler in "${compilers[@]}"; do
  command -v "$compiler" >/dev/null || {
    echo "$compiler is not here (Debian: gfortran, flang-19): its programs are skipped"
    continue
  }
  prepare "$compiler" || {
    echo "$compiler does not compile op2_fortran.f90: $(grep -m 1 -i error "$work/said")"
    failures=$((failures + 1))
    continue
  }
  while IFS='|' read -r name sources flags how; do
    [[ $name == ${ONLY:-*} ]] || continue
    words=($flags)
    for source in $sources; do words+=("$checkout/$source"); done
    if [ "$name" = jac1_long ]; then
      sed 's/nn = int(2\*\*16/nn = int(2**8/' "${words[-1]}" >"$work/jac1_long.F90"
      words[-1]=$work/jac1_long.F90
    fi
    objects=()
    [ "$compiler" != gfortran ] && grep -qi '^ *use mpi' "${words[-1]}" && objects=(mpi.o)
    compile "$compiler" "$work/program" ${objects[@]+"${objects[@]}"} "${words[@]}" || {
      echo "$name $compiler does not compile: $(grep -m 1 -i error "$work/said")"
      failures=$((failures + 1))
      continue
    }
    once=() launcher=(mpirun --oversubscribe --bind-to none)
    [ "$how" = mpi ] && once=("${launcher[@]}" -n 1)
    run "$name" "$compiler, native" "$work/program" OP2_BACKEND=native ${once[@]+"${once[@]}"}
    for threads in 1 2; do
      run "$name" "$compiler, $threads" "$work/program" OP2_BACKEND=openmp OP2_THREADS=$threads ${once[@]+"${once[@]}"}
    done
    for backend in ${BACKENDS:-}; do
      run "$name" "$compiler, $backend" "$work/program" OP2_BACKEND=$backend OP2_THREADS=1 ${once[@]+"${once[@]}"}
    done
    ranks=2
    [[ $name != idx_par ]] || ranks=4
    [ "$how" = serial ] || run "$name" "$compiler, $ranks ranks" "$work/program" OP2_THREADS=1 "${launcher[@]}" -n "$ranks"
  done <<<"$table"
done
echo "$failures failed"
exit $((failures > 0))
