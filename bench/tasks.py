"""./dev bench tasks: graphs of tasks, and the same tasks by OpenMP, in turns. Processes wait for their turn; each round runs
every form once. Times are medians of the rounds with the quartiles, ratios medians of the rounds' ratios."""

import argparse
import os
import statistics
import subprocess
import sys

SAMPLES = {"qr": 256, "barnes_hut": 3000, "md": 14, "sph": 40}  # with sizes of a quick run


class Form:
    """A process that runs one form once for each line."""

    def __init__(self, build, sample, kind, threads, size):
        self.name = f"{kind} {threads}"
        self.kind, self.threads = kind, threads
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive", OP2_CACHE="off")
        self.process = subprocess.Popen([os.path.join(build, "bench", "tasks_" + sample), kind, str(threads), str(size)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.times, self.used, self.answers = [], [], []
        if self.process.stdout.readline() != "ready\n":
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


def compare(build, sample, size, options):
    forms = [Form(build, sample, kind, threads, size) for kind in ("graph", "openmp") for threads in (1, options.threads)]
    for number in range(options.rounds + 1):
        for form in forms:
            form.run()
        if number == 0:  # costs are not known yet, memory was never touched
            for form in forms:
                form.times, form.used = [], []
    wrong = [form.name for form in forms if any(abs(a - b) > 1e-6 * abs(b) for a, b in zip(form.answers, forms[0].answers))]
    for form in forms:
        low, middle, high = quartiles(form.times)
        print(f"  {form.name:12} {middle:9.2f} ms ({low:.2f} .. {high:.2f}), of processors {statistics.median(form.used):9.2f} ms")
    one, many, _, hand = forms
    print(f"  {options.threads} threads are {ratio(one.times, many.times):.2f} times as fast as one; "
          f"OpenMP takes {ratio(hand.times, many.times):.2f} of the graph's time on {options.threads}")
    executed, wall, busy, idle, critical = one.ask("facts")
    print(f"  {executed:.0f} tasks, on one thread {100 * (wall - busy - idle) / wall:.2f}% of the time between them "
          f"({1e3 * (wall - busy - idle) / executed:.2f} us a task); the longest way takes {critical:.2f} ms")
    for threads in options.simulate:
        simulated, alone = one.ask(f"simulate {threads}")
        print(f"  simulated on {threads} threads: {simulated:.2f} ms, {100 * alone / simulated / threads:.0f}% of the ideal")
    failed = [form.name for form in forms if form.close()]
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
    options.simulate = options.simulate or [64]
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
