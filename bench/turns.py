"""Processes that take turns (bench/turns/turns.c): one measures, a batch of steps, only while the threads of the others sleep, since spinning
ones would take its CPUs. So a machine that does other work slows all alike. compare.py and the scripts in turns/ use it.
"""
import argparse
import os
import statistics
import subprocess
import time

FIRST_STEPS, FEWEST_STEPS, MOST_STEPS = 20, 8, 2000
BATCH_MS, QUICK_ROUNDS = 50, 3
ASLEEP_SECONDS = 5


class Failure(Exception):
    """What a line can say."""


class Side:
    """One of the processes."""

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


def say_if_busy():
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > 2 * cpus:
        print(f"the machine was busy, with a load of {load:.0f} on {cpus} CPUs: threads that wait for one another in every step "
              "lose more than turns make up for, so ratios say little")


def count(word):
    if not word.isdigit() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"{word}: expected a whole number from 1")
    return int(word)
