#!/usr/bin/env python3
"""page.py OP2JIT AIRFOIL BIG: the page of a report, as a browser shows it. BIG writes a page of 500 loops and 64 ranks."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

op2jit, airfoil, big = sys.argv[1:]
failures = []


def check(what, true):
    if not true:
        failures.append(what)


def run(*command, **variables):
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


class Page(html.parser.HTMLParser):
    """Texts by id of the nearest element that has one, tags that were met, and what the page would load."""

    VOID = {"meta", "input", "br", "link", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags, self.loads, self.hidden = [], {}, [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.loads += [v for k, v in attrs.items() if k in ("src", "href") and v and not v.startswith("#")]
        if "hidden" in attrs and "id" not in attrs:
            self.hidden.add(tag)
        if tag not in self.VOID:
            self.open.append((tag, attrs.get("id")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if any(tag in ("script", "style") for tag, _ in self.open):
            return
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data + " "

    def count(self, tag, **wanted):
        return sum(t == tag and all(a.get(k.rstrip("_")) == v for k, v in wanted.items()) for t, a in self.tags)


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


def shown(path, folder):
    """The page after its script ran, and what the console said."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
               "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
               f"--user-data-dir={folder}/browser", "--virtual-time-budget=5000", "--dump-dom"]
    done = run(browser(), *options, "file://" + path)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    check(f"{path}: the console says {said}", not said)
    return Page(done.stdout)


def one_run(folder):
    """Two threads: all loops, in the order of their time."""
    page_file, json_file = folder + "/a.html", folder + "/a.json"
    done = run(airfoil, "--cells", "2000", "--iters", "20", OP2_THREADS="2", OP2_TIMING="json:" + json_file)
    check("airfoil: " + done.stdout + done.stderr, done.returncode == 0)
    with open(json_file, encoding="utf-8") as file:
        report = json.load(file)
    loops = sorted(report["loops"], key=lambda l: -l["seconds"])
    check("arguments of a loop", any("by all 4 of pcell" in a for l in loops for a in l["arguments"]))
    check("a plan", all(l["plan"] for l in loops))
    check("events of compiling or loading", any(e["kind"] in ("compile", "load") for e in report["events"]))
    check("what the cache knows", all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d compiled in \d+ ms: ", l["history"][0]) for l in loops))
    check("the cache has a limit", report["cache_gb_per_second"] > 0)
    check("other calls are events", all(e["start"] >= 0 for e in report["events"]))
    done = run(op2jit, "report", json_file, "-o", page_file)
    check("op2jit report: " + done.stderr, done.returncode == 0)
    with open(page_file, encoding="utf-8") as file:
        check("the page needs the network", not re.search(r"(src|href)=\"(https?:)?//", file.read()))
    return page_file, loops


def compared(folder):
    """What became slower is named, what is gone and new too."""
    def report(name, loops):
        path = f"{folder}/{name}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"backend": "seq", "threads": 1, "ranks": 1, "loops": [
                {"name": n, "seconds": s, "calls": 10, "variant": v} for n, s, v in loops]}, file)
        return path
    before = report("before", [("same", 1.0, "a"), ("slow", 2.0, "a"), ("gone", 0.1, "a")])
    now = report("now", [("same", 1.01, "a"), ("slow", 5.0, "b"), ("new", 0.2, "a")])
    done = run(op2jit, "report", "--compare", before, now)
    lines = done.stdout.splitlines()
    check("compare: " + done.stderr, done.returncode == 0)
    check("first is what differs most: " + done.stdout, lines[3].startswith("slow") and lines[3].endswith("2.50  slower, a -> b"))
    for name, word in (("same", "same"), ("gone", "gone"), ("new", "new")):
        check(f"{name}: {done.stdout}", any(l.startswith(name) and l.endswith(word) for l in lines))
    check("100 columns", all(len(l) <= 100 for l in lines[2:]))
    done = run(op2jit, "report", "--compare", before, now, "--json")
    check("JSON", json.loads(done.stdout)["loops"][0]["ratio"] == 2.5)
    for words, said in ((("report", before + "x"), "No such file"), (("report", op2jit), "this is no report"),
                        (("report", "--compare", before, now, "-o", "x"), "page of one report")):
        done = run(op2jit, *words)
        check(f"{words}: {done.stderr}", done.returncode != 0 and said in done.stderr)


def in_browser(folder, page_file, loops):
    page = shown(page_file, folder)
    table = page.texts.get("loops", "")
    places = [table.find(" " + l["name"] + " ") for l in loops]
    check(f"loops in the order of their time: {table}", min(places) >= 0 and places == sorted(places))
    check("outside loops", "outside loops" in page.texts.get("bars", ""))
    check("a box for each loop", page.count("details") == len(loops))
    check("what is loaded: " + str(page.loads), not page.loads)
    check("the start", page.count("rect") > 10 and "first" in page.texts.get("start-words", ""))
    check("the limit of the cache", "last-level cache, " in page.texts.get("memory", ""))
    check("history of each loop", page.texts.get("each", "").count("first time that a loop named") >= 6)
    check("lanes of strips", "elements side by side in vector instructions" in page.texts.get("each", ""))
    check("spills", page.texts.get("each", "").count("kept in memory for want of registers") == len(loops))
    check("what scrolls can be reached by keyboard", page.count("div", class_="scroll", tabindex="0") == 4)
    check("no ranks", "rank 0" not in page.texts.get("ranks", ""))
    for key in ("facts", "advice", "memory", "each"):
        check(key + " is empty", page.texts.get(key, "").strip())
    path = folder + "/big.html"
    with open(path, "w", encoding="utf-8") as file:
        file.write(run(big, "page").stdout)
    page = shown(path, folder)
    check("500 loops", page.count("details") == 500 and "488 other loops" in page.texts.get("bars", ""))
    check("64 ranks", "rank 63" in page.texts.get("ranks", ""))
    check("a name is no mark-up", "<b>" in page.texts.get("loops", ""))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        page_file, loops = one_run(folder)
        compared(folder)
        if browser():
            in_browser(folder, page_file, loops)
        else:
            print("there is no Chromium (./dev test --with browser)\n[  SKIPPED ] page_in_a_browser")
    for failure in failures:
        print(failure)
    print("failed" if failures else "the page shows what the report says")
    return bool(failures)


sys.exit(main())
