"""Random kernels give on every backend what CPython computes, with the same bits (OP2_FP=strict)."""

import importlib.util
import os

import numpy as np
import pytest

import op2jit
import random_kernels as made
from op2jit import READ, RW
from op2jit.kernels import Parameter
from op2jit.translate import translate
from op2jit.translate.source import snapshot

MANY = int(os.environ.get("OP2JIT_RANDOM_KERNELS", "20"))
#: Each backend has its own ones, where few are looked at.
FIRST = int(os.environ.get("OP2JIT_RANDOM_FIRST", {"native": "0", "seq": "100"}.get(os.environ["OP2_BACKEND"], "200")))
#: On the native backend a whole number beyond 64 bits ends a loop, so that each function has a loop, over what stays within.
NATIVE = os.environ.get("OP2_BACKEND") == "native"
GROUP, ELEMENTS = 1 if NATIVE else 20, 12
PART = 300


def loaded(folder, name, text):
    """A module of this text."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parameters():
    types = {"float64": "double", "float32": "float", "int32": "int", "uint32": "unsigned int", "int8": "char"}
    return [Parameter(types.get(kind, "long long"), length, 0, RW if out else READ) for _, kind, length, out in made.ROWS]


def groups(names):
    """Kernels that call several functions, each with rows of its own for results: one is compiled sooner than many."""
    text = ""
    for number in range(0, len(names), GROUP):
        text += f"def group{number // GROUP}({made.NAMES}):\n"
        for place, name in enumerate(names[number : number + GROUP]):
            words = [
                f"{row}[{place * length}:{(place + 1) * length}]" if out else row for row, _, length, out in made.ROWS
            ]
            text += f"    {name}({', '.join(words)})\n"
        text += "\n"
    return text


def run(kernel, rows, count):
    """What a kernel of so many functions leaves in the rows of results."""
    s = op2jit.Set(len(rows["x"]))
    dats = [
        op2jit.Dat(s, np.tile(rows[name], count) if out else np.asarray(rows[name]), name=name)
        for name, _, _, out in made.ROWS
    ]
    op2jit.par_loop(kernel, s, *[dat(RW if row[3] else READ) for dat, row in zip(dats, made.ROWS)])
    return {row[0]: dat.fetch() for dat, row in zip(dats, made.ROWS)}


def same(one, other):
    """Are all bits the same? A NaN is like another."""
    if one.dtype.kind != "f":
        return np.array_equal(one, other)
    signs = np.signbit(one) == np.signbit(other)
    return np.array_equal(one, other, equal_nan=True) and bool(np.all(signs | np.isnan(one)))


@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY, PART))
def test_random_kernels(tmp_path, first):
    numbers = range(first, min(first + PART, FIRST + MANY))
    text = made.HEAD + "".join(made.Maker(number).text(f"f{number}") for number in numbers)
    module, reference = loaded(tmp_path, f"random_bodies_{first}", text), made.reference(text)
    good, refused, compared = [], 0, 0
    with op2jit.runtime(diags=0, fp="strict"):
        for number in numbers:
            function = getattr(module, f"f{number}")
            try:
                translate(function, parameters(), snapshot(function))
                good.append(f"f{number}")
            except op2jit.KernelError as error:
                assert "^" in str(error)
                refused += 1
        assert refused * 4 < len(numbers), refused
        module = loaded(tmp_path, f"random_groups_{first}", text + groups(good))
        for group in range(0, len(good), GROUP):
            names = good[group : group + GROUP]
            rows = made.data(ELEMENTS, first + group)
            wanted = [[made.expected(reference[name], rows, e) for e in range(ELEMENTS)] for name in names]
            if NATIVE:
                rows = {row: [values[e] for e in range(ELEMENTS) if wanted[0][e]] for row, values in rows.items()}
                wanted = [[one for one in wanted[0] if one]]
            if not wanted[0]:
                continue
            found = run(getattr(module, f"group{group // GROUP}"), rows, len(names))
            for place, name in enumerate(names):
                for element, one in enumerate(wanted[place]):
                    compared += one is not None
                    for row, _, length, out in made.ROWS if one else []:
                        got = found[row].reshape(len(wanted[0]), -1)[element]
                        got = got[place * length : (place + 1) * length] if out else got
                        where = f"{name} of element {element}, row {row}"
                        assert same(got, one[row]), f"{where}: {got.tolist()}, CPython {one[row].tolist()}"
    assert compared > 2 * len(numbers), compared
