"""Assignments: of numbers to variables and elements, of vectors to rows, and arrays of a function's own."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import numpy as np

from . import functions, values
from .expressions import MISSING, Expressions
from .values import Array, Type, Value, is_whole, spelled
from .vectors import flattened

_SIGNS = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}


class Assignments(Expressions):
    """Assignments, for statements."""

    parameters: Dict[str, Type]
    locals: Dict[str, Type]
    fixed: Set[str]
    written: Dict[str, ast.AST]
    real_into: Set[str]
    whole_made: Set[str]
    refused: List[Any]
    places: Dict[int, Set[str]]

    def add(self, node: ast.AST, depth: int, code: str) -> None:
        """A piece of C on the line of a statement."""
        raise NotImplementedError

    def fresh(self, base: str) -> str:
        """A name that is nothing else."""
        raise NotImplementedError

    def c(self, name: str) -> str:
        """A variable's name in C."""
        raise NotImplementedError

    # ---- statements ----

    def do_AnnAssign(self, node: ast.AnnAssign, depth: int) -> None:
        if node.value is not None:
            self.assign(node, node.target, node.value, depth)

    def do_Assign(self, node: ast.Assign, depth: int) -> None:
        target = node.targets[0]
        if len(node.targets) > 1:
            kept = self.kept(node, [self.scalar(node.value)], depth)[0]
            for one in node.targets:
                self.store(node, one, kept, depth)
            self.add(node, depth, "}")
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.assign_several(node, target, depth)
        else:
            self.assign(node, target, node.value, depth)

    def kept(self, node: ast.stmt, found: Sequence[Value], depth: int) -> List[Value]:
        """Values in names of their own, behind a bracket that has to be closed."""
        named, words = [], []
        for value in found:
            if value.constant is None:
                kind, name = values.kind_of(value), self.fresh("t")
                words.append(f" const {kind} {name} = {spelled(value, kind, 0)};")
                value = value._replace(code=name, rank=values.PRIMARY, type=kind)
            named.append(value)
        self.add(node, depth, "{" + "".join(words))
        return named

    def assign_several(self, node: ast.Assign, target: Any, depth: int) -> None:
        """Several variables at once, from the values before; by turns where that is the same."""
        ones, parts = target.elts, self.several_values(node, target)
        names = [one.id for one in ones if isinstance(one, ast.Name)]
        used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
        if len(set(names)) == len(ones) and not used & set(names):
            for one, part in zip(ones, parts):
                if isinstance(part, Value):
                    self.store(node, one, part, depth)
                else:
                    self.assign(node, one, part, depth)
            return
        found = [part if isinstance(part, Value) else self.scalar(part) for part in parts]
        kept = self.kept(node, found, depth)
        for one, value in zip(ones, kept):
            self.store(node, one, value, depth)
        self.add(node, depth, "}")

    def several_values(self, node: ast.Assign, target: Any) -> List[Any]:
        """A value for each variable: expressions, or the values of a row."""
        value = node.value
        for one in target.elts:
            if isinstance(one, (ast.Tuple, ast.List, ast.Starred)):
                self.source.fail(one, "several variables are names and elements, side by side")
        if isinstance(value, (ast.Tuple, ast.List)):
            found: List[Any] = list(value.elts)
        else:
            row = self.expression(value)
            found = list(self.parts(value, row)) if isinstance(row.type, Array) and len(row.type.shape) == 1 else []
        if len(found) != len(target.elts) or any(isinstance(part, ast.Starred) for part in found):
            self.source.fail(node, "several variables get as many values, behind commas")
        return found

    def assign(self, node: ast.stmt, target: ast.expr, value: ast.expr, depth: int) -> None:
        """One target."""
        made = self.array_of(value)
        if made is not None:
            found, fixed = made
        else:
            found, fixed = self.expression(value), False
        if found.type == "void":
            self.source.fail(value, f"{ast.unparse(value)} gives no value")
        if not isinstance(found.type, Array) or not isinstance(target, ast.Name):
            self.store(node, target, found, depth, value)
            return
        if made is None and found.code:
            self.source.fail(
                value,
                f"{ast.unparse(value)} is a row, and {target.id} would be another name of it; np.array"
                f"({ast.unparse(value)}) is a copy",
            )
        self.set_array(node, target, found, fixed, depth)

    def store(
        self, node: ast.stmt, target: ast.expr, value: Value, depth: int, shown: Optional[ast.AST] = None
    ) -> None:
        """A number into a variable or an element, or values into a row."""
        if isinstance(target, ast.Name):
            self.set_variable(node, target, value, depth)
            return
        if values.is_record(value.type):
            place = self.element(target)
            self.write(target, place.root)
            if place.type != value.type:
                self.source.fail(target, f"{ast.unparse(target)} is no record of this type")
            self.add(node, depth, f"{place.code} = {value.code};")
            return
        place = self.place(target, value)
        if values.is_record(place.type):
            self.source.fail(target, f"{ast.unparse(target)} is a record, and gets a record, or values one by one")
        if isinstance(place.type, Array):
            self.store_row(node, self.row_places(target, place), self.spread(node, place, value), depth)
            return
        if isinstance(value.type, Array):
            if value.parts is not None and shown is not None and isinstance(shown, (ast.List, ast.Tuple)):
                self.source.fail(shown, "a list cannot be in an element, which is one number")
            self.no_number(shown or node, value)
        self.add(node, depth, f"{place.code} = {self.fitting(value, str(place.type))};")

    def fitting(self, value: Value, kind: str) -> str:
        """The text of a number that C converts to what it is stored in."""
        if is_whole(kind) and kind != "bool" and not is_whole(value.type):  # by way of 64 bits, as Python does it
            if kind == "unsigned long long":
                return f"{self.unit.need(functions.UNSIGNED)}({value.code})"
            return f"({kind})(long long){values.wrap(value, values.UNARY)}"
        return spelled(value, kind, 0) if self.unit.short(value, kind) else value.code

    def set_variable(self, node: ast.stmt, target: ast.Name, value: Value, depth: int) -> None:
        """A number into a variable, which is declared here if this is its place."""
        name = target.id
        if isinstance(self.parameters.get(name), Array):
            self.source.fail(target, f"{name} is a parameter and cannot be assigned; {name}[0] is its first value")
        if isinstance(value.type, Array):
            self.no_number(target, value)
        if values.is_record(value.type):
            self.source.fail(target, f"{name} would be another name of a record; give names to its values, or write w[0].rho")
        kind = self.widened(target, name, value)
        here = name in self.places.get(id(node), ())
        self.add(node, depth, f"{kind + ' ' if here else ''}{self.c(name)} = {spelled(value, kind, 0)};")

    def widened(self, node: ast.AST, name: str, value: Value) -> str:
        """The type of a variable that gets this value too."""
        kind, old = values.kind_of(value), self.locals.get(name)
        if isinstance(old, Array):
            self.source.fail(node, f"{name} is an array")
        if old is not None:
            kind = self.joined(node, Value("", old), value)
        self.locals[name] = kind
        return kind

    def place(self, target: ast.expr, value: Value) -> Value:
        """An element or a row that is assigned."""
        if not isinstance(target, (ast.Subscript, ast.Attribute)):
            self.source.fail(target, "only variables and elements of arrays can be assigned")
        found = self.element(target)
        self.write(target, found.root)
        whole = isinstance(value.type, Array) or is_whole(value.type)
        if not whole and found.root in self.unit.counts and self.unit.is_kernel(self):
            self.source.fail(
                target,
                f"{found.root} is a global of whole numbers and gets a real one here: op2jit.Global(0.0) holds real "
                "numbers, and int(...) makes a whole one",
            )
        if not all(is_whole(one.type) for one in flattened(self.parts(target, value))):
            self.gets_real(target, found.root)
        kind = found.type.type if isinstance(found.type, Array) else found.type
        own = self.locals.get(found.root)
        if isinstance(own, Array) and found.root not in self.fixed:
            for one in flattened(self.parts(target, value)):
                kind = self.joined(target, Value("", kind), one)
                kind = "int" if kind == "bool" else kind
            self.locals[found.root] = own._replace(type=kind)
            whole = isinstance(found.type, Array)
            found = found._replace(type=found.type._replace(type=kind) if whole else kind)  # type: ignore[union-attr]
        return found

    def gets_real(self, target: ast.AST, root: str, inside: bool = True) -> None:
        """A real number goes into an array: not into one that is made of whole numbers, as NumPy would cut it off.

        A list of Python takes its type from all that its own function puts into it (inside), not from a helper.
        """
        own = self.locals.get(root)
        if root in self.parameters:
            self.real_into.add(root)
            if root in self.unit.sums and self.unit.is_kernel(self):
                self.source.fail(
                    target,
                    f"{root} has whole numbers and is passed with INC, and a real one is added here: its part behind the "
                    "point would be cut off each time; add int(...), or make a dat of real numbers",
                )
        elif root in self.whole_made or (not inside and isinstance(own, Array) and is_whole(own.type)):
            words = (
                f"{root} is made of whole numbers and gets a real one here: make it of real numbers, as in [1.0, 2.0], "
                "np.array([1.0, 2.0]) or np.zeros(2), or write int(...) or round(...) for a whole one"
            )
            self.refused.append((self.source, target, words))

    def write(self, target: ast.AST, root: str) -> None:
        """Whether it may be written to."""
        kind = self.parameters.get(root) or self.locals.get(root)
        if not isinstance(kind, Array):
            self.source.fail(target, f"{root or ast.unparse(target)} is a constant")
        if kind.const:
            self.source.fail(
                target,
                f"{root} is only read here: it is passed with READ, or is an index; a kernel that changes it needs RW, "
                "WRITE or INC in the loop",
            )
        if root in self.parameters:
            self.written.setdefault(root, target)

    def do_AugAssign(self, node: ast.AugAssign, depth: int) -> None:
        target: Any = node.target
        load = ast.copy_location(ast.Name(target.id, ast.Load()), target) if isinstance(target, ast.Name) else target
        old, value = self.expression(load), self.argument(node.value)
        self.no_record(load, old)
        if isinstance(old.type, Array):
            self.change_row(node, load, old, value, depth)
            return
        if isinstance(value.type, Array):
            self.no_number(node.value, value)
        old = old._replace(constant=None)
        if isinstance(target, ast.Name):
            found = self.numbers(node, node.op, old, value)
            kind = self.widened(target, target.id, found)
            place = Value(self.c(target.id), kind)
        else:
            result = value if old.root in self.parameters else self.numbers(node, node.op, old, value)
            place = self.place(target, value if is_whole(result.type) else result)
            modular = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)) and is_whole(place.type)
            found = old if modular and is_whole(value.type) else self.numbers(node, node.op, old, value)
        self.add(node, depth, self.change(node.op, place, value, found))

    def change(self, op: ast.operator, place: Value, value: Value, found: Value) -> str:
        """place op= value."""
        kind, sign = str(place.type), _SIGNS.get(type(op))
        if not sign or (is_whole(kind) and not is_whole(found.type)):
            return f"{place.code} = {self.fitting(found, kind)};"
        if kind == "float" and found.type == "double" and value.type != "double":
            return f"{place.code} {sign} {spelled(value, 'double', 0)};"
        if kind == "float" and value.type == "weak float" and found.type == "float":
            return f"{place.code} {sign} {spelled(value, kind, 0)};"
        if values.overflows(type(op), place, value):
            return f"{place.code} {sign} (unsigned){values.wrap(value, values.UNARY)};"
        return f"{place.code} {sign} {value.code};"

    # ---- rows ----

    def row_places(self, node: ast.AST, row: Value) -> Tuple[Value, ...]:
        """The elements of a row as they lie in memory."""
        assert isinstance(row.type, Array)
        return tuple(Value(code, row.type.type, root=row.root) for code in flattened(self.texts(node, row)))

    def spread(self, node: ast.AST, place: Value, value: Value) -> Tuple[Value, ...]:
        """The values that a row gets: of a row of the same shape, or one number for all."""
        assert isinstance(place.type, Array)
        if not isinstance(value.type, Array):
            return (value,) * int(np.prod(place.type.shape))
        if value.type.shape != place.type.shape:
            self.source.fail(node, f"values of the shape {value.type.shape} cannot be put into {place.type.shape}")
        return flattened(self.parts(node, value))

    def store_row(self, node: ast.stmt, places: Sequence[Value], given: Sequence[Value], depth: int) -> None:
        """Values into elements; all of them are computed before."""
        if all(value.constant is not None for value in given):
            words = [f"{place.code} = {self.fitting(value, str(place.type))};" for place, value in zip(places, given)]
            self.add(node, depth, " ".join(words))
            return
        name = self.fresh("t")
        kind = given[0]
        for other in given[1:]:
            kind = Value("", self.joined(node, kind, other))
        word = values.kind_of(kind)
        texts = [spelled(value, word, 0) for value in given]
        if all(value is given[0] for value in given):
            self.add(node, depth, f"{{ const {word} {name} = {texts[0]};")
            ends = [f"{place.code} = {name};" for place in places]
        else:
            self.add(node, depth, f"{{ const {word} {name}[{len(given)}] = {{{', '.join(texts)}}};")
            ends = [f"{place.code} = {name}[{number}];" for number, place in enumerate(places)]
        self.add(node, depth, " ".join(ends) + " }")

    def change_row(self, node: ast.AugAssign, target: ast.expr, old: Value, value: Value, depth: int) -> None:
        """row += vector, in its place."""
        assert isinstance(old.type, Array)
        if not old.type.vector:
            self.source.fail(node, "a list of Python is not changed so; make it by np.array([...])")
        self.write(target, old.root)
        found = self.binary(node, node.op, old, value)
        if not isinstance(found.type, Array) or found.type.shape != old.type.shape:
            self.source.fail(node, "the row has another shape than what it would get")
        if not is_whole(found.type.type):
            self.gets_real(target, old.root)
        self.store_row(node, self.row_places(target, old), flattened(found.parts), depth)

    def set_array(self, node: ast.stmt, target: ast.Name, value: Value, fixed: bool, depth: int) -> None:
        """An array of the function, made here or given new values."""
        name = target.id
        assert isinstance(value.type, Array)
        if name in self.parameters:
            self.source.fail(
                target, f"{name} is a parameter and cannot be assigned; {name}[:] = ... gives it new values"
            )
        old = self.locals.get(name, value.type)
        if not isinstance(old, Array) or old.shape != value.type.shape or old.vector != value.type.vector:
            self.source.fail(target, f"{name} is something else already; an array keeps its shape")
        if fixed:
            self.fixed.add(name)
        if value.type.vector and is_whole(value.type.type):
            self.whole_made.add(name)
        kind = value.type.type if value.type.type != "bool" else "int"
        if name not in self.fixed:
            kind = self.joined(target, Value("", old.type), Value("", kind))
        elif not fixed:
            kind = old.type
        self.locals[name] = value.type._replace(type=kind, const=False)
        if name not in self.places.get(id(node), ()):
            row = Value(self.c(name), self.locals[name], root=name)
            self.store_row(node, self.row_places(target, row), flattened(value.parts), depth)
            return
        dims = "".join(f"[{size}]" for size in value.type.shape)
        code = "" if value.code == "empty" else f" = {self.initialiser(value.parts, kind)}"
        self.add(node, depth, f"{kind} {self.c(name)}{dims}{code};")

    def initialiser(self, nested: Any, kind: str) -> str:
        """The text of an array's first values."""
        if all(value.constant == 0 and value.code[0] != "-" for value in flattened(nested)):
            return "{0}"

        def inner(part: Any) -> str:
            if isinstance(part, Value):
                return spelled(part, kind, 0)
            return "{" + ", ".join(inner(one) for one in part) + "}"

        return inner(nested)

    def array_of(self, value: ast.expr) -> Optional[Tuple[Value, bool]]:
        """[0.0] * 4, [a, b], [[1], [2]], np.zeros(4), np.empty((2, 2)): its values, and whether its type is said."""
        if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
            return self.display(value), False
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List):
            count, element = self.scalar(value.right).constant, value.left
            if not isinstance(count, int) or not 1 <= count <= 4096 or len(element.elts) != 1:
                self.source.fail(value, "an array is made of [value] * count, with a constant count")
            return self.vector(value, (self.scalar(element.elts[0]),) * count, False), False
        if isinstance(value, ast.Call) and any(self.static(value.func) is one for one in functions.MAKERS):
            return self.numpy_array(value)
        return None

    def numpy_array(self, value: ast.Call) -> Tuple[Value, bool]:
        """zeros, ones, empty and eye."""
        function, kind = self.static(value.func), "double"
        words = {word.arg: word.value for word in value.keywords}
        dtypes = list(value.args[1:]) + [words.pop("dtype")] if "dtype" in words else list(value.args[1:])
        if dtypes:
            said = self.static(dtypes[0])
            kind = functions.CASTS.get(said, "") if said is not MISSING and said.__hash__ else ""
            kind = "long long" if kind == "python int" else kind
        if not value.args or not kind or words or len(dtypes) > 1:
            self.source.fail(value, "an array has constant sizes and a type of numbers")
        size = value.args[0]
        parts = size.elts if isinstance(size, (ast.Tuple, ast.List)) else [size]
        sizes = [self.scalar(part).constant for part in parts]
        for one in sizes:
            if not isinstance(one, int) or isinstance(one, bool) or not 1 <= one <= 4096:
                self.source.fail(value, "an array has constant sizes and a type of numbers")
        if not 1 <= len(sizes) <= 2 or np.prod(sizes) > 4096 or (function is np.eye and len(sizes) > 1):
            self.source.fail(value, "an array of a kernel has one or two dimensions, and 4096 values at most")
        shape = tuple(sizes) if function is not np.eye else (sizes[0], sizes[0])
        fill: Any = np.ones(shape, int) if function is np.ones else np.zeros(shape, int)
        fill = np.eye(sizes[0], dtype=int) if function is np.eye else fill
        made = Value("empty" if function is np.empty else "", Array(kind, shape), parts=_nested(fill.tolist()))
        return made, True


def _nested(values_: Any) -> Any:
    if isinstance(values_, list):
        return tuple(_nested(value) for value in values_)
    return values.number(values_)
