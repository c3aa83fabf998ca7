#!/bin/sh
# Meshes as files: a written mesh reads back to the same residuals, and each kind of damage is an error
# that names the line. Usage: test_files.sh AIRFOIL OP2JIT [arguments]
set -eu
airfoil=$1 op2jit=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

residuals() {
  grep -E '^ +[0-9]+  [0-9.e+-]+$' "$1"
}

refuses() { # file, what the message must contain
  if "$airfoil" --mesh "$1" >"$folder/out" 2>&1; then
    echo "FAILED: $1 was accepted"
    failed=1
  elif ! grep -qF "$2" "$folder/out"; then
    echo "FAILED: $1: the message lacks '$2':"
    cat "$folder/out"
    failed=1
  fi
}

"$airfoil" --cells 300 --iters 20 --write-mesh "$folder/mesh.dat" "$@" >"$folder/made"
"$airfoil" --mesh "$folder/mesh.dat" --iters 20 "$@" >"$folder/read"
residuals "$folder/made" >"$folder/made.rms"
residuals "$folder/read" >"$folder/read.rms"
[ -s "$folder/made.rms" ] && cmp "$folder/made.rms" "$folder/read.rms" || failed=1

# The same from HDF5, where this build has it, and the results into files.
if "$airfoil" --cells 300 --iters 1 --write "$folder/mesh.h5" "$@" >"$folder/out" 2>&1; then
  "$airfoil" --mesh "$folder/mesh.h5" --iters 20 --write "$folder/results.h5" --vtk "$folder/results" "$@" >"$folder/read"
  residuals "$folder/read" >"$folder/read.rms"
  cmp "$folder/made.rms" "$folder/read.rms" || failed=1
  "$op2jit" mesh check "$folder/results.h5" >"$folder/out" || failed=1
  "$op2jit" mesh info "$folder/results.h5" | grep -q "^dat   q  *4 double on cells" || { echo "FAILED: no results"; failed=1; }
  "$op2jit" mesh info "$folder/results.h5" | grep -qx "1 part: maps connect all elements" || { echo "FAILED: more than the mesh"; failed=1; }
  grep -q 'NumberOfElements="288"' "$folder/results.xdmf" || { echo "FAILED: nothing for ParaView"; failed=1; }
  refuses "$folder/none.h5" "No such file"
  cp "$folder/mesh.dat" "$folder/other.h5"
  refuses "$folder/other.h5" "other.h5"
elif grep -q "HDF5 files cannot be used" "$folder/out"; then
  printf 'HDF5 is not installed\n[  SKIPPED ] meshes_in_hdf5\n'
else
  cat "$folder/out"
  failed=1
fi

refuses "$folder/none.dat" "No such file"
: >"$folder/empty.dat"
refuses "$folder/empty.dat" "line 1: the file ends"
sed '1s/$/ 7/' "$folder/mesh.dat" >"$folder/header.dat"
refuses "$folder/header.dat" "line 1: something follows the numbers"
sed '10s/.*/1.0 x/' "$folder/mesh.dat" >"$folder/point.dat"
refuses "$folder/point.dat" "line 10: this is not a point"
sed '400s/.*/1 2 3/' "$folder/mesh.dat" >"$folder/short.dat"
refuses "$folder/short.dat" "line 400: too few numbers"
sed '500s/^/9999/' "$folder/mesh.dat" >"$folder/range.dat"
refuses "$folder/range.dat" "line 500: number 1 is"
head -n 700 "$folder/mesh.dat" >"$folder/cut.dat"
refuses "$folder/cut.dat" "line 701: the file ends"
sed '$s/[0-9]*$/0/' "$folder/mesh.dat" >"$folder/kind.dat"
refuses "$folder/kind.dat" "the kind is 0"

[ $failed = 0 ] && echo "airfoil files: PASSED"
exit $failed
