#!/bin/bash
# ./dev bench io: see io/one.c. Given the build directory; IO_CELLS chooses the size, IO_RANKS the ranks, IO_KINDS the MPI libraries.
set -u
build=$1
run=$(dirname "$0")/../tests/mpi/run.sh
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cells=${IO_CELLS:-4000000}
export OP2_BACKEND=native OP2_CACHE=off OP2_THREADS=1
echo "one process, $cells cells"
OP2_MPI=off "$build/bench/io_one" "$folder/mesh.h5" "$cells" make && OP2_MPI=off "$build/bench/io_one" "$folder/mesh.h5" "$cells" load || exit 1
for kind in ${IO_KINDS:-openmpi mpich}; do
  [ -e "$build/runtime/io/op2jit-hdf5-$kind.so" ] || continue
  for ranks in ${IO_RANKS:-1 2}; do
    echo "$kind, $ranks ranks"
    "$run" "$kind" "$ranks" "$build/bench/io_one" "$folder/mesh.h5" "$cells" load OP2_MPI=on || exit 1
  done
done
