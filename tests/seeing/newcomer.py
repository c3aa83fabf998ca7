"""newcomer.py PROGRAM KERNEL-FILES SPARE [RUN KIND]: what a newcomer's program found: no colours in the log of an mpirun, which gives its ranks
terminals; a warning at a file of kernels that is newer than the program which has its functions; advice where a kernel does not
use an argument, and where the variable of a constant has changed.

KERNEL-FILES are tests that write such files as they run."""
import os
import pty
import re
import subprocess
import sys

PROGRAM, KERNELS, SPARE = (os.path.abspath(a) for a in sys.argv[1:4])
failures = []


def check(what, condition, shown):
    if not condition:
        failures.append(f"{what}\n{shown}")


def on_terminal(**variables):
    """What the program prints on a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen([PROGRAM], env={**os.environ, "OP2_TIMING": "text", "OP2_MPI": "off", "TERM": "xterm", **variables},
                          stdout=slave, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            said += part
        process.wait()
    os.close(master)
    return said.decode(errors="replace")


os.environ.pop("NO_COLOR", None)
said = on_terminal()
check("a terminal has colours", "\033[" in said, said)
check("the run is named", any(os.path.basename(PROGRAM) in line and "sets: " in line for line in said.splitlines()), said)
said = on_terminal(OMPI_COMM_WORLD_SIZE="1")
check("a rank's has none", "\033[" not in said and "sets:" in said, said)
done = subprocess.run([KERNELS], env={**os.environ, "OP2_BACKEND": "native"}, capture_output=True, text=True, check=False)
check("both times", re.search(r"kernel file \S+ is of \d+-\d+-\d+ \d+:\d+:\d+, and the program of \d+-\d+-\d+ \d+:\d+:\d+", done.stderr),
      done.stderr)
done = subprocess.run([SPARE], env={**os.environ, "OP2_BACKEND": "seq", "OP2_LOG": "advice"}, capture_output=True, text=True, check=False)
check("an argument that no kernel uses", 'kernel spare does not use argument 2 (dat "y"), which' in done.stderr and
      done.stderr.count("does not use") == 1, done.stderr)
check("a variable of a constant", done.stderr.count("advice: constant ") == 1 and "constant rate is 0.1 in loops, and the variable "
      "that it was copied from is 0.2 now" in done.stderr, done.stderr)
check("all is there", "owns no element" not in done.stderr, done.stderr)
if len(sys.argv) > 5:
    done = subprocess.run([sys.argv[4], sys.argv[5], "2", SPARE], env={**os.environ, "OP2_BACKEND": "seq", "OP2_LOG": "advice"},
                          capture_output=True, text=True, check=False)
    check("a rank that owns nothing", done.returncode == 77 or done.stderr.count("a rank owns no element of any set") == 1, done.stderr)
print("\n".join(failures) or "nothing is new any more")
sys.exit(bool(failures))
