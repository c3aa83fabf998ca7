"""The place where a function's variable is declared in C: its first assignment, if all uses see that."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Set, Tuple

Path = Tuple[Tuple[int, int], ...]


def _own(statement: ast.stmt) -> List[ast.AST]:
    """The parts of a statement that are not statements themselves."""
    if isinstance(statement, ast.For):
        return [statement.iter]
    if isinstance(statement, (ast.If, ast.While)):
        return [statement.test]
    return [statement]


def _blocks(statement: ast.stmt) -> List[List[ast.stmt]]:
    return [getattr(statement, name) for name in ("body", "orelse") if isinstance(getattr(statement, name, None), list)]


def targets(statement: ast.stmt) -> Set[str]:
    """The names that a plain assignment gives their first value, if it does not use them."""
    outputs: List[ast.expr]
    value: ast.expr
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        outputs, value = [statement.target], statement.value
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        outputs, value = [statement.targets[0]], statement.value
    else:
        return set()
    if isinstance(outputs[0], (ast.Tuple, ast.List)):
        outputs = list(outputs[0].elts)
    names = {node.id for node in outputs if isinstance(node, ast.Name)}
    if len(names) != len(outputs):
        return set()  # they get their values in brackets
    used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return set() if names & used else names


def declared(body: List[ast.stmt], names: Set[str]) -> Dict[int, Set[str]]:
    """For statements, by their identity, the variables that they declare; all others are declared at the beginning."""
    seen: Dict[str, List[Path]] = {name: [] for name in names}
    statements: Dict[Tuple[int, int], ast.stmt] = {}

    def visit(block: List[ast.stmt], path: Path) -> None:
        for number, statement in enumerate(block):
            here = (id(block), number)
            statements[here] = statement
            for part in _own(statement):
                for node in ast.walk(part):
                    if isinstance(node, ast.Name) and node.id in seen:
                        seen[node.id].append(path + (here,))
            for inner in _blocks(statement):
                visit(inner, path + (here,))

    visit(body, ())
    found: Dict[int, Set[str]] = {}
    for name, paths in seen.items():
        depth = 0
        while all(
            len(path) > depth + 1
            and path[: depth + 1] == paths[0][: depth + 1]
            and _same_block(path, paths[0], depth + 1)
            for path in paths
        ):
            depth += 1
        first = statements[paths[0][depth]]
        if name in targets(first) and len(paths[0]) == depth + 1:
            found.setdefault(id(first), set()).add(name)
    return found


def _same_block(path: Path, other: Path, depth: int) -> bool:
    return path[depth][0] == other[depth][0]
