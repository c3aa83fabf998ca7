#!/bin/bash
# A run of transport that stops, writes its state and goes on later gives the answer of one that does not stop, also on
# other ranks; and its steps are files for ParaView. Usage: transport.sh PROGRAM
set -u
program=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export OP2_BACKEND=native OP2_CACHE=off

fail() {
  echo "FAILED: $*"
  cat "$folder"/said*
  exit 1
}

"$program" --n 16 >"$folder/said.whole" 2>&1 || fail "the whole run"
"$program" --n 16 --end 0.2 --write "$folder/state.h5" --vtk "$folder/field" >"$folder/said.half" 2>&1 || {
  grep -q "HDF5 files cannot be used" "$folder/said.half" && echo "skipped: no HDF5 here" && exit 77
  fail "the first half"
}
"$program" --restart "$folder/state.h5" >"$folder/said.other" 2>&1 || fail "the second half"
grep -q "from time 0.2 to 0.4" "$folder/said.other" || fail "it does not go on where it was"
mass() { sed -nE 's/.*mass ([0-9.]{8}).*/\1/p' "$1"; }
[ -n "$(mass "$folder/said.whole")" ] || fail "no answer"
[ "$(mass "$folder/said.whole")" = "$(mass "$folder/said.other")" ] || fail "another answer"
[ "$(grep -c '<Time' "$folder/field.xdmf")" = 10 ] || fail "not ten steps for ParaView: $(cat "$folder/field.xdmf")"
if "$program" --restart "$folder/none.h5" >"$folder/said.none" 2>&1; then fail "a file that is not there"; fi
grep -q "none.h5" "$folder/said.none" || fail "the file is not named"
status=0
"$program" --size 3 >"$folder/said.usage" 2>&1 || status=$?
case $status$(cat "$folder/said.usage") in
2usage:*) ;;
*) fail "an option that it does not have" ;;
esac
echo "transport: PASSED"
