"""Samples with their loops one by one and with loops that wait (OP2_LAZY=on), in turns: see turns.py.

A ratio above 1 says that chains are faster. The floor is what a step would take if no memory were waited for: loops one by one on a mesh
in the caches, scaled to the size. Sizes are cells of airfoil, else points on a side. Each side first looks for its variants for some
seconds, which are its share of what --tune says, in a process and a cache of its own, and then measures with what it found. The last
column is how long the row took.

With one thread --cpu takes processor time instead of the clock's: on a machine that does other work that is the better measure.
"""
import argparse
import os
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import turns  # noqa: E402

# Sample, size, that for --quick, one in the caches, what the work grows with, how many batches of each side, and how many times --tune
# it looks: cutting a large mesh into tiles of several sizes takes time.
CASES = [
    ("airfoil", 720000, 3000, 3000, 1, 60, 3),
    ("airfoil_shuffled", 720000, 3000, 3000, 1, 60, 3),
    ("heat", 8000, 60, 100, 2, 18, 8),
    ("jac", 2000, 60, 100, 2, 60, 3),
    ("shallow_water", 1024, 32, 64, 2, 60, 3),
    ("shallow_water", 128, None, 64, 2, 60, 3),
    ("multigrid", 1024, 64, 64, 2, 60, 3),
    ("aero", 1000, 32, 50, 2, 60, 3),
    ("adjoint", 1000, 40, 60, 2, 60, 3),
    ("airfoil_hydra", 64, 10, 10, 3, 60, 2),
]
PAIRS = 3  # of processes, which share the batches
SIDES = {"one by one": ("first", {"OP2_LAZY": "off"}), "chains": ("library", {"OP2_LAZY": "on"})}


class Table:
    """What is measured: fusion.py has another one."""

    def __init__(self, name, doc, cases, sides):
        self.name, self.doc, self.cases, self.sides = name, doc, cases, sides


def find_variants(build, sample, size, env, seconds):
    """One process that does nothing but look."""
    side = turns.Side(os.path.join(build, "bench", "turns_" + sample), "first", size, os.devnull, {**env, "OP2_TUNE": str(seconds)})
    try:
        side.wait_ready()
        until = time.monotonic() + 2 * seconds
        steps = turns.FEWEST_STEPS
        while time.monotonic() < until:
            steps = turns.steps_of(side.batch(steps))
        side.end()
    finally:
        side.kill()


def environments(wanted, env, folder, case):
    """Of both sides, each with its own cache."""
    made = {}
    for side, (word, settings) in wanted.table.sides.items():
        cache = os.path.join(folder, f"{case[0]}-{env['OP2_THREADS']}-{side}.db")
        made[side] = (word, {**env, **settings, "OP2_CACHE": cache})
        if wanted.tune:
            find_variants(wanted.build, case[0], case[1], made[side][1], wanted.tune * case[2])
            made[side][1]["OP2_TUNE"] = "use"
    return made


def measure_case(case, wanted, env, folder):
    sample, usual, small, cached, power, batches, look = case
    start = time.monotonic()
    size, rounds, pairs = (small, turns.QUICK_ROUNDS, 1) if wanted.quick else (usual, -(-batches // wanted.pairs), wanted.pairs)
    sides = environments(wanted, env, folder, (sample, size, look))
    times = {side: [] for side in sides}
    for _ in range(pairs):
        for side, more in turns.run_pair(wanted.build, sample, size, rounds, sides, folder).items():
            times[side] += more
    few = turns.run_pair(wanted.build, sample, cached, turns.QUICK_ROUNDS, sides, folder)["one by one"]
    floor = statistics.median(few) * (size / cached)**power
    columns = []
    for side in sides:
        low, middle, high = (f"{ms:.{5 if ms < 1 else 3}f}" for ms in turns.quartiles(times[side]))
        columns.append(f"{middle:>10} {f'({low} - {high})':<24}")
    before, after = (statistics.median(times[side]) for side in sides)
    ratio = before / after
    print(f"{sample:<17}{size:>9}{env['OP2_THREADS']:>9}  {''.join(columns)}{floor:>9.3f}{ratio:>7.3f}"
          f"{time.monotonic() - start:>6.0f} s", flush=True)


def measure(wanted):
    failed = 0
    most = len(os.sched_getaffinity(0))
    counts = [wanted.threads] if wanted.threads else [1] if wanted.quick or wanted.cpu else sorted({1, most})
    with tempfile.TemporaryDirectory() as folder:
        env, _ = turns.environment(folder)
        if wanted.cpu:
            env["TURNS_CLOCK"] = "cpu"
        print(f"{'sample':<17}{'size':>9}{'threads':>9}  {'one by one':>10} {'(quartiles)':<24}{list(wanted.table.sides)[1] + ' ms':>10} {'(quartiles)':<24}"
              f"{'floor':>9}{'ratio':>7}{'took':>8}", flush=True)
        for case in wanted.table.cases:
            if (wanted.samples and case[0] not in wanted.samples) or (wanted.quick and not case[2]):
                continue
            for threads in counts:
                try:
                    measure_case(case, wanted, {**env, "OP2_THREADS": str(threads)}, folder)
                except turns.Failure as problem:
                    print(f"{wanted.table.name}: {case[0]} {case[1]}: {problem}", file=sys.stderr, flush=True)
                    failed += 1
    turns.say_if_busy()
    return failed


def read_words(table, build, words):
    """What is to be measured; `build` is - to look at the options only."""
    parser = argparse.ArgumentParser(prog="./dev bench " + table.name, description=table.doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    known = list(dict.fromkeys(case[0] for case in table.cases))
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help="which to measure (all): " + ", ".join(known))
    parser.add_argument("--pairs", type=turns.count, metavar="N", default=PAIRS,
                        help=f"pairs of processes, one after the other, which share the batches ({PAIRS})")
    parser.add_argument("--threads", type=turns.count, metavar="N", help="only so many (one, and all CPUs)")
    parser.add_argument("--tune", type=int, metavar="SECONDS", help="to look for variants before (4); 0: first guesses")
    parser.add_argument("--cpu", action="store_true", help="one thread, by its processor time")
    parser.add_argument("--quick", action="store_true", help="small sizes and few batches, to see that it works")
    wanted = parser.parse_intermixed_args(words)
    unknown = [name for name in wanted.samples if name not in known]
    if unknown:
        parser.error(f"no sample {', '.join(unknown)}; there are: {' '.join(known)}")
    if wanted.cpu and (wanted.threads or 1) > 1:
        parser.error("--cpu is for one thread")
    if wanted.tune is None:
        wanted.tune = 0 if wanted.quick else 4
    wanted.build, wanted.table = build, table
    return wanted


def run(wanted):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its folder and its processes are cleared away
    if wanted.build == "-":
        return 0
    return 1 if measure(wanted) else 0


if __name__ == "__main__":
    sys.exit(run(read_words(Table("chains", __doc__, CASES, SIDES), sys.argv[1], sys.argv[2:])))
