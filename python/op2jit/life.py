"""The library's life: from init to exit, ranks, counters, reports."""

from __future__ import annotations

import atexit
import ctypes
import difflib
import json
import os
import sys
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import errors
from ._library import COUNTERS, KINDS, check, lib, text


class _State:
    """Facts about the library, as this package knows them."""

    def __init__(self) -> None:
        self.generation = 0  # raised by each init and exit: handles of another one are gone
        self.open = False
        self.report_file: Optional[str] = None
        self.last_report: Optional[Dict[str, Any]] = None
        self.constants: Dict[str, Any] = {}
        self.garbage: List[Tuple[Callable[[int], int], int]] = []  # handles that nobody has any more, and their ends
        self.views: Dict[int, Any] = {}  # arrays that the library works in, until their dats are freed
        self.native = False  # kernels in Python run as they are
        self.strict = False  # OP2_FP=strict: computing is what Python does, in float64
        self.natives: List[Any] = []  # and these functions call them
        self.at_exit: List[Callable[[], None]] = []


state = _State()

#: The variables of docs/environment.md, which init and runtime take as keywords.
OPTIONS = (
    "adjoint backend balance cache cache_ro capture check checkpoint counters cuda_driver cxxflags dependent device dump fp fuse "
    "hang hip hiprtc include jit kernels l3 layers lazy log machine mpi mpi_gpu nvrtc opencl pin plugins progress "
    "reproducible shadow speeds tasks threads tiles timing tools tune variant weights"
).split()


def init(comm: Any = None, diags: int = 1, **options: Any) -> None:
    """Start the library.

    ``comm`` is a communicator of mpi4py; without one the library takes part in MPI by itself under mpirun. Options are
    the variables of docs/environment.md in small letters: ``init(backend="seq", threads=4)``; they win over those of
    the environment, and so do words like OP2_BACKEND=seq on the command line. Its other words are for solvers.
    """
    for name in options:
        if name.lower() not in OPTIONS:
            near = difflib.get_close_matches(name.lower(), OPTIONS)
            raise errors.make(
                "TYPE",
                f"{name} is no option of op2jit; "
                + (f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(OPTIONS)}")
            )
    words = [word for word in sys.argv[1:] if word.startswith("OP2_")]
    words += [f"OP2_{name.upper()}={_word(value)}" for name, value in options.items()]
    words += _defaults(words)
    said = dict(os.environ, **dict(word.split("=", 1) for word in words))
    shadows = "native" in said.get("OP2_SHADOW", "")
    if shadows and "OP2_FP" not in said:  # Python rounds each operation: so does what is compared with it
        said["OP2_FP"] = "strict"
        words.append("OP2_FP=strict")
    others = [word for word in sys.argv[1:] if not word.startswith("OP2_")]
    count = 1 + len(others) + len(words)
    array = (ctypes.c_char_p * (count + 1))(b"python", *map(os.fsencode, others + words), None)
    if comm is None:
        check(lib.op2jit_init(count, array, diags))
    else:
        from mpi4py import MPI

        check(lib.op2jit_init_comm(count, array, diags, comm.py2f(), text(MPI.Get_library_version())))
    state.generation += 1
    state.open = True
    state.garbage.clear()
    state.views.clear()
    state.natives.clear()
    state.native = shadows or json.loads(_report_text())["backend"] == "native"
    state.strict = said.get("OP2_FP") == "strict"


def _word(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _defaults(words: List[str]) -> List[str]:
    """The plugins of the package op2jit_clang, if it is there, and a report that op2jit.report shows."""
    said = {word.split("=")[0] for word in words} | set(os.environ)
    found = []
    if "OP2_PLUGINS" not in said:
        try:
            import op2jit_clang
        except ImportError:
            pass
        else:
            found.append(f"OP2_PLUGINS={os.path.dirname(op2jit_clang.__file__)}")
    return found


def exit() -> None:
    """Wait for what is running, write the reports that were asked for, release everything.

    All objects are gone then.
    """
    problem: Optional[errors.Error] = None
    if state.open:
        try:
            state.last_report = json.loads(_report_text())
        except errors.Error as found:  # of a loop that waited: all ends, and then it is told
            problem = found
        except ValueError:
            pass
    _close()
    check(lib.op2jit_exit())
    if problem:
        raise problem


def checkpoint() -> None:
    """Write a checkpoint that is due (OP2_CHECKPOINT): this is a good place for one."""
    check(lib.op2jit_checkpoint())


def checkpoint_keep() -> None:
    """The program ends before its work is done: :func:`exit` leaves the checkpoint, and the next run goes on from it."""
    check(lib.op2jit_checkpoint_keep())


def checkpoint_facts() -> Dict[str, Any]:
    """Figures of checkpoints so far: written, dats, bytes, skipped loops, seconds and others, by name."""
    facts = KINDS["op_checkpoint_facts_t"]()
    check(lib.op2jit_checkpoint_facts(ctypes.byref(facts)))
    return {name: getattr(facts, name) for name, *_ in facts._fields_}


def _close() -> None:
    state.open = False
    state.generation += 1
    state.constants.clear()
    for action in state.at_exit:
        action()


@contextmanager
def runtime(comm: Any = None, diags: int = 1, **options: Any) -> Iterator[None]:
    """``with op2jit.runtime(backend="openmp"):`` starts the library, and ends it at the end of the block."""
    init(comm, diags, **options)
    try:
        yield
    except BaseException as problem:
        if state.open and rank_count() > 1:
            _abort(comm)  # the others may wait for this rank, which will not come
        try:
            checkpoint_keep()
            exit()
        except errors.Error:
            pass  # the first error is the one to tell
        raise
    else:
        exit()


def _abort(comm: Any) -> None:
    sys.excepthook(*sys.exc_info())
    sys.stderr.flush()
    if "mpi4py" in sys.modules:
        from mpi4py import MPI

        (comm or MPI.COMM_WORLD).Abort(1)
    os._exit(1)


@atexit.register
def _at_exit() -> None:
    """End the library of a program or notebook that calls init alone."""
    if state.open and rank_count() == 1:
        if hasattr(sys, "last_value"):  # an exception that nobody caught: the work is not done
            lib.op2jit_checkpoint_keep()
        _close()
        try:
            check(lib.op2jit_exit())
        except errors.Error as problem:  # of a loop that waited, or a report that cannot be written
            print(f"op2jit: error: {problem}", file=sys.stderr)


def rank() -> int:
    """This process's rank, 0 without MPI."""
    return int(lib.op2jit_rank())


def rank_count() -> int:
    """The number of ranks, 1 without MPI."""
    return int(lib.op2jit_rank_count())


def is_root() -> bool:
    """Whether this is rank 0."""
    return rank() == 0


def barrier() -> None:
    """Wait for all ranks, and for what is running."""
    lib.op2jit_barrier()
    check(lib.op2jit_last_error().contents.code)


def say(*words: Any) -> None:
    """print, on rank 0 only."""
    if is_root():
        print(*words, flush=True)


def counters() -> Dict[str, int]:
    """Counts of this process since init: loops, compiles, cache_hits and so on."""
    found = lib.op2jit_counters().contents
    return {name: getattr(found, name) for name in COUNTERS}


def plan_check(level: int = 2) -> None:
    """Verify everything that the execution plans claim."""
    check(lib.op2jit_plan_check(level))


def timing_output() -> None:
    """Print the report of the loops so far: calls, time, GB/s, variant."""
    sys.stdout.flush()
    lib.op2jit_timing_output()
    check(lib.op2jit_last_error().contents.code)


def _report_text() -> bytes:
    size = 1 << 16
    while True:
        out = ctypes.create_string_buffer(size)
        code = lib.op2jit_report_json(out, size)
        if code != errors.codes["OP_ERR_SIZE"]:
            check(code)
            return out.value
        size *= 4


def report_data() -> Dict[str, Any]:
    """The report as a value: of the loops so far, or after exit of the last run. Empty before the first."""
    if state.open:
        state.last_report = json.loads(_report_text())
    return state.last_report or {}
