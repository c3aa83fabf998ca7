"""expand.py IN OUT: writes out what a template repeats. Fortran has no templates, and preprocessors of compilers differ.

    !$let TYPES = r8, real(c_double); r4, real(c_float)     a list of rows
    !$for T, decl in TYPES                                  the lines up to !$end, once for each row: {T} and {decl}
    !$for N in 1..43                                        the same for numbers
    {each arg% N}                                           arg1, arg2, ... up to the number N
    !$include other.in                                      another template, beside this one

A value that begins with + is an attribute: ", " stands in the place of the +.

Lines that become longer than Fortran allows go on in the next one."""

import os
import re
import sys

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


def expand(lines, names, lists, folder, out):
    at = 0
    while at < len(lines):
        words = re.match(r"\s*!\$(let|for|include)\s+(.*)", lines[at])
        if not words:
            out.extend(fold(fill(lines[at], names)))
        elif words[1] == "include":
            with open(os.path.join(folder, words[2]), encoding="utf-8") as file:
                expand(file.read().splitlines(), names, lists, folder, out)
        elif words[1] == "let":
            name, said = words[2].split("=", 1)
            lists[name.strip()] = rows_of(fill(said, names), lists)
        else:
            heads, said = re.match(r"(.*?) in (.*)", words[2]).groups()
            begin, depth = at + 1, 1
            while depth:
                at += 1
                depth += bool(re.match(r"\s*!\$for\s", lines[at])) - bool(re.match(r"\s*!\$end\s*$", lines[at]))
            for row in rows_of(fill(said, names), lists):
                more = dict(zip([head.strip() for head in heads.split(",")], row))
                expand(lines[begin:at], {**names, **more}, lists, folder, out)
        at += 1
    return out


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(expand(lines, {}, {}, os.path.dirname(sys.argv[1]), [])) + "\n")


main()
