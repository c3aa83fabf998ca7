"""A program that an exception or a signal ends goes on from its checkpoint, and one that did its work begins anew."""

import os
import re
import subprocess
import sys

import pytest

PROGRAM = '''
import os, signal, sys
import numpy as np
import op2jit

@op2jit.kernel
def step(a: "double[1]", b: "double[1]"):
    b[0] = a[0] * 0.5 + 1

def work(how):
    cells = op2jit.Set(100, "cells")
    x = op2jit.Dat(cells, np.arange(100.0), name="x")
    y = op2jit.Dat(cells, np.zeros(100), name="y")
    total = 0.0
    for i in range(30):
        op2jit.checkpoint()
        op2jit.par_loop(step, cells, x(op2jit.READ), y(op2jit.WRITE))
        op2jit.par_loop(step, cells, y(op2jit.READ), x(op2jit.WRITE))
        total += float(x.fetch()[3]) if i % 7 == 0 else 0
        if i == 20 and how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if i == 20 and how != "end":
            raise ValueError("dies")
    print(total, float(x.fetch().sum()), "skipped", op2jit.checkpoint_facts()["skipped"])

if sys.argv[1] == "block":
    with op2jit.runtime():
        work(sys.argv[1])
else:
    op2jit.init()
    work(sys.argv[1])
'''


def run(folder, how, **more):
    environment = dict(os.environ, **more)
    (folder / "program.py").write_text(PROGRAM)
    return subprocess.run(
        [sys.executable, "program.py", how], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    return run(tmp_path_factory.mktemp("alone"), "end").stdout


@pytest.mark.parametrize("how", ["kill", "raise", "block"])
def test_what_dies_goes_on(tmp_path, how, wanted):
    assert wanted.endswith("skipped 0\n")
    said = {"OP2_CHECKPOINT": "run.ckpt,every=5,beside=off"}
    assert run(tmp_path, how, **said).returncode != 0
    assert (tmp_path / "run.ckpt").exists()
    done = run(tmp_path, "end", **said)
    found = re.fullmatch(r"(.* skipped )(\d+)\n", done.stdout)
    assert found and found[1] == wanted[:-2] and int(found[2]) > 20, done
    assert not (tmp_path / "run.ckpt").exists()
