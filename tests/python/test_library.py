"""What ctypes makes of the library's own declarations is what the C headers say: a small C program prints it."""

import ast
import ctypes
import os
import shutil
import subprocess
import sys

import pytest

from op2jit import _library as library
from op2jit import errors

ROOT = os.environ["OP2JIT_ROOT"]
PACKAGE = os.path.join(ROOT, "python", "op2jit")
STRUCTS = {name: library.KINDS[name] for name in library.DECLARED["structs"]}


@pytest.fixture(scope="module")
def compiler():
    found = shutil.which("cc") or shutil.which("gcc")
    if not found:
        pytest.skip("there is no C compiler")
    return found


def said(compiler, folder, lines):
    """The numbers that a C program prints which sees the headers, by name."""
    program = '#include <op2jit_adjoint.h>\n#include <op2jit_bridge.h>\n#include <op2jit_checkpoint.h>\n#include <op2jit_tasks.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n'
    program += "".join(f'  printf("{name} %zu\\n", (size_t)({what}));\n' for name, what in lines.items()) + "}\n"
    (folder / "said.c").write_text(program)
    command = [compiler, "-I", os.path.join(ROOT, "include"), folder / "said.c", "-o", folder / "said"]
    subprocess.run(command, check=True)
    words = subprocess.run([folder / "said"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2])}


def of_python(struct):
    """Where the members of a struct are, and its size."""
    at = {field[0]: getattr(struct, field[0]).offset for field in struct._fields_}
    return {**at, "whole": ctypes.sizeof(struct)}


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_are_those_of_the_header(compiler, tmp_path, name):
    ours = of_python(STRUCTS[name])
    lines = {member: f"offsetof({name}, {member})" for member in ours if member != "whole"}
    sizes = {"width." + member: f"sizeof((({name} *)0)->{member})" for member in ours if member != "whole"}
    found = said(compiler, tmp_path, {**lines, **sizes, "whole": f"sizeof({name})"})
    widths = {"width." + field[0]: getattr(STRUCTS[name], field[0]).size for field in STRUCTS[name]._fields_}
    assert found == {**ours, **widths}


def test_a_struct_that_differs_is_noticed(compiler, tmp_path):
    class Other(ctypes.Structure):
        _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char_p), ("name", ctypes.c_char_p)]

    ours = of_python(Other)
    found = said(compiler, tmp_path, {member: f"offsetof(op_error, {member})" for member in ours if member != "whole"})
    assert any(found[member] != ours[member] for member in found)


def test_numbers_are_those_of_the_header(compiler, tmp_path):
    numbers = library.DECLARED["numbers"]
    found = said(compiler, tmp_path, {name: f"(int){name}" for name in numbers})
    assert found == {name: value % 2**64 for name, value in numbers.items()}
    assert errors.codes["OP_ERR_GRAPH"] == 30 and library.UNSAID == -1
    assert all(getattr(library, name) == numbers["OP_" + name] for name in library.ACCESS_NAMES)


def test_what_is_needed_before_the_library_is_open_is_right():
    code = 'import runpy; print(runpy.run_path("errors.py")["codes"])'
    command = [sys.executable, "-c", code]
    words = subprocess.run(command, cwd=PACKAGE, stdout=subprocess.PIPE, text=True, check=True).stdout
    before = ast.literal_eval(words)
    assert before and before == {name: library.DECLARED["numbers"][name] for name in before}
