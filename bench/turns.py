"""The hand-written OpenMP loop of a sample and the library in turns, so that a machine that does other work slows both alike.

Of two processes one has the hand-written loop and the other the library, on as many threads (OP2_THREADS, else OMP_NUM_THREADS,
else all CPUs). Batches of some hundredths of a second alternate between them; one measures only while the threads of the other
sleep, since spinning ones would take its CPUs, and the order changes each time. A first batch of each is not counted, but says how
many steps are one. Times are of one step, taken as the sample takes them, that is of the library without the first step or two: the median of all batches and their
quartiles. The ratio is the median by hand over the library's: above 1 the library is faster. Every batch starts from the same values,
and the answers of the last two must agree as in the sample. Sizes are points or cells on a side, of jacobi_dense unknowns.

The library takes its first guesses and an empty cache, unless OP2_TUNE and OP2_CACHE are set. ./dev bench samples has all samples,
whose runs it times one after the other.
"""
import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

# Sample, size, and that for --quick (None: left out).
CASES = [
    ("laplace", 1000, 100),
    ("heat", 1000, 100),
    ("shallow_water", 128, 32),
    ("shallow_water", 1024, None),
    ("jacobi_dense", 4096, 300),
    ("multigrid", 1024, 64),
]
SIDES = ("by-hand", "library")
ROUNDS, QUICK_ROUNDS = 20, 3
FIRST_STEPS, FEWEST_STEPS, MOST_STEPS = 20, 8, 2000
BATCH_MS = 50
ASLEEP_SECONDS = 5


class Failure(Exception):
    """What a line can say."""


class Side:
    """One of the two processes."""

    def __init__(self, program, side, size, answer, env):
        self.name = f"{os.path.basename(program)} {side} {size}"
        try:
            self.process = subprocess.Popen([program, side, str(size), answer], env=env, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True, bufsize=1)
        except OSError as problem:
            raise Failure(f"{program}: {problem.strerror}: it needs the samples and OpenMP; ./dev build says what is missing") from None

    def line(self):
        said = self.process.stdout.readline()
        if not said:
            raise Failure(f"{self.name} ended with status {self.process.wait()}")
        return said.strip()

    def wait_ready(self):
        if self.line() != "ready":
            raise Failure(f"{self.name} did not say that it is ready")

    def batch(self, steps):
        """Milliseconds of a step."""
        try:
            self.process.stdin.write(f"{steps}\n")
        except BrokenPipeError:
            pass  # the line that does not come says it
        return float(self.line())

    def is_asleep(self):
        tasks = f"/proc/{self.process.pid}/task"
        for task in os.listdir(tasks):
            try:
                with open(f"{tasks}/{task}/stat", encoding="utf-8") as file:
                    if file.read().rpartition(")")[2].split()[0] == "R":
                        return False
            except (FileNotFoundError, ProcessLookupError):
                pass  # a thread that has ended
        return True

    def wait_asleep(self):
        until = time.monotonic() + ASLEEP_SECONDS
        while not self.is_asleep():
            if time.monotonic() > until:
                raise Failure(f"{self.name}: its threads do not go to sleep after a batch, but spin")
            time.sleep(0.001)

    def end(self):
        """Has it keep or compare its answer; what it says of that, and its report if it makes one."""
        said, _ = self.process.communicate()
        if self.process.returncode:
            raise Failure(f"{self.name} ended with status {self.process.returncode}\n{said}".rstrip())
        return said

    def kill(self):
        self.process.kill()
        self.process.communicate()


def steps_of(slowest):
    """How many steps of so many milliseconds are a batch."""
    return min(MOST_STEPS, max(FEWEST_STEPS, int(BATCH_MS / slowest)))


def run_pair(build, sample, size, rounds, wanted, folder):
    """The times of both sides in one pair of processes. Wanted are names, with the word and the environment of each."""
    program, answer = os.path.join(build, "bench", "turns_" + sample), os.path.join(folder, "answer")
    times, sides = {side: [] for side in wanted}, {}
    try:
        for side, (word, env) in wanted.items():
            sides[side] = Side(program, word, size, answer, env)
        for either in sides.values():
            either.wait_ready()
        steps = steps_of(max(either.batch(FIRST_STEPS) for either in sides.values()))
        for turn in range(rounds):
            for side in wanted if turn % 2 else reversed(wanted):
                for either in sides.values():
                    either.wait_asleep()
                times[side].append(sides[side].batch(steps))
        for either in sides.values():
            either.end()
    finally:
        for either in sides.values():
            either.kill()
    return times


def quartiles(times):
    return statistics.quantiles(times, n=4, method="inclusive")


def print_case(sample, size, threads, times):
    columns = []
    for side in SIDES:
        low, middle, high = (f"{ms:.{5 if ms < 1 else 3}f}" for ms in quartiles(times[side]))
        columns.append(f"{middle:>10} {f'({low} - {high})':<24}")
    ratio = statistics.median(times["by-hand"]) / statistics.median(times["library"])
    print(f"{sample:<15}{size:>5}{threads:>9}  {''.join(columns)}{ratio:>7.3f}", flush=True)


def threads_of(env):
    """As many as both sides are to have."""
    for name in ("OP2_THREADS", "OMP_NUM_THREADS"):
        if env.get(name):
            if not env[name].isdigit() or int(env[name]) == 0:
                raise Failure(f"{name}={env[name]}: expected a number of threads")
            return env[name]
    return str(len(os.sched_getaffinity(0)))


def environment(folder):
    """Of both sides. Threads of OpenMP that wait must sleep soon, so what would let them spin is left out."""
    env = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")}
    threads = threads_of(env)
    env.update(OP2_BACKEND="openmp", OP2_THREADS=threads, OMP_NUM_THREADS=threads)
    env.setdefault("OP2_TUNE", "off")
    env.setdefault("OP2_CACHE", os.path.join(folder, "kernels.db"))
    return env, threads


def measure(build, wanted):
    """How many of the cases failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        env, threads = environment(folder)
        print(f"{'sample':<15}{'size':>5}{'threads':>9}  {'by hand ms':>10} {'(quartiles)':<24}{'op2jit ms':>10} {'(quartiles)':<24}"
              f"{'ratio':>7}", flush=True)
        for sample, usual, small in CASES:
            if (wanted.samples and sample not in wanted.samples) or (wanted.quick and not small):
                continue
            size, rounds = (small, QUICK_ROUNDS) if wanted.quick else (usual, ROUNDS)
            times = {side: [] for side in SIDES}
            try:
                for _ in range(wanted.runs):
                    for side, more in run_pair(build, sample, size, rounds, {side: (side, env) for side in SIDES}, folder).items():
                        times[side] += more
                print_case(sample, size, threads, times)
            except Failure as problem:
                print(f"turns: {sample} {size}: {problem}", file=sys.stderr, flush=True)
                failed += 1
    if threads != "1":
        say_if_busy()
    return failed


def say_if_busy():
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > 2 * cpus:
        print(f"the machine was busy, with a load of {load:.0f} on {cpus} CPUs: threads that wait for one another in every step "
              "lose more than turns make up for, so ratios say little")


def count(word):
    if not word.isdigit() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"{word}: expected a whole number from 1")
    return int(word)


def read_words(words):
    known = list(dict.fromkeys(case[0] for case in CASES))
    parser = argparse.ArgumentParser(prog="./dev bench turns", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help="which to measure (all): " + ", ".join(known))
    parser.add_argument("--runs", type=count, metavar="N", default=None,
                        help=f"pairs of processes, one after the other, each for {ROUNDS} batches of both (3)")
    parser.add_argument("--quick", action="store_true", help="small sizes and few batches, to see that it works; one run")
    wanted = parser.parse_intermixed_args(words)
    unknown = [name for name in wanted.samples if name not in known]
    if unknown:
        parser.error(f"no sample {', '.join(unknown)}; there are: {' '.join(known)}")
    wanted.runs = wanted.runs or (1 if wanted.quick else 3)
    return wanted


def main(build, words):
    wanted = read_words(words)
    if build == "-":
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its folder and its processes are cleared away
    try:
        return 1 if measure(build, wanted) else 0
    except Failure as problem:
        print(f"turns: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
