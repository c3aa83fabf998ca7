#!/bin/bash
# day.sh [--list] [PART[:SECONDS]]..., of look|forms|fresh|correct|opencl|sanitize|speed|waiting|each_strategy|ragged|starts|profile: what a machine with a GPU is asked, from a folder that
# `./dev gpu pack` made; without a word all of it. `day` is what fits into fifteen minutes: look forms fresh speed. --list names the checks with their limits and runs nothing. The machine needs NVIDIA's
# driver and NVRTC, nothing to build with. Files go to $OUT (out/ here), each line as soon as it is known: look.txt says what the machine
# has, results.txt has a line for each check and log.txt what it said, forms.txt, cuda.txt, cuda.json, waiting.txt and profile.txt have figures.
# Settings: DAY_SIZE=quick (a first look), small (a rehearsal on the stand-in); DAY_JOBS checks at a time; DAY_ONLY: checks whose names
# fit to it, as 'test_cuda_.*'. A part that may take
# so many SECONDS begins no more checks then: they are NOT RUN.
# Parts are called by the names that were given; sizes are lists of words; a file's own name is printed into it.
# shellcheck disable=SC2317,SC2086,SC2094,SC2015,SC2206
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
list=no
[ "${1:-}" != --list ] || { list=yes && shift; }
cores=$(nproc)
jobs=${DAY_JOBS:-$((cores < 14 ? cores : 14))}
size=${DAY_SIZE:-full}
began=$SECONDS may_take=100000
work=$(mktemp -d) || exit 1
trap 'kill $(cat "$work/keeper" 2>/dev/null) 2>/dev/null; rm -rf "$work"' EXIT
[ $list = yes ] || mkdir -p "$out" || exit 1
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} OP2_BACKEND=cuda
export PATH=$PATH:/usr/local/cuda/bin
[ ! -d "$here/plugins" ] || export OP2_PLUGINS=${OP2_PLUGINS:-$here/plugins}
# Where containers get the driver from, if the linker does not know it.
driver=$(ldconfig -p 2>/dev/null | sed -n 's/.*libcuda\.so\.1 .*=> //p' | head -n 1)
for place in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
  if [ -z "$driver" ] && [ -e $place/libcuda.so.1 ]; then
    driver=$place/libcuda.so.1
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$place
  fi
done
# Python's wheels have NVRTC too, wherever this Python keeps them.
if [ -z "${OP2_NVRTC:-}" ] && ! ldconfig -p 2>/dev/null | grep -q libnvrtc && ! ls /usr/local/cuda/lib64/libnvrtc.so.1? >/dev/null 2>&1; then
  found=$(python3 -c 'import glob, sysconfig
print("\n".join(glob.glob(sysconfig.get_path("purelib") + "/nvidia/*/lib/libnvrtc.so.1?")))' 2>/dev/null | head -n 1)
  [ -z "$found" ] || export OP2_NVRTC=$found
fi
# NVIDIA's OpenCL where no file of a vendor names it.
if [ -z "${OCL_ICD_VENDORS:-}" ] && ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
  for found in "${driver%/*}"/libnvidia-opencl.so.1 /usr/local/nvidia/lib*/libnvidia-opencl.so.1; do
    if [ -e "$found" ] && mkdir -p "$work/vendors"; then
      echo "$found" >"$work/vendors/nvidia.icd" && export OCL_ICD_VENDORS=$work/vendors/
      break
    fi
  done
fi
bad=0

# A driver without anybody who uses it stops the GPU, and starting it again takes seconds: somebody always does.
keep() {
  [ -z "$driver" ] || (
    python3 -c 'import ctypes, sys, time
driver = ctypes.CDLL(sys.argv[1])
context = ctypes.c_void_p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
time.sleep(3000)' "$driver" >/dev/null 2>&1 &
    echo $! >"$work/keeper"
  )
}

left() { # seconds of this part
  echo $((began + may_take - SECONDS))
}

plan() { # NAME SECONDS COMMAND...: what would run
  local name=$1 limit=$2
  shift 2
  printf '%-40s %4d s at most: %s%s\n' "$name" "$limit" "${OP2_VARIANT:+OP2_VARIANT=$OP2_VARIANT }" "${*//"$here"\//}"
}

tell() { # LINE: one more result
  printf '%s\n' "$1" >>"$out/results.txt"
}

# check NAME SECONDS COMMAND...: runs beside others; a line says how it went, and the log has what it said.
check() {
  local name=$1 limit=$2 status start=$SECONDS rest line
  shift 2
  rest=$(left)
  if [ "$rest" -le 0 ]; then
    tell "NOT RUN $name: no time was left"
    return
  fi
  [ "$limit" -le $((rest + 15)) ] || limit=$((rest + 15))
  timeout -k 5 "$limit" "$@" >"$work/$name.log" 2>&1
  status=$?
  line="$name ($((SECONDS - start)) s)"
  [ $status -eq 0 ] || line="$name (status $status, $((SECONDS - start)) s): $(grep -vE '^$|^\[ ' "$work/$name.log" | tail -n 1 | cut -c1-200)"
  if [ $status -eq 0 ]; then tell "PASS $line"; else tell "FAIL $line"; fi
  {
    echo "==== $name: status $status: $*"
    # All but the tables of what the property tests drew.
    grep -avE '^  (cuda|opencl|hip) .*( +[0-9]+){8}$' "$work/$name.log" | tail -c $((status ? 12000 : 3000))
  } >"$work/$name.told"
  flock "$out/log.txt" cat "$work/$name.told" >>"$out/log.txt"
}

later() { # the same, as soon as one of the places is free
  [[ $1 =~ ^(${DAY_ONLY:-.*})$ ]] || return 0
  if [ $list = yes ]; then
    plan "$@"
    return
  fi
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  check "$@" &
}

gather() { # waits for the checks of this part
  [ $list = no ] || return 0
  wait
  ! grep -q '^FAIL' "$out/results.txt" || bad=1
}

machine() {
  date -u
  nvidia-smi 2>/dev/null | head -n 15
  "$here/bin/op2jit" info
}

# The machine: no check.
look() {
  [ $list = no ] || { echo "(what the machine has)" && return; }
  {
    machine
    uname -a
    lscpu 2>/dev/null | grep -E 'Model name|^CPU\(s\)|Flags' | cut -c1-2000
    free -g | head -n 2
    for program in gcc g++ clang nvcc ncu nsys compute-sanitizer cuobjdump nvdisasm mpirun clinfo python3; do
      printf '%-18s %s\n' $program "$(command -v $program)"
    done
    nvcc --version 2>/dev/null | tail -n 2
    echo "driver ${driver:-not found}; OP2_NVRTC=${OP2_NVRTC:-}; OCL_ICD_VENDORS=${OCL_ICD_VENDORS:-}"
    find /usr/local/nvidia/ /etc/OpenCL/vendors -name '*cuda*' -o -name '*opencl*' -o -name '*.icd' 2>/dev/null | head -n 40
    ldconfig -p | grep -E 'libcuda|nvrtc|OpenCL' | head -n 20
    ls -d /usr/local/cuda/lib64/libnvrtc* 2>&1
    nvidia-smi --query-gpu=name,driver_version,compute_mode,persistence_mode,clocks.sm,clocks.mem,clocks.max.sm,ecc.mode.current,mig.mode.current --format=csv 2>&1
  } >"$out/look.txt" 2>&1
  grep -E '^(backend )?(cuda|opencl|native|openmp|seq)|NVRTC|driver' "$out/look.txt" | cut -c1-400 | head -n 12
}

strategies='warps/128/vectors warps/256/joined atomics/128/vectors staged/128/vectors staged/128/sorted blocks/128 colours/128/vectors apart/128/vectors ordered/256/vectors'

# Forms that were changed since a GPU ran the checks.
fresh_forms='warps/128/vectors warps/128/vectors/dependent warps/256/vectors/joined ordered/256/vectors atomics/128/vectors blocks/256/vectors staged/256/vectors/sorted direct/128/vectors'

# In these a value is a small difference of large ones, so that the order of additions or a fused multiply-add changes all its
# digits: they are compared where both sides round alike.
cancels='(aero|jacobi_dense)-(opencl-)?shadow|(multigrid|airfoil_hydra)-waiting-check'

# The error of its start is 0 where the same sin and exp made the start, and a last digit where others did, also with OP2_FP=strict.
left_out='transport-(opencl-)?shadow'

# MODE SECONDS VARIABLE... for the samples (PATTERN of their names; all)
in_mode() {
  local mode=$1 pattern=$2 program arguments alike
  shift 2
  while read -r program arguments; do
    [[ $program =~ ^($pattern)$ && ! $program-$mode =~ ^($left_out)$ ]] || continue
    # shellcheck disable=SC2086 # words
    [[ $program-$mode =~ ^($cancels)$ ]] && alike=OP2_FP=strict || alike=OP2_FP=contract
    later "sample-$program-$mode" 100 env $alike "$@" "$here/bin/$program" $arguments
  done <"$here/samples.txt"
}

property() { # NAME ARGUMENT...
  local name=$1
  shift
  later "property-$name" 250 "$here/bin/property" --backend "$OP2_BACKEND" --seed $((seed += 1)) "$@"
}

# Every construct, every call, every sample, every strategy over random loops: the answers are checked by each program itself, against
# its own interpreter or another implementation on the host.
correct() {
  local cases=60 airfoil=(--cells 720000 --iters 1000) seed=$((${DAY_SEED:-0} * 1000)) variant layout program some='.*'
  [ "$size" != quick ] || { cases=8 && some='airfoil|jac|shallow_water|vadd|spmv'; }
  [ "$size" != small ] || { cases=1 airfoil=(--cells 1500 --iters 3) some='jac' && export OP2_TUNE=off; }
  export OP2_CACHE=off
  export TEST_LIVES=12
  later machine 60 "$here/bin/op2jit" info
  # The longest first.
  OP2_TUNE=off later kernels 250 "$here/bin/test_kernels"
  for program in "$here"/bin/test_cuda_*; do
    [ ! -e "$program" ] || OP2_LOG=chain,cuda OP2_CUDA_DRIVER=${OP2_CUDA_DRIVER:-$driver} later "${program##*/}" 250 "$program"
  done
  for program in "$here"/bin/test-api-{types,life}; do [ ! -e "$program" ] || later "${program##*/}" 250 "$program"; done
  in_mode shadow "$some" OP2_SHADOW=native OP2_TUNE=off
  in_mode waiting-check "$some" OP2_LAZY=check OP2_TUNE=off
  in_mode checked "$some" OP2_CHECK=on OP2_TUNE=off
  in_mode tuned "$some" OP2_TUNE=force
  in_mode strict "$some" OP2_FP=strict OP2_TUNE=off
  later airfoil-published 200 "$here/bin/airfoil" "${airfoil[@]}"
  OP2_LAZY=on OP2_FUSE=on later airfoil-published-waiting 200 "$here/bin/airfoil" "${airfoil[@]}"
  for variant in $strategies; do
    for layout in aos soa; do
      property "${variant//\//-}-$layout" --cases $cases --variant "$variant/$layout"
    done
  done
  for variant in rows8 apart/rows32 colours/rows4/soa rows16/each2; do
    property "${variant//\//-}" --cases $cases --sums 1 --variant $variant
  done
  property tuned --cases $cases OP2_TUNE=force
  property mirrored --cases $cases --mirrored 1
  for variant in staged/64/vectors apart/32/soa blocks/32/sorted; do
    property "mirrored-${variant//\//-}" --cases $cases --mirrored 1 --variant $variant
  done
  for mode in on check; do
    property "fused-$mode" --cases $((2 * cases + 12)) --direct 1 --keeps 1 --again 3 OP2_FUSE=on OP2_LAZY=$mode OP2_TUNE=off
    property "waiting-$mode" --cases $cases --keeps 1 --again 4 OP2_LAZY=$mode OP2_TUNE=off
  done
  property large --cases $cases --largest 20000
  property strict --cases $cases OP2_FP=strict
  later shadow-native 100 "$here/bin/test_shadow" native cuda
  later shadow-cuda 100 "$here/bin/test_shadow" cuda native
  in_mode waiting "$some" OP2_LAZY=on OP2_FUSE=on OP2_TUNE=off
  for program in "$here"/bin/test-api-*; do
    [[ $program =~ -(types|life)$ ]] || later "${program##*/}" 250 "$program"
  done
  in_mode plain '.*' OP2_TUNE=off
  gather
}

# The same GPU through OpenCL, where it has a driver for that.
opencl() {
  local cases=20 seed=$((${DAY_SEED:-0} * 1000 + 500)) variant program some='.*'
  [ "$size" != quick ] || { cases=4 && some='airfoil|jac'; }
  [ "$size" != small ] || { cases=1 && some='jac'; }
  export OP2_CACHE=off OP2_BACKEND=opencl
  if [ $list = yes ]; then
    echo "(where there is OpenCL)"
  elif ! timeout 60 "$here/bin/vadd" --size 3000 >"$work/try.log" 2>&1; then
    tell "NOT RUN opencl: $(grep -v '^$' "$work/try.log" | tail -n 1 | cut -c1-300)"
    OP2_BACKEND=cuda
    return
  fi
  in_mode opencl '.*' OP2_TUNE=off
  OP2_TUNE=off later opencl-kernels 250 "$here/bin/test_kernels"
  for program in globals ragged data arguments; do later "opencl-api-$program" 250 "$here/bin/test-api-$program"; done
  for variant in atomics/64 staged/64 staged/128/sorted/soa blocks/64/soa colours/64 apart/64/soa warps/64 ordered/64 direct/128/each4; do
    property "opencl-${variant//\//-}" --cases $cases --variant $variant
  done
  property opencl-waiting --cases $cases --keeps 1 --again 2 OP2_LAZY=on
  property opencl-mirrored --cases $cases --mirrored 1
  in_mode opencl-waiting "$some" OP2_LAZY=on OP2_FUSE=on OP2_TUNE=off
  in_mode opencl-shadow "$some" OP2_SHADOW=native OP2_TUNE=off
  gather
  OP2_BACKEND=cuda
}

# COMMAND...: reads of memory that nothing wrote. A result of eight bytes lies in a slot of sixteen, whose second half is copied with it,
# and used by nobody: addresses that end in 8 are no mistake.
initcheck() {
  local said
  said=$(compute-sanitizer --tool initcheck --print-limit 100000 "$@" 2>&1) || return
  grep -E 'ERROR SUMMARY|error:' <<<"$said"
  grep -q 'ERROR SUMMARY' <<<"$said" && ! grep ' Address 0x' <<<"$said" | grep -v '8$'
}
export -f initcheck

# NVIDIA's own checkers, where the machine lets them: it refuses some of them under some hypervisors.
sanitize() {
  local tool variant seed=7000
  export OP2_CACHE=off OP2_TUNE=off
  if [ $list = yes ]; then
    echo "(where compute-sanitizer works)"
  elif ! command -v compute-sanitizer >/dev/null; then
    tell "NOT RUN sanitize: there is no compute-sanitizer here"
    return
  elif ! timeout 60 compute-sanitizer "$here/bin/vadd" --size 3000 >"$work/try.log" 2>&1; then
    tell "NOT RUN sanitize: compute-sanitizer does not work here: $(tail -n 3 "$work/try.log" | tr '\n' ' ' | cut -c1-300)"
    return
  fi
  for tool in memcheck racecheck initcheck synccheck; do
    local checker=(compute-sanitizer --tool $tool --error-exitcode 1)
    [ $tool != initcheck ] || checker=(bash -c 'initcheck "$@"' initcheck)
    for variant in $strategies; do
      OP2_VARIANT=$variant later "$tool-airfoil-${variant//\//-}" 100 "${checker[@]}" "$here/bin/airfoil" --cells 1500 --iters 2
      [ "$tool" = initcheck ] || OP2_VARIANT=$variant later "$tool-jac-${variant//\//-}" 100 compute-sanitizer --tool $tool \
        --error-exitcode 1 "$here/bin/jac" --n 20 --iters 2
    done
    OP2_LAZY=on OP2_FUSE=on later "$tool-airfoil-waiting" 100 "${checker[@]}" "$here/bin/airfoil" --cells 1500 --iters 4
    OP2_VARIANT=rows8 later "$tool-rows" 100 "${checker[@]}" "$here/bin/test_cuda_rows"
  done
  for tool in memcheck racecheck; do
    for variant in $strategies; do
      later "$tool-property-${variant//\//-}" 150 compute-sanitizer --tool $tool --error-exitcode 1 "$here/bin/property" --backend cuda \
        --cases 3 --seed $((seed += 1)) --variant $variant OP2_CACHE=off
    done
  done
  gather
}

# The cost of forms of kernels by themselves, the most deciding first: four minutes at most. Their answers are compared, too.
forms() {
  local options=(--source "$here/forms.cu") large=(--size 2400 1200) part
  [ "$size" != small ] || { options+=(--size 32 10) && large=(); }
  for part in res price rows result step reuse "large res rows step" counters; do
    if [ $list = yes ]; then
      plan "forms-${part// /-}" 60 "$here/bin/forms" "${options[@]}" $part
      continue
    fi
    [ "$(left)" -gt 0 ] || { tell "NOT RUN forms-${part// /-}: no time was left" && continue; }
    [ "$part" != counters ] || command -v ncu >/dev/null || { tell "NOT RUN forms-counters: there is no ncu here" && continue; }
    case $part in
    large*) [ ${#large[@]} -eq 0 ] || timeout -k 5 60 "$here/bin/forms" "${options[@]}" "${large[@]}" ${part#large} ;;
    counters) # what the hardware counts for res_calc in every form
      timeout -k 5 60 ncu --csv -k 'regex:res_' -c 12 --section SpeedOfLight --section WarpStateStats --section \
        MemoryWorkloadAnalysis_Tables "$here/bin/forms" "${options[@]}" res >"$out/profile.txt" 2>&1
      ;;
    *) timeout -k 5 60 "$here/bin/forms" "${options[@]}" "$part" ;;
    esac 2>>"$out/log.txt" | tee -a "$out/forms.txt"
    if [ "${PIPESTATUS[0]}" -eq 0 ]; then tell "PASS forms-${part// /-}"; else bad=1 && tell "FAIL forms-${part// /-}: see forms.txt and log.txt"; fi
  done
}

# The forms that no GPU has run yet: random loops, samples against the host, results, NVIDIA's checkers.
fresh() {
  local cases=20 seed=$((${DAY_SEED:-0} * 1000 + 9000)) variant layout program tool some='airfoil|jac|multigrid|spmv'
  [ "$size" != small ] || { cases=1 some='jac' && export OP2_TUNE=off; }
  export OP2_CACHE=off
  for program in "$here"/bin/test_cuda_{results,counts,graphs,near,waits}; do
    [ ! -e "$program" ] || OP2_CUDA_DRIVER=${OP2_CUDA_DRIVER:-$driver} later "${program##*/}" 150 "$program"
  done
  for variant in $fresh_forms; do
    for layout in aos soa; do property "${variant//\//-}-$layout" --cases $cases --variant "$variant/$layout"; done
    in_mode "${variant//\//-}" "$some" OP2_VARIANT=$variant OP2_SHADOW=native OP2_TUNE=off
  done
  property kept --cases $cases --keeps 1 --again 4 OP2_LAZY=on OP2_TUNE=off
  in_mode tuned "$some" OP2_TUNE=force
  if [ $list = yes ] || command -v compute-sanitizer >/dev/null; then
    for variant in $fresh_forms; do
      for tool in memcheck racecheck synccheck; do
        OP2_TUNE=off OP2_VARIANT=$variant later "$tool-airfoil-${variant//\//-}" 60 compute-sanitizer --tool $tool --error-exitcode 1 \
          "$here/bin/airfoil" --cells 1500 --iters 2
      done
    done
  else
    tell "NOT RUN sanitize: there is no compute-sanitizer here"
  fi
  gather
}

small=(--cells 300 --large 0 --tiny 100 --side 8 --rows 300 --repeats 2 --warm 1 --seconds 0.01)

speed() {
  local options=(--large 2880000 --seconds 0.3 --repeats 7)
  [ "$size" != small ] || options=("${small[@]}")
  if [ $list = yes ]; then
    plan speed 500 "$here/bin/cuda_one" --source "$here/twins.cu" --json "$out/cuda.json" "${options[@]}"
    return
  fi
  machine >"$out/cuda.txt" 2>&1
  timeout -k 5 "$(($(left) < 500 ? $(left) : 500))" env -u OP2_CACHE -u OP2_TUNE "$here/bin/cuda_one" --source "$here/twins.cu" --json \
    "$out/cuda.json" --cache "$work/kernels.db" "${options[@]}" 2>>"$out/log.txt" | tee -a "$out/cuda.txt"
  if [ "${PIPESTATUS[0]}" -eq 0 ]; then tell "PASS speed"; else bad=1 && tell "FAIL speed: see cuda.txt and log.txt"; fi
}

# timed NAME SAMPLE SIZE VARIABLE...: milliseconds of a step, the quickest and the median of nine batches, behind others in which the
# library looks for its variants.
timed() {
  local name=$1 sample=$2 wanted=$3 word=library answer=$work/$2-$3.answer status
  shift 3
  [ "$size" != small ] || wanted=${wanted:0:1}0
  if [ $list = yes ]; then
    plan "$name" 60 "$here/bin/turns_$sample" "$word" "$wanted" "$@"
    return
  fi
  [ "$(left)" -gt 0 ] || { tell "NOT RUN timed-$name: no time was left" && return; }
  [ -e "$answer" ] || word=first
  env -u OP2_TUNE OP2_CACHE="$work/waiting.db" "$@" timeout -k 5 60 python3 - "$([ "$size" = small ] && echo 0.1 || echo 2.5)" \
    "$here/bin/turns_$sample" "$word" "$wanted" "$answer" >"$work/timed" 2>>"$out/log.txt" <<'PYTHON'
import statistics, subprocess, sys, time
looking, command = float(sys.argv[1]), sys.argv[2:]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as it:
    def batch(steps):
        it.stdin.write(f"{steps}\n")
        return float(it.stdout.readline())
    begin = time.monotonic()
    while it.stdout.readline().strip() != "ready":
        if it.poll() is not None:
            sys.exit(it.returncode or 1)
    ready, steps = time.monotonic(), 5
    while time.monotonic() < ready + looking:
        steps = max(5, min(2000, int(60 / max(1e-4, batch(steps)))))
    times = [batch(steps) for _ in range(9)]
    batch(10)  # whose answer is compared
    it.stdin.close()
    print(it.stdout.read().strip(), file=sys.stderr)
print(f"{min(times):9.4f} {statistics.median(times):9.4f} ms a step (quickest, median; {steps} steps a batch; ready after {ready - begin:.1f} s)")
sys.exit(it.returncode)
PYTHON
  status=$?
  printf '%-30s %s; %s%s\n' "$name" "$(tail -n 1 "$work/timed")" "$*" "$([ $status -eq 0 ] || echo "; STATUS $status")" | tee -a "$out/waiting.txt"
  if [ $status -eq 0 ]; then tell "PASS timed-$name"; else tell "FAIL timed-$name: status $status"; fi
}

# Loops one by one, as the library lets them wait by itself, waiting (as graphs), fused, through OpenCL, and on the host's cores.
waiting() {
  local case sample wanted
  for case in 'airfoil 720000' 'temporaries 8000000' 'shallow_water 1024' 'heat 8000' 'jac 2000' 'shallow_water 128' 'aero 1000' 'airfoil 2880000' \
    'multigrid 1024' 'airfoil_hydra 64' 'adjoint 1000' 'sums 8000000'; do
    read -r sample wanted <<<"$case"
    timed "$sample-$wanted-one" "$sample" "$wanted" OP2_LAZY=off
    timed "$sample-$wanted-itself" "$sample" "$wanted"
    timed "$sample-$wanted-graphs" "$sample" "$wanted" OP2_LAZY=on OP2_FUSE=off
    timed "$sample-$wanted-fused" "$sample" "$wanted" OP2_LAZY=on OP2_FUSE=on
    case $sample-$wanted in
    airfoil-720000 | heat-8000)
      ! command -v clinfo >/dev/null && [ -z "${OCL_ICD_VENDORS:-}" ] || timed "$sample-$wanted-opencl" "$sample" "$wanted" OP2_BACKEND=opencl
      [ ! -d "$here/plugins" ] || timed "$sample-$wanted-openmp" "$sample" "$wanted" OP2_BACKEND=openmp
      ;;
    esac
  done
}

# The cost of each way to add in airfoil.
each_strategy() {
  local variant cells=720000
  [ "$size" != small ] || cells=600
  for variant in warps/128 warps/256 warps/256/joined atomics/128 soa,res_calc:atomics/128 atomics/128/vectors staged/128 staged/256/vectors staged/256/sorted \
    blocks/128 blocks/256/sorted colours/128 colours/128/vectors apart/128 apart/256/vectors ordered/128 ordered/256; do
    [[ $variant == *:* ]] || variant=res_calc:$variant
    if [ $list = yes ]; then
      OP2_VARIANT=$variant plan "strategy-${variant//\//-}" 30 "$here/bin/airfoil" --cells $cells --iters 200
      continue
    fi
    [ "$(left)" -gt 0 ] || continue
    OP2_CACHE="$work/waiting.db" OP2_TUNE=off OP2_TIMING=text OP2_VARIANT=$variant timeout -k 5 30 "$here/bin/airfoil" --cells \
      $cells --iters 200 >"$work/strategy" 2>&1 || tell "FAIL strategy-${variant//\//-}: $(tail -n 1 "$work/strategy" | cut -c1-200)"
    printf '%-24s %s\n' "$variant" "$(grep -E '^ *res_calc' "$work/strategy" | head -n 1)" | tee -a "$out/waiting.txt"
  done
  [ $list = no ] && [ "$(left)" -gt 0 ] || return 0
  OP2_CACHE="$work/waiting.db" OP2_TUNE=force OP2_TIMING=text timeout -k 5 60 "$here/bin/airfoil" --cells $cells --iters 1000 >"$work/strategy" 2>&1 ||
    tell "FAIL strategy-tuned: $(tail -n 1 "$work/strategy" | cut -c1-200)"
  grep -E '^ *(save_soln|adt_calc|res_calc|bres_calc|update)' "$work/strategy" | sed 's/^/tuned: /' | tee -a "$out/waiting.txt"
}

# A matrix's rows: each loop's time and bytes, as the guess runs it and by what the tuner finds.
ragged() {
  local kind tune rows=1000000
  [ "$size" != small ] || rows=300
  for kind in power five banded; do
    for tune in off force; do
      if [ $list = yes ]; then
        plan "ragged-$kind-$tune" 30 "$here/bin/spmv_bench" "$kind" $rows 9
        continue
      fi
      [ "$(left)" -gt 0 ] || continue
      OP2_CACHE=off OP2_TUNE=$tune OP2_TIMING=text timeout -k 5 30 "$here/bin/spmv_bench" $kind $rows 9 >"$work/ragged" 2>&1 ||
        tell "FAIL ragged-$kind-$tune: $(tail -n 1 "$work/ragged" | cut -c1-200)"
      grep -E '^ *(multiply|multiply_any|fixed) ' "$work/ragged" | sed "s/^/$kind, tuner $tune: /" | tee -a "$out/waiting.txt"
    done
  done
}

# How long a program takes that compiles all, one that finds it in the cache, and the CPU's.
starts() {
  local how backend began_at
  for backend in cuda openmp; do
    for how in cold warm warm; do
      if [ $list = yes ]; then
        plan "start-$backend-$how" 30 "$here/bin/airfoil" --cells 1500 --iters 1
        continue
      fi
      began_at=$(date +%s%N)
      OP2_BACKEND=$backend OP2_CACHE=$work/starts.db timeout -k 5 30 "$here/bin/airfoil" --cells 1500 --iters 1 >"$work/starts" 2>&1 ||
        tell "FAIL start-$backend-$how: $(tail -n 1 "$work/starts" | cut -c1-200)"
      echo "start-$backend-$how $((($(date +%s%N) - began_at) / 1000000)) ms for the whole program" | tee -a "$out/waiting.txt"
    done
  done
}

# The hardware's counts for airfoil's kernels, where it can be asked.
profile() {
  if [ $list = yes ]; then
    echo "(where ncu works)"
    plan profile 200 ncu "$here/bin/airfoil" --cells 720000 --iters 3
    return
  fi
  command -v ncu >/dev/null || { tell "NOT RUN profile: there is no ncu here" && return; }
  OP2_CACHE=off OP2_TUNE=off timeout "$(($(left) < 200 ? $(left) : 200))" ncu --clock-control none --kernel-name-base function --kernel-name regex:op2_loop \
    --launch-skip 9 --launch-count 9 --section SpeedOfLight --section MemoryWorkloadAnalysis --section Occupancy \
    "$here/bin/airfoil" --cells 720000 --iters 3 >"$out/profile.txt" 2>&1 || tell "NOT RUN profile: ncu failed: $(tail -n 1 "$out/profile.txt")"
}

summary() {
  [ -s "$out/results.txt" ] || return 0
  echo "== $(grep -c '^PASS' "$out/results.txt") passed, $(grep -c '^FAIL' "$out/results.txt") failed, $(grep -c '^NOT RUN' "$out/results.txt") not run"
  grep '^FAIL' "$out/results.txt" | sort | cut -c1-230 | head -n 40
  grep '^NOT RUN' "$out/results.txt" | grep -v 'no time was left' | cut -c1-300
}

[ "${1:-}" != day ] || set -- look:30 forms:240 fresh:240 speed:200
[ $# -gt 0 ] || set -- look forms correct opencl sanitize speed waiting each_strategy ragged starts profile
[ $list = yes ] || { : >"$out/log.txt" && : >"$out/results.txt" && keep; }
for part in "$@"; do
  began=$SECONDS may_take=100000
  case $part in *:*) may_take=${part#*:} part=${part%:*} ;; esac
  case $part in
  look | forms | fresh | correct | opencl | sanitize | speed | waiting | each_strategy | ragged | starts | profile)
    echo "== $part"
    $part
    [ $list = yes ] || echo "   $part took $((SECONDS - began)) s"
    ;;
  *)
    echo "day.sh: there is no part '$part'; there are: look forms fresh correct opencl sanitize speed waiting each_strategy ragged starts profile"
    exit 2
    ;;
  esac
done
[ $list = yes ] || summary
exit $bad
