#!/bin/bash
# ranks.sh KIND ROOT BUILD RUN: programs in Fortran on ranks of KIND, openmpi or mpich, whose module mpi_f08 belongs to gfortran. RUN is
# tests/mpi/run.sh.
set -u
kind=$1 root=$2 build=$3 run=$4
for tool in gfortran "mpifort.$kind"; do
  command -v "$tool" >/dev/null || {
    echo "skipped: there is no $tool; ./dev test --with fortran installs gfortran, and lib$kind-dev has the other"
    exit 77
  }
done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
export LD_LIBRARY_PATH=$build OP2_KERNELS=$root/samples/airfoil
"mpifort.$kind" -O0 -c "$build/fortran/op2jit.f90" || exit 1 # with -O1 run.sh has it
"mpifort.$kind" -O0 op2jit.o "$root/fortran/op2jit_mpi.f90" "$build/fortran/op2_fortran.f90" \
  "$root/tests/fortran/check.f90" "$root/tests/fortran/ranks.f90" -L"$build" -lop2jit -o ranks || exit 1
gfortran -O0 op2jit.o "$root/samples/heat/heat.f90" -L"$build" -lop2jit -o heat || exit 1
failed=0
on() { # RANKS PATTERN LINES PROGRAM WORD...: so many lines of the output have the pattern
  local ranks=$1 pattern=$2 lines=$3
  shift 3
  "$run" "$kind" "$ranks" "$@" OP2_BACKEND=native >said 2>&1 && [ "$(grep -c "$pattern" said)" = "$lines" ] && return
  echo "FAILED: $* on $ranks ranks of $kind"
  tail -n 20 said
  failed=1
}
for ranks in 1 2 3; do on $ranks 'all held' $ranks "$work/ranks"; done
on 2 PASSED 1 "$work/heat" --n 30 OP2_KERNELS="$root/samples/heat"
exit $failed
