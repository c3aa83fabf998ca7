#!/bin/bash
# dev.sh ROOT: ./dev explains itself and refuses what it does not know; nothing is built or installed here.
set -u
dev=$1/dev
failures=0

expect() { # STATUS WORDS COMMAND...: the status, and the words somewhere in the output
  local status=$1 words=$2 output got
  shift 2
  output=$("$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || [[ $output != *"$words"* ]]; then
    echo "$* ended with $got and said: $output"
    echo "expected were $status and: $words"
    failures=$((failures + 1))
  fi
}

for command in setup build demo test bench format lint house fuzz; do
  expect 0 "./dev $command" "$dev" --help
  expect 0 "./dev $command" "$dev" $command --help
done
expect 0 "two cores" "$dev"
# The shell has nothing to say about the script itself: a quote too many in its lists once left the packages out.
[ -z "$("$dev" --help 2>&1 >/dev/null)" ] || {
  echo "./dev --help complains: $("$dev" --help 2>&1 >/dev/null)"
  failures=$((failures + 1))
}
# Unknown words are refused before anything is done, with the command's own line of the help.
expect 2 "there is no command 'tset'" "$dev" tset
expect 2 "there is no command 'setup_it'" "$dev" setup_it
for command in setup build lint; do
  expect 2 "does not know '--bogus'"$'\n'"usage: ./dev $command" "$dev" $command --bogus
done
expect 2 "does not know '--lnog'"$'\n'"usage: ./dev test [--more|--long]" "$dev" test --lnog
expect 2 "there is no suite 'untis'; there are: " "$dev" test --suite untis
expect 2 "there is no suite ''" "$dev" test --suite
expect 2 "instead of 'bulid'" "$dev" test --in bulid
expect 2 "there is no part 'nosuch'; there are: " "$dev" test --with nosuch
expect 2 "--with: expected a part: " "$dev" test --with
expect 2 "does not know '--lnog'" "$dev" test --with all --lnog
expect 2 "there is no benchmark 'nosuch'; there are: " "$dev" bench nosuch
expect 2 "usage: ./dev bench [NAME...] [OPTION...]" "$dev" bench --bogus
expect 2 "there is no benchmark '--quick'" "$dev" bench default cache --quick
expect 2 "unrecognized arguments: --bogus" "$dev" bench default --bogus
expect 2 "no case nosuch; there are: airfoil flux " "$dev" compare heat nosuch
expect 0 "usage: ./dev compare" "$dev" compare --help
expect 0 "usage: ./dev compare" "$dev" compare --full --help
expect 0 "usage: ./dev bench default" "$dev" bench default --help
expect 2 "OP2_LAZY: expected words such as OP2_LAZY=off" "$dev" bench default --off OP2_LAZY
expect 2 "no case nosuch; there are: airfoil heat " "$dev" bench default nosuch
expect 2 "usage: ./dev format [--check]" "$dev" format --bogus
expect 2 "does not know 'more'" "$dev" format --check more
expect 2 "there is no fuzz target 'nosuch'" "$dev" fuzz nosuch
expect 2 "instead of 'long'"$'\n'"usage: ./dev fuzz [TARGET [SECONDS]]" "$dev" fuzz api long
expect 2 "usage: ./dev gpu pack|rehearse|run [FOLDER]" "$dev" gpu fly
root=$1 build=$2
named() { (cd "$build" && python3 "$root/.ci/named.py" . "$@"); }
expect 0 "negative seq" named no "ATIVE SE"
expect 1 "did you mean 'whereami'" named no wherami
expect 1 "has 'nosuchtest' in its name" named no nosuchtest
[ "$(named no report)" = report ] || { echo "a whole name is not that test alone: $(named no report)"; failures=1; }
[ "$(named no negative whereami | grep -c '^whereami$')" -eq 1 ] || { echo "two words are not both looked for"; failures=1; }
[ $failures -eq 0 ] && echo "every command explains itself"
