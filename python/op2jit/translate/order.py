"""Python computes from left to right, and C as it likes.

Where a function of the user changes its arguments, and so what is computed before or after it, the parts of an
expression become statements of their own.
"""

from __future__ import annotations

import ast
import copy
import types
from typing import Any, List, Sequence, Set

from .source import Source


class Order:
    """Brings the statements of one function into such an order. ``body`` is asked what names stand for."""

    def __init__(self, body: Any) -> None:
        self.body = body
        self.before: List[ast.stmt] = []
        self.made: Set[str] = set()

    def block(self, statements: Sequence[ast.stmt]) -> List[ast.stmt]:
        """Statements, each behind what has to be computed before it."""
        found: List[ast.stmt] = []
        for statement in statements:
            self.before = []
            turned = self.statement(statement) if self.changes(statement) else statement
            found += [*self.before, turned]
        return found

    def statement(self, old: ast.stmt) -> ast.stmt:
        """One that calls such a function."""
        new: Any = copy.copy(old)
        if isinstance(new, (ast.Expr, ast.Return, ast.Assign, ast.AnnAssign)) and new.value is not None:
            new.value = self.whole(new.value)
            targets = getattr(new, "targets", [getattr(new, "target", None)])
            if any(target is not None and self.changes(target) for target in targets):
                self.refuse(targets[0])
        elif isinstance(new, ast.AugAssign):
            return self.changed(new)
        elif isinstance(new, ast.If):
            new.test = self.expression(new.test)
            new.body, new.orelse = self.inner(new.body), self.inner(new.orelse)
        elif isinstance(new, (ast.For, ast.While)):
            if self.changes(new.iter if isinstance(new, ast.For) else new.test):
                self.refuse(new.iter if isinstance(new, ast.For) else new.test)
            new.body, new.orelse = self.inner(new.body), self.inner(new.orelse)
        return new  # type: ignore[no-any-return]

    def inner(self, statements: Sequence[ast.stmt]) -> List[ast.stmt]:
        """A block in a statement."""
        kept = self.before
        found = self.block(statements)
        self.before = kept
        return found

    def changed(self, node: ast.AugAssign) -> ast.stmt:
        """``t[0] += f(t)`` with its old value first."""
        if self.changes(node.target):
            self.refuse(node.target)
        if isinstance(node.target, ast.Name):
            node = copy.copy(node)
            node.value = self.expression(node.value)
            return node
        load = copy.deepcopy(node.target)
        load.ctx = ast.Load()
        old = self.named(load)
        value = self.expression(node.value)
        made = ast.Assign([node.target], ast.copy_location(ast.BinOp(old, node.op, value), node))
        return ast.copy_location(made, node)

    def whole(self, node: ast.expr) -> ast.expr:
        """All that a statement computes: a call may stay if it is all."""
        if isinstance(node, ast.Call) and self.changes(node):
            return self.parts(node)
        return self.expression(node)

    def expression(self, node: ast.expr) -> ast.expr:
        """The expression without such calls, which have names now."""
        if not self.changes(node):
            return node
        new: Any = copy.copy(node)
        later: Sequence[ast.expr] = ()  # what is not always computed
        if isinstance(new, ast.BoolOp):
            later, new.values = new.values[1:], [self.expression(new.values[0]), *new.values[1:]]
        elif isinstance(new, ast.IfExp):
            later, new.test = (new.body, new.orelse), self.expression(new.test)
        elif isinstance(new, ast.Compare):
            later = new.comparators[1:]
            new.left, first = self.several([new.left, new.comparators[0]])
            new.comparators = [first, *later]
        else:
            new = self.parts(new)
            return self.named(new) if isinstance(new, ast.Call) and self.calls(new) else new  # type: ignore
        for part in later:
            if self.changes(part):
                self.refuse(part)
        return new  # type: ignore[no-any-return]

    def parts(self, node: ast.expr) -> ast.expr:
        """Its parts, in their order."""
        new: Any = copy.copy(node)
        names = {ast.BinOp: ("left", "right"), ast.UnaryOp: ("operand",), ast.Subscript: ("value", "slice")}
        if isinstance(new, (ast.Call, ast.Tuple, ast.List)):
            word = "args" if isinstance(new, ast.Call) else "elts"
            setattr(new, word, self.several(getattr(new, word)))
            if any(self.changes(keyword) for keyword in getattr(new, "keywords", ())):
                self.refuse(node)
        elif type(new) in names:
            members = names[type(new)]
            for member, found in zip(members, self.several([getattr(new, member) for member in members])):
                setattr(new, member, found)
        else:
            self.refuse(node)
        return new  # type: ignore[no-any-return]

    def several(self, parts: Sequence[ast.expr]) -> List[ast.expr]:
        """Expressions, one after the other."""
        last = max([number for number, part in enumerate(parts) if self.changes(part)], default=-1)
        found = []
        for number, part in enumerate(parts):
            if self.changes(part):
                part = self.expression(part)
            if number < last and not isinstance(part, (ast.Name, ast.Constant)):
                part = self.named(part)
            found.append(part)
        return found

    def named(self, node: ast.expr) -> ast.expr:
        """A name for a value, which a statement before gives it."""
        name = self.body.fresh("value")
        self.made.add(name)
        made = ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), node)], node)
        self.before.append(ast.copy_location(made, node))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def refuse(self, node: ast.AST) -> None:
        """Refuse a value that cannot be computed before."""
        self.body.source.fail(
            node, "a function that changes its arguments is called within something else; give its value a name first"
        )

    # ---- what changes something ----

    def changes(self, node: ast.AST) -> bool:
        """Whether a call in it changes something."""
        return any(isinstance(part, ast.Call) and self.calls(part) for part in ast.walk(node))

    def calls(self, node: ast.Call) -> bool:
        """Whether this call changes something."""
        callee = self.body.static(node.func)
        inner = self.body.unit.function_of(callee)
        return inner is not None and changes_arguments(self.body.unit, inner, set())


def changes_arguments(unit: Any, function: types.FunctionType, seen: Set[Any]) -> bool:
    """Whether a function of the user writes to rows that it gets, or prints."""
    if function in unit.changing or function in seen:
        return bool(unit.changing.get(function))
    tree = Source(function, unit.files).tree
    names = {word.arg for word in tree.args.args}
    found = False
    for part in ast.walk(tree):
        if isinstance(part, (ast.Subscript, ast.Attribute, ast.Name)) and isinstance(part.ctx, ast.Store):
            base: Any = part
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            found = found or (base is not part and isinstance(base, ast.Name) and base.id in names)
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            found = found or part.target.id in names
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            callee = unit.outside(function, part.func.id)
            inner = unit.function_of(callee)
            called = inner is not None and changes_arguments(unit, inner, seen | {function})
            found = found or callee in (print, breakpoint) or called
    unit.changing[function] = found
    return found
