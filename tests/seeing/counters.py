#!/usr/bin/env python3
"""counters.py SLOW: counters of the processor and the system, by loop. What this machine refuses has to be refused in words."""
import ctypes
import errno
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

slow = sys.argv[1]
failures = []
# As linux/perf_event.h numbers them: type, what.
COUNTERS = {"cycles": (0, 0), "instructions": (0, 1), "cache-misses": (0, 3), "branch-misses": (0, 5), "page-faults": (1, 2), "task-clock": (1, 1)}


def check(what, true):
    if not true:
        failures.append(what)


def refusal(kind, what):
    """0, or why the system does not count it for this process."""
    attributes = bytearray(128)
    struct.pack_into("IIQ", attributes, 0, kind, len(attributes), what)
    struct.pack_into("Q", attributes, 40, 0x60)  # not in the kernel, not in a hypervisor
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    file = libc.syscall(number, (ctypes.c_char * len(attributes)).from_buffer(attributes), 0, -1, -1, 0)
    if file < 0:
        return ctypes.get_errno()
    os.close(file)
    return 0


def run(*words, **variables):
    return subprocess.run([slow, *words], env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def report(folder, *words, **variables):
    path = folder + "/r.json"
    done = run(*words, OP2_TIMING="json:" + path, OP2_CACHE=folder + "/k.db", **variables)
    check(f"{words}: {done.stderr}", done.returncode == 0)
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    return {loop["name"]: loop for loop in whole["loops"]}, whole, done.stderr


def main(folder):
    why = {name: refusal(*numbers) for name, numbers in COUNTERS.items()}
    there = [name for name in COUNTERS if not why[name]]
    print("this system counts", ", ".join(there) or "nothing", *(f"; {n}: {os.strerror(e)}" for n, e in why.items() if e))
    loops, whole, said = report(folder, "loops", "4", "OP2_BACKEND=openmp", "OP2_THREADS=2", "OP2_TUNE=off", OP2_COUNTERS="on")
    grind = loops["grind"]
    check(f"counters: {grind.get('counters')}", list(grind.get("counters", {})) == there)
    for name, error in why.items():
        line = next((l for l in said.splitlines() if f"OP2_COUNTERS: {name} cannot be counted: " in l), "")
        check(f"{name}: {said}", bool(line) == bool(error))
        if error in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
            check(line, "this machine has no such counter" in line)
    # The work of two threads, no more than they had time for.
    if "task-clock" in there:
        check(f"task-clock: {grind}", 0 < grind["counters"]["task-clock"] * 1e-9 <= 2 * whole["wall_seconds"])
    if "instructions" in there:
        check(f"instructions: {grind}", grind["counters"]["instructions"] > 1e6 and grind["counters"]["cycles"] > 1e6)
    if "page-faults" in there:
        loops, _, said = report(folder, "faults", "x", "OP2_BACKEND=native", OP2_COUNTERS="page-faults,task-clock")
        faults = [loops[name]["counters"]["page-faults"] for name in ("touch", "calm")]
        check(f"faults: {faults}", faults[0] >= 16 and faults[0] > 4 * faults[1])  # pages may be huge
        check(f"nothing else was asked for: {said}", "cannot be counted" not in said)
        text = run("faults", "x", "OP2_BACKEND=native", OP2_CACHE="off", OP2_COUNTERS="page-faults,task-clock", OP2_TIMING="text").stdout
        check(f"text: {text}", re.search(r"^a call +page-faults +task-clock$", text, re.M) and re.search(r"^touch +[0-9.]+( k)? +[0-9.]+ [num]?s$", text, re.M))
    plain, _, said = report(folder, "faults", "x", "OP2_BACKEND=native")
    check("not asked for", "counters" not in plain["touch"] and not said)
    wrong = run("faults", "x", OP2_COUNTERS="cycels")
    check(f"a wrong name: {wrong.stderr}", wrong.returncode != 0 and 'did you mean "cycles"?' in wrong.stderr)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
for failure in failures:
    print(failure)
print("failed" if failures else "what is counted is in the reports, and what is not is said")
sys.exit(bool(failures))
