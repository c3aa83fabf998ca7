#!/bin/bash
# run.sh KIND RANKS PROGRAM [ARGUMENT...]: the program on so many ranks, by the mpirun of openmpi or mpich. Its status is
# mpirun's; 77 with the reason where there is no such mpirun. A job that has not ended after JOB_SECONDS (100) is
# ended, and that is a failure.
set -u
kind=$1 ranks=$2
shift 2
case $kind in
openmpi)
  launcher=mpirun.openmpi package=openmpi-bin
  # As root too, on fewer CPUs than ranks, and without binding them all to the first ones.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  options=(--oversubscribe --bind-to none)
  ;;
mpich)
  launcher=mpirun.mpich package=mpich
  options=()
  ;;
*)
  echo "run.sh: no MPI is called $kind"
  exit 99
  ;;
esac
command -v $launcher >/dev/null || {
  echo "skipped: there is no $launcher (Debian's $package)"
  exit 77
}
exec timeout -k 5 "${JOB_SECONDS:-100}" $launcher ${options[@]+"${options[@]}"} -n "$ranks" "$@"
