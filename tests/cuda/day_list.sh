#!/bin/bash
# day_list.sh DAY SAMPLES FORMS SOURCE: day.sh --list names every check with its limit, runs none and leaves nothing behind; its part
# `forms` runs on the stand-in, and what comes back is no more than can be brought back.
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
for words in "kernels  *250 s at most: bin/test_kernels" "test-api-data  *250 s" "property-staged-128-sorted-soa  *250 s" \
  "racecheck-jac-blocks-128  *100 s at most: OP2_VARIANT=blocks/128 compute-sanitizer" "speed  *500 s" "forms-res  *60 s" "profile  *200 s"; do
  grep -qE "^$words" <<<"$said" || fail "no '$words' in: $said"
done
[ "$(grep -c '^sample-.*-plain ' <<<"$said")" -eq "$(wc -l <"$2")" ] || fail "not one line for each sample: $said"
! grep -qE '^(PASS|FAIL|NOT RUN)' <<<"$said" || fail "it ran something: $said"
one=$("$folder/run.sh" --list profile)
[ "$(grep -c 's at most' <<<"$one")" -eq 1 ] || fail "one part is not one part: $one"
day=$("$folder/run.sh" --list day)
[ "$(grep -oE '^== [a-z]+' <<<"$day" | tr -d '\n')" = "== look== forms== fresh== speed" ] || fail "the day is not these four: $day"
cp "$3" "$folder/bin/forms" && cp "$4" "$folder/forms.cu" || exit 1
STANDIN_MODE=fast STANDIN_MEMORY=16000000 DAY_SIZE=small OUT=$folder/out "$folder/run.sh" forms >"$folder/said" 2>&1 ||
  fail "it failed: $(cat "$folder/said" "$folder/out/log.txt")"
for part in res price rows result step reuse large-res-rows-step; do
  grep -q "^PASS forms-$part$" "$folder/out/results.txt" || fail "forms-$part did not pass: $(cat "$folder/out/results.txt")"
done
for form in rows warp lanes block apart wide; do
  grep -q "^res .* $form .* us" "$folder/out/forms.txt" || fail "no time of $form: $(cat "$folder/out/forms.txt")"
done
[ "$(find "$folder/out" -type f | wc -l)" -le 8 ] || fail "too many files: $(ls "$folder/out")"
[ "$failures" -eq 0 ] && echo "all checks are named"
exit "$failures"
