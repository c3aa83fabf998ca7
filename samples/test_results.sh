#!/bin/sh
# Results as files: HDF5 and what ParaView opens. Usage: test_results.sh PROGRAM OP2JIT CELLS [arguments]
set -eu
program=$1 op2jit=$2 cells=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! "$program" --write "$folder/results.h5" --vtk "$folder/grid" "$@" >"$folder/out" 2>&1; then
  cat "$folder/out"
  grep -q "HDF5 files cannot be used" "$folder/out" && exit 77
  exit 1
fi
grep -qx "wrote $folder/results.h5" "$folder/out" && grep -qx "wrote $folder/grid.xdmf" "$folder/out"
[ -s "$folder/results.h5" ] && [ -s "$folder/grid.data.h5" ]
"$op2jit" mesh check "$folder/grid.data.h5" >"$folder/said" 2>&1 || grep -q "this is no mesh" "$folder/said"
grep "NumberOfElements=\"$cells\"" "$folder/grid.xdmf"
grep -q 'GeometryType="XY"' "$folder/grid.xdmf"
for name in again.xdmf again.xmf; do
  "$program" --vtk "$folder/$name" "$@" >"$folder/out"
  grep -qx "wrote $folder/$name" "$folder/out"
  [ -s "$folder/$name" ]
done
# What cannot be written is an error.
if "$program" --write "$folder/none/results.h5" "$@" >"$folder/out" 2>&1; then
  echo "FAILED: results in a folder that is not there"
  exit 1
fi
grep "No such file or directory" "$folder/out"
