#!/bin/bash
# share.sh RUN KIND PROGRAM MPI_PLUGIN CLANG_PLUGIN: compiles on one rank only, with databases in different states, and without a compiler
# on some ranks.
set -u
run=$1 kind=$2 program=$3 mpi_plugin=$4 clang_plugin=$(realpath "$5")
command -v "mpirun.$kind" >/dev/null || {
  echo "skipped: there is no mpirun.$kind"
  exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset OP2_CACHE

expect() { # LABEL RANKS COMPILES LEADER
  local label=$1
  shift
  if "$run" "$kind" "$1" "$work/program" "$work" "$@"; then
    echo "$label: as expected"
  else
    echo "$label: failed"
    exit 1
  fi
}

# Away from the build tree, so that each rank has only the plugins that it is given.
cp "$program" "$work/program" || exit 1
for rank in 0 1 2 3; do
  mkdir "$work/plugins.$rank"
  cp "$mpi_plugin" "$work/plugins.$rank"
  ln -s "$clang_plugin" "$work/plugins.$rank/op2jit-clang.so"
done

expect "no database" 4 "$COMPILES" 0
cp "$work/cache.0" "$work/full"
expect "a full database on the leader" 4 0 0
rm "$work"/cache.*
cp "$work/full" "$work/elsewhere"
expect "none again" 3 "$COMPILES" 0
rm "$work"/cache.*
rm "$work/plugins.0/op2jit-clang.so"
expect "rank 0 without a compiler" 4 "$COMPILES" 1
rm "$work"/cache.*
rm "$work/plugins.1/op2jit-clang.so" "$work/plugins.2/op2jit-clang.so" "$work/plugins.3/op2jit-clang.so"
if out=$("$run" "$kind" 4 "$work/program" "$work" 4 0 0 2>&1); then
  echo "without any compiler it should not have run"
  exit 1
fi
count=$(grep -c 'op2jit: error' <<<"$out")
[ "$count" -eq 1 ] || {
  echo "without any compiler: $count messages instead of one:"
  echo "$out"
  exit 1
}
grep -q 'all 4 ranks: .*no compiler plugin' <<<"$out" || {
  echo "the message does not say so: $out"
  exit 1
}
echo "without any compiler: one message"
