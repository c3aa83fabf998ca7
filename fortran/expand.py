"""expand.py IN OUT HEADER...: writes out what a template repeats, and what the headers of C have declared already. Fortran has
no templates, and preprocessors of compilers differ.

    !$let TYPES = r8, real(c_double); r4, real(c_float)     a list of rows
    !$for T, decl in TYPES                                  the lines up to !$end, once for each row: {T} and {decl}
    !$for N in 1..43                                        the same for numbers
    {each arg% N}                                           arg1, arg2, ... up to the number N
    !$include other.in                                      another template, beside this one
    !$numbers op_access OP_OK OP_ERR_                       of an enum, of one name, of names that begin so
    !$numbers op_access+1                                   the same, from 1
    !$struct op2jit_dat op_dat_core data=dat                a struct, with its name here and members of another name
    !$interfaces                                            of all calls op2jit_... that the text uses, and generic ones
    !$public                                                all that is named op_...
    !$call op_decl_set(size, name?)                         a procedure that does no more than the call: see calls.py
    !$plain op_print(line) = f_print                        the same as OP2 has them, without stat and errmsg

A value that begins with + is an attribute: ", " stands in the place of the +.

Lines that become longer than Fortran allows go on in the next one."""

import os
import re
import sys

import calls

WIDEST = 120


def rows_of(said, lists):
    said = said.strip()
    if said in lists:
        return lists[said]
    numbers = re.fullmatch(r"(\d+)\.\.(\d+)", said)
    if numbers:
        return [[str(n)] for n in range(int(numbers[1]), int(numbers[2]) + 1)]
    # A comma in brackets is part of a word.
    return [[field.strip() for field in re.split(r",(?![^()]*\))", row)] for row in said.split(";")]


def fill(line, names):
    for name, value in names.items():
        line = line.replace("{" + name + "}", f", {value[1:]}" if value.startswith("+") else value)
    return re.sub(r"\{each (\S*?)%(\S*) (\w+)\}", lambda m: ", ".join(f"{m[1]}{n}{m[2]}" for n in range(1, int(names.get(m[3], m[3])) + 1)), line)


def fold(line):
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    while len(line) > WIDEST:
        cut = line.rfind(", ", 0, WIDEST - 2) + 1
        if cut == 0:
            raise SystemExit(f"expand.py: no place to break: {line}")
        yield line[:cut] + " &"
        line = indent + line[cut:].lstrip()
    yield line


class Template:
    def __init__(self, path, headers):
        self.folder = os.path.dirname(path)
        self.headers = headers
        self.lists = {}
        self.generics = {}  # of procedures that calls.py wrote: their names by those of all
        with open(path, encoding="utf-8") as file:
            self.lines = self._expand(file.read().splitlines(), {})

    def _expand(self, lines, names):
        out, at = [], 0
        while at < len(lines):
            words = re.match(r"\s*!\$(let|for|include|numbers|struct|call|plain)\s+(.*)", lines[at])
            if not words:
                out.append(fill(lines[at], names))
            elif words[1] == "for":
                heads, said = re.match(r"(.*?) in (.*)", words[2]).groups()
                begin, depth = at + 1, 1
                while depth:
                    at += 1
                    depth += bool(re.match(r"\s*!\$for\s", lines[at])) - bool(re.match(r"\s*!\$end\s*$", lines[at]))
                for row in rows_of(fill(said, names), self.lists):
                    more = dict(zip([head.strip() for head in heads.split(",")], row))
                    out += self._expand(lines[begin:at], {**names, **more})
            else:
                out += getattr(self, "_" + words[1])(words[2], names)
            at += 1
        return out

    def _include(self, said, names):
        with open(os.path.join(self.folder, said), encoding="utf-8") as file:
            return self._expand(file.read().splitlines(), names)

    def _let(self, said, names):
        name, rows = said.split("=", 1)
        self.lists[name.strip()] = rows_of(fill(rows, names), self.lists)
        return []

    def _numbers(self, said, names):
        said, _, more = said.partition("+")
        names = [name for word in said.split() for name in self.headers.names_of(word)]
        values = ", ".join(f"{name.lower()} = {self.headers.numbers[name] + int(more or 0)}" for name in names)
        return ["  integer(c_int), parameter, public :: " + values]

    def _struct(self, said, names):
        name, ours, *others = said.split()
        return calls.struct(self.headers.struct(name), ours, dict(other.split("=") for other in others))

    def _call(self, said, names, kind=calls.Procedure):
        generic, name, lines = calls.procedure(self.headers, fill(said, names), kind(names))
        self.generics.setdefault(generic, []).append(name)
        return lines

    def _plain(self, said, names):
        return self._call(said, names, calls.Plain)

    def _interfaces(self):
        text = "\n".join(self.lines)
        used = re.findall(r"\bop2jit_\w+", text)
        by_hand = re.findall(r"(?:function|subroutine) (op2jit_\w+)", text)
        wanted = [name for name in self.headers.prototypes if "op2jit_" + name in used and "op2jit_" + name not in by_hand]
        lines = ["  interface"]
        for name in wanted:
            lines += calls.interface(self.headers, name)
        lines.append("  end interface")
        for generic, members in self.generics.items():
            if generic not in members:
                lines += [f"  interface {generic}", *[f"    module procedure {member}" for member in members], "  end interface"]
        return lines

    def _public(self):
        declared = r"^ *(?:interface|type, bind\(c\) ::|(?:[a-z_()]+ )*function|subroutine) (op_\w+)"
        names = dict.fromkeys(re.findall(declared, "\n".join(self.lines + self._interfaces()), re.MULTILINE))
        return ["  public :: " + ", ".join(names)]

    def written(self):
        """All lines, with what is known only now."""
        whole = {"!$interfaces": self._interfaces, "!$public": self._public}
        for line in self.lines:
            for said in whole[line.strip()]() if line.strip() in whole else [line]:
                yield from fold(said)


def main():
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(Template(sys.argv[1], calls.Headers(sys.argv[3:])).written()) + "\n")


main()
