"""Loops of programs without the programs: calls that OP2_CAPTURE kept (docs/capture.md), run again in turns.

`called`: each loop at its call (OP2_LAZY=off). `comes`: as it comes, with what the file says of its run. `chain`: as one chain
(OP2_LAZY=on). Each figure is the median over processes of a process's best run; ratios are those of neighbours in time.
`kept` is what the calls took in their program, one after the other, with what else was going on.

The code of a file is run: know who made it. Without files a period of the sample airfoil is captured and run.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PAIRS, TIMES, CELLS = 5, 50, 720000
QUICK_PAIRS, QUICK_TIMES, QUICK_CELLS = 1, 3, 3000
SIDES = {"called": {"OP2_LAZY": "off"}, "comes": {}, "chain": {"OP2_LAZY": "on"}}


def run(words, env):
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(folder, **more):
    """The user's, but for who waits and which code is kept."""
    kept = {name: value for name, value in os.environ.items() if name not in ("OP2_LAZY", "OP2_CAPTURE", "OP2_TIMING")}
    return {**kept, "OP2_CACHE": os.path.join(folder, "kernels.db"), **more}


def capture_sample(build, cells, folder):
    """One iteration of airfoil, once its variants are found."""
    path = os.path.join(folder, "airfoil")
    run([os.path.join(build, "samples", "airfoil"), "--cells", str(cells), "--iters", "4"],
        environment(folder, OP2_BACKEND=os.environ.get("OP2_BACKEND", "openmp"), OP2_CAPTURE=f"save_soln:3+:{path}"))
    return path


def measure(build, path, wanted, folder):
    command = [os.path.join(build, "runtime", "cli", "op2jit"), "replay", path, "--run-code", "--times", str(wanted.times), "--json"]
    seconds = {side: [] for side in SIDES}
    for _ in range(wanted.pairs):
        for side, words in SIDES.items():
            said = json.loads(run(command, environment(folder, **words)))
            seconds[side].append(said["best"])
    figures = "".join(f"{1e3 * statistics.median(seconds[side]):>11.3f}" for side in SIDES)
    ratios = ""
    for side in ("comes", "chain"):
        found = [one / other for one, other in zip(seconds[side], seconds["called"])]
        ratios += f"{statistics.median(found):>8.2f} ({min(found):.2f} to {max(found):.2f})"
    elements = sum(loop["elements"] for loop in said["loops"])
    print(f"{os.path.basename(path):<20}{len(said['loops']):>6}{elements:>11}{figures}{1e3 * said['kept']:>11.3f}{ratios}", flush=True)


def main(build, words):
    parser = argparse.ArgumentParser(prog="./dev bench replay", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="captures (a period of airfoil)")
    parser.add_argument("--pairs", type=int, metavar="N", help=f"processes of each side, in turns ({PAIRS})")
    parser.add_argument("--times", type=int, metavar="N", help=f"runs in each process, of which the best counts ({TIMES})")
    parser.add_argument("--cells", type=int, metavar="N", help=f"of airfoil ({CELLS})")
    parser.add_argument("--quick", action="store_true", help="few runs and a small mesh, to see that it works")
    wanted = parser.parse_intermixed_args(words)
    for name, most, few in (("pairs", PAIRS, QUICK_PAIRS), ("times", TIMES, QUICK_TIMES), ("cells", CELLS, QUICK_CELLS)):
        given = getattr(wanted, name)
        if given is not None and given < 1:
            parser.error(f"--{name} {given}: expected a number from 1")
        setattr(wanted, name, given or (few if wanted.quick else most))
    for path in wanted.files:
        if not os.path.isfile(path):
            parser.error(f"there is no file {path}")
    if build == "-":
        return 0
    print(f"{'capture':<20}{'calls':>6}{'elements':>11}{'called ms':>11}{'comes ms':>11}{'chain ms':>11}{'kept ms':>11}"
          f"   comes/called          chain/called", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in wanted.files or [capture_sample(build, wanted.cells, folder)]:
            measure(build, path, wanted, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
