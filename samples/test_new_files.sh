#!/bin/sh
# What a sample cannot write it refuses before it computes anything, for each of its options that name such files.
# They are those that --help lists with FILE or NAME, without --mesh, which is read. Usage: test_new_files.sh SAMPLE
set -eu
program=$1
name=${program##*/}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

refuses() { # what is said, arguments: in one line, with status 2, and nothing else
  expected="$name: $1"
  shift
  status=0
  "$program" "$@" OP2_BACKEND=native OP2_CACHE=off >"$folder.out" 2>"$folder.said" || status=$?
  if [ $status != 2 ] || [ -s "$folder.out" ] || [ "$(cat "$folder.said")" != "$expected" ]; then
    echo "FAILED: $*: status $status, not 2 and '$expected':"
    cat "$folder.out" "$folder.said"
    failed=1
  fi
  rm -f "$folder.out" "$folder.said"
}

in_way() { # option, path: how the message names the file
  if [ "$1" = vtk ]; then echo "the file $2.xdmf"; else echo "the file"; fi
}

options=$("$program" --help | sed -nE 's/^ *--([a-z-]*) (FILE|NAME) .*/\1/p' | grep -vx mesh)
[ -n "$options" ] || { echo "FAILED: it writes nothing"; exit 1; }
mkdir "$folder/adir"
echo precious >"$folder/text"
echo precious >"$folder/text.data.h5"
echo '<?xml version="1.0"?><Xdmf/>' >"$folder/foreign.xdmf"
ls -l "$folder" >"$folder.before"

for option in $options; do
  none=$folder/none/file
  refuses "--$option $none: $(in_way "$option" "$none") cannot be written: No such file or directory" "--$option" "$none"
  refuses "--$option: the name is empty; expected that of a file" "--$option="
  case $option in
  vtk)
    refuses "--vtk $folder/adir: this is a directory; expected a name for files, such as $folder/adir/field" --vtk "$folder/adir"
    refuses "--vtk $folder/text: $folder/text.data.h5 is not an HDF5 file; it is left alone" --vtk "$folder/text"
    refuses "--vtk $folder/foreign: $folder/foreign.xdmf is no index that this program writes; it is left alone" --vtk "$folder/foreign"
    refuses "--vtk $folder/foreign.xdmf: this is no index that this program writes; it is left alone" --vtk "$folder/foreign.xdmf"
    ;;
  *) refuses "--$option $folder/adir: the file cannot be written: Is a directory" "--$option" "$folder/adir" ;;
  esac
  if [ "$option" = write ]; then
    refuses "--write $folder/text: this is not an HDF5 file; it is left alone" --write "$folder/text"
    refuses "--write /dev/null: the file cannot be written: it is a device or a pipe" --write /dev/null
  fi
  if [ "$option" = picture ]; then
    for format in gif jpg jpeg svg bmp tif tiff pdf GIF; do
      refuses "--picture $folder/p.$format: pictures are PNG files; expected a name such as $folder/p.png" --picture "$folder/p.$format"
    done
  fi
done

# Each pair, on the same file under two names; the message has them in the order of --help.
seen=
for option in $options; do
  for other in $seen; do
    one=$folder/same two=$folder/./same
    [ "$option" != vtk ] || one=$one.xdmf
    [ "$other" != vtk ] || two=$two.xdmf
    written=$two
    [ "$option" != vtk ] || written=$two.xdmf
    refuses "--$other $one and --$option $two: both would write $written; expected two names" "--$option" "$two" "--$other" "$one"
  done
  seen="$seen $option"
done

# Without HDF5 that is said at once, and nothing is computed or written; a plugin that does not open stands for one that is not there.
mkdir "$folder.plugins"
: >"$folder.plugins/op2jit-hdf5-serial.so"
for option in $options; do
  case $option in vtk | write) ;; *) continue ;; esac
  status=0
  "$program" "--$option" "$folder/new" OP2_BACKEND=native OP2_CACHE=off OP2_MPI=off "OP2_PLUGINS=$folder.plugins" >"$folder.out" 2>"$folder.said" ||
    status=$?
  if [ $status != 1 ] || [ -s "$folder.out" ] || ! grep -q "HDF5" "$folder.said"; then
    echo "FAILED: --$option without HDF5: status $status, or it computed first:"
    cat "$folder.out" "$folder.said"
    failed=1
  fi
  rm -f "$folder.out" "$folder.said"
done
rm -r "$folder.plugins"

ls -l "$folder" >"$folder.after"
cmp "$folder.before" "$folder.after" || failed=1
[ "$(cat "$folder/text" "$folder/text.data.h5")" = "precious
precious" ] || failed=1
rm -f "$folder.before" "$folder.after"
[ $failed = 0 ] && echo "files of $name: PASSED"
exit $failed
