"""help.py OUT.c PAGE: what the manual page says of each command, for `op2jit COMMAND --help`: the rows of cli_help (cli.h)."""
import re
import sys
import textwrap

COLUMNS = 100
ESCAPES = {"\\-": "-", "\\(dq": '"', "\\fR": "", "\\fP": "", "\\&": ""}


def plain(line):
    """A line without roff's macros: .BI and its like join their words."""
    found = re.match(r"\.(B|I|BI|BR|IR|RB|RI) (.*)", line)
    if found:
        words = [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', found.group(2))]
        line = (" " if len(found.group(1)) == 1 else "").join(words)
    return re.sub(r"\\(?:\(dq|f[RP]|[-&])", lambda escape: ESCAPES[escape.group(0)], line)


def paragraph(lines):
    """Lines of text, filled; those between .nf and .fi as they are."""
    out, words, filled = [], [], True
    for line in lines + [".fi"]:
        if line in (".nf", ".fi"):
            out += textwrap.wrap(" ".join(words), COLUMNS)
            words, filled = [], line == ".fi"
        elif not filled:
            out.append("  " + plain(line))
        elif line not in (".RS", ".RE", ".IP", ".PP"):
            words.append(plain(line))
    return "".join(line + "\n" for line in out)


def commands(page):
    """{("cache", "ls"): words}; what stands behind the second heading of a command is added to the first."""
    found, lines = {}, page.split("\n")
    for at, line in enumerate(lines):
        named = re.match(r"op2jit (?:(cache|tune|mesh) )?([a-z-]+)", plain(line)) if lines[at - 1] == ".TP" else None
        if named:
            group, name = named.group(1) or "", named.group(2)
            last = next(i for i in range(at + 1, len(lines)) if lines[i] == ".TP" or lines[i].startswith(".SH"))
            found[group, name] = found.get((group, name), "") + paragraph(lines[at + 1:last])
    return found


def as_c(text):
    return "\n".join('     "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in text.splitlines())


target, source = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    rows = commands(file.read())
with open(target, "w", encoding="utf-8") as out:
    out.write('#include "cli/cli.h"\n\nconst struct cli_help cli_help[] = {\n')
    for (group, name), words in rows.items():
        out.write(f'    {{"{group}", "{name}",\n{as_c(words)}}},\n')
    out.write("    {0}};\n")
