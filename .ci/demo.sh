# shellcheck shell=bash
# ./dev demo: the main sample twice, the second time from the cache. Sourced by ./dev.

DEMO_SAMPLES='airfoil jac vadd' # the first that is built

demo_program() {
  local name
  for name in $DEMO_SAMPLES; do
    if [ -x "$ROOT/build/samples/$name" ]; then
      say "$name"
      return 0
    fi
  done
  return 1
}

demo_run() { # PROGRAM CACHE ARGUMENT...
  local program=$1 cache=$2
  shift 2
  OP2_CACHE=$cache "$program" "$@"
}

demo() {
  local name program cache=$STATE/demo/kernels.db
  setup
  build build || exit 1
  name=$(demo_program) || fail "no sample was built; look at $STATE/logs/configure-build.log"
  program=$ROOT/build/samples/$name
  rm -rf "$STATE/demo" && mkdir -p "$STATE/demo" || exit 1

  say ""
  say "== $name, first run: the cache of kernels is empty, so each loop is compiled when it first runs"
  say "   OP2_CACHE=${cache#"$ROOT"/} ${program#"$ROOT"/} $*"
  demo_run "$program" "$cache" "$@" || fail "$name failed (status $?)"
  say ""
  if [ -s "$cache" ]; then
    say "== $name, second run: a new process finds every kernel in the cache and compiles nothing"
    say "   OP2_JIT=load makes that certain: with it, a loop that had to be compiled would be an error"
    OP2_JIT=load demo_run "$program" "$cache" "$@" || fail "$name failed in its second run (status $?)"
  else
    say "Nothing was compiled: this build has no compiler plugin (./dev build says what it needs), so the loops ran"
    say "as the C functions that they are."
  fi
  say ""
  say "$name checks its own answers. Its source is samples/$name; build/samples/$name --help lists its options, and"
  say "OP2_BACKEND=native, seq, openmp or cuda chooses who does the work."
}
