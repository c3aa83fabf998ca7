"""./dev bench tasks: graphs of tasks, and the same tasks by OpenMP, in turns. Processes wait for their turn; each round runs
every form once. Times are medians of the rounds with the quartiles, ratios medians of the rounds' ratios."""

import argparse
import os
import statistics
import subprocess
import sys

PUBLISHED = {"qr": "67 % on 96 cores, 8192^2", "barnes_hut": "54 % on 96 cores"}  # of the ideal, see docs/tasks.md
SAMPLES = {"qr": 256, "barnes_hut": 3000, "md": 14, "sph": 40}  # with sizes of a quick run


class Form:
    """A process that runs one form once for each line."""

    def __init__(self, build, sample, kind, threads, size):
        self.name = f"{kind} {threads}"
        self.kind, self.threads = kind, threads
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
                           OMP_WAIT_POLICY="passive", OP2_CACHE="off")
        self.process = subprocess.Popen([os.path.join(build, "bench", "tasks_" + sample), kind, str(threads), str(size)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.times, self.used, self.answers = [], [], []
        self.says = self.process.stdout.readline().strip()
        if self.says not in ("ready", "missing"):
            sys.exit(f"bench tasks: {sample}, {self.name} does not begin")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return [float(word) for word in self.process.stdout.readline().split()]

    def run(self):
        wall, used, answer = self.ask("run")
        self.times.append(wall)
        self.used.append(used)
        self.answers.append(answer)

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def quartiles(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 4], statistics.median(ordered), ordered[-1 - len(ordered) // 4]


def ratio(one, other):
    return statistics.median(a / b for a, b in zip(one, other))


def others(build, sample, size, options):
    """What others have for the same: LAPACK for qr, on one thread and on all, where it is installed."""
    found = [Form(build, "lapack", "lapack", threads, size) for threads in (1, options.threads)] if sample == "qr" else []
    if found and found[0].says == "missing":
        print("  LAPACK is not installed: no dgeqrf beside it")
        for form in found:
            form.close()
        return []
    return found


def say_overhead(form):
    """Of the last run: what lies between tasks, as a share of the threads' time, and for each task."""
    executed, wall, busy, idle, critical = form.ask("facts")
    between = form.threads * wall - busy - idle
    print(f"  {executed:.0f} tasks on {form.threads} thread{'s' * (form.threads > 1)}: {100 * busy / form.threads / wall:.2f}% in tasks, "
          f"{100 * idle / form.threads / wall:.2f}% idle, {100 * between / form.threads / wall:.2f}% between them "
          f"({1e3 * between / executed:.2f} us a task); the longest way takes {critical:.2f} ms")


def compare(build, sample, size, options):
    forms = [Form(build, sample, kind, threads, size) for kind in ("graph", "openmp") for threads in (1, options.threads)]
    beside = others(build, sample, size, options)
    for number in range(options.rounds + 1):
        for form in forms + beside:
            form.run()
        if number == 0:  # costs are not known yet, memory was never touched
            for form in forms + beside:
                form.times, form.used = [], []
    wrong = [form.name for form in forms if any(abs(a - b) > 1e-6 * abs(b) for a, b in zip(form.answers, forms[0].answers))]
    for form in forms + beside:
        low, middle, high = quartiles(form.times)
        print(f"  {form.name:12} {middle:9.2f} ms ({low:.2f} .. {high:.2f}), of processors {statistics.median(form.used):9.2f} ms")
    one, many, _, hand = forms
    print(f"  {options.threads} threads are {ratio(one.times, many.times):.2f} times as fast as one; "
          f"OpenMP takes {ratio(hand.times, many.times):.2f} of the graph's time on {options.threads}")
    for form in beside:
        print(f"  dgeqrf on {form.threads} takes {ratio(form.times, many.times):.2f} of the graph's time on {options.threads}")
    for form in (one, many):
        say_overhead(form)
    for threads in options.simulate:
        simulated, alone = one.ask(f"simulate {threads}")
        print(f"  simulated on {threads} threads: {simulated:.2f} ms, {100 * alone / simulated / threads:.0f}% of the ideal"
              + (f" (published: {PUBLISHED[sample]})" if sample in PUBLISHED else ""))
    failed = [form.name for form in forms + beside if form.close()]
    if wrong or failed:
        print(f"  FAILED: {wrong} have other answers, {failed} ended badly")
    return not wrong and not failed


def main():
    parser = argparse.ArgumentParser(prog="./dev bench tasks", description=__doc__)
    parser.add_argument("build", help=argparse.SUPPRESS)
    parser.add_argument("samples", nargs="*", help="qr, barnes_hut, md, sph; all if none is named")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--simulate", type=int, action="append", metavar="THREADS", help="a run on so many threads, from "
                        "times that were measured on one; may be given several times")
    parser.add_argument("--quick", action="store_true", help="small sizes, two rounds: does it work?")
    options = parser.parse_args()
    unknown = [name for name in options.samples if name not in SAMPLES]
    if unknown or options.rounds < 1 or options.threads < 1:
        parser.error(f"there is no sample {unknown}" if unknown else "at least one round and one thread")
    if options.build == "-":
        return 0
    options.simulate = options.simulate or [2, 64]
    if options.quick:
        options.rounds = 2
    elif not options.samples:
        subprocess.run([os.path.join(options.build, "bench", "tasks_empty")], check=True)
    good = True
    for sample in options.samples or SAMPLES:
        print(sample, flush=True)
        good = compare(options.build, sample, SAMPLES[sample] if options.quick else 0, options) and good
    return not good


if __name__ == "__main__":
    sys.exit(main())
