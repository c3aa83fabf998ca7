"""Variables that may have no value where they are read: Python raises UnboundLocalError, and C has some number there."""

from __future__ import annotations

import ast
from typing import Any, FrozenSet, List, Optional, Sequence

from . import flow

#: The names that have a value for certain; None where nothing comes by.
State = Optional[FrozenSet[str]]


def _both(one: State, other: State) -> State:
    if one is None or other is None:
        return other if one is None else one
    return one & other


class Unset:
    """Goes along one function's statements.

    What a condition in a loop reads of the turn before is the programmer's to know: ``if j > 0`` says it.
    """

    def __init__(self, body: Any) -> None:
        self.body = body
        self.names = body.names - set(body.parameters) - body.own_counters
        self.loops: List[ast.stmt] = []
        self.trusted: FrozenSet[str] = frozenset()
        self.breaks: List[State] = []
        self.turns: List[State] = []  # at continue

    def check(self, statements: Sequence[ast.stmt]) -> None:
        """Refuses the first such variable."""
        self.block(statements, frozenset())

    def block(self, statements: Sequence[ast.stmt], state: State) -> State:
        """The names that have a value behind the statements."""
        for statement in statements:
            if state is None:
                return None
            state = self.statement(statement, state)
        return state

    def guarded(self, part: Any, state: FrozenSet[str]) -> State:
        """Statements or an expression that may not be reached in a turn of a loop."""
        kept = self.trusted
        for loop in self.loops:
            self.trusted |= flow.stored(loop)
        if isinstance(part, list):
            after = self.block(part, state)
        else:
            self.read(part, state)
            after = state
        self.trusted = kept
        return after

    def statement(self, node: Any, state: FrozenSet[str]) -> State:
        """One statement."""
        if isinstance(node, ast.If):
            self.read(node.test, state)
            return _both(self.guarded(node.body, state), self.guarded(node.orelse, state))
        if isinstance(node, (ast.For, ast.While)):
            return self.loop(node, state)
        if isinstance(node, ast.Break):
            self.breaks[-1] = _both(self.breaks[-1], state)
        elif isinstance(node, ast.Continue):
            self.turns[-1] = _both(self.turns[-1], state)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.known(node.target, state)
        self.read(node, state)
        if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
            return None
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return state
        return state | flow.stored(node)

    def loop(self, node: Any, state: FrozenSet[str]) -> State:
        """A loop, with a turn for certain or without."""
        is_for = isinstance(node, ast.For)
        self.read(node.iter if is_for else node.test, state)
        endless = not is_for and isinstance(node.test, ast.Constant) and bool(node.test.value)
        certain = endless or id(node) in self.body.certain
        inside = state | flow.stored(node.target) if is_for else state
        self.breaks.append(None)
        self.turns.append(None)
        kept = self.trusted
        for loop in self.loops if not certain else ():  # the first turn of a loop around may have none of this one
            self.trusted |= flow.stored(loop)
        self.loops.append(node)
        after = self.block(node.body, inside)
        self.loops.pop()
        self.trusted = kept
        after, stopped = _both(after, self.turns.pop()), self.breaks.pop()
        if endless:
            return stopped
        return _both(after, stopped) if certain else state

    def read(self, node: ast.AST, state: FrozenSet[str]) -> None:
        """All names that an expression or a plain statement reads."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.known(node, state)
        rest: List[Any] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.IfExp):
            self.read(node.test, state)
            self.guarded(node.body, state)
            self.guarded(node.orelse, state)
            return
        if isinstance(node, ast.BoolOp):
            self.read(node.values[0], state)
            for part in node.values[1:]:
                self.guarded(part, state)
            return
        for part in rest:
            self.read(part, state)

    def known(self, node: ast.Name, state: FrozenSet[str]) -> None:
        """Has this name a value?"""
        if node.id in self.names and node.id not in state and node.id not in self.trusted:
            self.body.source.fail(
                node,
                f"{node.id} may have no value here, as not every way to this line gives it one: give {node.id} a value "
                "before the if or the loop that sets it",
            )
