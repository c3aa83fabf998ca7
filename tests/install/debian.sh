#!/bin/bash
# debian.sh ROOT [PLUGIN]: Debian's packages are built from a copy of the tree, lintian has nothing against them, and installed
# in a folder of their own they make and run a program: without and with the package of the compiler.
set -u
root=$1 plugin=${2:-}
for tool in dpkg-buildpackage dh lintian; do
  command -v $tool >/dev/null || {
    echo "skipped: there is no $tool (Debian's dpkg-dev, debhelper, lintian); ./dev test --with packages installs them"
    exit 77
  }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/op2jit" && cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$work/op2jit" && cd "$work/op2jit" || exit 1
OP2JIT_PLUGIN=$plugin dpkg-buildpackage -b -uc -us -d -j2 >"$work/log" 2>&1 || {
  tail -n 30 "$work/log"
  exit 1
}
cd "$work" || exit 1
ls ./*.deb
lintian --fail-on error,warning --no-tag-display-limit ./*.changes || exit 1

into() { # FOLDER PACKAGE...: dpkg's own database is there, and none of the system's packages
  local folder=$1 package
  shift
  for package in "$@"; do
    dpkg --root="$folder" --force-depends --force-not-root --log="$work/dpkg.log" -i "$work/$package"_*.deb >>"$work/log" 2>&1 || {
      echo "$package cannot be installed: $(tail -n 5 "$work/log")"
      exit 1
    }
  done
}
bare=$work/bare
mkdir -p "$bare/var/lib/dpkg/updates" "$bare/var/lib/dpkg/info" && : >"$bare/var/lib/dpkg/status" || exit 1
into "$bare" libop2jit0 libop2jit-dev op2jit-tools
libraries=$(dirname "$(find "$bare/usr/lib" -name libop2jit.so.0)")
export LD_LIBRARY_PATH=$libraries OP2_CACHE=$work/kernels.db
cd "$work" && "$bare/usr/bin/op2jit" new bar >/dev/null || exit 1
cc bar/bar.c -I"$bare/usr/include" -L"$libraries" -lop2jit -lm -o bar/bar || exit 1
OP2_BACKEND=native bar/bar | grep PASSED || exit 1
if OP2_BACKEND=seq bar/bar >"$work/log" 2>&1 || ! grep -q OP_ERR_ "$work/log"; then
  echo "without op2jit-clang a loop was compiled: $(cat "$work/log")"
  exit 1
fi
into "$bare" op2jit-clang op2jit-mpi
OP2_BACKEND=seq bar/bar | grep PASSED || exit 1
"$bare/usr/bin/op2jit" info | grep -i mpi
