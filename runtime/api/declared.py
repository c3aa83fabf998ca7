"""What the public headers declare, for other languages: the headers are the one place where a call, a struct or a number is
written down. fortran/expand.py makes interfaces and types of it, and Python reads the library's op_declarations.

usage: declared.py OUT_names.h HEADER...  writes the short names of their calls: #define op_init op2jit_init
       declared.py OUT.c HEADER...   of calls that are there a second time with `is` behind their arguments (op2jit_typed.h),
                                     the ones that leave it out
       declared.py OUT HEADER...     writes them as JSON: {"calls": {name: [result, argument...]},
                                     "structs": {name: [[member, kind, how many], ...]},
                                     "enums": {name: [member...]}, "numbers": {name: value}}

Kinds are int, long long, short, char, double, size_t, text (const char *), pointer, void, and names of structs, with " *" for
a pointer to one that is written out in the header. A declaration that is not understood is an error where it is used."""

import json
import re
import sys
from typing import NamedTuple, Optional

SCALARS = ["int", "long long", "short", "char", "double", "size_t", "void"]
WORDS = re.compile(r"(const )?(?:struct |enum )?(long long|\w+) ?((?:\*(?: ?const)? ?)*)(\w*)(?:\[(\d*)\])?")


class Declared(NamedTuple):
    """A result, an argument of a call or a member of a struct: `base` with `depth` stars. `count` is "" for an array of any
    length."""

    name: str
    kind: str
    base: str
    depth: int
    const: bool
    count: Optional[str]


class Headers:
    """All that these headers declare."""

    def __init__(self, paths):
        text = ""
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text += file.read()
        self._text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).replace("\\\n", " ")
        self.numbers = {name: int(value, 0) for name, value in self._all(r"^#define (OP_\w+) \(?(?:\(\w+\))?(-?\d\w*)\)?$")}
        symbols = dict(self._all(r"^#define op_(\w+) op2jit_(\w+)$"))
        self.short = self._all(r"^(?!typedef )[a-z][\w *]*\bop_(\w+)\(")
        self._text = re.sub(r"^ *#.*$", "", self._text, flags=re.MULTILINE)
        self.handles = set(self._all(r"^typedef struct \w+ \*(\w+);"))
        self.functions = set(self._all(r"^typedef [\w ]+\(\*(\w+)\)\(") + self._all(r"^typedef void (\w+)\("))
        self.plain = {name: "long long" for names in self._all(r"^typedef long long ([\w, ]+);") for name in names.split(", ")}
        self.enums = {}
        for body, name in self._all(r"^(?:typedef )?enum (?:\w+ )?\{(.*?)\} ?(\w*);"):
            self.enums[name] = self._read_enum(body)
            self.plain[name] = "int"
        self.bodies = {}
        for first, body, second in self._all(r"^(?:typedef )?struct (\w+) \{(.*?)^\} ?(\w*);"):
            self.bodies[second or first] = body
        self.prototypes = {}
        for result, name, arguments in self._all(r"^((?:[a-z]\w* )+\**)(?:op2jit|op)_(\w+)\(([^;{]*?)\)[^;{()]*;"):
            if not re.match("typedef|static|return", result) and "..." not in arguments:
                self.prototypes[symbols.get(name, name)] = (result, " ".join(arguments.split()))

    def _all(self, pattern):
        return re.findall(pattern, self._text, re.MULTILINE | re.DOTALL)

    def _read_enum(self, body):
        names, value = [], -1
        for name, said in re.findall(r"(\w+)(?: = (-?\d+))?", body):
            value = int(said) if said else value + 1
            self.numbers[name] = value
            names.append(name)
        return names

    def names_of(self, word):
        """Of an enum, of those that begin with a word that ends with _, else the word."""
        if word in self.enums:
            return self.enums[word]
        return [name for name in self.numbers if name.startswith(word) and name[-1] != "_"] if word[-1] == "_" else [word]

    def read(self, words):
        """One declaration: "const int *table"."""
        found = WORDS.fullmatch(words.strip())
        if not found:
            raise SystemExit(f"declared.py: not understood: {words}")
        const, base, stars, name, count = found.groups()
        depth = stars.count("*")
        plain = self.plain.get(base, base)
        if base in self.functions:
            kind = "function"
        elif depth == 1 and const and base == "char":
            kind = "text"
        elif depth == 1 and base in self.bodies:
            kind = base + " *"
        elif depth or base in self.handles:
            kind = "pointer"
        elif plain in SCALARS or base in self.bodies:
            kind = plain
        else:
            raise SystemExit(f"declared.py: the type is unknown: {words}")
        return Declared(name, kind, base, depth, bool(const), count)

    def call(self, name):
        """The result and the arguments of a call, whose name is without its op2jit_."""
        if name not in self.prototypes:
            raise SystemExit(f"declared.py: no header has op2jit_{name}")
        result, parameters = self.prototypes[name]
        return self.read(result), [self.read(words) for words in parameters.split(",") if words.strip() != "void"]

    def struct(self, name):
        """The members of a struct, in their order."""
        found = []
        for words in filter(None, map(str.strip, " ".join(self.bodies[name].split()).split(";"))):
            first, *others = words.split(",")
            found.append(self.read(first))
            base = re.match(r"(?:const )?(?:struct )?(?:long long|\w+)", first)[0]
            found += [self.read(f"{base} {other.strip()}") for other in others]
        return found


def names(headers):
    """op2jit_names.h."""
    lines = ["/* The short names of the calls of op2jit.h and its parts, made by runtime/api/declared.py. */"]
    lines += ["#ifndef OP2JIT_NAMES_H", "#define OP2JIT_NAMES_H"]
    return "\n".join(lines + [f"#define op_{name} op2jit_{name}" for name in headers.short] + ["#endif", ""])


def spelled(value):
    """As C has it."""
    count = "" if value.count is None else f"[{value.count}]"
    return f"{'const ' if value.const else ''}{value.base} {'*' * value.depth}{value.name}{count}"


def untyped(headers):
    """In brackets: the headers' macros have these names too."""
    lines = ["#include <op2jit.h>", ""]
    for name in [name for name in headers.prototypes if name.endswith("_typed")]:
        result, arguments = headers.call(name)
        given = [argument.name for argument in arguments[:-1]]
        lines.append(f"{spelled(result)}(op2jit_{name[:-6]})({', '.join(map(spelled, arguments[:-1]))}) {{")
        lines += [f"  return op2jit_{name}({', '.join(given)}, \"\");", "}", ""]
    return "\n".join(lines)


def kind_for_json(value):
    return "pointer" if value.count is not None or value.kind == "function" else value.kind


def as_json(headers):
    calls = {}
    for name in headers.prototypes:
        result, arguments = headers.call(name)
        calls[name] = [kind_for_json(result)] + [kind_for_json(argument) for argument in arguments]
    structs = {name: [[m.name, m.kind, int(m.count or 1)] for m in headers.struct(name)] for name in headers.bodies}
    return json.dumps({"calls": calls, "structs": structs, "enums": headers.enums, "numbers": headers.numbers}, indent=0)


def main():
    headers = Headers(sys.argv[2:])
    with open(sys.argv[1], "w", encoding="ascii") as file:
        makers = {"_names.h": names, ".c": untyped}
        file.write(next((make for end, make in makers.items() if sys.argv[1].endswith(end)), as_json)(headers))


if __name__ == "__main__":
    main()
