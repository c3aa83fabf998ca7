# shellcheck shell=bash
# ./dev bench: the programs in bench/, each of which prints its own table. Sourced by ./dev.

bench_names() { # bench/NAME.c is a program; bench/NAME.sh a script that gets the build directory
  find bench -maxdepth 1 \( -name '*.c' -o -name '*.sh' \) -printf '%f\n' 2>/dev/null | sed 's/\.[a-z]*$//' | sort -u
}

# The benchmarks that have options: their scripts get them behind the build directory, and with - in its place look at them only.
WITH_OPTIONS='default chains fusion same strategies incache tasks devices spmv mpi replay'

bench_one() { # NAME OPTION...
  local name=$1
  shift
  say ""
  say "== bench $name"
  if [ -x "build/bench/$name" ]; then
    "build/bench/$name"
  elif [ -f "bench/$name.sh" ]; then
    bash "bench/$name.sh" build "$@"
  else
    say "bench $name is not built here: a part that it needs is missing (see ./dev build)"
    return 1
  fi
}

# The options of the benchmark LAST, which is empty if none is named: all words from the first that names no benchmark.
bench_options() { # LAST WORD...
  local name=$1
  shift
  case " $WITH_OPTIONS " in
  *" ${name:-none} "*) bash "bench/$name.sh" - "$@" || exit ;;
  *) usage bench "there is no benchmark '$1'; there are: $(bench_names | xargs)" ;;
  esac
  case " $* " in
  *' --help '* | *' -h '*) exit 0 ;;
  esac
}

bench() {
  local names=() last='' name status=0
  while [ $# -gt 0 ] && bench_names | grep -qxF -- "$1"; do
    last=$1
    names+=("$last")
    shift
  done
  [ $# -eq 0 ] || bench_options "$last" "$@"
  setup
  build build || exit 1
  [ ${#names[@]} -gt 0 ] || mapfile -t names < <(bench_names)
  [ ${#names[@]} -gt 0 ] || fail "there are no benchmarks in bench/"
  for name in "${names[@]}"; do
    if [ "$name" = "$last" ]; then
      bench_one "$name" "$@" || status=1
    else
      bench_one "$name" || status=1
    fi
  done
  return $status
}

# ./dev compare: one page, of loops as they come and as others have them (bench/compare.py).
compare() {
  local targets
  python3 bench/compare.py - "$@" || exit
  case " $* " in
  *' --help '* | *' -h '* | *' --check '*) exit 0 ;;
  esac
  setup
  configure build || exit 1
  mapfile -t targets < <(grep -oE '^build (bench/(turns_[a-z_]+|cuda_one)|jit/clang/op2jit-clang\.so):' build/build.ninja | sed 's/^build //; s/:$//')
  build build "${targets[@]}" || exit 1
  python3 bench/compare.py build "$@"
}
