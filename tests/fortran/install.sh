#!/bin/bash
# install.sh SOURCE BUILD: programs in Fortran outside the tree, against the installed library: by make with pkg-config, by CMake's
# find_package, and in fpm's layout. A tool that is missing is a case that is skipped.
# shellcheck disable=SC2015,SC2016 # words for fail, and of make
set -u
source=$1 build=$2
command -v gfortran >/dev/null || {
  echo "skipped: there is no gfortran; ./dev test --with fortran installs it"
  exit 77
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

fail() {
  echo "fortran install: $*"
  [ ! -s "$work/log" ] || tail -n 20 "$work/log"
  exit 1
}

meson install -C "$build" --no-rebuild --quiet --destdir "$work/tree" >"$work/log" 2>&1 || fail "meson install failed"
pc=$(find "$work/tree" -name op2jit-fortran.pc)
[ -n "$pc" ] || fail "no op2jit-fortran.pc was installed"
export PKG_CONFIG_PATH=${pc%/*}
prefix=${pc%/lib/*}
mkdir "$work/program"
cp "$source/samples/heat/heat.f90" "$work/program/"

passes() { # LABEL FOLDER PROGRAM: in an empty environment, on the native backend
  if ! (cd / && env -i OP2_KERNELS="$work/program" "$2/$3" --n 30 OP2_BACKEND=native) >"$work/log" 2>&1 || ! grep -q PASSED "$work/log"; then
    fail "built by $1 it fails"
  fi
  echo "built by $1: $(tail -n 1 "$work/log")"
}
skipped() { printf '%s is not installed\n[  SKIPPED ] fortran_by_%s\n' "$1" "$1"; }

cp -r "$work/program" "$work/make" && cd "$work/make" || exit 99
printf '%s\n' 'FILE := $(shell pkg-config --variable=source op2jit-fortran)' 'heat: heat.f90 $(FILE)' \
  '	gfortran -O0 -o $@ $(FILE) heat.f90 $(shell pkg-config --libs op2jit-fortran)' >Makefile
make >"$work/log" 2>&1 || fail "it does not build with make"
passes make "$work/make" heat

if command -v cmake >/dev/null; then
  cp -r "$work/program" "$work/cmake" && cd "$work/cmake" || exit 99
  printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(heat C Fortran)' 'find_package(op2jit 0.1.0 REQUIRED)' \
    'add_executable(heat heat.f90)' 'target_link_libraries(heat op2jit::fortran)' >CMakeLists.txt
  (CMAKE_PREFIX_PATH=$prefix cmake -S . -B build && cmake --build build) >"$work/log" 2>&1 || fail "it does not build with CMake"
  passes CMake "$work/cmake/build" heat
else
  skipped cmake
fi

# A project of fpm: app/ is the program, src/ of the folder that it depends on the module.
mkdir -p "$work/fpm/app" && cp "$work/program/heat.f90" "$work/fpm/app/main.f90" && cd "$work/fpm" || exit 99
folder=$(realpath --relative-to=. "$(pkg-config --variable=fpm op2jit-fortran)") # fpm takes no absolute path
printf '%s\n' 'name = "heat"' '[dependencies]' "op2jit = { path = \"$folder\" }" >fpm.toml
grep -q 'link = \["op2jit"\]' "$folder/fpm.toml" || fail "fpm.toml of the module does not link the library"
if command -v fpm >/dev/null; then
  fpm build --link-flag "$(pkg-config --libs op2jit-fortran)" >"$work/log" 2>&1 || fail "it does not build with fpm"
  cp "$(find build -name heat -type f -perm -u+x)" heat
else
  # As fpm would: the sources of the dependency's src/, then those of app/, with the library that it names.
  # shellcheck disable=SC2046 # a list of flags
  gfortran -O0 "$folder"/src/*.f90 app/main.f90 $(pkg-config --libs op2jit-fortran) -o heat >"$work/log" 2>&1 ||
    fail "it does not build in fpm's layout"
  skipped fpm
fi
passes "fpm's layout" "$work/fpm" heat
# OP2's modules are there too.
gfortran -O0 -c "$(pkg-config --variable=op2_source op2jit-fortran)" -J "$work" -o "$work/op2.o" >"$work/log" 2>&1 ||
  fail "OP2's modules do not compile"
