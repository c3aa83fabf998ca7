#!/bin/bash
# pack.sh BUILD: the folder of `./dev gpu pack`, made of what is built: it is no larger than what can be carried, has every program that
# its script names, and the script runs on the stand-in, from look to figures, and brings back no more files than it may.
set -u
build=$1
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# shellcheck disable=SC2317 # called by gpu_pack
say() { echo "$*"; }
fail() {
  echo "$*"
  exit 1
}
complain() {
  echo "$*"
  failures=$((failures + 1))
}

# shellcheck source=/dev/null
. .ci/gpu.sh
gpu_pack "$work/pack" "$build" || fail "the folder could not be made"
[ "$(du -sm "$work/pack" | cut -f1)" -le 64 ] || fail "it is larger than 64 MB"

# The script's own names, without those of the machine.
"$work/pack/run.sh" --list >"$work/list" || fail "its script lists nothing"
while read -r program; do
  [ -x "$work/pack/$program" ] || complain "$program is not in it"
done < <(grep -oE '(^|[ =])bin/[A-Za-z0-9_-]+' "$work/list" | tr -d ' =' | sort -u)
[ "$(grep -c 's at most' "$work/list")" -gt 100 ] || complain "it lists too few checks: $(wc -l <"$work/list")"

# Programs find their libraries in it, and nowhere in the build.
! LD_LIBRARY_PATH=$work/pack/lib ldd "$work"/pack/bin/{op2jit,cuda_one,airfoil} | grep -E 'not found|'"$build" || complain "libraries are missing"

export DAY_SIZE=small STANDIN_DEPENDENT=1 STANDIN_MODE=fast STANDIN_MEMORY=16000000
OUT=$work/out DAY_ONLY='test_cuda_results|property-(warps|direct).*-aos|sample-jac-warps.*|machine' "$work/pack/run.sh" look fresh:60 speed:150 >"$work/said" 2>&1 ||
  complain "its script failed: $(cat "$work/said" "$work/out/log.txt")"
for line in 'test_cuda_results' 'property-warps-128-vectors-aos' 'sample-jac-warps-128-vectors' 'speed'; do
  grep -q "^PASS $line" "$work/out/results.txt" || complain "$line did not pass: $(cat "$work/out/results.txt")"
done
grep -q '^op2jit' "$work/out/look.txt" || complain "look.txt does not say what is there: $(head -n 5 "$work/out/look.txt")"
grep -q 'all answers agree' "$work/out/cuda.txt" || complain "there are no figures: $(tail -n 3 "$work/out/cuda.txt")"
[ "$(find "$work/out" -type f | wc -l)" -le 8 ] || complain "too many files: $(ls "$work/out")"
[ "$failures" -eq 0 ] && echo "the folder is whole: $(du -sm "$work/pack" | cut -f1) MB"
exit "$failures"
