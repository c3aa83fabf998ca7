"""Samples as they come, with no variable set, and with all off that is done unasked, in turns: what a user gets, planning and trials included.

A time is of one whole run, seconds from the mesh that is declared to the end of the process: of compiling and loading code, planning, all
steps, trials, and what the end waits for. Both sides begin each round with a cache of their own that is empty (cold), run again to
learn, and then once more (warm). The order changes from round to round, and the answers must agree. Each time is the median of all rounds
with the least and the largest; the ratio is the median of the rounds' own, default by off: below 1 the default is faster. The last column
is what the ratio is to be at most; a target that is missed ends nothing. All cases take some 15 minutes a round. With --minutes each case is measured
once before any is measured again, as often as the time allows; then the cases come in this order, and --learn 0 saves a third of it. --profile
prints the report (OP2_TIMING) of one more run of each row that missed its target. dispatch is what a call costs, in nanoseconds, on OP2_BACKEND=seq
(bench/dispatch.c).
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
    ("aero", 1000, 300, None, EQUAL),
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
    """Seconds of one run, and what it said at its end."""
    side = turns.Side(os.path.join(build, "bench", "turns_" + sample), word, size, answer, env)
    try:
        side.wait_ready()
        start = time.monotonic()
        side.batch(steps)
        said = side.end()
        return time.monotonic() - start, said
    finally:
        side.kill()


def run_round(wanted, sample, size, steps, env, folder, number):
    """Cold and warm seconds of both sides; `number`: of the round."""
    answer = os.path.join(folder, f"answer-{sample}-{size}-{env['OP2_THREADS']}")  # a later round may begin with the side that compares
    order = list(SIDES) if number % 2 == 0 else list(reversed(SIDES))
    found = {}
    for kind in ["cold"] + ["learn"] * wanted.learn + ["warm"]:
        for side in order:
            cache = os.path.join(folder, f"{sample}-{size}-{env['OP2_THREADS']}-{number}-{side}.db")
            more = {**env, **(wanted.off if side == "off" else {}), "OP2_CACHE": cache}
            found[kind, side], _ = run_once(wanted.build, sample, size, steps, SIDES[side], more, answer)
    return found


def print_profile(wanted, row, folder):
    """The report of the default, with an empty cache or the second time, and what the file of the answer needs."""
    sample, size, steps, env, kind = row.sample, row.size, row.steps, row.env, row.key
    answer = os.path.join(folder, "profile-answer")
    more = {**env, "OP2_CACHE": os.path.join(folder, f"profile-{sample}-{size}-{env['OP2_THREADS']}-{kind}.db")}
    if kind == "warm":
        run_once(wanted.build, sample, size, steps, SIDES["off"], more, answer)
    _, said = run_once(wanted.build, sample, size, steps, SIDES["off"], {**more, "OP2_TIMING": "text"}, answer)
    print(f"\n{row.name}, {kind}:\n{said.rstrip()}", flush=True)


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


class Row:
    """A line of the table: what was found for it in each round. The target is None where it says nothing, for it is of other sizes."""

    def __init__(self, name, key, target, case=(), env=None):
        self.name, self.key, self.target, self.env, self.rounds = name, key, target, env, []
        self.sample, self.size, self.steps = case or (None, None, None)

    def ratios(self):
        return [default / off for off, default in zip(self.times("off"), self.times("default"))]

    def times(self, side):
        return [found[self.key, side] for found in self.rounds]

    def missed(self):
        return bool(self.target and self.rounds and statistics.median(self.ratios()) > self.target)

    def print(self):
        columns = []
        for side in SIDES:
            times = self.times(side)
            least, middle, most = (f"{value:.4g}" for value in (min(times), statistics.median(times), max(times)))
            columns.append(f"{middle:>9} {f'({least} - {most})':<24}")
        ratios = self.ratios()
        said = f"{self.target:>6.2f}{'  missed' if self.missed() else ''}" if self.target else ""
        cache = self.key if self.env else ""
        print(f"{self.name:<38}{cache:<6}{''.join(columns)}{statistics.median(ratios):>6.3f} {f'({min(ratios):.3f} - {max(ratios):.3f})':<16}{said}", flush=True)


class Case:
    """A sample on so many threads, or dispatch; its rows."""

    def __init__(self, wanted, case, threads, targets):
        sample, size, steps, small = case
        if wanted.quick:
            size, steps = small
        self.env = clean_environment(threads or len(os.sched_getaffinity(0)))
        self.what = (sample, size, wanted.steps or steps)
        name, usual = f"{sample} {size} x {self.what[2]}, threads {self.env['OP2_THREADS']}", not (wanted.quick or wanted.steps)
        self.rows = [Row(name, key, target if usual else None, self.what, self.env) for key, target in zip(("cold", "warm"), targets)]
        self.took, self.threads = 0, threads

    def run(self, wanted, folder, number):
        found = run_round(wanted, *self.what, self.env, folder, number)
        for row in self.rows:
            row.rounds.append(found)


class Dispatch:
    what = (DISPATCH,)

    def __init__(self):
        self.rows, self.took = [], 0

    def run(self, wanted, folder, _):
        found = run_dispatch(wanted, folder)
        if not self.rows:
            self.rows = [Row(f"dispatch: {loop}", loop, DISPATCH_TARGET) for loop in dict.fromkeys(key[0] for key in found)]
        for row in self.rows:
            row.rounds.append(found)


def list_cases(wanted):
    cases = []
    for sample, size, steps, small, targets in CASES:
        if sample in (wanted.samples or [sample]) and (small or not wanted.quick):
            cases += [Case(wanted, (sample, size, steps, small), threads, both) for threads, both in targets.items()
                      if wanted.threads is None or wanted.threads == threads]
    cases.sort(key=lambda case: case.threads != 0)
    return cases + [Dispatch()] * (DISPATCH in (wanted.samples or [DISPATCH]))


def run_case(wanted, case, number, folder):
    """False if it failed, which is said."""
    start = time.monotonic()
    try:
        case.run(wanted, folder, number)
    except turns.Failure as problem:
        print(f"default: {' '.join(str(word) for word in case.what)}: {problem}", file=sys.stderr, flush=True)
        return False
    case.took = time.monotonic() - start
    return True


def run_all(wanted, cases, folder):
    """Case by case, or with --minutes round by round, as long as what comes next is expected to end in time. How many failed."""
    end = time.monotonic() + 60 * wanted.minutes if wanted.minutes else None
    order = [(n, case) for n in range(wanted.rounds) for case in cases] if end else [(n, case) for case in cases for n in range(wanted.rounds)]
    failed = set()
    for number, case in order:
        if case in failed or (end and time.monotonic() + case.took > end):
            continue
        if not run_case(wanted, case, number, folder):
            failed.add(case)
        elif number + 1 == wanted.rounds and not end:
            for row in case.rows:
                row.print()
    return len(failed)


def measure(wanted):
    print(f"off is {' '.join(f'{name}={value}' for name, value in wanted.off.items())}; seconds of a run, dispatch: ns of a call\n"
          f"{'sample':<38}{'cache':<6}{'off':>9} {'(least - most)':<24}{'default':>9} {'(least - most)':<24}{'ratio':>6} {'(least - most)':<16}"
          f"{'target':>6}", flush=True)
    cases = list_cases(wanted)
    with tempfile.TemporaryDirectory() as folder:
        failed = run_all(wanted, cases, folder)
        rows = [row for case in cases for row in case.rows if row.rounds]
        for row in rows if wanted.minutes else []:
            row.print()
        for row in rows if wanted.profile else []:
            if row.missed() and row.env:
                print_profile(wanted, row, folder)
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
    parser.add_argument("--minutes", type=float, metavar="N", help="as many rounds, up to --rounds, as that allows; the rows come at the end")
    parser.add_argument("--profile", action="store_true", help="the report of one more run of each row that missed its target")
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
