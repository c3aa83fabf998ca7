#!/bin/bash
# start.sh FOLDER: the program of samples/start, copied out of FOLDER, is built against the library that pkg-config finds by each
# of its three build files, and passes. A tool that is missing is a case that is skipped.
set -u
start=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

built_by() { # TOOL COMMAND [LABEL]: in a copy of its own, where it leaves the program start or build/start
  local tool=$1 program label=$1-${3:-}
  shift
  if ! command -v "$tool" >/dev/null; then
    printf '%s is not installed\n[  SKIPPED ] start_with_%s\n' "$tool" "$tool"
    return
  fi
  cp -r "$start" "$work/$label" && cd "$work/$label" || exit 1
  if ! (sh -ec "$1") >"$work/log" 2>&1; then
    echo "start: it does not build with $tool: $(tail -n 20 "$work/log")"
    exit 1
  fi
  program=$(find . -name start -type f -perm -u+x)
  if ! (cd / && env -i "$work/$label/$program" OP2_BACKEND=native) >"$work/log" 2>&1 || ! grep -q PASSED "$work/log"; then
    echo "start: built with $tool it fails: $(cat "$work/log")"
    exit 1
  fi
  echo "start: built with $tool: $(tail -n 1 "$work/log")"
}

# The same by CMake's own way: find_package.
package='cat > CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(start C)
find_package(op2jit 0.1.0 REQUIRED)
add_executable(start start.c)
target_link_libraries(start op2jit::op2jit m)
END
cmake -S . -B build && cmake --build build'

built_by make "make"
built_by cmake "cmake -S . -B build && cmake --build build"
CMAKE_PREFIX_PATH=${PKG_CONFIG_PATH%%/lib/*} built_by cmake "$package" package
built_by meson "meson setup build && meson compile -C build"
