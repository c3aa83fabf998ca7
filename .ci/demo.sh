# shellcheck shell=bash
# ./dev demo: the main sample twice, the second time from the cache. Sourced by ./dev.

DEMO_SAMPLE=airfoil

# The sample, and the compiler plugin where there is one: no tests and no command, which the demo does not run.
demo_targets() { # FOLDER
  local target
  for target in "samples/$DEMO_SAMPLE" jit/clang/op2jit-clang.so; do
    if grep -q "^build $target: " "$1/build.ninja"; then say "$target"; fi
  done
}

# What it will do, and how long that takes on two cores.
demo_plan() { # FOLDER
  local missing=0
  command -v dpkg-query >/dev/null && missing=$(packages_of_kind '(need|part)' | grep -cvxF "$(installed_packages)")
  say "This will"
  if [ "$missing" -gt 0 ]; then say "  install $missing packages of Debian (half a minute by a good network)"; fi
  if [ -x "$1/samples/$DEMO_SAMPLE" ]; then
    say "  build in $1/ what has changed since the last time"
  else
    say "  build the library, its compiler plugin and the sample $DEMO_SAMPLE in $1/ (some 2 minutes on two cores, longer beside other work)"
  fi
  say "  run $DEMO_SAMPLE twice, first with an empty cache of kernels, and say what happened (a few seconds)"
  say ""
}

# Runs the program, showing and keeping what it prints.
demo_run() ( # NAME-OF-THE-RUN PROGRAM CACHE ARGUMENT...
  local kept=$STATE/demo/$1 program=$2 cache=$3
  shift 3
  set -o pipefail
  OP2_CACHE=$cache "$program" "$@" | tee "$kept"
)

demo_said() { # NAME-OF-THE-RUN: the line of the report that counts
  grep -E '^[0-9]+ loops?: ' "$STATE/demo/$1" | tail -n 1
}

demo_failed() { # STATUS: of a sample 2 is for arguments that it does not know
  [ "$1" -ne 2 ] || usage demo "$DEMO_SAMPLE gets the arguments of ./dev demo, and does not know them"
  fail "$DEMO_SAMPLE failed (status $1)"
}

demo() {
  local name=$DEMO_SAMPLE dir=build program cache=$STATE/demo/kernels.db targets
  [ -f build/build.ninja ] || dir=build-demo
  program=$ROOT/$dir/samples/$name
  # shellcheck disable=SC2034 # of ./dev
  ONLY=$DEMO_PACKAGES
  demo_plan "$dir"
  setup
  configure "$dir" || exit 1
  mapfile -t targets < <(demo_targets "$dir")
  build "$dir" "${targets[@]}" || exit 1
  [ -x "$program" ] || fail "the samples are not built here; look at $STATE/logs/configure-$dir.log"
  rm -rf "$STATE/demo" && mkdir -p "$STATE/demo" || exit 1

  say ""
  say "== $name, first run: the cache of kernels is empty, so loops are compiled when they first run, those of the same text once"
  say "   OP2_CACHE=${cache#"$ROOT"/} ${program#"$ROOT"/} $*"
  demo_run first "$program" "$cache" "$@" || demo_failed $?
  say ""
  if [ -s "$cache" ]; then
    say "== $name, second run: a new process finds every kernel in the cache and compiles nothing"
    say "   OP2_JIT=load makes that certain: with it, a loop that had to be compiled would be an error"
    OP2_JIT=load demo_run second "$program" "$cache" "$@" || fail "$name failed in its second run (status $?)"
    say ""
    say "== What happened"
    say "   first run:  $(demo_said first)"
    say "   second run: $(demo_said second)"
    say "   While the machine does other work all times are larger, and most of all those of a first run, which compiles."
  else
    say "Nothing was compiled: this build has no compiler plugin (./dev build says what it needs), so the loops ran"
    say "as the C functions that they are."
  fi
  say ""
  say "$name checks its own answers. Its source is samples/$name; $dir/samples/$name --help lists its options, and"
  say "OP2_BACKEND=native, seq, openmp or cuda chooses who does the work."
}
