#!/bin/bash
# ranks.sh ROOT BUILD RUN: programs in Fortran on ranks of Open MPI, whose module mpi_f08 belongs to gfortran. RUN is tests/mpi/run.sh.
set -u
root=$1 build=$2 run=$3
for tool in gfortran mpifort.openmpi; do
  command -v $tool >/dev/null || {
    echo "skipped: there is no $tool; ./dev test --with fortran installs gfortran, and libopenmpi-dev has the other"
    exit 77
  }
done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
export LD_LIBRARY_PATH=$build OP2_KERNELS=$root/samples/airfoil
mpifort.openmpi -O1 "$build/fortran/op2jit.f90" "$root/fortran/op2jit_mpi.f90" "$build/fortran/op2_fortran.f90" \
  "$root/tests/fortran/check.f90" "$root/tests/fortran/ranks.f90" -L"$build" -lop2jit -o ranks || exit 1
gfortran -O1 "$build/fortran/op2jit.f90" "$root/samples/heat/heat.f90" -L"$build" -lop2jit -o heat || exit 1
failed=0
for ranks in 1 2 3; do
  "$run" openmpi $ranks "$work/ranks" OP2_BACKEND=native >said 2>&1 && [ "$(grep -c 'all held' said)" = $ranks ] || {
    echo "FAILED: $ranks ranks"
    tail -n 20 said
    failed=1
  }
done
"$run" openmpi 2 "$work/heat" --n 30 OP2_BACKEND=native >said 2>&1 && grep -q PASSED said || {
  echo "FAILED: heat on 2 ranks"
  tail -n 20 said
  failed=1
}
exit $failed
