"""Variables that may have no value where they are read: Python raises UnboundLocalError, and C has some number there."""

from __future__ import annotations

import ast
import operator
from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Tuple

from . import flow

#: The names that have a value for certain; None where nothing comes by.
State = Optional[FrozenSet[str]]
_COMPARED: Dict[type, Any] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _number(node: ast.expr) -> Optional[int]:
    """A whole number of the text."""
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    found = node.operand if isinstance(node, ast.UnaryOp) and minus else node
    if not isinstance(found, ast.Constant) or type(found.value) is not int:
        return None
    return -found.value if minus else found.value


def _first(node: Any) -> Optional[int]:
    """The first value of a loop's counter, if it is a number of the text and the loop alone sets the counter."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name) or not isinstance(node.iter, ast.Call):
        return None
    if any(node.target.id in flow.stored(statement) for statement in node.body):
        return None
    return 0 if len(node.iter.args) == 1 else _number(node.iter.args[0])


def _both(one: State, other: State) -> State:
    if one is None or other is None:
        return other if one is None else one
    return one & other


class Unset:
    """Goes along one function's statements.

    What a loop reads of the turn before needs a value before the loop. One case is seen without: behind ``if j > 0`` of
    a loop whose ``j`` begins with 0 there was a turn before, and what every turn sets has a value.
    """

    def __init__(self, body: Any) -> None:
        self.body = body
        self.names = body.names - set(body.parameters) - body.own_counters
        self.later: Dict[str, Tuple[int, FrozenSet[str]]] = {}  # counters: their first value, what any turn sets
        self.silent = 0  # no message: a turn is only looked at
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

    def said(self, test: ast.AST, holds: bool) -> FrozenSet[str]:
        """The names that have a value where a condition holds, or does not: it may tell a loop's first turn."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.said(test.operand, not holds)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
            return frozenset().union(*(self.said(part, holds) for part in test.values))
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
            return frozenset()
        first, names = self.later.get(test.left.id, (0, frozenset()))
        compare, number = _COMPARED.get(type(test.ops[0])), _number(test.comparators[0])
        known = compare is not None and number is not None and compare(first, number) != holds
        return names if known else frozenset()

    def statement(self, node: Any, state: FrozenSet[str]) -> State:
        """One statement."""
        if isinstance(node, ast.If):
            self.read(node.test, state)
            one = self.block(node.body, state | self.said(node.test, True))
            return _both(one, self.block(node.orelse, state | self.said(node.test, False)))
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
        first = _first(node)
        if first is not None:
            self.silent += 1
            self.later[node.target.id] = first, self.turn(node, inside)[0] or frozenset()
            self.silent -= 1
        after, stopped = self.turn(node, inside)
        if first is not None:
            del self.later[node.target.id]
        if endless:
            return stopped
        return _both(after, stopped) if certain else state

    def turn(self, node: Any, inside: State) -> Tuple[State, State]:
        """The names that have a value at the end of a turn, and where the loop is left."""
        self.breaks.append(None)
        self.turns.append(None)
        after = self.block(node.body, inside)
        return _both(after, self.turns.pop()), self.breaks.pop()

    def read(self, node: ast.AST, state: FrozenSet[str]) -> None:
        """All names that an expression or a plain statement reads."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.known(node, state)
        rest: List[Any] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.IfExp):
            self.read(node.test, state)
            self.read(node.body, state | self.said(node.test, True))
            self.read(node.orelse, state | self.said(node.test, False))
            return
        if isinstance(node, ast.BoolOp):
            for part in node.values:  # a later one is reached if those before hold, or do not
                self.read(part, state)
                state = state | self.said(part, isinstance(node.op, ast.And))
            return
        for part in rest:
            self.read(part, state)

    def known(self, node: ast.Name, state: FrozenSet[str]) -> None:
        """Whether this name has a value."""
        if node.id in self.names and node.id not in state and not self.silent:
            self.body.source.fail(
                node,
                f"{node.id} may have no value here, as not every way to this line gives it one: give {node.id} a value "
                "before the if or the loop that sets it",
            )
