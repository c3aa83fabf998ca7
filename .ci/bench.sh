# shellcheck shell=bash
# ./dev bench: the programs in bench/, each of which prints its own table. Sourced by ./dev.

bench_names() { # bench/NAME.c is a program; bench/NAME.sh a script that gets the build directory
  find bench -maxdepth 1 \( -name '*.c' -o -name '*.sh' \) -printf '%f\n' 2>/dev/null | sed 's/\.[a-z]*$//' | sort -u
}

bench_one() {
  local name=$1
  say ""
  say "== bench $name"
  if [ -x "build/bench/$name" ]; then
    "build/bench/$name"
  elif [ -f "bench/$name.sh" ]; then
    bash "bench/$name.sh" build
  else
    say "bench $name is not built here: a part that it needs is missing (see ./dev build)"
    return 1
  fi
}

bench() {
  local names=("$@") name status=0
  for name in ${names[@]+"${names[@]}"}; do
    bench_names | grep -qxF -- "$name" ||
      usage bench "there is no benchmark '$name'; there are: $(bench_names | xargs)"
  done
  setup
  build build || exit 1
  [ ${#names[@]} -gt 0 ] || mapfile -t names < <(bench_names)
  [ ${#names[@]} -gt 0 ] || fail "there are no benchmarks in bench/"
  for name in "${names[@]}"; do
    bench_one "$name" || status=1
  done
  return $status
}
