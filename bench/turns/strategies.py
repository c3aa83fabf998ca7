"""Ways to deal out the loops that increment through a map, in turns: by colour, by owner, gathered, as tasks; and all loops as one
graph of tasks (OP2_LAZY=on), whose blocks have so many kilobytes, and in tiles of as many. Nothing is tuned. The ratio is that of the best other strategy's time to
that of tasks: from 0.97 on tasks are within 3 %. See turns.py.
"""
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import turns  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402

# Sample, its loops that increment, size, that for --quick, batches of each way.
CASES = [("airfoil", ["res_calc", "bres_calc"], 720000, 3000, 24), ("jac", ["gather"], 2000, 60, 24)]
STRATEGIES = ["colours", "owners", "gather", "tasks"]
BLOCKS = [500, 2000]


def sides_of(loops, env):
    sides = {}
    for strategy in STRATEGIES:
        forced = ",".join(f"{loop}:{strategy}" for loop in loops)
        sides[strategy] = ("library" if sides else "first", {**env, "OP2_VARIANT": forced, "OP2_LAZY": "off"})
    for size in BLOCKS:
        sides[f"one graph {size}"] = ("library", {**env, "OP2_LAZY": "on", "OP2_TASKS": str(1000 * size)})
        sides[f"tiles {size}"] = ("library", {**env, "OP2_LAZY": "on", "OP2_TILES": str(1000 * size)})
    return sides


def measure_case(case, wanted, env, folder):
    sample, loops, usual, small, batches = case
    size, rounds, pairs = (small, turns.QUICK_ROUNDS, 1) if wanted.quick else (usual, -(-batches // wanted.pairs), wanted.pairs)
    times = {}
    for _ in range(pairs):
        for side, more in turns.run_pair(wanted.build, sample, size, rounds, sides_of(loops, env), folder).items():
            times.setdefault(side, []).extend(more)
    print(f"{sample} {size}, {env['OP2_THREADS']} threads")
    for side, all_of_it in times.items():
        low, middle, high = turns.quartiles(all_of_it)
        print(f"  {side:<16}{middle:>10.4g} ms ({low:.4g} .. {high:.4g})")
    others = min((side for side in STRATEGIES if side != "tasks"), key=lambda side: statistics.median(times[side]))
    best = statistics.median(times[others])
    for side in times:
        if side not in STRATEGIES or side == "tasks":
            print(f"  {side}: {best / statistics.median(times[side]):.3f} of the speed of {others}", flush=True)


def measure(wanted):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        env, threads = turns.environment(folder)
        for case in CASES:
            if wanted.samples and case[0] not in wanted.samples:
                continue
            try:
                measure_case(case, wanted, {**env, "OP2_THREADS": str(wanted.threads or threads)}, folder)
            except turns.Failure as problem:
                print(f"strategies: {case[0]}: {problem}", file=sys.stderr, flush=True)
                failed += 1
    turns.say_if_busy()
    return 1 if failed else 0


if __name__ == "__main__":
    wishes = chains.read_words(chains.Table("strategies", __doc__, CASES, {}), sys.argv[1], sys.argv[2:])
    sys.exit(0 if wishes.build == "-" else measure(wishes))
