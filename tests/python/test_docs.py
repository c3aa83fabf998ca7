"""The pieces of docs/python.md, one after the other, as one program; those of docs/adjoint.md and docs/guide/coming.md."""

import linecache
import os
import re

import pytest

ROOT = os.environ["OP2JIT_ROOT"]


def run_pieces(*path):
    """As one program; how many there were."""
    with open(os.path.join(ROOT, "docs", *path), encoding="utf-8") as file:
        pieces = re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
    space = {"__name__": "manual"}
    for number, piece in enumerate(pieces):
        name = f"piece {number} of {path[-1]}"
        linecache.cache[name] = (len(piece), None, piece.splitlines(True), name)
        exec(compile(piece, name, "exec"), space)
    return len(pieces)


@pytest.mark.compiled
def test_coming_from_elsewhere():
    assert run_pieces("guide", "coming.md") == 2


@pytest.mark.compiled
def test_derivatives(running, capsys):
    assert run_pieces("adjoint.md") == 1
    assert capsys.readouterr().out == "2.033734741\n"


def test_part_of_a_sample():
    def read(*path):
        with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
            return file.read()

    for page, sample, count in (("adjoint.md", "bottom", 1), ("solvers.md", "poisson", 2)):
        squeezed = " ".join(read("samples", sample, sample + ".py").split())
        pieces = re.findall(r"^```py\n(.*?)^```", read("docs", page), re.DOTALL | re.MULTILINE)
        assert len(pieces) == count and all(" ".join(piece.split()) in squeezed for piece in pieces)


@pytest.mark.compiled
def test_the_manual(capsys):
    assert run_pieces("python.md") > 8
    said = capsys.readouterr().out
    assert "WRITE (found)" in said and "seen.append is no function" in said and "copy_left" in said
