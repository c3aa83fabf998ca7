# shellcheck shell=bash
# ./dev test: every suite in every build directory, one table, one verdict. Sourced by ./dev.

# Which suites run in which build directory. A test may be in several suites; one in `plain` runs only
# in the ordinary build (it limits memory, counts allocations, or uses a debugger).
ALL_SUITES='unit property negative mpi cuda fuzz plain'
ASAN_SUITES='unit property negative fuzz asan'
TSAN_SUITES='tsan'

test_environment() {
  rm -rf "$STATE/test-cache" && mkdir -p "$STATE/test-cache" || exit 1
  export XDG_CACHE_HOME=$STATE/test-cache # never the user's own cache
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
  unset OP2_BACKEND OP2_CACHE OP2_JIT OP2_THREADS OP2_LOG OP2_TUNE
}

# The thread sanitizer of gcc 12 cannot live with as much address randomisation as new kernels have.
fixed_addresses() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then say "setarch $(uname -m) -R"; fi
}

# meson test; whatever happens, what it ran is in the log that report.py reads.
meson_test() { # DIR ARGUMENT...
  local dir=$1 wrap=''
  shift
  [ "$dir" = build-tsan ] && wrap=$(fixed_addresses)
  rm -f "$dir/meson-logs/testlog.json"
  # shellcheck disable=SC2086 # the wrapper is a command with its arguments
  $wrap meson test -C "$dir" --no-rebuild --num-processes 2 --timeout-multiplier "$TIMEOUTS" "$@" || true
}

suite_arguments() { # the words "--suite A --suite B"
  local suite
  for suite in "$@"; do printf -- '--suite\n%s\n' "$suite"; done
}

test_in() { # DIR LABEL ARGUMENT...
  local dir=$1 label=$2
  shift 2
  if ! build "$dir"; then
    BROKEN+=("$dir")
    return 1
  fi
  step "test $dir: $label" "test-$dir" meson_test "$dir" "$@"
  TESTED+=("$dir")
}

test_suites() { # DIR SUITE...
  local dir=$1 arguments
  shift
  mapfile -t arguments < <(suite_arguments "$@")
  [ "$LONG" = yes ] || arguments+=(--no-suite long)
  test_in "$dir" "$*" "${arguments[@]}"
}

everything() {
  local normal=$ALL_SUITES
  [ "$LONG" = yes ] && normal="$normal long"
  # shellcheck disable=SC2086 # lists of words
  test_suites build $normal
  # shellcheck disable=SC2086
  test_suites build-asan $ASAN_SUITES
  # shellcheck disable=SC2086
  test_suites build-tsan $TSAN_SUITES
  # shellcheck source=.ci/fuzz.sh
  . "$ROOT/.ci/fuzz.sh"
  fuzz_briefly
}

home_of_suite() {
  case $1 in asan) say build-asan ;; tsan) say build-tsan ;; *) say build ;; esac
}

some() { # DIR-or-empty SUITES TESTS: what was asked for
  local dir=$1 suites=$2 tests=$3 suite
  if [ -n "$tests" ]; then
    # shellcheck disable=SC2086 # a list of words
    test_in "${dir:-build}" "$tests" $tests
    return
  fi
  if [ -n "$dir" ]; then
    # shellcheck disable=SC2086
    test_suites "$dir" ${suites:-$ALL_SUITES}
    return
  fi
  for suite in $suites; do
    [ "$suite" = asan ] && suite=$ASAN_SUITES
    # shellcheck disable=SC2086
    test_suites "$(home_of_suite "${suite##* }")" $suite
  done
}

run_tests() {
  local dir='' suites='' tests=''
  LONG=no TIMEOUTS=1 TESTED=() BROKEN=() FUZZED=()
  while [ $# -gt 0 ]; do
    case $1 in
    --long) LONG=yes TIMEOUTS=4 ;;
    --suite)
      suites="$suites ${2:?--suite needs a name}"
      [ "$2" = long ] && LONG=yes TIMEOUTS=4
      shift
      ;;
    --in)
      dir=${2:?--in needs a build directory}
      shift
      ;;
    -*) fail "./dev test does not know '$1'; see ./dev --help" ;;
    *) tests="$tests $1" ;;
    esac
    shift
  done
  setup
  test_environment
  if [ -z "$dir$suites$tests" ]; then everything; else some "$dir" "$suites" "$tests"; fi
  say ""
  # The last line is the verdict.
  python3 .ci/report.py --logs "$STATE/logs" ${TESTED[@]+"${TESTED[@]}"} \
    ${BROKEN[@]+"${BROKEN[@]/#/broken:}"} ${FUZZED[@]+"${FUZZED[@]}"}
}
