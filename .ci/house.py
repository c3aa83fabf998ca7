"""The house: how the tree is built, in figures, and whether it keeps the rules of docs/rooms.md.

usage: ./dev house [FOLDER...]              figures of checkouts (each with its build/), side by side
       ./dev house --check [FOLDER [BUILD]]  what is against the rules, a line each; status 1 if anything is
       ./dev house --stages                  the functions of the walk, a line each

The page is the law: the order of the rooms, the tables whose members may be functions, the limits and the stages of the walk
are read from its tables. There is no list of exceptions."""
import collections
import os
import re
import statistics
import sys

import house_objects
import house_text

PRODUCT = ["include", "base", "kernels-cache", "jit", "runtime"]
TESTS = ["tests"]
BARE = r"(?<![.>\w])\w+\b(?!\s*[(\w])"  # a word that is not called
PAGE = os.path.join("docs", "rooms.md")


class Source:
    """One file of C or C++: its text, and what the text says."""

    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            self.text = file.read()
        self.clean = house_text.without_comments(self.text)
        self.lines = self.text.count("\n")
        self.code = house_text.code_lines(self.clean)
        self.is_header = path.endswith(".h")


def sources(root, folders):
    found = {}
    for top in folders:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h", ".cc")):
                    path = os.path.relpath(os.path.join(folder, name), root)
                    found[path] = Source(root, path)
    return dict(sorted(found.items()))


class Page:
    """The tables of docs/rooms.md: rooms from the top down, tables of functions, limits, the stages of the walk."""

    def __init__(self, root):
        self.rooms, self.tables, self.limits, self.stages = [], [], {}, []
        columns = {"room": self.rooms, "table": self.tables}
        kind = None
        with open(os.path.join(root, PAGE), encoding="utf-8") as file:
            for line in file:
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else [""]
                if len(cells) < 2:
                    kind = None
                elif kind is None:
                    kind = cells[0]
                elif kind in columns and cells[0].startswith("`"):
                    columns[kind] += [name.rstrip("/") for name in re.findall(r"`([^`]+)`", cells[0])]
                elif kind == "stage" and cells[1].startswith("`"):
                    self.stages.append((cells[1].strip("`()"), cells[2].strip("`/")))
                elif kind == "limit" and cells[1].isdigit():
                    self.limits[cells[0]] = int(cells[1])
        self.height = {room: len(self.rooms) - at for at, room in enumerate(self.rooms)}

    def room(self, path):
        """The room of a file: a sub-folder without a line of its own belongs to its parent."""
        folder = os.path.dirname(path)
        while folder and folder not in self.height:
            folder = os.path.dirname(folder)
        return folder

    def is_up(self, path, other):
        """Whether an arrow from a file to another one points up."""
        here, there = self.height.get(self.room(path)), self.height.get(self.room(other))
        return here is not None and there is not None and there > here


class Symbols:
    """Who defines and who uses which name, by source files: from the objects of a build."""

    def __init__(self, root, build, files):
        self.uses = collections.defaultdict(set)  # (file, other file): names
        self.hands = collections.defaultdict(set)  # file: (data, function)
        self.takes = collections.defaultdict(set)  # file: functions of which its code takes the address
        self.missing, there = set(), set()
        objects, self.defined, functions = [], collections.defaultdict(set), set()
        for source, output in house_objects.compiled(root, build):
            if source not in files:
                continue
            if not os.path.exists(os.path.join(build, output)):
                self.missing.add(source)
                continue
            there.add(source)
            found = house_objects.read_object(os.path.join(build, output))
            objects.append((source, os.path.dirname(output), found))
            functions |= found.functions
            for name in found.defines:
                self.defined[name].add((source, os.path.dirname(output)))
        # Code of another processor's compiler is made only where something asks for it.
        self.missing = sorted(path for path in self.missing - there if "/machine_" not in path)
        for source, target, found in objects:
            for name in found.wants:
                near = {file for file, of in self.defined[name] if of == target} or {file for file, _ in self.defined[name]}
                for other in near - {source}:
                    self.uses[source, other].add(name)
            self.hands[source] |= {(data, name) for data, name in found.hands if name in functions}
            self.takes[source] |= found.takes & functions

    def knots(self):
        """Files (.c with .h) that all call each other, some way round; the largest first."""
        calls = collections.defaultdict(set)
        for source, other in self.uses:
            calls[os.path.splitext(source)[0]].add(os.path.splitext(other)[0])
        return sorted((knot for knot in knots_of(calls) if len(knot) > 1), key=lambda knot: (-len(knot), knot))


def knots_of(arrows):
    """Strongly connected components (Tarjan)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(arrows):
        if node not in number:
            visit(node)
    return found


def included(files, source):
    """The files of the tree that one includes, wherever its words are looked up from."""
    for words in house_text.includes(source.text):
        for start in (os.path.dirname(source.path), "", "runtime", "include"):
            path = os.path.normpath(os.path.join(start, words))
            if path in files:
                yield path
                break


def functions_of(files):
    return [(source.path, function) for source in files.values() for function in house_text.functions(source.clean)]


# ---- the rules -----------------------------------------------------------------------------------


def arrows_up(page, files, symbols):
    found = []
    for source in files.values():
        for other in included(files, source):
            if page.is_up(source.path, other):
                found.append(f"{source.path}: includes {other}, which is above it: {page.room(other)}")
    for (source, other), names in sorted(symbols.uses.items()):
        if page.is_up(source, other):
            found.append(f"{source}: calls {' '.join(sorted(names))} of {other}, which is above it: {page.room(other)}")
    return found


def type_before(text, at, variable, members):
    """The struct to which `variable.member`, or `.member` within braces, belongs at this place; None if it cannot be told.
    `members`: declarations of what is no variable of this file, but a member of something."""
    if variable:
        declared = r"\bstruct\s+(\w+)\s*\**\s*(?:const\s+)?" + variable + r"\b"
        found = re.findall(declared, text[:at]) or re.findall(declared, members)
        return found[-1] if found else None
    depth = 1
    while depth and at > 0:
        at -= 1
        depth += {"}": 1, "{": -1}.get(text[at], 0)
        if depth == 0 and text[:at].rstrip()[-1:] in ("{", ","):
            depth = 1  # an element of an array, whose type stands before the outer brace
    found = re.search(r"\bstruct\s+(\w+)\s*(?:\w+\s*)?(?:\[[^\]]*\]\s*)*[=)]\s*$", text[:at])
    return found.group(1) if found else None


class Functions:
    """Functions that are handed to a room below: as members of a struct that this room knows, or as a parameter."""

    def __init__(self, page, files, symbols):
        self.page, self.files, self.symbols = page, files, symbols
        types = set().union(*(house_text.function_types(source.clean) for source in files.values()))
        self.structs = collections.defaultdict(dict)  # file: the structs that it defines, each with its members that are functions
        self.takers = {}
        inside = {}
        for source in files.values():
            for struct in house_text.structs(source.clean, types):
                self.structs[source.path][struct.name] = struct.members
                inside[source.path, struct.name] = struct.inside
            if source.is_header:
                self.takers.update({name: source.path for name in house_text.takers(source.clean, types)})
        self.seen = {path: self.see(path, set()) for path in files}
        self.holders = {place for place in inside if self.structs[place[0]][place[1]]}
        while more := {(path, name) for path, name in inside.keys() - self.holders
                       if any((other, held) in self.holders for held in inside[path, name] for other in self.seen[path])}:
            self.holders |= more  # who holds such a struct by value is one too

    def see(self, path, seen):
        """A file and all that it includes, directly or not."""
        if path not in seen:
            seen.add(path)
            for other in included(self.files, self.files[path]):
                self.see(other, seen)
        return seen

    def in_data(self):
        """What the objects hold: static tables, also those that macros write."""
        for path, pairs in sorted(self.symbols.hands.items()):
            for data in {data for data, _ in pairs if data}:
                typed = re.search(r"\bstruct\s+(\w+)\b[^;={}]*?\b" + re.escape(data) + r"\b[^;={}]*=", self.files[path].clean)
                name = typed.group(1) if typed else ""
                for home in self.seen[path]:
                    if name in self.structs[home]:
                        yield path, home, f"struct {name}", {function for other, function in pairs if other == data}

    def in_code(self):
        """What is written into members while the program runs."""
        for path, source in self.files.items():
            text = house_text.without_directives(source.clean)
            declared = "\n".join(self.files[other].clean for other in sorted(self.seen[path]) if other.endswith(".h"))
            functions = self.symbols.takes[path] | {function.name for function in house_text.functions(source.clean)}
            for home in self.seen[path]:
                for name, members in self.structs[home].items():
                    if (home, name) in self.holders:
                        yield path, home, f"struct {name}", set(self.given(text, declared, name, members, functions))

    def given(self, text, declared, name, members, functions):
        """The functions that a text puts into a struct: by the names of its members, or in the order of them."""
        if members:
            for match in re.finditer(r"(\w*)(?:\[[^\]]*\])?(?:\.|->)\s*(?:" + "|".join(sorted(members)) + r")\s*=(?!=)\s*([^,;}]+)", text):
                if type_before(text, match.start(), match.group(1), declared) in (name, None):
                    yield from set(re.findall(BARE, match.group(2))) & functions
        for match in re.finditer(r"\bstruct\s+" + name + r"\s*(?:\w+\s*)?(?:\[[^\]]*\]\s*)*[=)]\s*\{([^;]*)", text):
            yield from set(re.findall(BARE, match.group(1))) & functions

    def as_parameters(self):
        for (path, other), names in self.symbols.uses.items():
            for name in names & set(self.takers):
                yield path, other, name + "()", {"a function"}

    def against(self):
        handed = collections.defaultdict(set)
        for path, home, table, functions in [*self.in_data(), *self.in_code(), *self.as_parameters()]:
            if self.page.is_up(home, path) and table not in self.page.tables:
                handed[path, home, table] |= functions
        known = {f"struct {name}" for _, name in self.holders} | {name + "()" for name in self.takers}
        return [f"{path}: hands {' '.join(sorted(functions))} down to {self.page.room(home)} in {table} of {home}, "
                f"which is not in the table of {PAGE}"
                for (path, home, table), functions in sorted(handed.items()) if functions] + [
                    f"{PAGE}: names {table}, which takes no function" for table in self.page.tables if table not in known]


def too_much(page, files, symbols):
    limits, found = page.limits, []
    if len(rooms_of(files)) > limits["folders of the product"]:
        found.append(f"{len(rooms_of(files))} folders; {limits['folders of the product']} are the limit")
    for source in files.values():
        if source.lines > limits["lines of a file"]:
            found.append(f"{source.path}: {source.lines} lines; {limits['lines of a file']} are the limit")
    for path, function in functions_of(files):
        if function.lines > limits["lines of a function"]:
            found.append(f"{path}: {function.name} has {function.lines} lines; {limits['lines of a function']} are the limit")
    for knot in symbols.knots():
        if len(knot) > limits["files of a knot"]:
            found.append(f"a knot of {len(knot)} files that call each other in a circle: {' '.join(knot)}")
    return found


def walk_left(page, symbols):
    """Stages of the walk that are not there, or that somebody else calls too."""
    found = []
    for stage, caller in page.stages:
        callers = {path for (path, _), names in symbols.uses.items() if stage in names}
        if not any(page.room(path) == caller for path in callers):
            found.append(f"{PAGE}: the stage {stage} is not called by {caller}")
        found += [f"{path}: calls {stage}, a stage of the walk, which is the business of {caller}"
                  for path in sorted(callers) if page.room(path) != caller]
    return found


def nowhere(page, files):
    return [f"{path}: its folder is no room of {PAGE}" for path in files if not page.room(path)]


def check(root, build):
    page, files = Page(root), sources(root, PRODUCT)
    symbols = Symbols(root, build, files)
    found = [f"{path}: is not compiled in {build}, so that its calls are not known" for path in symbols.missing]
    found += nowhere(page, files) + arrows_up(page, files, symbols) + Functions(page, files, symbols).against()
    found += walk_left(page, symbols) + too_much(page, files, symbols)
    for line in found:
        print(line)
    if not found:
        print(f"{len(files)} files in {len(page.rooms)} rooms keep the rules of {PAGE}")
    return 1 if found else 0


# ---- the figures ---------------------------------------------------------------------------------


def rooms_of(files):
    found = collections.defaultdict(list)
    for path in files:
        found[os.path.dirname(path)].append(path)
    return found


def percentile(numbers, share):
    return sorted(numbers)[min(len(numbers) - 1, int(len(numbers) * share))]


def figures(root):
    """Rows of (what, value), then a line for each room."""
    files, tests = sources(root, PRODUCT), sources(root, TESTS)
    code, test_code = sum(s.code for s in files.values()), sum(s.code for s in tests.values())
    functions = functions_of(files)
    lengths = [function.lines for _, function in functions]
    longest = max(files.values(), key=lambda source: source.lines)
    where, last = max(functions, key=lambda pair: pair[1].lines)
    rooms = rooms_of(files)
    rows = [
        ("files / lines", f"{len(files)} / {sum(s.lines for s in files.values()) / 1000:.1f}k"),
        ("lines of code (no comments, no blanks)", f"{code}"),
        ("the same of tests; tests : product", f"{test_code}; {test_code / code:.2f}"),
        ("longest file", f"{longest.lines} {longest.path}"),
        ("functions: median / p95 / max lines",
         f"{statistics.median(lengths):.0f} / {percentile(lengths, 0.95)} / {max(lengths)}"),
        ("longest function", f"{last.name} {where}:{last.line}"),
        ("functions over 50 lines", f"{sum(length > 50 for length in lengths)}"),
        ("folders; with more than 20 files", f"{len(rooms)}; {sum(len(paths) > 20 for paths in rooms.values())}"),
    ]
    build = os.path.join(root, "build")
    if os.path.exists(os.path.join(build, "compile_commands.json")):
        symbols = Symbols(root, build, files)
        rows.append(("knots of more than one file, files", ", ".join(str(len(knot)) for knot in symbols.knots()) or "none"))
        if symbols.missing:
            rows.append(("files that are not compiled", f"{len(symbols.missing)}"))
        if os.path.exists(os.path.join(root, PAGE)):
            up = arrows_up(Page(root), files, symbols)
            rows.append(("arrows upward: includes, calls", f"{sum(': includes ' in l for l in up)}, {sum(': calls ' in l for l in up)}"))
    else:
        rows.append(("knots, arrows upward", "not known: nothing is built here"))
    walk = [(room, len(paths), sum(files[path].lines for path in paths), sum(files[path].code for path in paths))
            for room, paths in sorted(rooms.items())]
    return rows, walk


def show(roots):
    columns = [figures(root) for root in roots]
    names = list(dict.fromkeys(name for rows, _ in columns for name, _ in rows))
    width = max(max(len(str(value)) for _, value in rows) for rows, _ in columns) + 2
    if len(roots) > 1:
        print(" " * 40 + "".join(f"{root:{width}}" for root in roots).rstrip())
    for name in names:
        print(f"{name:40}" + "".join(f"{dict(rows).get(name, '-'):{width}}" for rows, _ in columns).rstrip())
    for root, (_, walk) in zip(roots, columns):
        print(f"\n{'folder' if len(roots) == 1 else root:40}{'files':>6}{'lines':>8}{'code':>8}")
        for room, count, lines, code in walk:
            print(f"{room:40}{count:6}{lines:8}{code:8}")
    return 0


def main(words):
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if words[:1] == ["--check"] and len(words) <= 3:
        root = words[1] if len(words) > 1 else here
        return check(root, words[2] if len(words) > 2 else os.path.join(root, "build"))
    if words == ["--stages"]:
        print("\n".join(stage for stage, _ in Page(here).stages))
        return 0
    if any(word.startswith("-") for word in words):
        print(__doc__)
        return 0 if words[0] in ("--help", "-h") else 2
    return show(words or [os.path.relpath(here)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
