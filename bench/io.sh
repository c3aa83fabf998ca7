#!/bin/bash
# ./dev bench io: see io/one.c. Given the build directory; IO_CELLS chooses the size, IO_RANKS the ranks, IO_KINDS the MPI libraries,
# IO_TIMES how often each way is tried (0: once, for its memory only).
set -u
build=$1
run=$(dirname "$0")/../tests/mpi/run.sh
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cells=${IO_CELLS:-2000000} times=${IO_TIMES:-3}
export OP2_BACKEND=native OP2_CACHE=off OP2_THREADS=1
echo "one process, $cells cells"
for what in make load; do
  OP2_MPI=off "$build/bench/io_one" "$folder/mesh.h5" "$cells" $what "$times" || exit 1
done
for kind in ${IO_KINDS:-openmpi mpich}; do
  [ -e "$build/runtime/ranks/mpi/op2jit-mpi-$kind.so" ] || [ -n "${IO_KINDS:-}" ] || continue
  for ranks in ${IO_RANKS:-1 2}; do
    echo "$kind, $ranks ranks"
    for what in make load; do
      "$run" "$kind" "$ranks" "$build/bench/io_one" "$folder/mesh.h5" "$cells" $what "$times" OP2_MPI=on || exit 1
    done
  done
done
