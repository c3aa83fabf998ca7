# shellcheck shell=bash
# ./dev house --trace: the way of one op_par_loop through the files, see .ci/trace.py. Sourced by ./dev.

trace() {
  local dir=$ROOT/build-trace
  build build jit/clang/op2jit-clang.so || exit 1
  build build-trace || exit 1
  step "compile the loop that is traced" trace-loop cc -O1 -g -D_GNU_SOURCE .ci/trace/loop.c -Iinclude "-L$dir" -lop2jit \
    "-Wl,-rpath,$dir" -o "$dir/loop" || exit 1
  OP2_PLUGINS=$ROOT/build/jit/clang python3 .ci/trace.py "$dir/loop" "$ROOT" "$@"
}
