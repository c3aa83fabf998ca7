#!/bin/bash
# hypre.sh RUN PROGRAM: a solver that PETSc has from another library, by words of the command line: BoomerAMG of hypre, on
# two ranks. Skipped where this PETSc was built without hypre.
set -u
run=$1 program=$2
found=
for word in $(pkg-config --cflags PETSc); do
  ! grep -qs -e '^#define PETSC_HAVE_HYPRE 1' -- "${word#-I}/petscconf.h" || found=yes
done
[ -n "$found" ] || {
  echo "skipped: this PETSc was built without hypre"
  exit 77
}
words=(--n 8 -poisson_ksp_type cg -poisson_pc_type hypre -poisson_ksp_view -poisson_ksp_rtol 1e-10)
said=$("$run" openmpi 2 "$program" "${words[@]}" 2>&1) || {
  echo "$said"
  exit 1
}
for expected in PASSED 'HYPRE BoomerAMG' 'type: cg'; do
  grep -q "$expected" <<<"$said" || {
    echo "there is no '$expected' in: $said"
    exit 1
  }
done
grep -E 'PASSED|largest error' <<<"$said"
