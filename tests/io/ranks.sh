#!/bin/bash
# ranks.sh KIND RUN PROGRAM RANKS...: what one process wrote is read, worked on and written by so many ranks, and read again by one
# process; trouble is the same error on all ranks.
set -u
kind=$1 run=$2 program=$3
shift 3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
OP2_MPI=off "$program" make "$folder/mesh.h5" || exit 1
for ranks; do
  "$run" "$kind" "$ranks" "$program" work "$folder/mesh.h5" "$folder/out.h5" "$folder/steps"
  status=$?
  [ $status = 77 ] && exit 77
  [ $status = 0 ] || { echo "$ranks ranks do not work: status $status"; exit 1; }
  OP2_MPI=off "$program" check "$folder/out.h5" || { echo "what $ranks ranks wrote is wrong"; exit 1; }
  OP2_MPI=off "$program" solids "$folder/steps" || { echo "what $ranks ranks wrote of solids is wrong"; exit 1; }
  "$run" "$kind" "$ranks" "$program" trouble "$folder" "$folder/mesh.h5" "$ranks" || { echo "$ranks ranks in trouble"; exit 1; }
  if compgen -G "$folder/*.part" >/dev/null; then
    echo "$ranks ranks leave a part behind"
    exit 1
  fi
  for file in out.h5 steps.xdmf steps.000000.h5 steps.000001.h5 good.h5; do
    [ -s "$folder/$file" ] || { echo "$ranks ranks did not write $file"; exit 1; }
    [ "$ranks" = "$1" ] && cp "$folder/$file" "$folder/first.$file"
  done
  cmp "$folder/steps.xdmf" "$folder/first.steps.xdmf" || exit 1
  rm -f "$folder"/out.h5 "$folder"/steps* "$folder"/good.h5
  echo "$ranks ranks: well"
done
