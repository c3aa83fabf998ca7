"""speed.py OP2JIT KINDS: how fast loops were is kept, bounded, listed and reported."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

OP2JIT, PROGRAM = (os.path.abspath(a) for a in sys.argv[1:3])
failures = []


def run(*words, **variables):
    done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode:
        failures.append(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(what, condition, shown=""):
    if not condition:
        failures.append(f"{what}\n{shown}")


def history(*words):
    return json.loads(run(OP2JIT, "history", "--json", *words))


def change(*statements):
    with sqlite3.connect(os.environ["OP2_CACHE"]) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def report(**variables):
    """Of one more run, whose own line comes later."""
    run(PROGRAM, OP2_TIMING="json:report.json", **variables)
    with open("report.json", encoding="utf-8") as file:
        found = json.load(file)
    return {loop["name"]: loop for loop in found["loops"]}, found


def main():
    run(PROGRAM, OP2_TUNE="off")
    check("nothing is kept", history() == [])
    check("and said", "nothing yet" in run(OP2JIT, "history"))
    loops, found = report()
    check("no run was before", "earlier_runs" not in loops["spread"], loops["spread"])
    check("the run is named", os.path.basename(PROGRAM) in found["program"] and "edges 24" in found["sets"] and found["host"], found)
    check("calls beside loops", "op_decl_set" in [c["name"] for c in found["outside"]], found["outside"])
    first = history("spread")
    check("one run", len(first) == 1 and first[0]["elements"] == 24 and first[0]["seconds"] > 0 and first[0]["version"], first)
    run(PROGRAM, OP2_CHECK="on")
    check("a checked run is none", history("spread") == first)
    change("UPDATE speed SET seconds = seconds / 1e6, variant = 'another' WHERE loop = 'spread'",
           "UPDATE speed SET seconds = 1 WHERE loop = 'apply'")
    loops, _ = report()
    check("another variant", "then in variant another" in loops["spread"]["slower"] and "slower" not in loops["apply"], loops)
    change("DELETE FROM speed WHERE variant <> 'another' AND loop = 'spread'",
           f"UPDATE speed SET variant = '{first[0]['variant']}', version = '0.0.1' WHERE loop = 'spread'")
    loops, _ = report()
    check("another version", "version 0.0.1" in loops["spread"]["slower"], loops["spread"])
    change("DELETE FROM speed WHERE version <> '0.0.1' AND loop = 'spread'",
           f"UPDATE speed SET version = '{first[0]['version']}', mesh = 'elements=2^20' WHERE loop = 'spread'")
    loops, _ = report()
    check("another mesh", "the mesh is of another class" in loops["spread"]["slower"], loops["spread"])
    change("DELETE FROM speed WHERE mesh <> 'elements=2^20' AND loop = 'spread'")
    check("text has it too", "spread was faster on this machine: " in run(PROGRAM, OP2_TIMING="text"))
    change("INSERT INTO speed SELECT NULL, time, loop, signature, machine, threads, mesh, elements, version, variant, 1, calls "
           "FROM speed, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) SELECT i FROM n)")
    run(PROGRAM)
    check("fifty of each", [sum(s["loop"] == name for s in history()) for name in ("apply", "spread")] == [50, 50], len(history()))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["OP2_CACHE"] = os.path.join(folder, "kernels.db")
    main()
print("\n".join(failures) or "speeds are kept and compared")
sys.exit(bool(failures))
