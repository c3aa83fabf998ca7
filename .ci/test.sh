# shellcheck shell=bash
# ./dev test: every suite in every build directory, one table, one verdict. Sourced by ./dev.

# Which suites run in which build directory: the ordinary one runs all that no sanitizer has to itself.
# A test may be in several suites, and runs wherever one of them does.
ASAN_SUITES='unit property negative fuzz asan'
TSAN_SUITES='tsan'

ordinary_suites() { # DIR
  meson introspect --tests "$1" | grep -o '"op2jit:[a-z_]*"' | tr -d '"' | sed 's/^op2jit://' | sort -u |
    grep -vxE 'asan|tsan|arm|more|long' | xargs
}

test_environment() {
  rm -rf "$STATE/test-cache" && mkdir -p "$STATE/test-cache" || exit 1
  export XDG_CACHE_HOME=$STATE/test-cache # never the user's own cache
  export OMP_WAIT_POLICY=passive # tests run side by side: who waits at full speed takes a core from another
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # 16 MB of freed memory are held back, not 256: what the compiler frees would make each process touch as much anew.
  export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:abort_on_error=1:quarantine_size_mb=16}
  export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$ROOT/tests/leaks.supp:print_suppressions=0}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
  unset OP2_BACKEND OP2_CACHE OP2_JIT OP2_THREADS OP2_LOG OP2_TUNE
}

# The thread sanitizer of gcc 12 cannot live with as much address randomisation as new kernels have.
fixed_addresses() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then say "setarch $(uname -m) -R"; fi
}

# As many as there are processors, two to four: most rows have threads or ranks of their own.
side_by_side() {
  local processors
  processors=$(nproc)
  say $((processors < 2 ? 2 : processors > 4 ? 4 : processors))
}

# meson test; whatever happens, what it ran is in the log that report.py reads.
meson_test() { # DIR ARGUMENT...
  local dir=$1 wrap=''
  shift
  [ "$dir" = build-tsan ] && wrap=$(fixed_addresses)
  rm -f "$dir/meson-logs/testlog.json"
  # shellcheck disable=SC2086 # the wrapper is a command with its arguments
  $wrap meson test -C "$dir" --no-rebuild --num-processes "$(side_by_side)" --timeout-multiplier "$TIMEOUTS" "$@" || true
}

suite_arguments() { # the words "--suite A --suite B"
  local suite
  for suite in "$@"; do printf -- '--suite\n%s\n' "$suite"; done
}

suites_of() { # DIR: those that run there
  case $1 in
  build-asan) say "$ASAN_SUITES" ;;
  build-tsan) say "$TSAN_SUITES" ;;
  build-arm) say arm ;;
  *) say "$(ordinary_suites "$1") $([ "$LONG" = yes ] && say long)" ;;
  esac
}

left_out() { # DIR: the suites whose tests do not run there, whatever else they are in
  [ "$LONG" = yes ] || say long
  [ "$MORE" = yes ] || say more
  [ "$1" = build ] || say plain
}

built() { # DIR [tests]: all of it, or without the programs of tests that do not run
  local needed=()
  if [ $# -gt 1 ] && configure "$1" && ninja -C "$1" build.ninja >/dev/null 2>&1; then
    mapfile -t needed < <(python3 .ci/needed.py "$1" "$(suites_of "$1")" "$(left_out "$1" | xargs)")
  fi
  build "$1" ${needed[@]+"${needed[@]}"} && return 0
  BROKEN+=("$1")
  return 1
}

test_in() { # DIR LABEL ARGUMENT...: in a directory that is built
  local dir=$1 label=$2
  shift 2
  wait_for_packages
  step "test $dir: $label" "test-$dir" meson_test "$dir" "$@"
  TESTED+=("$dir")
}

test_suites() { # DIR SUITE...
  local dir=$1 arguments suite
  shift
  mapfile -t arguments < <(suite_arguments "$@")
  for suite in $(left_out "$dir"); do arguments+=(--no-suite "$suite"); done
  test_in "$dir" "$*" "${arguments[@]}"
}

test_all_suites() { # DIR
  # shellcheck disable=SC2046 # a list of words
  test_suites "$1" $(suites_of "$1")
}

everything() {
  local dir
  for dir in build build-asan build-tsan; do
    if built "$dir" tests; then test_all_suites "$dir"; fi
  done
  # shellcheck source=.ci/fuzz.sh
  . "$ROOT/.ci/fuzz.sh"
  fuzz_briefly
  [ "$ARM_TOO" = no ] || test_arm
}

some_suites() { # DIR-or-empty SUITE...
  local dir=$1 suite ordinary=()
  shift
  for suite in "$@"; do
    case $dir$suite in
    asan | tsan) if built "build-$suite"; then test_all_suites "build-$suite"; fi ;;
    arm) test_arm ;;
    *) ordinary+=("$suite") ;;
    esac
  done
  [ ${#ordinary[@]} -eq 0 ] || { built "${dir:-build}" && test_suites "${dir:-build}" "${ordinary[@]}"; }
}

some_tests() { # DIR WORD...: all tests with one of the words in their names
  local dir=$1 names=()
  shift
  built "$dir" || return
  mapfile -t names < <(python3 .ci/named.py "$dir" "$LONG" "$@")
  [ ${#names[@]} -gt 0 ] || exit 1 # what is wrong was said
  [ ${#names[@]} -le 40 ] || say "${#names[@]} tests have that in their names; a longer part of the name picks fewer"
  test_in "$dir" "$*" "${names[@]}"
}

# One of the suites that the tests' meson.build files name.
known_suite() { # NAME
  local known
  known=$(grep -rhoE "suite: *(\[[^]]*\]|'[a-z]+')" tests --include=meson.build | grep -oE "'[a-z]+'" | tr -d "'" | sort -u | xargs)
  [[ " $known asan tsan more long " == *" $1 "* ]] || usage test "there is no suite '$1'; there are: $known"
}

# The parts that a word names: one, several with commas between, or all.
known_parts() { # WORD
  local part known
  known=$(parts_with | xargs)
  [ "$1" != all ] || set -- "${known// /,}"
  for part in ${1//,/ }; do
    [[ " $known " == *" $part "* ]] || usage test "there is no part '$part'; there are: $known, or all"
    say "$part"
  done
}

run_tests() {
  local dir='' suites=() tests=() parts=() named
  LONG=no MORE=no ARM_TOO=no TIMEOUTS=2 TESTED=() BROKEN=() FUZZED=()
  while [ $# -gt 0 ]; do
    case $1 in
    --more) MORE=yes ;;
    --long) LONG=yes MORE=yes TIMEOUTS=10 ;;
    --suite)
      known_suite "${2:-}"
      suites+=("$2")
      [ "$2" = more ] && MORE=yes
      [ "$2" = long ] && LONG=yes MORE=yes TIMEOUTS=10
      shift
      ;;
    --with)
      [ -n "${2:-}" ] || usage test "--with: expected a part: $(parts_with | xargs), or all"
      named=$(known_parts "$2") || exit 2
      [ "$2" = all ] && MORE=yes
      mapfile -t -O ${#parts[@]} parts <<<"$named"
      shift
      ;;
    --in)
      dir=${2:-}
      [[ $dir =~ ^build(-asan|-tsan|-arm)?$ ]] || usage test "--in: expected build, build-asan, build-tsan or build-arm instead of '$dir'"
      shift
      ;;
    -*) usage test "./dev test does not know '$1'" ;;
    *) tests+=("$1") ;;
    esac
    shift
  done
  setup
  # shellcheck source=.ci/arm.sh
  . "$ROOT/.ci/arm.sh"
  [[ " ${parts[*]-} " != *" arm "* ]] || ARM_TOO=yes
  [ ${#parts[@]} -eq 0 ] || setup_with "${parts[@]}"
  test_environment
  if [ ${#tests[@]} -gt 0 ]; then
    some_tests "${dir:-build}" "${tests[@]}"
  elif [ ${#suites[@]} -gt 0 ]; then
    some_suites "$dir" "${suites[@]}"
  elif [ "$dir" = build-arm ]; then
    test_arm
  elif [ -n "$dir" ]; then
    built "$dir" && test_all_suites "$dir"
  else
    everything
  fi
  say ""
  # The last line is the verdict.
  python3 .ci/report.py --logs "$STATE/logs" ${TESTED[@]+"${TESTED[@]}"} \
    ${BROKEN[@]+"${BROKEN[@]/#/broken:}"} ${FUZZED[@]+"${FUZZED[@]}"}
}
