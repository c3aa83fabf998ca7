#!/bin/bash
# trouble.sh RUN INCLUDE TROUBLE ENDS OTHER: what can be wrong is an error in words, on one rank without MPI and on two; options that
# PETSc does not know are told once; headers of a PETSc that does not fit are an error of the compiler; C++ compiles the bridge.
set -u
run=$1 include=$2 trouble=$3 ends=$4 other=$5
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
for ranks in 0 2; do
  if [ $ranks = 0 ]; then "$trouble" >"$work/said" 2>&1; else "$run" openmpi $ranks "$trouble" >"$work/said" 2>&1; fi || fail "$ranks: $(<"$work/said")"
  # Twice, since the program begins twice.
  [ "$(grep -c 'warning.*did not use the option -good_ksp_rtoll' "$work/said")" = 2 ] || fail "$ranks: no word of the option: $(<"$work/said")"
done
"$ends" >"$work/said" 2>&1 || fail "ends: $(<"$work/said")"
"$run" openmpi 2 "$ends" first >"$work/said" 2>&1 || fail "ends first: $(<"$work/said")"
! grep -qi 'abort' "$work/said" || fail "ends first: $(<"$work/said")"
"$other" >"$work/said" 2>&1 || fail "other: $(<"$work/said")"
read -ra flags <<<"$(pkg-config --cflags PETSc) $(pkg-config --cflags ompi-c | sed 's/-I/-isystem /g') -I$include"
echo '#include <op2jit_petsc.h>' >"$work/a.cpp"
g++ -fsyntax-only -Wall -Wextra -Werror "${flags[@]}" "$work/a.cpp" || fail "C++"
g++ -E -DPETSC_USE_COMPLEX "${flags[@]}" "$work/a.cpp" 2>&1 | grep -q 'error.*this PETSc has complex numbers' || fail "complex numbers"
# Headers of another precision, and of an older version.
mkdir "$work/other"
echo '#define PETSC_VERSION_LT(a, b, c) 0' >"$work/other/petscmat.h"
g++ -E -I"$work/other" "${flags[@]}" "$work/a.cpp" 2>&1 | grep -q 'error.*this PETSc is not of double precision' || fail "precision"
printf '#define PETSC_VERSION_LT(a, b, c) 1\n#define PETSC_USE_REAL_DOUBLE 1\n' >"$work/other/petscmat.h"
g++ -E -I"$work/other" "${flags[@]}" "$work/a.cpp" 2>&1 | grep -q 'error.*this PETSc is too old' || fail "version"
exit $failures
