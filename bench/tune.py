#!/usr/bin/env python3
"""./dev bench tune: what tuning finds, what it costs, and what the next run starts with.

usage: tune.py BUILD [--quick] [--out FOLDER] [SAMPLE...]

  ./dev bench tune                                    everything, which takes long
  SAMPLES="airfoil heat" OUT=FOLDER ./dev bench tune  a part of it; QUICK=1: on small meshes

With a folder what was measured is kept in its tune.json, sample by sample, and tune.txt is the table of all that is there: the
samples can be run one by one. "transfer" is a sample too: airfoil tuned on 100,000 cells and started on 720,000 from that.

For each sample a process with OP2_TUNE=auto on an empty cache, again until it tries nothing any more, then once more (its first
calls against the last ones of the run that still tried), and one with force (every candidate) on another cache. Then the
default variants (off) and what auto and force left (use) are timed without trials, one after the other, several times.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

# Sample, its options to tune it, and for --quick.
SAMPLES = [
    ("airfoil", ["--cells", "100000", "--iters", "1500"], ["--cells", "20000", "--iters", "400"]),
    ("jac", ["--n", "700", "--iters", "1500"], ["--n", "200", "--iters", "400"]),
    ("shallow_water", ["--m", "300", "--steps", "1500"], ["--m", "100", "--steps", "300"]),
    ("heat", ["--n", "700", "--steps", "1500"], ["--n", "200", "--steps", "400"]),
    ("laplace", ["--n", "700", "--most", "1500"], ["--n", "200", "--most", "300"]),
    ("airfoil_hydra", ["--n", "40", "--iters", "150"], ["--n", "16", "--iters", "50"]),
    ("aero", ["--n", "200"], ["--n", "48"]),
    ("multigrid", ["--side", "512", "--cycles", "60"], ["--side", "128", "--cycles", "10"]),
    ("vadd", ["--size", "1000000", "--repeats", "600"], ["--size", "100000", "--repeats", "200"]),
    ("access_patterns", ["--size", "300000", "--repeats", "300"], ["--size", "50000", "--repeats", "60"]),
    ("jacobi_dense", ["--n", "1024", "--most", "300"], ["--n", "300", "--most", "200"]),
]
LEFT_OUT = "pi, reduction, matmul, adjoint: their loops run a few times only, and so are not tuned"
TRANSFER = {False: (100000, 720000, 1500, 60), True: (10000, 72000, 400, 40)}  # cells, cells, iterations, iterations
ROUNDS = 3
WINDOW = 100  # calls at either end
SHORTEST = 1e-5  # seconds of a call: what is shorter is left out
FEWEST = 20  # calls of a loop: what runs less often is left out
MOST_RUNS = 6  # until nothing is tried any more
HEADING = ("sample", "loop", "default", "tuned", "exhaustive", "trials", "start", "anew", "variant: default, tuned, exhaustive")


def program(build, sample):
    """The sample; those that run a loop a few times only are repeated by their comparison."""
    compared = sample in ("vadd", "access_patterns")
    return os.path.join(build, "bench", "compare", "compare_" + sample) if compared else os.path.join(build, "samples", sample)


class Runner:
    """Runs samples on caches of its own."""

    def __init__(self, build, folder):
        self.build = build
        self.folder = folder
        self.output = ""

    def run(self, sample, options, cache, tune, timing="json"):
        report = os.path.join(self.folder, "report")
        env = dict(os.environ, OP2_CACHE=os.path.join(self.folder, cache), OP2_TUNE=tune,
                   OP2_TIMING=f"{timing}:{report}", OP2_LOG="warn")
        env.setdefault("OP2_BACKEND", "openmp")
        env.pop("OP2_VARIANT", None)
        done = subprocess.run([program(self.build, sample), *options], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.output = done.stdout
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

    def tune(self, sample, options, cache):
        """Runs with auto until nothing is tried any more: the calls of the last run that tried, the rows of the one after it, and how
        many runs it took."""
        for runs in range(1, MOST_RUNS + 1):
            last = self.calls(sample, options, cache, "auto")
            rows = self.loops(sample, options, cache, "auto")
            if not any(loop["trials"] for loop in rows.values()):
                break
        return last, rows, runs

    def force(self, sample, options, cache):
        self.run(sample, options, cache, "force")
        if "is not tuned yet" in self.output:
            print(f"{sample} is too short for trials of everything", file=sys.stderr)


def per_call(loop):
    return loop["seconds"] / max(1, loop["calls"])


def time_choices(runner, sample, options, choices):
    """By loop and choice: seconds of a call in each round, and the variant."""
    times, variants = {}, {}
    for _ in range(ROUNDS):
        for choice, (cache, tune) in choices.items():
            for name, loop in runner.loops(sample, options, cache, tune).items():
                times.setdefault(name, {}).setdefault(choice, []).append(per_call(loop))
                variants.setdefault(name, {})[choice] = loop["variant"]
    return times, variants


def tune_sample(runner, sample, options):
    """Rows of the table for one sample."""
    tuned, forced = f"{sample}.auto.db", f"{sample}.force.db"
    cost = runner.loops(sample, options, f"{sample}.fresh.db", "auto")
    last, again, runs = runner.tune(sample, options, tuned)
    first = runner.calls(sample, options, tuned, "auto")
    runner.force(sample, options, forced)
    times, variants = time_choices(runner, sample, options, {"default": (f"{sample}.off.db", "off"), "tuned": (tuned, "use"),
                                                             "exhaustive": (forced, "use")})
    rows = []
    for name, by_choice in times.items():
        row = {choice: statistics.median(values) for choice, values in by_choice.items()}
        if row["default"] < SHORTEST or name not in cost or name not in again or cost[name]["calls"] < FEWEST:
            continue
        both = name in first and name in last and len(first[name]) >= WINDOW and len(last[name]) >= WINDOW
        start = statistics.median(first[name][:WINDOW]) / statistics.median(last[name][-WINDOW:]) if both else None
        rows.append({"loop": name, **row, "calls": cost[name]["calls"],
                     "share_of_trials": cost[name]["trial_seconds"] / max(cost[name]["seconds"], 1e-9),
                     "start_against_end": start, "variants": variants[name], "runs_to_settle": runs,
                     "compiled_again": again[name]["code"] == "compiled", "tried_again": again[name]["trials"]})
    return rows


def transfer(runner, quick):
    """Tuned on a small mesh: how near is the start on a large one to what an exhaustive search finds there?"""
    small, large, long_run, short_run = TRANSFER[quick]
    options = ["--cells", str(large), "--iters", str(short_run)]
    runner.tune("airfoil", ["--cells", str(small), "--iters", str(long_run)], "small.db")
    runner.force("airfoil", ["--cells", str(large), "--iters", str(5 * short_run)], "large.db")
    totals = {"small": [], "large": [], "off": []}
    for _ in range(ROUNDS):
        for name, seconds in totals.items():
            loops = runner.loops("airfoil", options, f"{name}.db", "off" if name == "off" else "use")
            seconds.append(sum(loop["seconds"] for loop in loops.values()) / short_run)
    start, best, off = (statistics.median(totals[name]) for name in ("small", "large", "off"))
    return {"tuned_on": small, "run_on": large, "seconds": start, "exhaustive_seconds": best, "default_seconds": off}


def print_row(sample, r):
    start = f"{r['start_against_end']:.2f}x" if r["start_against_end"] else "-"
    anew = "nothing" if not r["compiled_again"] and not r["tried_again"] else f"{r['tried_again']:.0f} trials"
    chosen = ", ".join(r["variants"].get(choice) or "-" for choice in ("default", "tuned", "exhaustive"))
    return (f"{sample:<15} {r['loop']:<18} {1e3 * r['default']:>9.4f} {1e3 * r['tuned']:>9.4f} {1e3 * r['exhaustive']:>10.4f} "
            f"{100 * r['share_of_trials']:>6.1f} % {start:>7}  {anew:<10} {chosen}")


def summary(samples):
    """What the table says, in sentences."""
    rows = [(f"{sample} {r['loop']}", r) for sample, found in samples.items() for r in found]
    if not rows:
        return []
    against = statistics.geometric_mean([r["tuned"] / r["default"] for _, r in rows])
    worst = max(rows, key=lambda row: row[1]["tuned"] / row[1]["default"])
    missed = statistics.geometric_mean([r["tuned"] / r["exhaustive"] for _, r in rows])
    dear = max(rows, key=lambda row: row[1]["share_of_trials"])
    starts = [row for row in rows if row[1]["start_against_end"]]
    lines = [f"{len(rows)} loops: tuned takes {against:.3f} of the default's time and {missed:.3f} of the exhaustive choice's "
             f"(geometric means)",
             f"slowest against the default: {worst[0]}, {100 * (worst[1]['tuned'] / worst[1]['default'] - 1):+.1f} %",
             f"dearest trials: {dear[0]}, {100 * dear[1]['share_of_trials']:.1f} % of the loop's time in the first run"]
    if starts:
        late = max(starts, key=lambda row: row[1]["start_against_end"])
        middle = statistics.median([r["start_against_end"] for _, r in starts])
        lines.append(f"start against the end of the run before: median {middle:.2f}x, at most {late[1]['start_against_end']:.2f}x "
                     f"({late[0]})")
    return lines


def print_transfer(moved):
    worse = 100 * (moved["seconds"] / moved["exhaustive_seconds"] - 1)
    return (f"airfoil tuned on {moved['tuned_on']} cells, then {moved['run_on']}: {1e3 * moved['seconds']:.3f} ms an iteration, "
            f"{worse:+.1f} % of the exhaustive choice there ({1e3 * moved['exhaustive_seconds']:.3f} ms; default "
            f"{1e3 * moved['default_seconds']:.3f} ms)")


def heading():
    return ["milliseconds of a call; trials: what they cost, as a share of the loop's time in the first run with auto; start: the",
            f"median of the first {WINDOW} calls of a run after tuning against the last {WINDOW} of the run that tuned; anew: what a run",
            "after tuning still tries",
            "{:<15} {:<18} {:>9} {:>9} {:>10} {:>8} {:>7}  {:<10} {}".format(*HEADING)]


def table(found):
    """The text of all that is known."""
    lines = [f"{found['machine']}, backend {found['backend']}, OP2_THREADS {found['threads']}", *heading()]
    order = [name for name, _, _ in SAMPLES]
    for sample in sorted(found["samples"], key=order.index):
        lines += [print_row(sample, r) for r in found["samples"][sample]]
    lines += ["", *summary(found["samples"])]
    if found.get("transfer"):
        lines.append(print_transfer(found["transfer"]))
    return "\n".join([*lines, f"left out: {LEFT_OUT}"]) + "\n"


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown processor"


def load(folder, quick):
    """What is in the folder already, of the same sizes."""
    try:
        with open(os.path.join(folder, "tune.json"), encoding="utf-8") as file:
            found = json.load(file)
        if found["quick"] == quick:
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {"quick": quick, "samples": {}, "transfer": None}


def save(folder, found):
    os.makedirs(folder, exist_ok=True)
    for name, content in (("tune.json", json.dumps(found, indent=1) + "\n"), ("tune.txt", table(found))):
        path = os.path.join(folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(path + ".new", path)


def measure(runner, name, quick, found):
    if name == "transfer":
        found["transfer"] = transfer(runner, quick)
        print(print_transfer(found["transfer"]), flush=True)
        return
    options, small = next((options, small) for sample, options, small in SAMPLES if sample == name)
    found["samples"][name] = tune_sample(runner, name, small if quick else options)
    for row in found["samples"][name]:
        print(print_row(name, row), flush=True)


def main(arguments):
    known = [name for name, _, _ in SAMPLES] + ["transfer"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help=", ".join(known))
    parser.add_argument("--quick", action="store_true", default=bool(os.environ.get("QUICK")))
    parser.add_argument("--out", metavar="FOLDER", default=os.environ.get("OUT"))
    options = parser.parse_args(arguments)
    wanted = options.samples or os.environ.get("SAMPLES", "").split() or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        parser.error(f"no sample {', '.join(unknown)}; there are: {' '.join(known)}")
    found = load(options.out or os.devnull, options.quick)
    found.update(machine=f"{processor()}, {os.cpu_count()} CPUs", backend=os.environ.get("OP2_BACKEND", "openmp"),
                 threads=os.environ.get("OP2_THREADS", "as many as there are"))
    print("\n".join(heading()), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.build, folder)
        for name in wanted:
            began = time.monotonic()
            measure(runner, name, options.quick, found)
            print(f"({name}: {time.monotonic() - began:.0f} s)", flush=True)
            if options.out:
                save(options.out, found)
    print("\n".join(["", *summary(found["samples"])]))
    if options.out:
        print(f"kept in {options.out}/tune.json and tune.txt")


if __name__ == "__main__":
    main(sys.argv[1:])
