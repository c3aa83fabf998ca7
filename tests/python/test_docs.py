"""The pieces of docs/python.md, one after the other, as one program."""

import linecache
import os
import re

import pytest

ROOT = os.environ["OP2JIT_ROOT"]


@pytest.mark.compiled
def test_the_manual(capsys):
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        pieces = re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
    assert len(pieces) > 8
    space = {"__name__": "manual"}
    for number, piece in enumerate(pieces):
        name = f"piece {number} of python.md"
        linecache.cache[name] = (len(piece), None, piece.splitlines(True), name)
        exec(compile(piece, name, "exec"), space)
    said = capsys.readouterr().out
    assert "WRITE (found)" in said and "seen.append is no function" in said and "copy_left" in said
