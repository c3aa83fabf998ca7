"""What the public headers declare, for other languages: the headers are the one place where a call, a struct or a number is
written down. fortran/expand.py makes interfaces and types of it, and Python reads the library's op_declarations.

usage: declared.py OUT HEADER...     writes them as JSON: {"calls": {name: [result, argument...]},
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
    def __init__(self, paths):
        text = ""
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text += file.read()
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL).replace("\\\n", " ")
        self.numbers = {name: int(value, 0) for name, value in re.findall(r"^#define (OP_\w+) \(?(?:\(\w+\))?(-?\w+)\)?$", text, re.MULTILINE) if re.match(r"-?\d", value)}
        text = re.sub(r"^ *#.*$", "", text, flags=re.MULTILINE)
        self.names = {}  # of types that have another one
        self.handles = set(re.findall(r"^typedef struct \w+ \*(\w+);", text, re.MULTILINE))
        self.functions = set(re.findall(r"^typedef [\w ]+\(\*(\w+)\)\(", text, re.MULTILINE)) | set(re.findall(r"^typedef void (\w+)\(", text, re.MULTILINE))
        for kind, names in re.findall(r"^typedef (long long) ([\w, ]+);", text, re.MULTILINE):
            self.names.update({name: kind for name in names.split(", ")})
        self.enums = {}
        for body, name in re.findall(r"^(?:typedef )?enum (?:\w+ )?\{(.*?)\} ?(\w*);", text, re.MULTILINE | re.DOTALL):
            self.enums[name] = self._read_enum(body)
            self.names[name] = "int"
        self.bodies = {}
        for first, body, second in re.findall(r"^(?:typedef )?struct (\w+) \{(.*?)^\} ?(\w*);", text, re.MULTILINE | re.DOTALL):
            self.bodies[second or first] = body
        self.prototypes = {}
        for result, name, parameters in re.findall(r"^((?:[a-z]\w* )+\**)(?:op2jit|op)_(\w+)\(([^;{]*?)\)[^;{()]*;", text, re.MULTILINE):
            if not re.match("typedef|static|return", result) and "..." not in parameters:
                self.prototypes[name] = (result, " ".join(parameters.split()))

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
        plain = self.names.get(base, base)
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


def kind_for_json(value):
    return "pointer" if value.count is not None or value.kind == "function" else value.kind


def main():
    headers = Headers(sys.argv[2:])
    calls = {}
    for name in headers.prototypes:
        result, arguments = headers.call(name)
        calls[name] = [kind_for_json(result)] + [kind_for_json(argument) for argument in arguments]
    structs = {name: [[m.name, m.kind, int(m.count or 1)] for m in headers.struct(name)] for name in headers.bodies}
    with open(sys.argv[1], "w", encoding="ascii") as file:
        json.dump({"calls": calls, "structs": structs, "enums": headers.enums, "numbers": headers.numbers}, file, indent=0)


if __name__ == "__main__":
    main()
