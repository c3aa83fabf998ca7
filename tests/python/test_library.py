"""What _library.py and errors.py repeat of the C headers is what the headers say: a small C program prints it."""

import ctypes
import os
import re
import shutil
import subprocess

import pytest

from op2jit import _library as library
from op2jit import errors

ROOT = os.environ["OP2JIT_ROOT"]
STRUCTS = {"op_arg": library.Argument, "op_error": library.ErrorRecord, "op_counters_t": library.Counters}


@pytest.fixture(scope="module")
def compiler():
    found = shutil.which("cc") or shutil.which("gcc")
    if not found:
        pytest.skip("there is no C compiler")
    return found


def said(compiler, folder, lines):
    """The numbers that a C program prints which sees op2jit.h, by name."""
    program = '#include <op2jit.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n'
    program += "".join(f'  printf("{name} %zu\\n", (size_t)({what}));\n' for name, what in lines.items()) + "}\n"
    (folder / "said.c").write_text(program)
    command = [compiler, "-I", os.path.join(ROOT, "include"), folder / "said.c", "-o", folder / "said"]
    subprocess.run(command, check=True)
    words = subprocess.run([folder / "said"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2])}


def of_python(struct):
    """Where the members of a struct are, and its size."""
    at = {field[0]: getattr(struct, field[0]).offset for field in struct._fields_}
    return {**at, "size": ctypes.sizeof(struct)}


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_are_those_of_the_header(compiler, tmp_path, name):
    ours = of_python(STRUCTS[name])
    lines = {member: f"offsetof({name}, {member})" for member in ours if member != "size"}
    sizes = {"width." + member: f"sizeof((({name} *)0)->{member})" for member in ours if member != "size"}
    found = said(compiler, tmp_path, {**lines, **sizes, "size": f"sizeof({name})"})
    widths = {"width." + field[0]: getattr(STRUCTS[name], field[0]).size for field in STRUCTS[name]._fields_}
    assert found == {**ours, **widths}


def test_a_struct_that_differs_is_noticed(compiler, tmp_path):
    class Other(ctypes.Structure):
        _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char_p), ("name", ctypes.c_char_p)]

    ours = of_python(Other)
    found = said(compiler, tmp_path, {member: f"offsetof(op_error, {member})" for member in ours if member != "size"})
    assert any(found[member] != ours[member] for member in found)


def test_codes_and_accesses_are_those_of_the_header(compiler, tmp_path):
    lines = {"OP_OK": "OP_OK", **{"OP_ERR_" + word: "OP_ERR_" + word for word in errors.CODES[1:]}}
    lines["count"] = "OP_ERR_COUNT_"
    found = said(compiler, tmp_path, lines)
    assert list(found.values()) == list(range(len(errors.CODES) + 1))
    accesses = said(compiler, tmp_path, {word: "OP_" + word for word in library.ACCESS_NAMES})
    assert accesses == {word: getattr(library, word) for word in library.ACCESS_NAMES}


def test_all_counters_are_there():
    with open(os.path.join(ROOT, "include", "op2jit.h")) as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    body = re.search(r"typedef struct op2jit_counters \{(.*?)\}", text, re.DOTALL).group(1)
    names = re.findall(r"(\w+)(?:\[\d+\])?\s*[,;]", body)
    assert names == [*library.COUNTERS, "reserved"]


def test_calls_have_as_many_arguments_as_in_the_header():
    """Each row of CALLS; what the headers declare through macros of their own is counted there."""
    text = ""
    for name in ("op2jit.h", "op2jit_mpi.h", "op2jit_ragged.h"):
        with open(os.path.join(ROOT, "include", name)) as file:
            text += re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    seen = 0
    for name, kinds in library.CALLS.items():
        found = re.search(rf"[\s*](?:op|op2jit)_{name}\(([^()]*(?:\([^()]*\)[^()]*)*)\);", text)
        assert found, name
        parameters = [word for word in re.sub(r"\([^()]*\)", "", found.group(1)).split(",") if word.strip() != "void"]
        assert len(parameters) == len(kinds[2:]), (name, parameters)
        seen += 1
    assert seen == len(library.CALLS)
