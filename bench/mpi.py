"""Ranks against threads, on each MPI: airfoil on 1 rank, on 1 rank with 2 threads and on 2 ranks, each with OP2_LAZY off, on
and auto, in turns, so that a busy machine slows all of them alike. ratio is to 1 rank with 2 threads, of the same OP2_LAZY
and of the best; the target is 1.05.

Then 2 ranks behind an MPI that delays each message (bench/mpi/delay.c: by 20 us and 1 ms, 1 GB/s): what a rank waits for
others, as a share of its step; less: what is left of it without what it waits on the MPI as it is, where ranks only
wait for the slower one. Targets are for 100,000 cells a rank. Each step leaves two sums over all cells: where nobody
looks at them none is awaited; `read` looks at one in each step.

Then samples on 1 rank with 2 threads and on 2 ranks: all of their loops, without what comes before them.

The last table is counted, not timed: messages of 64 ranks from the declared mesh to its halos (bench/scaling).

Times are medians of all batches, of the slowest rank. Each batch begins with the same values, and all must come to the same sum.
"""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile

KINDS = ["openmpi", "mpich"]
FORMS = [(1, 1), (1, 2), (2, 1)]  # ranks, threads
LAZY = ["off", "on", "auto"]
# Microseconds that a message takes, and at most so much of a step may be waiting. None: MPI as it is.
DELAYS = [(None, None), (20, 0.05), (1000, 0.20)]
BYTES_A_SECOND = 1e9
TARGET = 1.05
CELLS, SHARE = 720000, 100000 # what the targets are for
SETUP_RANKS, SETUP_MOST = 64, 300
# Options of samples, and those for --quick.
SAMPLES = [("airfoil", ["--cells", "720000", "--iters", "50"], ["--cells", "2000", "--iters", "5"]),
           ("heat", ["--n", "1000", "--steps", "300"], ["--n", "60", "--steps", "10"]),
           ("aero", ["--n", "300"], ["--n", "24"]),
           ("transport", ["--n", "180"], ["--n", "16"])]
NAMES = ["seconds", "waiting", "exchanging", "exchanges", "messages", "bytes", "late", "awaited", "delayed", "sum"]


class Failure(Exception):
    """What a line can say."""


class Missing(Exception):
    """No mpirun of this kind, or no plugin for it."""


def run(wanted, kind, ranks, threads, lazy, cells, looks="unread", delay=None):
    """The batches of all ranks: [batch][rank] of figures, of a step each."""
    build = wanted.build
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "mpi", "run.sh")
    library = os.path.join(build, "bench", f"mpi_delay_{kind}.so")
    between = ["env", f"LD_PRELOAD={library}", f"DELAY_SECONDS={delay * 1e-6}", f"DELAY_BYTES={BYTES_A_SECOND}"] if delay else []
    if delay and not os.path.exists(library):
        raise Missing(f"{library} is not built")
    command = ["bash", script, kind, str(ranks), *between, os.path.join(build, "bench", "mpi_steps"), looks, str(cells), str(wanted.steps),
               str(wanted.batches), f"OP2_THREADS={threads}", f"OP2_LAZY={lazy}", f"OP2_CACHE={wanted.folder}/kernels.db",
               "OP2_TUNE=" + os.environ.get("OP2_TUNE", "off")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "JOB_SECONDS": "600"}, check=False)
    if done.returncode == 77:
        raise Missing(done.stdout.strip())
    lines = re.findall(r"^batch (\d+) (.*)$", done.stdout, re.M)
    if done.returncode or len(lines) != ranks * wanted.batches:
        raise Failure(f"{' '.join(command)} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    of_rank = {}
    for rank, words in lines:
        figures = dict(zip(NAMES, map(float, words.split())))
        of_rank.setdefault(int(rank), []).append({name: value / (1 if name == "sum" else wanted.steps) for name, value in figures.items()})
    return list(zip(*of_rank.values()))


def check_sums(known, batches):
    """All came to the same, but for the order in which ranks add up."""
    for batch in batches:
        for figures in batch:
            first = known.setdefault("sum", figures["sum"])
            if not abs(figures["sum"] / first - 1) < 1e-9:
                raise Failure(f"a batch came to {figures['sum']}, another one to {first}")


def median(batches, name):
    """Of the slowest rank of each batch, or of the one that does most."""
    return statistics.median(max(figures[name] for figures in batch) for batch in batches)


def lazies(wanted):
    return LAZY[:2] if wanted.quick else LAZY


def compare_threads(wanted, kind, cells):
    known, found = {}, {}
    rows = [(*form, lazy) for lazy in lazies(wanted) for form in FORMS]
    for number in range(wanted.rounds):
        for row in rows if number % 2 == 0 else reversed(rows):
            batches = run(wanted, kind, *row, cells)
            check_sums(known, batches)
            found.setdefault(row, []).extend(batches)
    best = min(median(found[1, 2, lazy], "seconds") for lazy in lazies(wanted))
    print(f"\n{kind}, airfoil, {cells} cells")
    print(f"{'':<20} {'OP2_LAZY':<9} {'ms/step':>9} {'ratio':>6} {'of best':>8} {'waiting ms':>11} {'exchanges':>10} {'messages':>9} {'kB sent':>8}")
    for ranks, threads, lazy in rows:
        batches = found[ranks, threads, lazy]
        seconds = median(batches, "seconds")
        name = f"{ranks} rank{'s' * (ranks > 1)} x {threads} thread{'s' * (threads > 1)}"
        missed = "  missed" if cells == CELLS and ranks > 1 and seconds / best > TARGET else ""
        print(f"{name:<20} {lazy:<9} {seconds * 1e3:9.3f} {seconds / median(found[1, 2, lazy], 'seconds'):6.3f} {seconds / best:8.3f} "
              f"{median(batches, 'waiting') * 1e3:11.3f} {median(batches, 'exchanges'):10.1f} {median(batches, 'messages'):9.1f} "
              f"{median(batches, 'bytes') * 1e-3:8.1f}{missed}", flush=True)


def check_delayed(row, batches):
    """What does not depend on how busy the machine is: counts, and that a sum takes two messages at least."""
    _, delay, looks = row
    for batch in batches:
        for figures in batch:
            if bool(delay) != (figures["delayed"] > 0):
                raise Failure(f"{row}: {figures['delayed']} messages of a step came late")
            # Without a delay a sum may have come before it is looked at.
            wrong = figures["awaited"] > 0 if looks == "unread" else delay == 1000 and figures["awaited"] == 0
            if figures["late"] != 2 or wrong:
                raise Failure(f"{row}: of {figures['late']} sums of a step {figures['awaited']} were awaited")
            if delay and looks == "read" and figures["seconds"] < 2e-6 * delay:
                raise Failure(f"{row}: a step that waits for a sum took {figures['seconds']} s")


def compare_delays(wanted, kind, cells):
    known, found = {}, {}
    rows = [(lazy, delay, looks) for lazy in lazies(wanted) for delay, _ in DELAYS for looks in ("unread", "read")]
    rows = [row for row in rows if not wanted.quick or row in (("off", 1000, "read"), ("on", 1000, "unread"), ("on", None, "unread"))]
    for number in range(wanted.rounds):
        for row in rows if number % 2 == 0 else reversed(rows):
            batches = run(wanted, kind, 2, 1, row[0], 2 * cells, row[2], row[1])
            check_sums(known, batches)
            check_delayed(row, batches)
            found.setdefault(row, []).extend(batches)
    print(f"\n{kind}, airfoil, 2 ranks of {cells} cells, {BYTES_A_SECOND * 1e-9:.0f} GB/s")
    print(f"{'OP2_LAZY':<9} {'message us':>10} {'sums':<7} {'ms/step':>9} {'waiting ms':>11} {'share':>7} {'less':>7} {'late':>5} {'awaited':>8}")
    for row in rows:
        lazy, delay, looks = row
        batches, before = found[row], found.get((lazy, None, looks))
        seconds, waiting = median(batches, "seconds"), median(batches, "waiting")
        less = (waiting - median(before, "waiting")) / seconds if before and delay else None
        most = dict(DELAYS)[delay]
        missed = "  missed" if cells == SHARE and most and less is not None and looks == "unread" and less > most else ""
        print(f"{lazy:<9} {delay or '-':>10} {looks:<7} {seconds * 1e3:9.3f} {waiting * 1e3:11.3f} {100 * waiting / seconds:6.1f}% "
              f"{'-' if less is None else f'{100 * less:.1f}%':>7} {median(batches, 'late'):5.1f} {median(batches, 'awaited'):8.2f}{missed}", flush=True)


def run_sample(wanted, kind, sample, options, ranks, threads):
    """Seconds of all loops, of the slowest rank for each."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "mpi", "run.sh")
    report = os.path.join(wanted.folder, "report.json")
    command = ["bash", script, kind, str(ranks), os.path.join(wanted.build, "samples", sample), *options, f"OP2_THREADS={threads}",
               f"OP2_CACHE={wanted.folder}/kernels.db", f"OP2_TIMING=json:{report}", "OP2_TUNE=" + os.environ.get("OP2_TUNE", "off")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "JOB_SECONDS": "600"}, check=False)
    if done.returncode == 77:
        raise Missing(done.stdout.strip())
    if done.returncode or not os.path.exists(report):
        raise Failure(f"{' '.join(command)} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    with open(report, encoding="utf-8") as file:
        loops = json.load(file)["loops"]
    os.remove(report)
    return sum(loop.get("max_seconds", loop["seconds"]) for loop in loops)


def compare_samples(wanted, kind):
    print(f"\n{kind}, samples{'':<8} {'1 x 2 threads':>14} {'2 ranks x 1':>12} {'ratio':>6}")
    for sample, options, quick in SAMPLES:
        found = {form: [] for form in FORMS[1:]}
        for number in range(wanted.rounds):
            for form in FORMS[1:] if number % 2 == 0 else FORMS[:0:-1]:
                found[form].append(run_sample(wanted, kind, sample, quick if wanted.quick else options, *form))
        threads, ranks = (statistics.median(found[form]) for form in FORMS[1:])
        missed = "  missed" if not wanted.quick and ranks / threads > TARGET else ""
        print(f"{sample:<23} {threads * 1e3:11.1f} ms {ranks * 1e3:9.1f} ms {ranks / threads:6.3f}{missed}", flush=True)


def count_setup(wanted):
    command = [os.path.join(wanted.build, "bench", "scaling"), "400" if wanted.quick else "11250", str(SETUP_RANKS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("rcb", "inertial"))]
    rows = [row for row in rows if row[1] == str(SETUP_RANKS)]
    if done.returncode or not rows:
        raise Failure(f"{' '.join(command)} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"\nmaking the halos of {SETUP_RANKS} ranks: messages a rank\n{'parted by':<10} {'mean':>6} {'most':>6} {'rounds':>7} {'kB':>8}")
    for row in rows:
        mean, most, rounds, kilobytes = row[-4:]
        missed = "  missed" if float(most) > SETUP_MOST else ""
        print(f"{row[0]:<10} {mean:>6} {most:>6} {rounds:>7} {kilobytes:>8}{missed}", flush=True)


def count(word):
    if not word.isdigit() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"{word}: expected a whole number from 1")
    return int(word)


def read_words(words):
    parser = argparse.ArgumentParser(prog="./dev bench mpi", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="MPI", help="which MPI (all): " + ", ".join(KINDS))
    parser.add_argument("--cells", type=count, metavar="N", help="of the mesh that is compared with threads (720000)")
    parser.add_argument("--share", type=count, metavar="N", help="cells of a rank behind a slower network (100000)")
    parser.add_argument("--steps", type=count, metavar="N", help="of a batch (30)")
    parser.add_argument("--batches", type=count, metavar="N", help="of a run, but for the first, which is not counted (3)")
    parser.add_argument("--rounds", type=count, metavar="N", help="runs of each row (3)")
    parser.add_argument("--quick", action="store_true", help="small, to see that it works")
    wanted = parser.parse_intermixed_args(words)
    unknown = [kind for kind in wanted.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"no MPI {', '.join(unknown)}; there are: {' '.join(KINDS)}")
    usual = {"cells": (CELLS, 1000), "share": (SHARE, 500), "steps": (30, 6), "batches": (3, 1), "rounds": (3, 1)}
    for name, values in usual.items():
        setattr(wanted, name, getattr(wanted, name) or values[wanted.quick])
    return wanted


def measure(wanted):
    any_kind = False
    for kind in wanted.kinds or KINDS:
        try:
            compare_threads(wanted, kind, wanted.cells)
            compare_delays(wanted, kind, wanted.share)
            compare_samples(wanted, kind)
            any_kind = True
        except Missing as reason:
            print(f"{kind}: {reason}", flush=True)
    count_setup(wanted)
    return 0 if any_kind or wanted.quick else 1


def main(build, words):
    wanted = read_words(words)
    if build == "-": # only the options were to be read
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)) # its folder is cleared away
    wanted.build = os.path.abspath(build)
    with tempfile.TemporaryDirectory() as wanted.folder:
        try:
            return measure(wanted)
        except Failure as problem:
            print(f"mpi: {problem}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
