"""replay.py OP2JIT KINDS WRONG|- [BACKEND...]: captures from each backend run on every other, with the same results; wrong ones
are found, and made smaller; what a failed check says keeps the call."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

OP2JIT, KINDS, WRONG = (a if a == "-" else os.path.abspath(a) for a in sys.argv[1:4])
BACKENDS = sys.argv[4:]
TARGETS = [name for name in BACKENDS if name != "native"]  # that call no functions of the program
failures = []


def run(*words, status=0, **variables):
    done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if status is not None and done.returncode != status:
        failures.append(f"{' '.join(words)} {variables}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def check(what, condition, shown=""):
    if not condition:
        failures.append(f"{what}\n{shown}")


def every_backend():
    """A period of loops of all kinds from each, on each; and one of its calls alone."""
    for backend in BACKENDS:
        run(KINDS, OP2_BACKEND=backend, OP2_CAPTURE=f"flux:2+:{backend}.capture")
        shown, _ = run(OP2JIT, "replay", f"{backend}.capture")
        loops = re.findall(r"^loop (\w+)", shown, re.M)
        check("nine loops are shown, three with what they give to a matrix", len(loops) == 12 and loops.count("give_to_matrix") == 3 and
              "--run-code runs it" in shown, shown)
        for other in TARGETS:
            said, _ = run(OP2JIT, "replay", f"{backend}.capture", "--run-code", OP2_BACKEND=other)
            check(f"{backend} on {other}", "the results are those of the file" in said, said)
    run(KINDS, OP2_BACKEND=BACKENDS[0], OP2_CAPTURE="gather:1:one.capture")
    said = json.loads(run(OP2JIT, "replay", "one.capture", "--run-code", "--bits", "--times", "3", "--json")[0])
    check("one call", said["result"] == "same" and len(said["loops"]) == 1 and 0 < said["best"], said)
    run(KINDS, OP2_BACKEND=BACKENDS[0], OP2_CAPTURE="flux:1+8:eight.capture")
    said, _ = run(OP2JIT, "replay", "eight.capture", "--run-code", OP2_LAZY="on")
    check("a chain", "the results are those of the file" in said, said)
    run(KINDS, OP2_BACKEND=TARGETS[-1], OP2_REPRODUCIBLE="on", OP2_CAPTURE="gather:2:bits.capture")
    for other in TARGETS:
        said, _ = run(OP2JIT, "replay", "bits.capture", "--run-code", "--bits", OP2_BACKEND=other)
        check(f"the same bits on {other}", "the results are those of the file" in said, said)
    _, told = run(OP2JIT, "replay", "bits.capture", "--run-code", status=2, OP2_BACKEND="native")
    check("functions are not in a file", "which no capture has" in told, told)
    _, told = run(KINDS, "changes", OP2_BACKEND=BACKENDS[0], OP2_CAPTURE="flux:2+:changed.capture")
    check("a global that the program changes", "changed data between two of its loops" in told and
          not os.path.exists("changed.capture"), told)


def elements(program):
    return int(re.search(r'op_decl_set\((\d+), "edges"\)', program).group(1))


def wrong():
    """Each is found, and has three elements at most then."""
    run(WRONG, "text", OP2_BACKEND="native", OP2_CAPTURE="twice:1:text.capture")
    said, _ = run(OP2JIT, "replay", "text.capture", "--run-code", status=1)
    check("the first difference", 'dat "y", element 216 of set "nodes", component 0 is' in said and "and the file has" in said, said)
    said, _ = run(OP2JIT, "replay", "text.capture", "--run-code", "--reduce", status=1)
    check("another text", 'dat "y", element 216 of set "nodes", component 0 is' in said and "no smaller program shows it" in said, said)
    _, told = run(WRONG, "promise", status=1, OP2_BACKEND="seq", OP2_CHECK="on")
    line = re.search(r"OP2_CAPTURE=(\S+)", told)
    check("a failed check says how to keep the call", line, told)
    run(WRONG, "promise", status=1, OP2_BACKEND="seq", OP2_CHECK="on", OP2_CAPTURE=line.group(1))
    program, _ = run(OP2JIT, "replay", "assigns.capture", "--run-code", "--reduce", status=1)
    check("a broken promise", elements(program) <= 3 and '"more"' not in program and '"z"' not in program, program)
    check("its text is short", program.count(";") < 30 and "t *= 2" not in program, program)
    run(WRONG, "dies", status=-signal.SIGFPE, OP2_BACKEND="seq", OP2_CAPTURE="divides:1:dies.capture")
    said, _ = run(OP2JIT, "replay", "dies.capture", "--run-code", status=1)
    check("it dies here too", f"died of signal {signal.SIGFPE.value}" in said, said)
    program, _ = run(OP2JIT, "replay", "dies.capture", "--run-code", "--reduce", status=1)
    check("what ends the process", elements(program) == 1 and "{7}" in program, program)
    run(WRONG, "fast", OP2_BACKEND="seq", OP2_FP="strict", OP2_CAPTURE="tests:1:fast.capture")
    program, _ = run(OP2JIT, "replay", "fast.capture", "--run-code", "--reduce", status=1, OP2_FP="fast")
    check("code that is too fast", elements(program) <= 3, program)
    check("a negative zero stays one", "-0.0" in program, program)
    with open("fast.c", "w", encoding="utf-8") as file:
        file.write(program)
    run(*os.environ.get("CC", "cc").split(), "-std=c17", "-fsyntax-only", *os.environ["CAPTURE_FLAGS"].split(), "fast.c")


def sum_alone():
    """What only a global shows."""
    run(WRONG, "sums", OP2_BACKEND="seq", OP2_FP="strict", OP2_CAPTURE="sums:1:sums.capture")
    program, _ = run(OP2JIT, "replay", "sums.capture", "--run-code", "--reduce", status=1, OP2_FP="fast")
    check("a sum", elements(program) == 1 and "{-100}" in program, program)


def freed():
    """What lies where something lay that was freed is another thing; and a global changes between two loops."""
    for calls in ["moves:1+6", "rows:2+5"]:
        run(WRONG, "freed", OP2_BACKEND="seq", OP2_CAPTURE=f"{calls}:freed.capture")
        said, _ = run(OP2JIT, "replay", "freed.capture", "--run-code", OP2_BACKEND="seq")
        check(f"what was freed, {calls}", "the results are those of the file" in said, said)
    _, told = run(WRONG, "puts", OP2_BACKEND="seq", OP2_CAPTURE="counts:1+2:puts.capture")
    check("a global that is put", "the program changed data between two of its loops" in told, told)


def shadow():
    """OP2_SHADOW and what is not there."""
    _, told = run(WRONG, "text", status=1, OP2_BACKEND="native", OP2_SHADOW="seq")
    check("a shadow says how to keep the call", "OP2_CAPTURE=twice:1:twice.capture" in told, told)
    _, told = run(WRONG, "fast", OP2_BACKEND="seq", OP2_CAPTURE="tests:9:none.capture")
    check("a call that never came", "loop tests was called 1 times, and call 9 was wanted" in told, told)
    check("and no file", not os.path.exists("none.capture"))
    check("of a loop that is there", "did you mean" not in told, told)
    _, told = run(WRONG, "fast", OP2_BACKEND="seq", OP2_CAPTURE="test:1:none.capture")
    check("a loop that is not there", 'no loop of that name ran; did you mean "tests"?' in told, told)
    for value in ["tests", "tests:0:x", "tests:1:", ":1:x", "tests:1+0:x", "tests:a:x", "tests:1-2:x"]:
        run(WRONG, "fast", status=2, OP2_CAPTURE=value)
    run(OP2JIT, "replay", "fast.capture", "--reduce", status=2)
    run(OP2JIT, "replay", "fast.c", status=1)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["OP2_CACHE"] = os.path.join(folder, "kernels.db")
    every_backend()
    if WRONG != "-":
        wrong()
        sum_alone()
        freed()
        shadow()
print("\n".join(failures) or "captures run everywhere")
sys.exit(bool(failures))
