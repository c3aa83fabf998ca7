#!/bin/bash
# day_list.sh DAY SAMPLES: day.sh --list names every check with its limit, runs none and leaves nothing behind.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" && cp "$1" "$folder/run.sh" && cp "$2" "$folder/samples.txt" || exit 1
touch "$folder/bin/test-api-data"
before=$(cd "$folder" && find . | sort)
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

said=$("$folder/run.sh" --list) || fail "it failed: $said"
[ "$(cd "$folder" && find . | sort)" = "$before" ] || fail "it left something behind"
for words in "kernels  *250 s at most: bin/test_kernels" "test-api-data  *250 s" "property-whole-128-sorted-soa  *250 s" \
  "racecheck-jac-blocks-128  *100 s at most: OP2_VARIANT=blocks/128 compute-sanitizer" "speed  *500 s" "profile  *200 s"; do
  grep -qE "^$words" <<<"$said" || fail "no '$words' in: $said"
done
[ "$(grep -c '^sample-.*-plain ' <<<"$said")" -eq "$(wc -l <"$2")" ] || fail "not one line for each sample: $said"
! grep -qE '^(PASS|FAIL|NOT RUN)' <<<"$said" || fail "it ran something: $said"
one=$("$folder/run.sh" --list profile)
[ "$(grep -c 's at most' <<<"$one")" -eq 1 ] || fail "one part is not one part: $one"
[ "$failures" -eq 0 ] && echo "all checks are named"
exit "$failures"
