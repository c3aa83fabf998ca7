"""Which way a function's statements go."""

from __future__ import annotations

import ast
from typing import Any, Iterable, Sequence, Set


def falls(block: Sequence[ast.stmt]) -> bool:
    """Whether what follows the block can be reached, or the end of the function."""
    for statement in block:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            return False
        if isinstance(statement, ast.If) and not falls(statement.body) and statement.orelse:
            if not falls(statement.orelse):
                return False
        endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and statement.test.value
        if endless and not any(isinstance(part, ast.Break) for part in ast.walk(statement)):
            return False
    return True


def returns_value(block: Iterable[ast.stmt]) -> bool:
    """Whether a function gives a value."""
    parts = [part for statement in block for part in ast.walk(statement)]
    return any(isinstance(part, ast.Return) and part.value is not None for part in parts)


def stored(node: ast.AST) -> Set[str]:
    """The names that are assigned somewhere in it."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def counters(body: Sequence[ast.stmt]) -> Set[str]:
    """The names that are counters of loops."""
    found: Set[str] = set()
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.For):
                found |= stored(part.target)
    return found


def inner_counters(body: Sequence[ast.stmt], others: Iterable[str]) -> Set[str]:
    """Counters that are used in their loops alone and assigned by nothing else: C has them in its own loops."""
    seen: Set[str] = set()
    bad: Set[str] = set(others)

    def visit(node: Any, inside: Set[str]) -> None:
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            name = node.target.id
            seen.add(name)
            if name in inside:
                bad.add(name)
            visit(node.iter, inside)
            for statement in node.body:
                visit(statement, inside | {name})
            for statement in node.orelse:
                visit(statement, inside)
            return
        if isinstance(node, ast.Name) and (node.id not in inside or isinstance(node.ctx, ast.Store)):
            bad.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    for statement in body:
        visit(statement, set())
    return seen - bad
