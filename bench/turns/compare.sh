#!/bin/bash
# compare.sh COMPARE.PY BUILD PAGE...: ./dev compare runs on the smallest sizes, where the answers of all forms agree; its page and those that
# were kept have all rows; it refuses what it does not know, and says what fails. No time is looked at.
set -u
compare=$1 build=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
unset OP2_THREADS OMP_NUM_THREADS OP2_TUNE OP2_CACHE

expect() { # STATUS WORDS COMMAND...: the status, and the words somewhere in the output
  local status=$1 words=$2 output got
  shift 2
  output=$("$@" 2>&1 </dev/null)
  got=$?
  if [ $got -ne "$status" ] || [[ $output != *"$words"* ]]; then
    echo "$* ended with $got and said: $output"
    echo "expected were $status and: $words"
    failures=$((failures + 1))
  fi
}
in_turns() { python3 "$compare" "$@"; }

expect 0 "OP2: it needs a checkout of OP2: --op2 FOLDER" in_turns "$build" --smallest --threads 2 --out "$folder/page" --keep "$folder"
expect 0 "1 pages have all of their rows" in_turns - --check "$folder"/*.md
grep -q "<svg.*" "$folder/page/index.html" || { echo "the page has no plot"; failures=$((failures + 1)); }
[ $# -eq 0 ] || expect 0 "$# pages have all of their rows" in_turns - --check "$@"
sed -i '/^| fem/d; s/^load [0-9.]* at/at/' "$folder"/*.md
expect 1 ": no row of fem" in_turns - --check "$folder"/*.md
expect 1 ": no line with the date, the command, the commit and the machine" in_turns - --check "$folder"/*.md
expect 0 "usage: ./dev compare" in_turns - --help
expect 2 "no case nosuch; there are: airfoil flux " in_turns - heat nosuch
expect 1 "turns_heat: No such file or directory: it needs the samples" in_turns "$folder" --smallest heat

# A checkout of OP2 is refused at once, with what its translator lacks, also before anything is built.
op2=$folder/op2
expect 1 "compare: --op2: $op2 is no checkout of OP2" in_turns - --op2 "$op2"
refused() { # WORDS
  expect 1 "$1" in_turns "$folder" --op2 "$op2" --smallest heat
}
refused "compare: --op2: $op2 is no checkout of OP2: it has no op2-translator.sh"
mkdir -p "$op2/translator-v2/.python/bin" "$op2/op2/include"
touch "$op2/translator-v2/op2-translator.sh" "$op2/op2/include/op_seq.h"
echo '.PHONY: python' >"$op2/translator-v2/Makefile"
refused "OP2's translator asks git for its version, and git says: "
git -C "$op2" -c init.defaultBranch=main init -q
git -C "$op2" -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m nothing
echo 'python: python/archive' >>"$op2/translator-v2/Makefile"
refused "OP2's translator needs a Python of its own, which it makes of what is in $op2/translator-v2/python: make: "
# shellcheck disable=SC2016 # of the program
printf '#!/bin/sh\ncase $2 in *fparser | *clang*) exit 1 ;; esac\n' >"$op2/translator-v2/.python/bin/python3"
chmod +x "$op2/translator-v2/.python/bin/python3"
refused "the Python of OP2's translator, $op2/translator-v2/.python, lacks fparser, clang.cindex; without --op2 that column is empty"

# Answers of other steps are not the same.
driver=$build/bench/turns_laplace
export OP2_CACHE=off
batch() { # STEPS ARGUMENT...
  local steps=$1
  shift
  echo "$steps" | "$driver" "$@"
}
expect 0 "ready" batch 5 grid 30 "$folder/answer"
expect 0 "  holds" batch 5 library 30 "$folder/answer"
expect 1 "DOES NOT HOLD" batch 6 library 30 "$folder/answer"
expect 1 "$folder/none: No such file" batch 5 library 30 "$folder/none"
expect 1 "/none/answer: No such file" batch 5 grid 30 /none/answer
expect 2 "usage: " batch 5 nosuch 30 "$folder/answer"

# Programs that answer wrongly, end when they should not, and threads that spin.
mkdir "$folder/bench"
stub() { # SHELL COMMANDS
  # shellcheck disable=SC2016 # of the program
  printf '#!/bin/bash\n[ "$1" = forms ] && printf "8\\n0\\none\\nother\\n" && exit\n%s\n' "$1" >"$folder/bench/turns_heat"
  chmod +x "$folder/bench/turns_heat"
}
# shellcheck disable=SC2016 # of the program
report='[ -z "${OP2_TIMING:-}" ] || printf "{\"loops\": [], \"triad_gb_per_second\": 1}" >"${OP2_TIMING#json:}"'
small() { in_turns "$folder" --smallest --out "$folder/page" heat; }
stub "$report; echo ready; while read -r go; do echo 1; done; [ \"\$1\" = other ] && printf AAAAAAAA >\"\$3\" || printf 00000000 >\"\$3\""
expect 1 "compare: heat: the answer of other differs from that of one" small
stub "$report; echo ready; while read -r go; do echo 1; done; printf 00000000 >\"\$3\""
expect 0 "the page: " small
stub 'exit 3'
expect 1 "compare: heat: turns_heat usual 20 ended with status 3" small
stub 'echo ready; read -r go; exit 4'
expect 1 "turns_heat usual 20 ended with status 4" small

[ $failures -eq 0 ] && echo "all forms of all cases agree"
