"""Samples as they come, with no variable set, and with all off that is done unasked, in turns: what a user gets, planning and trials included.

A time is of one whole run, seconds from the mesh that is declared to the end of the process: of compiling and loading code, planning, all
steps, trials, and what the end waits for. Both sides begin each round with a cache of their own that is empty (cold), run again to
learn, and then once more (warm). The order changes from round to round, and the answers must agree. Each time is the median of all rounds
with the least and the largest; the ratio is the median of the rounds' own, default by off: below 1 the default is faster. The last column
is what the ratio is to be at most. All cases take some 40 minutes. dispatch is what a call costs, in nanoseconds, on OP2_BACKEND=seq (bench/dispatch.c).
"""
import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import turns  # noqa: E402

OFF = "OP2_LAZY=off OP2_FUSE=off OP2_TUNE=off"
LEARN = 1
EQUAL = {0: (1.01, 1.01)}
# Sample, size, steps, size and steps for --quick (None: left out), and for each number of threads (0: all CPUs) the targets, cold and warm.
CASES = [
    ("airfoil", 720000, 1000, (3000, 40), {0: (0.80, 0.76), 1: (0.88, 0.88)}),
    ("heat", 8000, 300, (60, 40), {0: (0.62, 0.62)}),
    ("jac", 2000, 800, (60, 40), {0: (0.80, 0.80)}),
    ("shallow_water", 1024, 2000, (32, 40), {0: (0.60, 0.60)}),
    ("multigrid", 1024, 300, None, EQUAL),
    ("aero", 1000, 1000, None, EQUAL),
    ("airfoil_hydra", 64, 400, None, EQUAL),
    ("airfoil", 3000, 100000, None, EQUAL),
    ("heat", 100, 300000, None, EQUAL),
    ("jac", 60, 300000, None, EQUAL),
    ("shallow_water", 64, 200000, None, EQUAL),
]
DISPATCH, DISPATCH_TARGET = "dispatch", 1.01
SIDES = {"off": "first", "default": "library"}  # the second one's answer is compared with the first one's


def clean_environment(threads):
    """Nothing else is set."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("OP2_")}, "OP2_THREADS": str(threads)}


def settings_of(words):
    settings = dict(word.partition("=")[::2] for word in words.split())
    if not all(name.startswith("OP2_") and value for name, value in settings.items()):
        raise argparse.ArgumentTypeError(f"{words}: expected words such as OP2_LAZY=off")
    return settings


def run_once(build, sample, size, steps, word, env, answer):
    """Seconds of one run."""
    side = turns.Side(os.path.join(build, "bench", "turns_" + sample), word, size, answer, env)
    try:
        side.wait_ready()
        start = time.monotonic()
        side.batch(steps)
        side.end()
        return time.monotonic() - start
    finally:
        side.kill()


def run_round(wanted, sample, size, steps, env, folder, number):
    """Cold and warm seconds of both sides; `number`: of the round."""
    answer = os.path.join(folder, "answer")
    order = list(SIDES) if number % 2 == 0 else list(reversed(SIDES))
    found = {}
    for kind in ["cold"] + ["learn"] * wanted.learn + ["warm"]:
        for side in order:
            cache = os.path.join(folder, f"{sample}-{size}-{env['OP2_THREADS']}-{number}-{side}.db")
            more = {**env, **(wanted.off if side == "off" else {}), "OP2_CACHE": cache}
            found[kind, side] = run_once(wanted.build, sample, size, steps, SIDES[side], more, answer)
    return found


def run_dispatch(wanted, folder):
    """Nanoseconds of both sides: {(loop, side): median}."""
    found = {}
    for side in SIDES:
        env = {**clean_environment(1), "OP2_BACKEND": "seq", "OP2_CACHE": os.path.join(folder, "dispatch.db"),
               **(wanted.off if side == "off" else {})}
        done = subprocess.run([os.path.join(wanted.build, "bench", "dispatch")], env=env, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise turns.Failure(f"dispatch ended with status {done.returncode}")
        for line in done.stdout.splitlines()[2:]:
            found[line[:16].strip(), side] = float(line[16:].split()[1])
    return found


def print_row(name, cache, rounds, key, target):
    """`target` is None where it says nothing, for it is of other sizes."""
    columns, times = [], {side: [found[key, side] for found in rounds] for side in SIDES}
    for side in SIDES:
        least, middle, most = (f"{value:.4g}" for value in (min(times[side]), statistics.median(times[side]), max(times[side])))
        columns.append(f"{middle:>9} {f'({least} - {most})':<24}")
    ratios = [default / off for off, default in zip(times["off"], times["default"])]
    ratio = statistics.median(ratios)
    said = f"{target:>6.2f}{'  missed' if ratio > target else ''}" if target else ""
    print(f"{name:<38}{cache:<6}{''.join(columns)}{ratio:>6.3f} {f'({min(ratios):.3f} - {max(ratios):.3f})':<16}{said}", flush=True)


def measure_case(wanted, case, folder):
    sample, size, steps, small, targets = case
    if wanted.quick:
        size, steps = small
    for threads, (cold, warm) in targets.items():
        if wanted.threads is not None and wanted.threads != threads:
            continue
        env = clean_environment(threads or len(os.sched_getaffinity(0)))
        count = wanted.steps or steps
        rounds = [run_round(wanted, sample, size, count, env, folder, f) for f in range(wanted.rounds)]
        name, usual = f"{sample} {size} x {count}, threads {env['OP2_THREADS']}", not (wanted.quick or wanted.steps)
        print_row(name, "cold", rounds, "cold", cold if usual else None)
        print_row(name, "warm", rounds, "warm", warm if usual else None)


def measure_dispatch(wanted, folder):
    rounds = [run_dispatch(wanted, folder) for _ in range(wanted.rounds)]
    for loop in dict.fromkeys(key[0] for key in rounds[0]):
        print_row(f"dispatch: {loop}", "", rounds, loop, DISPATCH_TARGET)


def measure(wanted):
    failed = 0
    print(f"off is {' '.join(f'{name}={value}' for name, value in wanted.off.items())}; seconds of a run, dispatch: ns of a call\n"
          f"{'sample':<38}{'cache':<6}{'off':>9} {'(least - most)':<24}{'default':>9} {'(least - most)':<24}{'ratio':>6} {'(least - most)':<16}"
          f"{'target':>6}", flush=True)
    for case in CASES + [(DISPATCH,)]:
        if case[0] not in (wanted.samples or [case[0]]) or (wanted.quick and case[0] != DISPATCH and not case[3]):
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                if case[0] == DISPATCH:
                    measure_dispatch(wanted, folder)
                else:
                    measure_case(wanted, case, folder)
        except turns.Failure as problem:
            print(f"default: {' '.join(str(word) for word in case[:2])}: {problem}", file=sys.stderr, flush=True)
            failed += 1
    turns.say_if_busy()
    return 1 if failed else 0


def main(build, words):
    known = list(dict.fromkeys([case[0] for case in CASES] + [DISPATCH]))
    parser = argparse.ArgumentParser(prog="./dev bench default", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="*", metavar="CASE", help="which to measure (all): " + ", ".join(known))
    parser.add_argument("--rounds", type=turns.count, metavar="N", help="rounds of each case (3)")
    parser.add_argument("--learn", type=int, metavar="N", default=LEARN, help=f"runs between the cold and the warm one ({LEARN})")
    parser.add_argument("--steps", type=turns.count, metavar="N", help="other steps in each run; the targets are for the usual ones")
    parser.add_argument("--threads", type=int, metavar="N", help="only the rows for so many threads; 0: all CPUs")
    parser.add_argument("--off", type=settings_of, metavar="WORDS", default=settings_of(OFF), help=f"what the other side sets ('{OFF}')")
    parser.add_argument("--quick", action="store_true", help="small sizes and few steps, to see that it works; one round")
    wanted = parser.parse_intermixed_args(words)
    unknown = [name for name in wanted.samples if name not in known]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are: {' '.join(known)}")
    wanted.rounds = wanted.rounds or (1 if wanted.quick else 3)
    wanted.build = build
    if build == "-":
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its folder and its processes are cleared away
    return measure(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
