#!/bin/bash
# aligned.sh 'STRATEGY...' PROGRAM [ARGUMENT...]: no kernel of the program makes a pointer one to a type of stricter alignment.
# GPUs fault at such an address, where processors do not, nor Oclgrind, which runs them here. Status 77 without it or clang.
set -u
strategies=$1 && shift
library=/usr/lib/oclgrind/liboclgrind-rt.so
for needed in "$library" "$(command -v clang)"; do
  if [ ! -e "$needed" ]; then
    echo "skipped: there is no Oclgrind ($library) or no clang; ./dev test --with opencl"
    exit 77
  fi
done
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export OP2_OPENCL=$library OCLGRIND_BUILD_OPTIONS=-Drestrict= OP2_BACKEND=opencl OP2_TUNE=off OP2_CACHE=off XDG_CACHE_HOME=$folder
for strategy in $strategies; do
  OP2_DUMP=$folder/$strategy OP2_VARIANT=$strategy/32 "$@" >"$folder/said" 2>&1 || { tail -n 20 "$folder/said"; exit 1; }
  kernels=0 options=(-x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -fsyntax-only -Wno-everything -Werror=cast-align
    -DOP2_DOUBLE -DOP2_ATOMICS)
  for text in "$folder/$strategy"/*/*.loop.cl; do
    (cd "$(dirname "$text")" && clang "${options[@]}" "$(basename "$text")") >"$folder/said" 2>&1 || {
      echo "in $(basename "$(dirname "$text")"):"
      head -n 20 "$folder/said"
      exit 1
    }
    kernels=$((kernels + 1))
  done
  [ -e "$text" ] || exit 1
  echo "$strategy: $kernels kernels"
done
