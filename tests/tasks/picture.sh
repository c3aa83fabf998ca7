#!/bin/bash
# picture.sh PROGRAM ARGUMENT...: its picture is of VTK's format, with as many values as it says; a file that cannot be written is
# told.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$@" --vtk "$folder/picture.vtk" --simulate 64 | tee "$folder/said"
grep -q '^simulated: [0-9.]* .* on 64 threads' "$folder/said"
head -n 1 "$folder/picture.vtk" | grep -q '^# vtk DataFile Version 3.0$'
count=$(awk '$1 == "POINT_DATA" { print $2 }' "$folder/picture.vtk")
values=$(awk 'told && NF == 1 { n++ } /^LOOKUP_TABLE/ { told = 1 } /^VECTORS/ { told = 0 } END { print n }' "$folder/picture.vtk")
[ "$count" -gt 100 ] && [ "$count" -eq "$values" ]
if "$@" --vtk "$folder/none/picture.vtk" 2>"$folder/said"; then
  echo "a folder that is not there was no error"
  exit 1
fi
grep -q 'cannot write' "$folder/said"
