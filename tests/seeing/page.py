#!/usr/bin/env python3
"""page.py OP2JIT AIRFOIL BIG QR PICTURES: the page of a report, as a browser shows it, and as keys go through it. BIG writes a
page of 500 loops and 64 ranks, QR runs a graph of tasks. Pictures to look at are left in the folder PICTURES."""
import json
import os
import re
import subprocess
import sys
import tempfile

import browser

op2jit, airfoil, big, qr, pictures = sys.argv[1:]
failures = []


def check(what, true):
    if not true:
        failures.append(what)


def run(*command, **variables):
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


# ---- reports and pages -----------------------------------------------------------------------------


def one_run(folder, name, *words):
    """Two threads. The report, and its file."""
    path = f"{folder}/{name}.json"
    done = run(airfoil, "--cells", "2000", "--iters", "20", *words, OP2_THREADS="2", OP2_TIMING="json:" + path)
    check("airfoil: " + done.stdout + done.stderr, done.returncode == 0)
    with open(path, encoding="utf-8") as file:
        return json.load(file), path


def by_time(report):
    return sorted(report["loops"], key=lambda l: -l["seconds"])


def page_of(folder, name, *words):
    path = f"{folder}/{name}.html"
    done = run(op2jit, "report", *words, "-o", path)
    check("op2jit report: " + done.stderr, done.returncode == 0 and not done.stdout)
    with open(path, encoding="utf-8") as file:
        check("the page needs the network", not re.search(r"(src|href)=\"(https?:)?//", file.read()))
    return path


def in_the_report(report):
    loops = by_time(report)
    check("arguments of a loop", any("by all 4 of pcell" in a for l in loops for a in l["arguments"]))
    check("a plan", all(l["plan"] for l in loops))
    check("events of compiling or loading", any(e["kind"] in ("compile", "load") for e in report["events"]))
    check("what the cache knows", all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d compiled in \d+ ms: ", l["history"][0]) for l in loops))
    check("the cache has a limit", report["cache_gb_per_second"] > 0)
    check("other calls are events", all(e["start"] >= 0 for e in report["events"]))


def made_up(folder, name, loops):
    path = f"{folder}/{name}.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"backend": "seq", "threads": 1, "ranks": 1, "loops": [
            {"name": n, "seconds": s, "calls": 10, "variant": v} for n, s, v in loops]}, file)
    return path


def compared(folder):
    """What became slower is named, what is gone and new too. The two files."""
    before = made_up(folder, "before", [("same", 1.0, "a"), ("slow", 2.0, "a"), ("gone", 0.1, "a")])
    now = made_up(folder, "now", [("same", 1.01, "a"), ("slow", 5.0, "b"), ("new", 0.2, "a")])
    done = run(op2jit, "report", "--compare", before, now)
    lines = done.stdout.splitlines()
    check("compare: " + done.stderr, done.returncode == 0)
    check("first is what differs most: " + done.stdout, lines[3].startswith("slow") and lines[3].endswith("2.50  slower, a -> b"))
    for name, word in (("same", "same"), ("gone", "gone"), ("new", "new")):
        check(f"{name}: {done.stdout}", any(l.startswith(name) and l.endswith(word) for l in lines))
    check("100 columns", all(len(l) <= 100 for l in lines[2:]))
    done = run(op2jit, "report", "--compare", before, now, "--json")
    check("JSON", json.loads(done.stdout)["loops"][0]["ratio"] == 2.5)
    done = run(op2jit, "report", now, "--json")
    with open(now, encoding="utf-8") as file:
        check("the report itself, as JSON", json.loads(done.stdout) == json.load(file))
    with subprocess.Popen(["cat", now], stdout=subprocess.PIPE) as cat:
        done = subprocess.run([op2jit, "report", "/dev/stdin", "--json"], stdin=cat.stdout, capture_output=True, text=True, check=False)
    check("a report from a pipe: " + done.stderr, done.returncode == 0 and "slow" in done.stdout)
    huge = folder + "/huge"  # all holes
    with open(huge, "wb") as file:
        file.truncate(1 << 36)
    for words, said in ((("report", before + "x"), "No such file"), (("report", op2jit), "this is no report"),
                        (("report", huge), "this is no report"), (("report", "/dev/zero"), "this is no report"),
                        (("report", "--compare", op2jit, now, "-o", folder + "/x"), "this is no report")):
        done = run(op2jit, *words)
        check(f"{words}: {done.stderr}", done.returncode != 0 and said in done.stderr)
    return before, now


# ---- in a browser ----------------------------------------------------------------------------------


class Shown:
    """A page that a browser shows."""

    def __init__(self, chromium, path, **how):
        self.chromium, self.path = chromium, path
        chromium.open(path, **how)
        check(f"{path}: the console says {chromium.said()}", not chromium.said())

    def text(self, name):
        return self.chromium.value(f"(document.getElementById('{name}') || {{}}).innerText || ''")

    def drawn(self, name):
        """All that is written in it, in drawings too."""
        return re.sub(r"\s+", " ", self.chromium.value(f"document.getElementById('{name}').textContent"))

    def count(self, selector):
        return self.chromium.value(f"document.querySelectorAll({json.dumps(selector)}).length")

    def tab_to(self, selector):
        """By the Tab key alone; how often it was pressed, 0: it never came there."""
        self.chromium.value("document.activeElement.blur()")
        for presses in range(1, 60):
            self.chromium.press("Tab")
            if self.chromium.value(f"!!document.activeElement.closest({json.dumps(selector)})"):
                return presses
        return 0


def of_one_run(page, loops):
    table = page.drawn("loops")
    at = 0
    for l in loops:  # two may have one name
        at = table.find(l["name"], at) + len(l["name"])
        check(f"{l['name']} in the order of times: {table}", at >= len(l["name"]))
    check("outside loops", "outside loops" in page.text("bars"))
    check("a box for each loop", page.count("details") == len(loops))
    check("something is loaded", page.chromium.value("performance.getEntriesByType('resource').length") == 0)
    check("the start", page.count("#start rect") > 10 and "first" in page.text("start-words"))
    check("the limit of the cache", "last-level cache, " in page.drawn("memory"))
    each = page.drawn("each")
    check("arguments count from 1", not re.search(r"elements?\.\s*0  ", each) and "1  " in page.chromium.value("document.querySelector('#each pre').textContent"))
    check("history of each loop", each.count("first time that a loop named") >= 6)
    check("lanes of strips", "elements side by side in vector instructions" in each)
    check("spills", each.count("kept in memory for want of registers") == len(loops))
    check("no ranks, no run before", page.text("ranks") == "" and page.count("#compared-part[hidden]") == 1 and "ratio" not in table)
    for key in ("facts", "advice", "memory", "each"):
        check(key + " is empty", page.drawn(key).strip())


def by_keyboard(page, loops):
    """Each drawing is one stop, arrows go through its points, what is read out is what is shown."""
    keys = page.chromium
    check("Tab leads to the loops' points", page.tab_to("#memory"))
    role, name, more = keys.read_out()
    check(f"read out: {role} {name}", role == "option" and name.startswith(loops[0]["name"] + ": ") and "GB/s" in name and "of the loops' time" in name)
    check(f"it is read once: {more}", name not in more)
    check("the line below says the same", page.text("memory-said") == name)
    seen = {name}
    keys.press("Home")
    for _ in loops:
        here = float(keys.value("document.activeElement.getAttribute('cx')"))
        keys.press("ArrowRight")
        check("right is larger", float(keys.value("document.activeElement.getAttribute('cx')")) >= here)
    for _ in loops:
        seen.add(keys.read_out()[1])
        keys.press("ArrowLeft")
    seen.add(keys.read_out()[1])
    check(f"arrows reach each loop: {seen}", len(seen) == page.count("#memory circle") >= 6)
    here = float(keys.value("document.activeElement.getAttribute('cy')"))
    keys.press("ArrowDown")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    check("up is faster", float(keys.value("document.activeElement.getAttribute('cy')")) <= here)
    check("one stop of Tab", page.count("#memory [tabindex='0']") == 1)
    keys.press("Tab")
    check("Tab leads on to the start", keys.value("!!document.activeElement.closest('#start')"))
    role, name, _ = keys.read_out()
    check(f"an event: {role} {name}", role == "option" and re.match(r"\w+ .*: [0-9.]+ [mun]?s, at ", name))
    check("the line below the start", page.text("start-said") == name)
    row = keys.value("document.activeElement.getAttribute('y')")
    keys.press("ArrowDown")
    check("down is the next row", float(keys.value("document.activeElement.getAttribute('y')")) > float(row))
    keys.press("End")
    check("the last of the row is a loop", (keys.read_out()[1] or "").split(" ")[0] in ("loop", "trial"))
    opened = keys.read_out()[1].split(" ")[1].rstrip(",:")
    keys.press("Enter")
    there = keys.value("document.activeElement.parentElement.open ? document.activeElement.textContent : ''")
    check(f"Enter opens {opened}: {there}", there.startswith(opened))
    keys.press("Tab", shift=True)
    check("and Tab leads on from there", keys.value("document.activeElement.tagName") in ("SUMMARY", "rect", "DIV"))
    parts = page.text("parts").split("\n")
    check(f"parts: {parts}", parts[0] == "Advice" and parts[-1] == "Each loop" and "Ranks" not in parts)
    check("each part is there", keys.value("[...document.querySelectorAll('#parts a')].every(a => document.querySelector(a.hash))"))
    for selector in ("#parts", "#find", "#loops button", "#loops a", "#each summary"):
        check(f"Tab leads to {selector}", page.tab_to(selector))


def of_two_starts(page, warm):
    """A cold start beside a warm one, on one scale of time."""
    words = page.drawn("start")
    check(f"both starts: {words}", "Before: cold start, " in words and "Now: warm start, " in words)
    check("its title", page.text("start-title") == "How the runs began")
    where = {kind: page.chromium.value("[...document.querySelectorAll('#start rect')].filter(r => r.textContent.startsWith('%s '))"
                                       ".map(r => +r.getAttribute('y'))" % kind) for kind in ("compile", "load", "loop")}
    check(f"only the first compiles, the second loads below it: {where}", where["compile"] and max(where["compile"]) < max(where["load"]))
    check("loops in both", len(set(where["loop"])) == 2)
    check("what each took", page.text("start-words").count("\n") >= 1 and "compile " in page.text("start-words").split("\n")[0])
    check("what is before in the head", "before: " in page.text("facts"))
    check("columns", all(word in page.drawn("loops") for word in ("before", "ratio")))
    page.tab_to("#start")
    for _ in range(4):
        page.chromium.press("ArrowDown")
    check(f"down leads from one run to the other: {page.chromium.read_out()}",
          float(page.chromium.value("document.activeElement.getAttribute('y')")) >= max(where["load"]))
    check("loops of now", page.count("details") == len(warm["loops"]))


def of_changes(page):
    lines = page.text("compared").split("\n")
    check(f"what became slower: {lines}", lines[0].startswith("slow: slower, 2.50 times the time of a call") and "a \u2192 b" in lines[0])
    check(f"new and gone: {lines}", "new is new: 200 ms" in lines and "gone is gone: it took 100 ms" in lines and "1 loop within 5%: the same" in lines)
    table = page.text("loops")
    check(f"the ratio: {table}", re.search(r"slow\t.*\t200 ms\t2\.50\t", table))


def of_many(page):
    check("500 loops", page.count("details") == 500 and "488 other loops" in page.text("bars"))
    check("64 ranks", "rank 63" in page.text("ranks"))
    check("a name is no mark-up", "<b>" in page.text("loops"))
    check("what scrolls and has no points can be reached", page.count(".scroll:not([tabindex]) table") <= page.count("details table"))
    page.chromium.value("document.querySelector('#ranks [tabindex=\"0\"]').focus()")
    page.chromium.press("ArrowRight")
    page.chromium.press("ArrowDown")
    role, name, _ = page.chromium.read_out()
    check(f"pieces of ranks: {role} {name}", role == "option" and name.startswith("rank 1: ") and page.text("ranks-said") == name)


def graph_report(folder):
    """One run of 204 tasks."""
    path = f"{folder}/qr.json"
    done = run(qr, "--n", "256", "--tile", "32", OP2_THREADS="2", OP2_BACKEND="native", OP2_TIMING="json:" + path)
    check("qr: " + done.stdout + done.stderr, done.returncode == 0)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    tasks = [e for e in report["events"] if e["kind"] == "task"]
    check("tasks have threads and runs", tasks and all(e["thread"] in (0, 1) and e["run"] >= 1 for e in tasks))
    check("a run is told in its order", all(a["start"] <= b["start"] for a, b in zip(tasks, tasks[1:]) if a["run"] == b["run"]))
    return report, path


def cut_short(report, path):
    """The same, had there been no room for the last 50 events, and with tasks that were added while it ran."""
    report = dict(report, events=report["events"][:-50], events_left_out=50, graphs=[dict(g, last_executed=98765) for g in report["graphs"]])
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    return report, path


def of_a_graph(page, report, whole):
    graph = report["graphs"][0]
    tasks = [e for e in report["events"] if e["kind"] == "task"]
    cells = page.drawn("graphs")
    check(f"the table of graphs: {cells}", graph["name"] in cells and str(graph["last_executed"]) in cells and "longest way" in cells)
    check("a bar for the graph", graph["name"] + " (tasks)" in page.text("bars"))
    words = page.text("graph-runs")
    drawn = page.count("#graph-run-0 rect")
    check(f"a run is drawn, {drawn} tasks: {words}", ("one of its runs" if whole else "the first tasks of a run") in words)
    runs = {e["run"] for e in tasks}
    check(f"{drawn} of {len(tasks)} tasks in runs {runs}", drawn == sum(e["run"] == (max(runs) if whole else min(runs)) for e in tasks) > 30)
    for kind in graph["types"]:
        check(f"legend of {kind['name']}", (kind["name"] + ": " in words) == (kind["count"] > 0))
    rows = page.chromium.value("[...new Set([...document.querySelectorAll('#graph-run-0 rect')].map(r => r.getAttribute('y')))].length")
    check(f"a row for each thread: {rows}", rows == len({e["thread"] for e in tasks}))
    check("Tab leads to the tasks", page.tab_to("#graph-run-0"))
    role, name, _ = page.chromium.read_out()
    check(f"a task: {role} {name}", role == "option" and re.match(r"\w+ on thread \d: [0-9.]+ [mun]?s, at (0|[0-9.]+ [mun]?s)$", name))
    check("the line below says the same", page.text("graph-run-0-said") == name)


def fits(page):
    """On a telephone nothing is wider than the page but what scrolls."""
    wide = page.chromium.value("document.documentElement.scrollWidth")
    check(f"{page.path} is {wide} wide", wide <= 400)


def in_browser(folder, cold, cold_file, warm, warm_file):
    os.makedirs(pictures, exist_ok=True)
    big_page = folder + "/big.html"
    with open(big_page, "w", encoding="utf-8") as file:
        file.write(run(big, "page").stdout)
    with browser.Browser(folder) as chromium:
        page = Shown(chromium, page_of(folder, "one", cold_file))
        of_one_run(page, by_time(cold))
        by_keyboard(page, by_time(cold))
        chromium.picture(pictures + "/one.png")
        page = Shown(chromium, page_of(folder, "two", "--compare", cold_file, warm_file), dark=True)
        of_two_starts(page, warm)
        chromium.picture(pictures + "/two-dark.png")
        report, path = graph_report(folder)
        of_a_graph(Shown(chromium, page_of(folder, "tasks", path)), report, True)
        chromium.picture(pictures + "/tasks.png")
        report, path = cut_short(report, path)
        of_a_graph(Shown(chromium, page_of(folder, "cut", path)), report, False)
        of_changes(Shown(chromium, page_of(folder, "changes", "--compare", *compared(folder))))
        of_many(Shown(chromium, big_page))
        for path in (page.path, big_page):
            fits(Shown(chromium, path, width=400))
        chromium.picture(pictures + "/many-narrow.png")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        cold, cold_file = one_run(folder, "cold")
        warm, warm_file = one_run(folder, "warm")
        in_the_report(cold)
        check("the second start is warm", all(l["code"] == "cache_hit" for l in warm["loops"]))
        if browser.program():
            in_browser(folder, cold, cold_file, warm, warm_file)
        else:
            compared(folder)
            graph_report(folder)
            page_of(folder, "two", "--compare", cold_file, warm_file)
            print("there is no Chromium (./dev test --with browser)\n[  SKIPPED ] page_in_a_browser")
    for failure in failures:
        print(failure)
    print("failed" if failures else "the page shows what the report says")
    return bool(failures)


sys.exit(main())
