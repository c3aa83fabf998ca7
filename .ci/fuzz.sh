# shellcheck shell=bash
# ./dev fuzz: the targets of tests/fuzz under libFuzzer. Sourced by ./dev.

fuzz_targets() {
  find tests/fuzz -maxdepth 1 -name 'fuzz_*.c' -printf '%f\n' 2>/dev/null | sed 's/^fuzz_//; s/\.c$//' | sort
}

fuzz_possible() {
  command -v clang >/dev/null &&
    printf 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n > 9 ? 0 : 0; }\n' |
    clang -fsanitize=fuzzer,address -x c - -o "$STATE/fuzz-possible" 2>/dev/null
}

# New finds go to FOUND; the corpus in tests/fuzz/corpus is read only.
fuzz_one() { # TARGET FOUND OPTION...
  local target=$1 found=$2
  shift 2
  mkdir -p "$found" "tests/fuzz/corpus/$target"
  "build-fuzz/tests/fuzz/fuzz_$target" "$@" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix="$found/" -print_final_stats=1 "$found" "tests/fuzz/corpus/$target"
}

fuzz() {
  local target=${1:-} seconds=${2:-60} targets status=0
  [ $# -le 2 ] || usage fuzz "./dev fuzz does not know '$3'"
  mapfile -t targets < <(fuzz_targets)
  [ -z "$target" ] || fuzz_targets | grep -qxF -- "$target" ||
    usage fuzz "there is no fuzz target '$target'; there are: ${targets[*]}"
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || usage fuzz "expected a number of seconds instead of '$seconds'"
  setup
  fuzz_possible || fail "fuzzing needs clang with libFuzzer: apt-get install clang libclang-rt-14-dev"
  [ -z "$target" ] || targets=("$target")
  build build-fuzz || exit 1
  for target in "${targets[@]}"; do
    step "fuzz $target for $seconds s" "fuzz-$target" fuzz_one "$target" "$STATE/fuzz/$target" -max_total_time="$seconds" || status=1
  done
  return $status
}

# In ./dev test: several at a time; the results go to the report as fuzz:TARGET:STATUS. A test answers the same each time that it runs:
# it starts from the corpus alone, with the same seed, and makes as many inputs, or as many as ten seconds have.
# ./dev fuzz searches on, from a new seed.
fuzz_briefly() {
  local targets target
  mapfile -t targets < <(fuzz_targets)
  [ ${#targets[@]} -gt 0 ] || return 0
  if ! fuzz_possible; then
    for target in "${targets[@]}"; do FUZZED+=("fuzz:$target:skip:clang with libFuzzer is not installed"); done
    return 0
  fi
  if ! build build-fuzz "${targets[@]/#/tests/fuzz/fuzz_}"; then
    BROKEN+=(build-fuzz)
    return 1
  fi
  step "fuzz ${#targets[@]} targets" fuzz fuzz_all "${targets[@]}"
  for target in "${targets[@]}"; do
    FUZZED+=("fuzz:$target:$(cat "$STATE/fuzz-test/$target.status" 2>/dev/null || say 1)")
  done
}

fuzz_again() { # TARGET
  local found=$STATE/fuzz-test/$1
  rm -rf "$found"
  fuzz_one "$1" "$found" -seed=1 -runs=20000 -max_total_time=10 >"$STATE/logs/fuzz-$1.log" 2>&1
  echo $? >"$STATE/fuzz-test/$1.status"
}

fuzz_all() { # TARGET...
  mkdir -p "$STATE/fuzz-test"
  rm -f "$STATE"/fuzz-test/*.status
  export -f fuzz_one fuzz_again
  export STATE
  printf '%s\n' "$@" | xargs -P "$(nproc)" -I NAME bash -c 'fuzz_again NAME'
  ! grep -qvx 0 "$STATE"/fuzz-test/*.status
}
