#!/usr/bin/env python3
"""trace.py SLOW AIRFOIL [RUN KIND]: a trace, read back as a viewer reads it. RUN KIND starts ranks."""
import json
import os
import subprocess
import sys
import tempfile

slow, airfoil, *ranks = sys.argv[1:]
failures = []
ROUNDING = 0.01  # microseconds: times have three digits behind the point
FIXED = {"loop": "loops", "trial": "loops", "compile": "preparing", "prove": "preparing", "load": "preparing", "plan": "preparing",
         "exchange": "exchange", "wait": "waiting", "copy": "device", "file": "files", "call": "other calls"}


def check(what, true):
    if not true:
        failures.append(what)


def run(*command, **variables):
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    check(f"{command}: {done.stdout} {done.stderr}", done.returncode == 0)


def inside(inner, outer):
    return outer["ts"] - ROUNDING <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + ROUNDING


class Trace:
    """Events by category; each is in a row that has a name, and no two of a row overlap unless one is a part of the other."""

    def __init__(self, path, rank=0):
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)["traceEvents"]
        self.rows = {e["tid"]: e["args"]["name"] for e in whole if e["ph"] == "M" and e["name"] == "thread_name"}
        self.events = [e for e in whole if e["ph"] == "X"]
        check(f"{path}: other forms of events", len(self.events) + sum(e["ph"] == "M" for e in whole) == len(whole))
        check(f"{path}: rows of one name: {self.rows}", len(set(self.rows.values())) == len(self.rows))
        for e in self.events:
            check(f"{path}: no such row: {e}", e["tid"] in self.rows and e["pid"] == rank and e["ts"] >= 0 and e["dur"] >= 0)
            wanted = "thread " if e["cat"] == "work" else FIXED[e["cat"]]
            check(f"{path}: in a wrong row: {e}", self.rows.get(e["tid"], "").startswith(wanted))
        for tid in self.rows:
            self.nests(path, sorted((e for e in self.events if e["tid"] == tid), key=lambda e: (e["ts"], -e["dur"])))

    @staticmethod
    def nests(path, events):
        opened = []
        for e in events:
            while opened and e["ts"] >= opened[-1]["ts"] + opened[-1]["dur"] - ROUNDING:
                opened.pop()
            check(f"{path}: they overlap: {opened[-1:]} {e}", not opened or inside(e, opened[-1]))
            opened.append(e)

    def of(self, category):
        return [e for e in self.events if e["cat"] == category]

    def named(self, category):
        return {e["name"] for e in self.of(category)}


LOOPS = {"save_soln", "adt_calc", "res_calc", "bres_calc", "update", "find_largest"}


def cold_and_warm(folder):
    path, home = folder + "/t.json", {"XDG_CACHE_HOME": folder + "/cache", "OP2_TIMING": f"trace:{folder}/t.json"}
    command = [airfoil, "--cells", "20000", "--iters", "3", "OP2_BACKEND=openmp", "OP2_THREADS=2", "OP2_TUNE=off"]
    run(*command, **home)
    t = Trace(path)
    check(f"loops: {t.named('loop')}", t.named("loop") == LOOPS)
    check(f"compiled: {t.named('compile')}", t.named("compile") == LOOPS)
    check(f"proved: {t.named('prove')}", t.named("prove") == LOOPS)
    for e in t.of("prove"):
        check(f"no compile around {e}", any(c["name"] == e["name"] and inside(e, c) for c in t.of("compile")))
    check(f"plans: {t.named('plan')}", LOOPS <= t.named("plan"))
    check("variants", all(e["args"].get("variant") for c in ("loop", "compile", "plan") for e in t.of(c)))
    check("GB/s", all(e["args"]["gb_per_second"] > 0 for e in t.of("loop")))
    check("other calls", "op_init" not in t.named("call") and any(n.startswith("op_") for n in t.named("call")))
    work = t.of("work")
    check(f"two threads: {t.rows}", {"thread 0", "thread 1"} <= set(t.rows.values()))
    both = [{e["ts"] for e in work if t.rows[e["tid"]] == f"thread {i}" and e["name"] == "res_calc"} for i in (0, 1)]
    calls = sum(e["name"] == "res_calc" for e in t.of("loop"))
    check(f"res_calc on each thread: {calls} calls, {[len(b) for b in both]}", len(both[0]) == len(both[1]) == calls > 0)
    for e in work:
        check(f"no loop around {e}", any(c["name"] == e["name"] and inside(e, c) for c in t.of("loop")))
        check(f"waits longer than it works: {e}", 0 <= e["args"]["waited_us"] <= e["dur"] + ROUNDING and e["args"]["variant"])
    check("nobody waits at a barrier between colours", any(e["args"]["waited_us"] > 0 for e in work))
    run(*command, **home)
    warm = Trace(path)
    check("a warm run compiles", not warm.of("compile") and not warm.of("prove") and warm.named("load") == LOOPS)
    run(*command, "OP2_LAZY=on", "OP2_TILES=20000", **home)
    check("tiles on threads", any(e["args"]["variant"] == "tiles" for e in Trace(path).of("work")))


def others(folder):
    path = folder + "/o.json"
    run(slow, "loops", "12", "OP2_BACKEND=openmp", "OP2_THREADS=2", "OP2_TUNE=force", OP2_CACHE=folder + "/o.db", OP2_TIMING="trace:" + path)
    t = Trace(path)
    check("trials of several variants", len({e["args"]["variant"] for e in t.of("trial")}) > 1)
    run(slow, "files", folder + "/large.h5", "OP2_BACKEND=seq", OP2_CACHE="off", OP2_TIMING="trace:" + path)
    files = Trace(path).of("file")
    check(f"files: {files}", {e["args"]["what"] for e in files} == {"read", "write"} and {e["name"] for e in files} == {"large"})
    check("what they move", all(e["args"]["gb_per_second"] > 0 for e in files))


def on_ranks(folder):
    path = folder + "/r.json"
    run("bash", *ranks[:1], ranks[1], "2", airfoil, "--cells", "4000", "--iters", "3", "OP2_BACKEND=openmp", "OP2_THREADS=1", "OP2_TUNE=off",
        OP2_CACHE=folder + "/r.db", OP2_TIMING="trace:" + path)
    for rank, name in enumerate((path, path + ".1")):
        t = Trace(name, rank)
        check(f"rank {rank}: exchanges: {t.named('exchange')}", "res_calc" in t.named("exchange") and {e["args"]["what"] for e in t.of("exchange")} == {"begin", "end"})
        check(f"rank {rank}: waits", t.of("wait"))


with tempfile.TemporaryDirectory() as temporary:
    cold_and_warm(temporary)
    others(temporary)
    if ranks:
        on_ranks(temporary)
for failure in failures[:40]:
    print(failure[:400])
print("failed" if failures else "the trace has all rows, and they agree")
sys.exit(bool(failures))
