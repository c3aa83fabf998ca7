#!/usr/bin/env python3
"""./dev bench tune: what tuning finds, what it costs, and what the next run starts with.

usage: tune.py BUILD [--quick] [--json FILE] [SAMPLE...]

For each sample a process with OP2_TUNE=off (the default variants), one with auto and one with force (every candidate), each on
an empty cache; then auto again on the cache that auto left (its first calls against the last ones of the run before), and
with `use` on the caches of auto and force, so that default, tuned and exhaustive choice are timed without trials, one after
the other, several times. At last airfoil is tuned on 100,000 cells and started on 720,000 from that.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

# Sample, its options to tune it, and for --quick.
SAMPLES = [
    ("airfoil", ["--cells", "100000", "--iters", "1500"], ["--cells", "20000", "--iters", "400"]),
    ("jac", ["--n", "700", "--iters", "1500"], ["--n", "200", "--iters", "400"]),
    ("shallow_water", ["--m", "300", "--steps", "1500"], ["--m", "100", "--steps", "300"]),
    ("heat", ["--n", "700", "--steps", "1500"], ["--n", "200", "--steps", "400"]),
    ("laplace", ["--n", "700", "--most", "1500"], ["--n", "200", "--most", "300"]),
    ("airfoil_hydra", ["--n", "40", "--iters", "150"], ["--n", "16", "--iters", "50"]),
    ("aero", ["--n", "200"], ["--n", "48"]),
    ("multigrid", ["--side", "512", "--cycles", "30"], ["--side", "128", "--cycles", "10"]),
]
ROUNDS = 3
WINDOW = 100  # calls at either end
SHORTEST = 1e-5  # seconds of a call: what is shorter is left out
TRANSFER = {False: (100000, 720000, 1000, 60), True: (10000, 72000, 300, 60)}  # cells, cells, iterations, iterations


class Runner:
    def __init__(self, build, folder):
        self.build = build
        self.folder = folder

    def run(self, sample, options, cache, tune, timing="json"):
        report = os.path.join(self.folder, "report")
        env = dict(os.environ, OP2_CACHE=os.path.join(self.folder, cache), OP2_TUNE=tune,
                   OP2_TIMING=f"{timing}:{report}", OP2_LOG="warn")
        env.setdefault("OP2_BACKEND", "openmp")
        done = subprocess.run([os.path.join(self.build, "samples", sample), *options], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{sample} failed with OP2_TUNE={tune}:\n{done.stdout[-2000:]}")
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def loops(self, *arguments):
        """Rows by loop; loops of one name on several sets are told apart by their number."""
        rows = {}
        for loop in self.run(*arguments)["loops"]:
            name, number = loop["name"], 2
            while name in rows:
                name, number = f"{loop['name']} {number}", number + 1
            rows[name] = loop
        return rows

    def calls(self, *arguments):
        """Milliseconds of each call in order, by loop."""
        times = {}
        for event in self.run(*arguments, "trace")["traceEvents"]:
            times.setdefault(event["name"], []).append(event["dur"] * 1e-3)
        return times


def per_call(loop):
    return loop["seconds"] / max(1, loop["calls"])


def tune_sample(runner, sample, options):
    """Rows of the table for one sample."""
    tuned, forced = f"{sample}.auto.db", f"{sample}.force.db"
    last = runner.calls(sample, options, tuned, "auto")
    first = runner.calls(sample, options, tuned, "auto")
    again = runner.loops(sample, options, tuned, "auto")
    cost = runner.loops(sample, options, f"{sample}.fresh.db", "auto")
    runner.run(sample, options, forced, "force")
    choices = {"default": (f"{sample}.off.db", "off"), "tuned": (tuned, "use"), "exhaustive": (forced, "use")}
    times = {}
    variants = {}
    for _ in range(ROUNDS):
        for choice, (cache, tune) in choices.items():
            for name, loop in runner.loops(sample, options, cache, tune).items():
                times.setdefault(name, {}).setdefault(choice, []).append(per_call(loop))
                variants.setdefault(name, {})[choice] = loop["variant"]
    rows = []
    for name, by_choice in times.items():
        row = {choice: statistics.median(values) for choice, values in by_choice.items()}
        if row["default"] < SHORTEST or name not in cost:
            continue
        spent = cost[name]["trial_seconds"] / max(cost[name]["seconds"], 1e-9)
        start = (statistics.median(first[name][:WINDOW]) / statistics.median(last[name][-WINDOW:])
                 if name in first and name in last else None)
        rows.append({"sample": sample, "loop": name, **row, "share_of_trials": spent, "start_against_end": start,
                     "variants": variants[name], "compiled_again": again[name]["code"] == "compiled",
                     "tried_again": again[name]["trials"]})
    return rows


def print_rows(rows):
    for r in rows:
        start = f"{r['start_against_end']:.2f}x" if r["start_against_end"] else "-"
        anew = "nothing" if not r["compiled_again"] and not r["tried_again"] else f"{r['tried_again']:.0f} trials"
        print(f"{r['sample']:<14} {r['loop']:<18} {1e3 * r['default']:>9.4f} {1e3 * r['tuned']:>9.4f} "
              f"{1e3 * r['exhaustive']:>10.4f} {100 * r['share_of_trials']:>6.1f} % {start:>7}  {anew:<11} "
              f"{r['variants']['tuned']}", flush=True)


def transfer(runner, quick):
    """Tuned on a small mesh: how near is the start on a large one to what an exhaustive search finds there?"""
    small, large, long_run, short_run = TRANSFER[quick]
    options = ["--cells", str(large), "--iters", str(short_run)]
    runner.run("airfoil", ["--cells", str(small), "--iters", str(long_run)], "small.db", "auto")
    runner.run("airfoil", ["--cells", str(large), "--iters", str(4 * short_run)], "large.db", "force")
    totals = {"small": [], "large": []}
    for _ in range(ROUNDS):
        for name, times in totals.items():
            loops = runner.loops("airfoil", options, f"{name}.db", "use")
            times.append(sum(loop["seconds"] for loop in loops.values()) / short_run)
    start, best = (statistics.median(totals[name]) for name in ("small", "large"))
    print(f"\nairfoil tuned on {small} cells, then {large}: {1e3 * start:.3f} ms an iteration, "
          f"{100 * (start / best - 1):+.1f} % of the exhaustive choice there ({1e3 * best:.3f} ms)")
    return {"tuned_on": small, "run_on": large, "seconds": start, "exhaustive_seconds": best}


def main(arguments):
    quick = "--quick" in arguments
    path = arguments[arguments.index("--json") + 1] if "--json" in arguments else None
    words = [a for a in arguments if not a.startswith("--") and a != path]
    build, wanted = (words[0] if words else "build"), words[1:]
    print("milliseconds of a call; trials: their share of the loop's time in the first run with auto; start: the median of "
          f"the second\nrun's first {WINDOW} calls against the first run's last {WINDOW}; anew: what the third run still tried")
    print(f"{'sample':<14} {'loop':<18} {'default':>9} {'tuned':>9} {'exhaustive':>10} {'trials':>8} {'start':>7}  {'anew':<11} "
          "variant")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(build, folder)
        for sample, options, small in SAMPLES:
            if wanted and sample not in wanted:
                continue
            found = tune_sample(runner, sample, small if quick else options)
            print_rows(found)
            rows += found
        moved = transfer(runner, quick) if not wanted or "airfoil" in wanted else None
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"loops": rows, "transfer": moved}, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:])
