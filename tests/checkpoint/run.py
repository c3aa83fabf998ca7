"""run.py WHAT PROGRAM [ARGUMENT...]: programs that die go on from their checkpoints. Each WHAT is a function below."""

import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Run:
    """How programs run here: arguments behind them, and ranks of which MPI."""

    def __init__(self, program, folder, kind=None, ranks=1, options=("OP2_BACKEND=native",)):
        self.program, self.folder, self.kind, self.ranks, self.options = program, folder, kind, ranks, list(options)
        self.file = os.path.join(folder, "run.ckpt")

    def __call__(self, *arguments, every=None, ranks=None, options=None, extra=",beside=off", **more):
        ranks = ranks or self.ranks
        command = [self.program, *map(str, arguments), *(options or self.options)]
        if every:
            command.append(f"OP2_CHECKPOINT={self.file},every={every}{extra}")
        if ranks > 1:
            command = [os.path.join(HERE, "..", "mpi", "run.sh"), self.kind, str(ranks)] + command
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, timeout=300, **more)


def end_of(done):
    """What a program says of its end, without what differs from run to run."""
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return [line for line in done.stdout.splitlines() if line.startswith(("dat", "carried"))]


def facts(done):
    line = [line for line in done.stdout.splitlines() if line.startswith("facts")][-1]
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line[6:])}


def fails(done, *words):
    assert done.returncode != 0, done.stdout
    for word in words:
        assert word in done.stderr, (word, done.stderr)


def dies(done, ranks=1):
    assert done.returncode != 0 and (ranks > 1 or done.returncode == -signal.SIGKILL), (done.returncode, done.stdout, done.stderr)


def killed(run, seed, steps, times, every, more=(), ranks=None, beside="off"):
    """Killed again and again, each time farther on; the end is that of a run that was left alone."""
    choice = random.Random(seed)
    alone = run(seed, steps, *more)
    expected, calls = end_of(alone), facts(alone)["calls"]
    skipped = 0
    for point in sorted(choice.sample(range(calls), min(times, calls))):
        dies(run(seed, steps, "--die", point, "--rank", choice.randrange(run.ranks), *more, every=every, extra=f",beside={beside}"), run.ranks)
        left = [name for name in os.listdir(run.folder) if name.endswith(".part")]
        for name in left:
            os.remove(os.path.join(run.folder, name))
    last = run(seed, steps, *more, every=every, ranks=ranks)
    assert end_of(last) == expected, (seed, end_of(last), expected)
    skipped = facts(last)["skipped"]
    assert not os.path.exists(run.file) and not os.path.exists(run.file + ".previous")
    return skipped


def random_programs(program, folder, seeds=12, times=4):
    """One process: all kinds of data and calls."""
    run = Run(program, folder)
    skipped = 0
    for seed in range(1, int(seeds) + 1):
        more = ["--own"] * (seed % 2) + ["--places"] * (seed % 3 == 0)
        skipped += killed(run, seed, 14, int(times), 3 + seed % 9, more)
    killed(run, 3, 800, 3, 200, beside="on")
    assert skipped > 0


def ranks(program, folder, kind, seeds=2, times=2):
    """Several ranks; then from their file on another number of them, and on one."""
    for seed in range(1, int(seeds) + 1):
        for count, other in ((2, 2), (3, 1), (1, 2)):
            run = Run(program, folder, kind, count)
            killed(run, seed, 12, int(times), 7, ranks=other, beside=("on", "off")[seed % 2 == 0 and count == 2])
    run = Run(program, folder, kind, 2)
    reported(run, 2)
    more = ["--own"]
    killed(run, own_seed(), 12, 1, 7, more)
    dies(run(own_seed(), 12, "--die", 60, *more, every=7), 2)
    fails(run(own_seed(), 12, *more, every=7, ranks=3), "written on 2 ranks")


def own_seed():
    """A program that fetches single elements: operation 14."""
    return next(seed for seed in range(1, 200) if any(mix(seed, k) % 16 == 14 for k in range(6)))


def mix(a, b):
    """As in program.c."""
    all64 = (1 << 64) - 1
    x = (a * 0x9E3779B97F4A7C15 & all64) ^ (b + 0x7F4A7C15)
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & all64
    return x ^ (x >> 27)


def backends(program, folder, *names):
    """Written on one backend, read on another."""
    for seed in (3, 8):
        for first, second in zip(names, names[1:] + names[:1]):
            run = Run(program, folder, options=[f"OP2_BACKEND={first}"])
            expected = end_of(run(seed, 12))
            dies(run(seed, 12, "--die", 55, every=6))
            done = run(seed, 12, every=6, options=[f"OP2_BACKEND={second}"])
            assert end_of(done) == expected and facts(done)["position"] > 0, (first, second)


def change(path, at, length=64):
    """Spoils bytes of a file."""
    with open(path, "r+b") as file:
        file.seek(at)
        old = file.read(length)
        file.seek(at)
        file.write(bytes(b ^ 0x55 for b in old))


def trouble(program, folder, command):
    """What can be wrong: clear words, and nothing is lost but time."""
    run = Run(program, folder)
    for operation in (3, 9):  # another mesh of the same sizes: a map, and a ragged one
        seed = next(seed for seed in range(1, 200) if any(mix(seed, k) % 16 == operation for k in range(4)))
        dies(run(seed, 14, "--die", 70, every=6))
        fails(run(seed, 14, "--mesh", operation, every=6), "is of another program or mesh: event", "; maps ")
        done = run(seed, 14, "--renumber", every=6)  # the same one
        assert end_of(done) == end_of(run(seed, 14)) and facts(done)["position"] > 0, done.stderr
    expected = end_of(run(2, 14))
    # Another program, and another mesh: both lines.
    dies(run(2, 14, "--die", 70, every=6))
    fails(run(4, 14, every=6), "is of another program or mesh: event", "loop ", "is now")
    fails(run(2, 14, "--stop", 12, every=6), "the program ends after", "the file stays")
    listed = subprocess.run([command, "checkpoint", run.file], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert re.search(r"^dat +\S+ +300 x 1 ", listed, re.M), listed
    assert subprocess.run([command, "checkpoint", "--json", run.file], stdout=subprocess.PIPE, check=True).stdout.startswith(b"{")
    # The newer one is damaged, anywhere: the one before it is used.
    assert os.path.exists(run.file + ".previous")
    with open(run.file, "rb") as file:
        whole = file.read()
    with open(run.file + ".previous", "rb") as file:
        previous = file.read()

    def again():
        for path, content in ((run.file, whole), (run.file + ".previous", previous)):
            with open(path, "wb") as file:
                file.write(content)

    farther = facts(run(2, 14, every=1000))["position"]
    for cut in (0, 100, len(whole) // 2):
        again()
        os.truncate(run.file, cut)
        done = run(2, 14, every=1000)
        before = facts(done)["position"]
        assert end_of(done) == expected and 0 < before < farther, (cut, before, farther)
        assert "the run goes on from the one before it" in done.stderr, done.stderr
    for at in random.Random(1).sample(range(len(whole)), 12):
        again()
        change(run.file, at)
        done = run(2, 14, every=1000)  # by one of the two: what was spoilt may be nothing
        assert end_of(done) == expected and facts(done)["position"] in (farther, before), (at, facts(done))
    again()
    os.remove(run.file)  # between two names
    done = run(2, 14, every=1000)
    assert facts(done)["position"] == before and "to begin anew remove that, too" in done.stderr, done.stderr
    again()
    os.truncate(run.file, 50)
    os.truncate(run.file + ".previous", 50)
    fails(run(2, 14, every=1000), "OP2_CHECKPOINT")
    # Another version.
    again()
    events = json.loads(subprocess.run([command, "checkpoint", "--json", run.file], stdout=subprocess.PIPE, check=True).stdout)["events"]
    form = whole.index(struct.pack("=qq", 2, events))
    with open(run.file, "r+b") as file:
        file.seek(form)
        file.write(struct.pack("=q", 99))
    os.remove(run.file + ".previous")
    fails(run(2, 14, every=1000), "was written by op2jit", "in form 99")
    os.remove(run.file)
    # A disk that is full: a warning, the run goes on, and what was there stays.
    dies(run(2, 14, "--die", 30, every=6))
    before = open(run.file, "rb").read()

    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for beside in (",beside=on", ",beside=off"):
        done = run(2, 14, "--early", 70, every=6, extra=beside, preexec_fn=full, restore_signals=False)
        assert done.returncode == 0 and "no checkpoint is written, and the older ones stay" in done.stderr, done.stderr
        assert open(run.file, "rb").read() == before
    assert facts(done)["failed"] > 0
    done = run(2, 14, every=6)
    assert end_of(done) == expected and facts(done)["position"] > 0
    # Values beyond the budget, and wishes that are none.
    fails(run(2, 14, every=6, extra=",beside=off,values=100"), "bytes of values have left the library", "values=SIZE")
    for wish in ("every=0", "every=5x", "often", "values=", "beside=yes"):
        done = run(2, 1, options=["OP2_BACKEND=native", f"OP2_CHECKPOINT={run.file},{wish}"])
        fails(done, "OP_ERR_ENV", "expected FILE")


def files(program, folder):
    """Files of the library are not written again on the way, and those behind it are."""
    run = Run(program, folder)
    seed = next(seed for seed in range(1, 400) if any(mix(seed, k) % 16 == 15 for k in range(6)))
    alone = run(seed, 14, "--out", os.path.join(folder, "alone"))
    expected, calls = end_of(alone), facts(alone)["calls"]
    dies(run(seed, 14, "--out", os.path.join(folder, "again"), "--die", calls * 2 // 3, every=6))
    first = os.path.join(folder, "again.0.bin")
    os.remove(first)
    done = run(seed, 14, "--out", os.path.join(folder, "again"), every=6)
    assert end_of(done) == expected and not os.path.exists(first)
    names = [name for name in sorted(os.listdir(folder)) if name.startswith("alone.") and name != "alone.0.bin"]
    assert names
    for name in names:
        with open(os.path.join(folder, name), "rb") as ours, open(os.path.join(folder, name.replace("alone", "again")), "rb") as theirs:
            assert ours.read() == theirs.read(), name


def refused(program, folder, matrices, adjoint=None):
    """What has no checkpoints says so; files that cannot be written, and programs that end at once."""
    run = Run(program, folder)
    fails(Run(matrices, folder)(every=5), "OP_ERR_STATE", "which checkpoints do not hold")
    if adjoint:
        fails(Run(adjoint, folder, options=["OP2_BACKEND=seq"])(every=5), "OP_ERR_STATE", "checkpoints hold no derivatives")
    run.file = os.path.join(folder, "run.ckpt")
    assert not os.path.exists(run.file)
    run.file = os.path.join(folder, "nowhere", "run.ckpt")
    done = run(2, 14, every=6)
    assert end_of(done) == end_of(run(2, 14)) and "no checkpoint is written" in done.stderr, done.stderr


def cases(program, folder, *options):
    """What one checkpoint may miss, each thing in a program of its own."""
    run = Run(program, folder, options=options)
    for what in ("partial", "found", "names", "forks"):
        expected = end_of(run(what))
        dies(run(what, "die", every=30))
        assert os.path.exists(run.file), what
        done = run(what, every=3000)
        assert end_of(done) == expected, (what, end_of(done), expected)
    # A loop that failed would be passed as if it had not.
    expected = end_of(run("fails"))
    done = run("fails", "die", every=30)
    dies(done)
    assert not os.path.exists(run.file) and "no more checkpoints are written" in done.stderr, done.stderr
    assert end_of(run("fails", every=3000)) == expected
    done = run("late", "die", every=30, options=[*options, "OP2_LAZY=check", "OP2_FUSE=on"])
    dies(done)
    assert not os.path.exists(run.file) and "no more checkpoints are written" in done.stderr, done.stderr
    # Calls that were passed count, where one is to be kept.
    for call, words in (("10", "call 10 of loop work is not kept"), ("50", "")):
        dies(run("names", "die", every=30))
        done = run("names", every=3000, options=[*options, f"OP2_CAPTURE=work:{call}:kept{call}"])
        assert words in done.stderr and os.path.exists(os.path.join(folder, "kept" + call)) == (not words), done.stderr


def locked(program, folder):
    """A run beside one that lives is refused; one behind a killed one waits until that has ended; what is read is one file."""
    run = Run(program, folder)
    expected = end_of(run(3, 3000))
    command = [program, "3", "3000", *run.options, f"OP2_CHECKPOINT={run.file},every=20,beside=off"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder) as first:
        try:
            while not os.path.exists(run.file) and first.poll() is None:
                time.sleep(0.005)
            first.send_signal(signal.SIGSTOP)
            fails(run(3, 3000, every=100000), "OP_ERR_FILE", f"is in use by process {first.pid} on ")
            assert os.path.exists(run.file)
            threading.Timer(1, first.kill).start()
            done = run(3, 3000, every=100000)
        finally:
            first.kill()
    assert first.returncode == -signal.SIGKILL and end_of(done) == expected and facts(done)["position"] > 0
    assert not os.path.exists(run.file + ".lock")
    for seed in (3, 4, 5):
        expected = end_of(run(seed, 14))
        dies(run(seed, 14, "--die", 45, every=6))
        older = shutil.copy(run.file, run.file + ".older")
        dies(run(seed, 14, "--die", 80, every=6))
        newer = shutil.copy(run.file, run.file + ".newer")
        os.replace(older, run.file)
        done = run(seed, 14, "--rename", 3, newer, run.file, every=100000)
        assert end_of(done) == expected and facts(done)["position"] > 0 and not os.path.exists(newer), seed


def reported(run, ranks):
    """What a report says of checkpoints; they are written beside the program."""
    os.makedirs(run.folder, exist_ok=True)
    for form in ("text", "json:report.json"):
        told = run(3, 40, "--early", 200, every=20, ranks=ranks, extra="", options=run.options + ["OP2_TIMING=" + form])
        assert told.returncode == 0, told.stderr
        if form == "text":
            assert re.search(r"^checkpoints: \d+ written, the last with .* MB of dats; the program waited ", told.stdout, re.M), told.stdout
        os.remove(run.file)
        os.remove(run.file + ".previous")
    with open(os.path.join(run.folder, "report.json"), encoding="utf-8") as file:
        found = json.load(file)["checkpoints"]
    assert found["written"] > 1 and found["beside_seconds"] > 0 and found["seconds"] > 0 and found["failed"] == 0, found


def work(program, folder):
    """What a run that goes on does: no loop runs before it has arrived."""
    run = Run(program, folder)
    whole = facts(run(3, 200, every=100000))
    done = run(3, 200, "--early", whole["calls"] - 40, every=200)
    assert facts(done)["written"] > 2
    reported(Run(program, os.path.join(folder, "told")), 1)
    done = run(3, 200, every=100000)
    f = facts(done)
    assert f["skipped"] == f["position"] > 600 and f["loops"] + f["skipped"] == whole["loops"], (f, whole)


def lines_of(done):
    """What a sample prints, without times."""
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return [line for line in done.stdout.splitlines() if not re.search(r"\bseconds?\b|\d ?[mu]?s\b|GB/s|loops in|; sets: |^facts ", line)]


def sample(program, folder, killer, kind, ranks, times, every, *arguments):
    """A program that knows nothing of checkpoints, killed at random loops and a moment behind them, so that it often writes then;
    also on several ranks."""
    options = ["OP2_BACKEND=native"]
    run = Run(program, folder, kind, int(ranks), options)
    run.file = os.path.join(folder, "run.ckpt")
    expected = lines_of(run(*arguments))
    choice = random.Random(os.path.basename(program))
    env = dict(os.environ, OP2_TOOLS=killer)
    log = ["OP2_LOG=info"]
    deaths = half = 0
    for n in range(int(times)):  # the first one late enough that there is something to go on from
        env["CHECKPOINT_LOOPS"] = str(choice.randrange(1 if n else 4 * int(every), 6 * int(every)))
        env["CHECKPOINT_RANK"] = str(choice.randrange(int(ranks)))
        env["CHECKPOINT_DELAY"] = str(choice.choice((0, int(10 ** choice.uniform(0.5, 3.6)))))
        done = run(*arguments, every=every, env=env, extra=choice.choice(("", ",beside=off")))
        if done.returncode == 0:
            assert lines_of(done) == expected
            continue
        deaths += 1
        left = [name for name in os.listdir(folder) if name.endswith(".part")]
        half += len(left)
        for name in left:
            os.remove(os.path.join(folder, name))
    print(f"{deaths} deaths, {half} of them while a file was written")
    assert deaths and (half or int(times) < 100)
    env["CHECKPOINT_DELAY"] = "0"
    for factor in range(3, 12):  # the last ones may have begun anew, and died at once
        if not os.path.exists(run.file):
            env["CHECKPOINT_LOOPS"] = str(factor * int(every))
            run(*arguments, every=every, env=env)
    done = run(*arguments, every=every, options=options + log)
    assert lines_of(done) == expected, (lines_of(done), expected)
    assert "this run goes on behind loop" in done.stderr, done.stderr


def airfoil(program, folder, killer, command):
    """What is kept of airfoil: its state, and nothing else of the mesh's size."""
    run = Run(program, folder)
    run.file = os.path.join(folder, "run.ckpt")
    env = dict(os.environ, OP2_TOOLS=killer, CHECKPOINT_LOOPS="140")
    run("--cells", 1500, "--iters", 50, every=60, env=env)
    text = subprocess.run([command, "checkpoint", "--json", run.file], stdout=subprocess.PIPE, check=True).stdout
    found = json.loads(text)
    kept = {dat["name"]: dat for dat in found["dats"]}
    assert {name for name, dat in kept.items() if not dat["zeros"]} == {"q"}, kept
    assert kept["q"]["bytes"] == 32 * kept["q"]["rows"] and found["globals"] == 16, found
    assert found["values"] <= 8 * 50, found


if __name__ == "__main__":
    PROGRAM, *REST = [os.path.abspath(word) if os.path.isfile(word) else word for word in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as place:
        globals()[sys.argv[1]](PROGRAM, place, *REST)
