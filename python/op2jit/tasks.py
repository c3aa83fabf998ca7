"""Graphs of tasks, for work that no loop over a set describes: functions of Python, and pieces of loops."""

from __future__ import annotations

import re
import threading
import traceback
from ctypes import CFUNCTYPE, byref, c_char, c_int, c_longlong, c_void_p
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import errors
from ._library import DECLARED, KINDS, check, handle, lib, raised, text
from .given import Handle, whole
from .life import state

_FACTS = [member for member, _, _ in DECLARED["structs"]["op_graph_facts_t"] if member != "reserved"]
_FUNCTION = CFUNCTYPE(None, c_void_p, c_void_p)
#: Forms of graphs on ranks, by the numbers of op_graph_ranks.
_FORMS = ("whole", "parts")
#: A rank of a task that each rank runs.
EVERY_RANK = -1
#: The run that a thread's task is part of.
_here = threading.local()


class Resource(Handle):
    """Something that tasks must not use at the same time. ``part`` makes one that lies in it."""

    def __init__(self, graph: "Graph", number: int, memory: Any = None) -> None:
        self.graph, self.number, self.memory = graph, number, memory

    def part(self, name: Optional[str] = None, memory: Any = None, thread: int = -1) -> "Resource":
        """A resource that lies in this one: a task that locks this one has locked it, too."""
        return self.graph.resource(name, memory, thread, self)


class Task(Handle):
    """A task of a graph. ``touched`` is what it locks and uses, in this order."""

    def __init__(self, graph: "Graph", number: int, touched: Optional[List[Resource]] = None) -> None:
        self.graph, self.number, self.touched = graph, number, touched if touched is not None else []

    def after(self, *others: "Task") -> "Task":
        """The task begins when these are over."""
        for other in others:
            check(lib.op2jit_graph_depend(self.graph.handle, self.number, other.number))
        return self

    def lock(self, *resources: Resource) -> "Task":
        """No other task that locks one of these runs at the same time."""
        for resource in resources:
            check(lib.op2jit_graph_lock(self.graph.handle, self.number, resource.number))
            self.touched.append(resource)
        return self

    def use(self, *resources: Resource) -> "Task":
        """The task reads what these stand for: a hint on which thread or rank to run it."""
        for resource in resources:
            check(lib.op2jit_graph_use(self.graph.handle, self.number, resource.number))
            self.touched.append(resource)
        return self


_SIMPLE = {"double": "f8", "float": "f4", "int": "i4", "unsigned": "u4", "long": "i8", "long long": "i8"}


def _simple_types(source: str, name: str) -> List[Any]:
    """The type of numbers that each parameter of a text's function points to; None: it points to something else."""
    found = re.search(rf"\b{re.escape(name)}\s*\(([^()]*)\)\s*\{{", source)
    words = re.sub(r"\b(?:op_task_memory|const|restrict|__restrict)\b", " ", found[1]).split(",") if found else []
    types = [re.fullmatch(r"\s*([\w\s]+?)\s*\*\s*\w*\s*", one) for one in words]
    known = [_SIMPLE.get(" ".join(one[1].split())) if one else None for one in types]
    return [np.dtype(one) if one else None for one in known]


class TaskKernel:
    """A text in C that tasks run on a device. Tasks of it are made by ``graph.task(kernel, data)``."""

    def __init__(self, name: str, source: str, function: Optional[Callable[..., Any]], threads: int) -> None:
        self.__name__, self.source, self.function, self.threads = name, source, function, threads
        self.data: Any = None  # an array as each of its tasks has one
        self.types = _simple_types(source, name)

    def pack(self, number: int, given: Tuple[Any, ...]) -> bytes:
        """The task's data, and behind them its number, by which a call on the host finds its arrays."""
        data = np.ascontiguousarray(given[0] if given and given[0] is not None else np.empty(0, np.uint8))
        if self.data is None:
            self.data = np.empty_like(data)
        if len(given) > 1 or data.dtype != self.data.dtype or data.shape != self.data.shape:
            raise errors.make(
                "ARGUMENT", f"tasks of kernel {self.__name__} have one array each, of one type and shape, and this is {given!r}"
            )
        return data.tobytes() + bytes(-data.nbytes % 8) + number.to_bytes(8, "little", signed=True)

    def compare(self, touched: List[Resource]) -> None:
        """Refuse a text with other types of numbers than the arrays: a device would misread their bytes."""
        arrays = [self.data if self.data.size else None, *(resource.memory for resource in touched)]
        for place, (wanted, array) in enumerate(zip(self.types, arrays)):
            if wanted is not None and (array is None and not place or array is not None and array.dtype != wanted):
                has = "no data" if array is None else f"{'memory' if place else 'data'} of {array.dtype}"
                raise errors.make(
                    "ARGUMENT", f"parameter {place + 1} of kernel {self.__name__} points to {wanted}, and its task has {has}"
                )

    def number_at(self, data: int) -> int:
        """The number that ``pack`` put behind the data of a task, which lie there."""
        return int(c_longlong.from_address(data + self.data.nbytes + -self.data.nbytes % 8).value)

    def call(self, data: int, touched: List[Resource]) -> None:
        """Run the task on the host, by the kernel's function."""
        assert self.function is not None
        size = (c_char * max(1, self.data.nbytes)).from_address(data)
        own = np.frombuffer(size, self.data.dtype, self.data.size).reshape(self.data.shape)
        self.function(own if self.data.size else None, *(resource.memory for resource in touched))


class Graph(Handle):
    """Tasks that wait for others, and tasks that must not run at the same time, on the threads of the library.

    ``graph.task(f, *args)`` is a call of ``f``. Python runs one task at a time, but for what NumPy and others do without
    its lock; pieces of loops (``loop``) run side by side. A task must not call the library, but for ``add``. An exception
    of a task ends the run, which raises it.

    ``ranks``: all ranks run it together. "whole": each makes all of it, the same; "parts": each makes its part, the
    tasks that it runs; resources of one name are the same on all ranks, and tasks have keys.
    """

    def __init__(self, name: str = "graph", ranks: Optional[str] = None) -> None:
        if ranks not in (None, *_FORMS):
            raise errors.make("ARGUMENT", f"ranks of a graph are {', '.join(map(repr, _FORMS))} or None, and this is {ranks!r}")
        self.name = name
        self.handle = handle(lib.op2jit_decl_graph(text(name)))
        self._generation = state.generation
        self._kinds: Dict[Any, Tuple[int, Any]] = {}  # types of tasks, by their functions
        self._calls: List[Tuple[Callable[..., Any], Tuple[Any, ...]]] = []
        self._loops: List[Any] = []
        self._unseen: List[Tuple[TaskKernel, List[Resource]]] = []  # tasks of kernels that no run compared
        self._memory: List[Any] = []  # of resources: it has to stay
        self._raised: List[BaseException] = []
        self._apart = ranks == "parts"  # other ranks have not the calls of this one
        if ranks is not None:
            check(lib.op2jit_graph_ranks(self.handle, _FORMS.index(ranks)))

    def __del__(self) -> None:
        if getattr(self, "handle", 0) and self._generation == state.generation:
            state.garbage.append((lib.op2jit_free_graph, self.handle))

    def resource(
        self,
        name: Optional[str] = None,
        memory: Any = None,
        thread: int = -1,
        parent: Optional[Resource] = None,
        owner: Optional[int] = None,
    ) -> Resource:
        """Something that tasks lock. ``memory`` is an array that it stands for, which OP2_CHECK looks at and which travels
        between ranks; ``thread`` the thread that has it in all runs, ``owner`` the rank that has it between runs."""
        inside = parent.number if parent else 0
        found = handle(lib.op2jit_graph_resource(self.handle, inside, text(name) if name else None))
        if memory is not None:
            if not isinstance(memory, np.ndarray) or not memory.flags.c_contiguous:
                raise errors.make("ARGUMENT", f"the memory of a resource is an array without gaps, and this is {memory!r}")
            check(lib.op2jit_graph_memory(self.handle, found, memory.ctypes.data, memory.nbytes))
            self._memory.append(memory)
        if thread != -1:
            check(lib.op2jit_graph_own(self.handle, found, whole(thread, "the thread of a resource", "ARGUMENT")))
        if owner is not None:
            check(lib.op2jit_graph_owner(self.handle, found, whole(owner, "the owner of a resource", "ARGUMENT")))
        return Resource(self, found, memory)

    def kernel(
        self, name: str, source: str, function: Optional[Callable[..., Any]] = None, threads: int = 0
    ) -> TaskKernel:
        """A kernel of tasks that run on a device: ``source`` has ``void NAME(data, memory ...)`` in C (docs/tasks.md).
        ``graph.task(kernel, data)`` makes them: ``data`` is an array that is copied, and the memory is that of what they
        lock and use. On other backends ``function(data, array ...)`` runs. Before the first task."""
        made = TaskKernel(name, source, function, whole(threads, "the threads of a kernel", "ARGUMENT"))
        check(lib.op2jit_graph_kernel(self.handle, self._kind(made), text(source), text(name), made.threads))
        return made

    def task(
        self,
        function: Union[Callable[..., Any], TaskKernel, None],
        *arguments: Any,
        after: Iterable[Task] = (),
        locks: Iterable[Resource] = (),
        uses: Iterable[Resource] = (),
        cost: float = 0.0,
        rank: Optional[int] = None,
        key: Optional[int] = None,
        after_keys: Iterable[int] = (),
    ) -> Task:
        """``function(*arguments)`` in each run. None does nothing: such a task joins many with many others. Of what ``kernel``
        made the argument is its data. ``rank`` is who runs it (``EVERY_RANK``: each); by its ``key`` tasks of other ranks wait for it, which they name in ``after_keys``."""
        if self._apart and rank is None:
            rank = int(lib.op2jit_rank())
        elif self._apart and rank != int(lib.op2jit_rank()):
            raise errors.make("ARGUMENT", f"a part of a graph has the tasks of its rank, and this is to run on rank {rank}")
        touched: List[Resource] = []
        kernel = function if isinstance(function, TaskKernel) else None
        if kernel:
            self._unseen.append((kernel, touched))
        number = self._given(function, (touched,) if kernel else arguments)
        data = kernel.pack(number, arguments) if kernel else number.to_bytes(8, "little")
        found = handle(lib.op2jit_graph_task(self.handle, self._kind(function), data, len(data), float(cost)))
        if rank is not None:
            check(lib.op2jit_graph_place(self.handle, found, whole(rank, "the rank of a task", "ARGUMENT")))
        if key is not None:
            check(lib.op2jit_graph_key(self.handle, found, whole(key, "the key of a task", "ARGUMENT")))
        for other in after_keys:
            check(lib.op2jit_graph_depend_key(self.handle, found, whole(other, "the key of a task", "ARGUMENT")))
        return Task(self, found, touched).after(*after).lock(*locks).use(*uses)

    def add(
        self, function: Callable[..., Any], *arguments: Any, locks: Iterable[Resource] = (), cost: float = 0.0
    ) -> None:
        """Add a task to this run, from inside a task. What waits for that task waits for the new one too."""
        running = getattr(_here, "running", None)
        if running is None:
            raise errors.make("STATE", "Graph.add is for tasks, while they run; before a run Graph.task makes tasks")
        if function not in self._kinds:
            raise errors.make(
                "ARGUMENT", f"no task of graph {self.name} has the function {function!r}: Graph.kind(function) tells of it"
            )
        number = self._given(function, arguments)
        several = [resource.number for resource in locks]
        places = (c_longlong * max(1, len(several)))(*several)
        kind = self._kinds[function][0]
        check(lib.op2jit_running_add(running, kind, byref(c_longlong(number)), 8, float(cost), len(several), places))

    def kind(self, function: Callable[..., Any]) -> None:
        """Tell the graph of a function before a run, for tasks that ``add`` will make of it."""
        self._kind(function)

    def loop(self, pieces: Union[int, Sequence[int]], kernel: Any, of: Any, *arguments: Any) -> List[Task]:
        """``par_loop(kernel, of, *arguments)`` in pieces, each a task: so many of one size, or with these bounds."""
        from .loops import Loop

        made = Loop(kernel, of, *arguments)
        bounds = None
        if isinstance(pieces, (int, np.integer)):
            count = whole(pieces, "the number of pieces", "ARGUMENT")
        else:
            numbers = [whole(bound, "a bound of a piece", "RANGE") for bound in pieces]
            count, bounds = len(numbers) - 1, (c_int * len(numbers))(*numbers)
        found = (c_longlong * max(1, count))()
        words = (made.form.text, text(made.form.name), of.handle, len(made.args), made.array)
        check(lib.op2jit_graph_loop_array(self.handle, count, bounds, found, *words, text(made.place[0]), made.place[1]))
        self._loops.append(made)
        return [Task(self, number) for number in found]

    def run(self) -> None:
        """Run all tasks, each once, and wait for them."""
        while self._unseen:
            kernel, touched = self._unseen.pop()
            kernel.compare(touched)
        own = len(self._calls)
        code = lib.op2jit_graph_run(self.handle)
        del self._calls[own:]  # those of tasks that tasks added
        problems = self._raised + raised
        self._raised.clear()
        raised.clear()
        if problems:
            raise problems[0]
        check(code)

    def simulate(self, threads: int) -> float:
        """The seconds that a run would take on so many threads, if tasks took as long as was measured."""
        found = float(lib.op2jit_graph_simulate(self.handle, whole(threads, "the number of threads", "ARGUMENT")))
        if found < 0:
            check(lib.op2jit_last_error().contents.code)
        return found

    def simulate_ranks(self, ranks: int, threads: int, latency: float, bytes_per_second: float) -> float:
        """The seconds of a graph of all ranks, on that many ranks, and a network of which a message takes ``latency``
        seconds. All ranks call it."""
        count, each = whole(ranks, "the number of ranks", "ARGUMENT"), whole(threads, "the number of threads", "ARGUMENT")
        network = KINDS["op_graph_network_t"](ranks=count, threads=each, latency=latency, bytes_per_second=bytes_per_second)
        found = float(lib.op2jit_graph_simulate_ranks(self.handle, byref(network)))
        if found < 0:
            check(lib.op2jit_last_error().contents.code)
        return found

    @property
    def facts(self) -> Dict[str, Any]:
        """Facts about the graph and its last run: tasks, executed, stolen, refused, busy, idle, critical ..."""
        found = KINDS["op_graph_facts_t"]()
        check(lib.op2jit_graph_facts(self.handle, byref(found)))
        return {name: getattr(found, name) for name in _FACTS}

    def free(self) -> None:
        """Free it, with all its tasks and resources."""
        check(lib.op2jit_free_graph(self.handle))
        self.handle = 0

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {len(self._calls)} tasks and {len(self._loops)} loops>"

    def _given(self, function: Any, arguments: Tuple[Any, ...]) -> int:
        self._calls.append((function, arguments))
        return len(self._calls) - 1

    def _kind(self, function: Any) -> int:
        if function is not None and not callable(function) and not isinstance(function, TaskKernel):
            raise errors.make("ARGUMENT", f"a task is a function and its arguments, and this is {function!r}")
        if function not in self._kinds:
            call = _FUNCTION(self._call) if function else None
            if isinstance(function, TaskKernel):
                call = _FUNCTION(lambda running, data: self._call(running, data, function)) if function.function else None
            name = getattr(function, "__name__", "task") if function else "join"
            self._kinds[function] = handle(lib.op2jit_graph_type(self.handle, text(name), call)), call
        return self._kinds[function][0]

    def _call(self, running: int, data: int, kernel: Optional[TaskKernel] = None) -> None:
        if self._raised:
            return
        function, arguments = self._calls[kernel.number_at(data) if kernel else c_longlong.from_address(data).value]
        _here.running = running
        try:
            if kernel:
                kernel.call(data, *arguments)
            else:
                function(*arguments)
        except BaseException as problem:  # C cannot carry it: run raises it
            self._raised.append(problem)
            told = "".join(traceback.format_exception_only(type(problem), problem)).strip()
            lib.op2jit_running_fail(c_void_p(running), told.encode(errors="replace"))  # so that other ranks have it too
        finally:
            _here.running = None


def thread() -> int:
    """The number of the thread that runs this task, from 0; -1 outside of tasks."""
    running = getattr(_here, "running", None)
    return int(lib.op2jit_running_thread(running)) if running else -1
