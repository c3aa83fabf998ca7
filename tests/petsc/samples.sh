#!/bin/bash
# samples.sh RUN BACKEND RANKS PROGRAM...: programs with matrices, which check their answers. RANKS 0: without MPI.
set -u
run=$1 ranks=$3
export OP2_BACKEND=$2
shift 3
launch() {
  if [ "$ranks" = 0 ]; then "$@"; else "$run" openmpi "$ranks" "$@"; fi
}
for program; do
  words=()
  [ "${program##*/}" != aero ] || words=(--matrix)
  launch "$program" --n 16 ${words[@]+"${words[@]}"} || exit 1
  # A solver that takes no first guess.
  [ "${program##*/}" != implicit ] || [ "$ranks" != 0 ] || launch "$program" --n 16 -implicit_ksp_type preonly -implicit_pc_type lu || exit 1
done
