"""Loops: a kernel, a set and arguments become one prepared call of the library."""

from __future__ import annotations

from ctypes import c_char_p, c_int, c_void_p
from functools import partial
from typing import Any, Callable, Dict, List, Sequence, Tuple, Union

from . import errors, show, store
from ._library import ACCESS_NAMES, DTYPES, UNSAID, Argument, fail, lib, raised, text
from .dats import Dat
from .given import Handle
from .globals import Global
from .kernels import Kernel, Parameter
from .matrices import Mat
from .mesh import Arg, Set
from .life import state

Argument_like = Union[Arg, Dat, Global, Mat]
#: op_par_loop without conversions of its arguments, which are prepared once.
_run = lib["op2jit_par_loop_array"]
_run.restype = c_int
#: Calls of par_loop that were made before, by the keys of kernel, set and arguments. They keep no dat alive.
_launches: Dict[Tuple[int, ...], Callable[[], None]] = {}
#: These keys for each of their dats and globals: a call that goes leaves none there.
_known: Dict[Tuple[int, ...], List[Any]] = {}
state.at_exit += [_launches.clear, _known.clear]


class Loop(Handle):
    """A loop that can be called again and again: ``step = Loop(kernel, set, args...)``, then ``step()``.

    ``accesses`` are those that were declared or found, ``source`` is the kernel's C text.
    """

    def __init__(self, kernel: Union[Kernel, Callable[..., Any]], of: Set, *args: Argument_like) -> None:
        store.sweep()
        _check(kernel, of, args)
        self.kernel = Kernel.of(kernel)
        self.set = of
        self.args = [arg if isinstance(arg, Arg) else arg() for arg in args]
        self.place = errors.caller()
        array = (Argument * max(1, len(args)))()
        for number, arg in enumerate(self.args):
            array[number] = _payload(arg, self.args) if arg.kind == "info" else arg.raw
        parameters = [_parameter(arg, self.args) for arg in self.args]
        form = self.kernel.form(parameters)
        self.form, self.array = form, array
        words = (form.text, text(form.name))
        where = (text(self.place[0]), self.place[1])
        self.source = form.source
        self.found = [arg.access == UNSAID for arg in self.args]
        if any(self.found):
            if lib.op2jit_find_accesses(*words, of.handle, len(args), array, *where):
                fail(self.place)
        self.accesses = [ACCESS_NAMES[raw.access_] if _has_access(arg) else "" for arg, raw in zip(self.args, array)]
        if state.native:
            form.register()
        self.launch = _prepare(words, where, of.handle, len(args), array, self.place)

    def __call__(self) -> None:
        self.launch()

    def __repr__(self) -> str:
        return f"<Loop {self.kernel.name} over {self.set.name}: {', '.join(filter(None, self.accesses))}>"

    def _rows(self) -> List[Sequence[Any]]:
        return [
            (number, arg.owner or arg.kind, arg.column or "", access + (" (found)" if found else ""))
            for number, (arg, access, found) in enumerate(zip(self.args, self.accesses, self.found), 1)
        ]

    def describe(self) -> str:
        """A line for each argument: what it is, through which map, and its access."""
        return show.lines(_HEAD, self._rows(), f"{self.kernel.name} over {self.set.name}")

    def _repr_html_(self) -> str:
        return show.grid(_HEAD, self._rows(), f"{self.kernel.name} over {self.set.name}")


def _check(kernel: Any, of: Any, args: Sequence[Any]) -> None:
    """Refuse arguments that are not in their places."""
    if isinstance(kernel, Set) and not isinstance(of, Set):
        raise errors.make("ARGUMENT", f"the kernel comes first and then the set: par_loop({_name(of)}, {kernel.name}, ...)")
    if not isinstance(of, Set):
        raise errors.make("ARGUMENT", f"a loop runs over a set, and this is {of!r}: par_loop(kernel, set, arguments...)")
    for number, arg in enumerate(args, 1):
        if isinstance(arg, (Arg, Dat, Global, Mat)):
            continue
        what = "a NumPy array" if hasattr(arg, "__array__") else repr(arg)
        instead = "make a dat of it: op2jit.Dat(set, array), and pass dat(READ)"
        if isinstance(arg, (int, float, complex)):
            instead = "make a global of it: op2jit.Global(number), and pass global(READ)"
        raise errors.make("ARGUMENT", f"argument {number} of the loop is {what}; {instead}")


def _name(what: Any) -> str:
    return getattr(what, "name", None) or getattr(what, "__name__", None) or "kernel"


_HEAD = ("argument", "data", "map", "access")


def _prepare(
    words: Tuple[bytes, bytes], where: Tuple[bytes, int], of: int, count: int, array: Any, place: errors.Place
) -> Callable[[], None]:
    call = partial(
        _run,
        c_char_p(words[0]),
        c_char_p(words[1]),
        c_void_p(of),
        c_int(count),
        array,
        c_char_p(where[0]),
        c_int(where[1]),
    )

    handles = {raw.dat_ for raw in array if raw.dat_}

    def launch(problems: List[BaseException] = raised, written: List[int] = store.written) -> None:
        if written and not handles.isdisjoint(written):
            raise errors.make("STATE", "a dat of the loop is being written to by access; end that block first")
        if call() or problems:  # the place of this call: that of the first one is what C has
            fail(errors.caller(), place)

    return launch


def par_loop(kernel: Union[Kernel, Callable[..., Any]], of: Set, *args: Argument_like) -> None:
    """Run the kernel for every element of the set.

    ``par_loop(flux, edges, x(READ, en[0]), x(READ, en[1]), sum(INC))``. What was called before with the same kernel,
    set, dats, maps and accesses is called again without being looked at.
    """
    launch = None
    try:
        launch = _launches[(kernel.key, of.key, *[arg.key for arg in args])]  # type: ignore[union-attr]
    except (KeyError, AttributeError):
        pass  # what goes wrong from here on is not said to be because of this
    (launch or _first(kernel, of, args))()


def _first(kernel: Union[Kernel, Callable[..., Any]], of: Set, args: Sequence[Argument_like]) -> Callable[[], None]:
    while store.dropped:
        gone = store.dropped.pop()
        _launches.pop(gone, None)
        for keys in _known.pop(gone, ()):
            keys.discard(gone)
    _check(kernel, of, args)
    kernel = Kernel.of(kernel)
    given = [arg if isinstance(arg, Arg) else arg() for arg in args]
    key = (kernel.key, of.key, *[arg.key for arg in given])
    if key not in _launches:  # a function that is no kernel yet has no key
        _launches[key] = Loop(kernel, of, *given).launch
        _known[key] = [arg.owner.keys for arg in given if arg.owner is not None]
        for keys in _known[key]:
            keys.add(key)
    return _launches[key]


def _payload(arg: Arg, args: List[Arg]) -> Any:
    """The payload with the number of its global's argument, as op_arg_info counts them."""
    numbers = [number for number, other in enumerate(args, 1) if _is(other, arg.refers)]
    if not numbers:
        raise errors.make("ARGUMENT", f"info: no argument of the loop is {arg.refers!r}, whose place is wanted")
    values = arg.owner
    return lib.op2jit_arg_info(values.memory.ctypes.data, values.dim, text(values.type), numbers[0])


def _is(arg: Arg, of: Global) -> bool:
    return arg.kind == "global" and arg.owner.memory is of._data


def _has_access(arg: Arg) -> bool:
    return arg.kind not in ("index", "info")


def _parameter(arg: Arg, args: List[Arg]) -> Parameter:
    """The kernel's parameter for an argument."""
    if arg.kind == "matrix":
        rows, columns = [(way.arity if way else 1) * dim for way, dim in zip(arg.column, arg.owner.dims)]
        return Parameter("double", columns, rows, arg.access, matrix=True)
    rows = arg.column.map.arity if arg.column and arg.column.idx < 0 else 0
    ragged = arg.column is not None and arg.column.map.arity == 0
    first = 0  # of the arguments through this map
    if ragged:
        first = [other.kind != "matrix" and _way(other) is arg.column.map for other in args].index(True) + 1
    if arg.kind == "index":
        return Parameter("int", max(1, rows), 0, 0, ragged=first)
    count = arg.kind == "global" and DTYPES[arg.owner.type].kind in "biu"
    return Parameter(arg.owner.type, arg.owner.dim, rows, arg.access, count, ragged=first)


def _way(arg: Arg) -> Any:
    return arg.column.map if arg.column else None
