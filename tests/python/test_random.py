"""Random kernels give on every backend what CPython computes, with the same bits (OP2_FP=strict)."""

import importlib.util
import os
import re

import numpy as np
import pytest

import op2jit
import random_kernels as made
from op2jit import READ, RW
from op2jit.kernels import Parameter
from op2jit.translate import translate
from op2jit.translate.source import snapshot

MANY = int(os.environ.get("OP2JIT_RANDOM_KERNELS", "300"))
FIRST = int(os.environ.get("OP2JIT_RANDOM_FIRST", "0"))
BACKENDS = os.environ.get("OP2JIT_RANDOM_BACKENDS", "native seq openmp").split()
#: So many functions are in one C text, which is compiled sooner than many; and so many in one file.
GROUP, PART, ELEMENTS = 20, 300, 12


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


class Made(op2jit.Kernel):
    """A function that is translated already."""

    def __init__(self, name, found):
        super().__init__(found.words, name)
        self.made = op2jit.kernels.Form(name, found.words, found.source, found.run, parameters())

    def form(self, _):
        return self.made


def together(translated):
    """A kernel in C that calls several functions, each with rows of its own for results."""
    lines, bodies, calls = {}, [], []  # tables and operations are lines, which several have
    for place, (name, found) in enumerate(translated.items()):
        own = re.findall(r"^static .*?\b(\w+)\([^;]*?\) \{$", found.source, re.MULTILINE)
        for part in found.source.split("\n\n"):
            if part.rstrip().endswith("\n}"):
                bodies.append(re.sub(rf"\b({'|'.join(own)})\b", rf"\1_of_{name}", part))
            else:
                lines.update(dict.fromkeys(part.split("\n")))
        words = [f"{row} + {place * length}" if out else row for row, _, length, out in made.ROWS]
        calls.append(f"  {name}_of_{name}({', '.join(words)});")
    types = [f"{'' if out else 'const '}{parameter.type} *{row}" for (row, *_, out), parameter in zip(made.ROWS, parameters())]
    whole = f"void together({', '.join(types)}) {{\n" + "\n".join(calls) + "\n}\n"
    return op2jit.Kernel("\n".join([*lines, *bodies, whole]), "together")


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


class Wanted:
    """What CPython leaves in the rows of a function, and of which elements it leaves something."""

    def __init__(self, function, rows):
        each = [made.expected(function, rows, e) for e in range(ELEMENTS)]
        self.elements = [e for e, one in enumerate(each) if one]
        self.rows = {row[0]: np.array([each[e][row[0]] for e in self.elements]) for row in made.ROWS if self.elements}

    def compare(self, where, found, place=0):
        """With the rows of these elements, in which the function's own results are at some place."""
        for row, _, length, out in made.ROWS if self.elements else []:
            got = found[row][:, place * length : (place + 1) * length] if out else found[row]
            said = "{}, elements {}, row {}: {}, CPython {}".format
            assert same(got, self.rows[row]), said(where, self.elements, row, got.tolist(), self.rows[row].tolist())


def compare_native(translated, rows, wanted):
    """There a whole number beyond 64 bits ends a loop: each function has one, over what stays within."""
    for name, found in translated.items():
        some = {row: values[wanted[name].elements] for row, values in rows.items()}
        if wanted[name].elements:
            wanted[name].compare(f"native: {name}", run(Made(name, found), some, 1))


def compare_compiled(backend, translated, rows, wanted):
    """All functions in one loop."""
    found = run(together(translated), rows, len(translated))
    for place, name in enumerate(translated):
        some = {row: values[wanted[name].elements] for row, values in found.items()}
        wanted[name].compare(f"{backend}: {name}", some, place)


def groups(translated):
    """So many functions at a time, with a number."""
    names = list(translated)
    for first in range(0, len(names), GROUP):
        yield first, {name: translated[name] for name in names[first : first + GROUP]}


def translations(module, names):
    """Of the functions that are not refused: a function is translated once, for all backends."""
    found = {}
    with op2jit.runtime(diags=0, fp="strict", backend=BACKENDS[0]):
        for name in names:
            function = getattr(module, name)
            try:
                found[name] = translate(function, parameters(), snapshot(function))
            except op2jit.KernelError as error:
                assert "^" in str(error)
    return found


@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY, PART))
def test_random_kernels(tmp_path, first):
    names = [f"f{number}" for number in range(first, min(first + PART, FIRST + MANY))]
    text = made.HEAD + "".join(made.Maker(int(name[1:])).text(name) for name in names)
    reference = made.reference(text)
    good = translations(loaded(tmp_path, f"random_bodies_{first}", text), names)
    assert len(good) * 4 > 3 * len(names), len(good)
    inputs, wanted = {}, {}
    for number, some in groups(good):
        inputs[number] = made.data(ELEMENTS, first + number)
        wanted.update((name, Wanted(reference[name], inputs[number])) for name in some)
    assert sum(len(each.elements) for each in wanted.values()) > 2 * len(names)
    for backend in BACKENDS:  # each with a cache of its own: it compiles all of its code itself
        with op2jit.runtime(diags=0, fp="strict", backend=backend, cache=tmp_path / f"{backend}.db"):
            for number, some in groups(good):
                if backend == "native":
                    compare_native(some, inputs[number], wanted)
                else:
                    compare_compiled(backend, some, inputs[number], wanted)
            compiles = op2jit.counters()["compiles"]
            assert backend == "native" or compiles >= len(list(groups(good))), (backend, compiles)
