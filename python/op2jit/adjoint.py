"""Derivatives: a tape records what loops do, and goes back from the bars of outputs to those of inputs."""

from __future__ import annotations

from contextlib import contextmanager
from ctypes import byref, c_double, c_void_p
from typing import Any, Dict, Iterable, Iterator, Optional, Sequence, TypeVar, Union

from . import errors
from ._library import DECLARED, KINDS, check, handle, lib, text
from .dats import Dat
from .globals import Const, Global
from .kernels import Kernel

Some = TypeVar("Some")


def _bytes(memory: Union[None, int, str]) -> int:
    """2 ** 31 of "2G"; None and 0 are no limit."""
    said = str(memory or 0).strip()
    power = "KMGT".find(said[-1].upper()) + 1
    number = said[:-1] if power else said
    try:
        return int(float(number) * 1024**power)
    except ValueError:
        raise errors.make("ARGUMENT", f'the memory is {memory!r}; expected bytes, or such as "500M" or "2G"') from None


class Tape:
    """``with op2jit.tape(inputs=[q, x]) as tape:`` records the block. Then bars of outputs are put, and ``reverse`` makes
    those of the inputs.

    ``memory``: so many bytes are kept at most ("2G"); where they do not suffice, steps are run again.
    """

    def __init__(self, inputs: Sequence[Union[Dat, Global, Const]], memory: Union[None, int, str] = None) -> None:
        self._inputs = list(inputs)
        self._memory = _bytes(memory)
        self._handle = 0
        self._in_step = False

    def __enter__(self) -> "Tape":
        dats = [found.handle for found in self._inputs if isinstance(found, Dat)]
        globals_ = [found.kept_handle for found in self._inputs if isinstance(found, Global)]
        self._handle = handle(lib.op2jit_tape_begin(len(dats), (c_void_p * len(dats))(*dats), self._memory))
        try:
            for found in globals_:
                check(lib.op2jit_tape_input_gbl(found))
            for one in self._inputs:
                if isinstance(one, Const):
                    check(lib.op2jit_tape_input_const(text(one.name)))
        except errors.Error:
            self.free()
            raise
        return self

    def __exit__(self, kind: Any, *ignored: Any) -> None:
        if kind:
            self.free()
        else:
            check(lib.op2jit_tape_end(self._handle))

    def step(self) -> None:
        """A step of the program begins."""
        check(lib.op2jit_tape_step())

    def steps(self, rounds: Iterable[Some]) -> Iterator[Some]:
        """``for i in tape.steps(range(100)):`` makes each round a step. A step has no steps within."""
        if self._in_step:
            raise errors.make("STATE", "tape.steps within tape.steps: a step has no steps within; tell of one of both")
        self._in_step = True
        try:
            for one in rounds:
                self.step()
                yield one
        finally:
            self._in_step = False

    @contextmanager
    def fixed_point(self, tolerance: float = 1e-10, most: int = 1000) -> Iterator["Tape"]:
        """Rounds in the block converge; each begins with ``round()``. Only the last one keeps old values. ``reverse`` goes
        back through it, ``most`` times at most, until bars change by less than ``tolerance`` of what they were."""
        check(lib.op2jit_tape_fixed_begin(tolerance, most))
        yield self
        check(lib.op2jit_tape_fixed_end())

    def round(self) -> None:
        """A round of a fixed point begins."""
        check(lib.op2jit_tape_round())

    def passive(self) -> None:
        """The program's own values count as constant from now on."""
        check(lib.op2jit_tape_passive())

    def reverse(self, last: bool = False) -> None:
        """Compute the bars of inputs from those of outputs. ``last``: free what is kept."""
        check(lib.op2jit_tape_reverse(self._handle, last))

    def check(self, seed: int = 1) -> float:
        """The difference of tangents and adjoints, over the norms: of the size of rounding errors."""
        difference = c_double()
        check(lib.op2jit_tape_check(self._handle, seed, byref(difference)))
        return difference.value

    @property
    def facts(self) -> Dict[str, int]:
        """Facts and counts of the tape, as ``op_tape_facts`` gives them."""
        found = KINDS["op_tape_facts_t"]()
        check(lib.op2jit_tape_facts(self._handle, byref(found)))
        names = [name for name, _, _ in DECLARED["structs"]["op_tape_facts_t"] if name != "reserved"]
        return {name: getattr(found, name) for name in names}

    def free(self) -> None:
        """Free the tape, with what it keeps and holds."""
        found, self._handle = self._handle, 0
        if found:
            check(lib.op2jit_tape_free(found))


def tape(inputs: Sequence[Union[Dat, Global, Const]], memory: Union[None, int, str] = None) -> Tape:
    """A tape, for ``with``. Globals among the inputs are ``kept``. Within ``with op2jit.tangents():`` it records tangents as well,
    and gives second derivatives."""
    return Tape(inputs, memory)


class tangents:
    """``with op2jit.tangents():`` loops in the block carry tangents along, from and to ``dat.dot``."""

    def __enter__(self) -> None:
        check(lib.op2jit_tangent(1))

    def __exit__(self, *ignored: Any) -> None:
        check(lib.op2jit_tangent(0))


def _words(of: Any) -> Sequence[bytes]:
    if not isinstance(of, Kernel):
        raise errors.make("ARGUMENT", f"{of!r} is no kernel of C text; expected an op2jit.Kernel")
    return text(of.source), text(of.name)


def freeze(kernel: Kernel) -> None:
    """Results of this kernel count as constant."""
    check(lib.op2jit_freeze_kernel(*_words(kernel)))


def adjoint_of(kernel: Kernel, adjoint: Kernel) -> None:
    """``adjoint`` is the adjoint of ``kernel``, in place of the one that would be made."""
    check(lib.op2jit_kernel_adjoint(*_words(kernel), *_words(adjoint)))
