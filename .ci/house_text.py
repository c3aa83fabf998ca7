"""What the text of a C or C++ file says: its code lines, its functions and their lengths, what it includes, and which of its
types and functions take functions of others. No compiler, no preprocessor: enough for code in one layout."""
import re
from collections import namedtuple

Function = namedtuple("Function", "name line lines")
# members: the members that are pointers to functions; inside: the structs that it holds by value
Struct = namedtuple("Struct", "name members inside")

SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
TOKEN = re.compile(r"\n|#\w*|[A-Za-z_]\w*|==|[<>!]=|::|[{}()\[\];=:]|\"\"|\S")
WORD = re.compile(r"[A-Za-z_]\w*$")
NO_NAME = {"__attribute__", "alignas", "noexcept", "if", "for", "while", "switch", "sizeof", "decltype", "requires"}
POINTER = r"\(\s*\*\s*(?:const\s+)?(\w+)\s*(?:\[[^\]]*\]\s*)*\)\s*\("


def without_comments(text):
    """Comments become blank lines; strings and characters stay empty, so that no brace in them counts."""

    def quiet(match):
        found = match.group(0)
        lines = "\n" * found.count("\n")
        return lines or " " if found.startswith(("//", "/*")) else found[-1] * 2 + lines

    return SILENT.sub(quiet, text)


def without_directives(clean):
    return DIRECTIVE.sub(lambda match: "\n" * match.group(0).count("\n"), clean)


def code_lines(clean):
    return sum(1 for line in clean.split("\n") if line.strip())


def includes(text):
    return re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M)


def defined_name(head):
    """The function that these words define, with its line; None if they define none."""
    depth, found = 0, None
    for index, (word, line) in enumerate(head):
        if word == "(":
            before, at = head[index - 1] if index else ("", 0)
            is_operator = index > 1 and head[index - 2][0] == "operator"
            if depth == 0 and (is_operator or WORD.match(before)) and before not in NO_NAME:
                found = before, at
            depth += 1
        elif word == ")":
            depth -= 1
        elif depth == 0 and (word == "=" or (word == ":" and found)):
            return found if word == ":" else None  # an initializer; the members that a constructor sets
    return found


def functions(clean):
    """In #if ... #else ... only braces of the first part count: both parts begin alike."""
    found, scopes, head, kept, line, parens = [], [], [], [], 1, 0
    directive = False
    for word in TOKEN.findall(re.sub(r"\\\n", "\n#continued ", clean)):
        if word == "\n":
            line += 1
            directive = False
        elif directive or word.startswith("#"):
            directive = True
            if word.startswith("#if"):
                kept.append((list(scopes), list(head), parens))
            elif word.startswith("#el") and kept:
                scopes, head, parens = list(kept[-1][0]), list(kept[-1][1]), kept[-1][2]
            elif word == "#endif" and kept:
                kept.pop()
        elif word == "{" and not parens:
            inside = bool(scopes) and scopes[-1] is not None
            name = None if inside else defined_name(head)
            names_scope = not inside and name is None and all(other != "=" for other, _ in head)
            scopes.append(None if names_scope else name or ("", 0))
            head = []
        elif word == "}" and not parens:
            ended = scopes.pop() if scopes else None
            if ended and ended[0]:
                found.append(Function(ended[0], ended[1], line - ended[1] + 1))
            head = []
        elif scopes and scopes[-1] is not None:
            continue
        elif word == ";" and not parens:
            head = []
        else:
            parens += {"(": 1, ")": -1}.get(word, 0)
            head.append((word, line))
    return found


def statements(clean):
    """The declarations and definitions of a file, one text each, bodies included."""
    text = re.sub(r'extern\s+""\s*\{', "", without_directives(clean))
    depth, start = 0, 0
    for match in re.finditer(r"[{}();]", text):
        sign = match.group(0)
        depth = max(0, depth + {"{": 1, "(": 1, "}": -1, ")": -1}.get(sign, 0))
        if depth:
            continue
        whole = text[start:match.end()].strip(" \n};")
        if sign == ";" or (sign == "}" and text[start:match.end()].split("{")[0].rstrip().endswith(")")):
            yield text[start:match.end()].strip()
            start = match.end()
        elif sign == "}" and not whole:
            start = match.end()


def function_types(clean):
    """The names that a typedef gives to a function or to a pointer to one."""
    found = set()
    for text in statements(clean):
        if text.startswith("typedef") and "{" not in text:
            match = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", text) or re.search(r"(\w+)\s*\(", text)
            if match:
                found.add(match.group(1))
    return found


def named_types(names):
    return r"\b(?:" + "|".join(sorted(names)) + r")\b" if names else r"(?!)"


def structs(clean, types):
    """The structs that a file defines; `types`: the names of function types."""
    found = []
    for text in statements(clean):
        match = re.match(r"(?:typedef\s+)?(?:struct|union)\s+(\w*)[^;{(]*\{(.*)\}\s*(\w*)", text, re.S)
        if match:
            body = match.group(2)
            members = re.findall(POINTER, body) + re.findall(named_types(types) + r"\s*\*?\s*(?:const\s+)?(\w+)", body)
            inside = re.findall(r"\bstruct\s+(\w+)\s+\w+(?:\[[^;]*)?;", body)
            found.append(Struct(match.group(1) or match.group(3), set(members), set(inside)))
    return found


def takers(clean, types):
    """The functions that a header declares and that are given functions, and its variables that hold one."""
    found = set()
    for text in statements(clean):
        if re.match(r"(typedef|struct\s+\w+\s*\{|union\s+\w+\s*\{|enum\b[^(]*\{)", text):
            continue
        head = text.split("{")[0]
        variable = re.match(r"extern\s[^(]*" + POINTER, head)
        match = re.search(r"(?!__attribute__)\b(\w+)\s*\((.*)\)", re.sub(r"__attribute__\s*\(\(.*?\)\)\)?", "", head), re.S)
        if variable:
            found.add(variable.group(1))
        elif match and ("(" in match.group(2) or re.search(named_types(types), match.group(2))):
            found.add(match.group(1))
    return found
