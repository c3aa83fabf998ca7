"""The op2jit command: every subcommand, plain and as JSON, its mistakes, and that the manual page has all of it.

usage: cli.py OP2JIT FILL MANUAL-PAGE
"""
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

OP2JIT, FILL, PAGE = (os.path.abspath(a) for a in sys.argv[1:4])
failures = []


def run(*words, status=0, env=None, cwd=None):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("OP2_")}
    settings.update(env or {})
    done = subprocess.run([OP2JIT, *words], env=settings, cwd=cwd, capture_output=True, text=True)
    if done.returncode != status:
        failures.append(f"{' '.join(words)}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def check(what, condition, shown=""):
    if not condition:
        failures.append(f"{what}\n{shown}")


def no_room():
    """As on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def main(folder):
    db = os.path.join(folder, "k.db")
    use = {"OP2_CACHE": db, "XDG_CACHE_HOME": folder}
    _, err = run("cache", "ls", status=1, env=use)
    check("a cache that is not there", "no cache yet" in err, err)
    check("looking makes nothing", not os.path.exists(db))
    run("cache", "gc", status=1, env=use)
    check("changing makes nothing", not os.path.exists(db))
    subprocess.run([FILL, db], check=True)

    out, _ = run("cache", "ls", env=use)
    check("ls lists four", out.count("\n") == 5 and out.count("res_calc") == 3, out)
    rows = json.loads(run("cache", "ls", "--json", env=use)[0])
    check("ls --json", len(rows) == 4 and len(rows[0]["hash"]) == 64 and rows[0]["shape"] == "strip8", str(rows))
    check("ls: newest first", [r["loop"] for r in rows] == ["update"] + ["res_calc"] * 3, str(rows))
    check("ls has the shape", re.search(r"on +shape\nupdate .* strip8\n", out), out)
    check("ls of a loop", len(json.loads(run("cache", "ls", "update", "--json", env=use)[0])) == 1)
    _, err = run("cache", "ls", "nosuchloop", status=1, env=use)
    check("ls of nothing", "nothing is known of a loop named nosuchloop; op2jit cache ls lists the names" in err, err)
    out, err = run("cache", "ls", "res_calc", "udpate", status=1, env=use)
    check("ls: nearest", "did you mean update?" in err and out.count("res_calc") == 3 and "update" not in out, out + err)

    out, _ = run("cache", "show", "update", env=use)
    check("show has columns", "constant gam" in out and "*b += t;" in out, out)
    shown = json.loads(run("cache", "show", rows[1]["hash"][:10], "--json", env=use)[0])
    check("show --json", shown["columns"]["LLVM"] == "19.1.6" and "\n" in shown["columns"]["kernel text"], str(shown))
    check("show has names", "names, which do not count:\n    dat 1 q\n" in out and shown["names"] == "dat 1 q\n", out)
    out, _ = run("cache", "show", "--source", "update", env=use)
    check("show --source", out.startswith("void update("), out)
    _, err = run("cache", "show", "nothing", status=1, env=use)
    check("show of nothing", "no loop and no hash" in err, err)

    out = run("cache", "why", "res_calc", env=use)[0].replace("\n      ", " ")
    lines = out.splitlines()
    check("why: newest first", len(lines) == 3 and lines[0].endswith("number, constant gam"), out)
    check("why: first time", lines[-1].endswith("first time that a loop named res_calc is compiled for this cache"), out)
    check("why --limit", run("cache", "why", "--limit", "2", env=use)[0].replace("\n      ", " ").count("\n") == 2)
    check("why --limit=1", run("cache", "why", "--limit=1", env=use)[0].replace("\n      ", " ").count("\n") == 1)
    rows = json.loads(run("cache", "why", "--json", env=use)[0])
    check("why --json", len(rows) == 5)
    reason = "line 2: no function; first time that a loop named broken is compiled for this cache"
    out, _ = run("cache", "why", "broken", env=use)
    check("why: 100 columns", max(map(len, out.splitlines())) <= 100, out)
    out = out.replace("\n      ", " ")
    check("why: a failed compile in one line", out.count("\n") == 1 and out.endswith(" broken failed: " + reason + "\n"), out)
    check("why --json of a failed compile", rows[0]["event"] == "failed" and rows[0]["reason"] == reason, str(rows[0]))
    run("cache", "why", "nothing", status=1, env=use)

    check("stats", "4 binaries of 2 loops" in run("cache", "stats", env=use)[0])
    stats = json.loads(run("cache", "stats", "--json", env=use)[0])
    check("stats --json", stats["binaries"] == 4 and stats["tunings"] == 10 and stats["cap_bytes"] == 512 << 20, str(stats))
    check("path", run("cache", "path", env=use)[0] == db + "\n")
    _, err = run("cache", "path", status=1, env={"HOME": "relative", "XDG_CACHE_HOME": ""})
    check("path, HOME is relative", "neither XDG_CACHE_HOME nor HOME is an absolute path" in err, err)
    check("path, default", run("cache", "path", env={"HOME": "/h", "XDG_CACHE_HOME": ""})[0] == "/h/.cache/op2jit/kernels.db\n")
    check("an argument wins", run("cache", "path", "OP2_CACHE=/other", env=use)[0] == "/other\n")

    check("verify", "4 binaries checked, 0 findings" in run("cache", "verify", env=use)[0])
    layer = os.path.join(folder, "site layer.db")
    check("export", "3 binaries exported" in run("cache", "export", layer, "res_calc", env=use)[0])
    run("cache", "export", layer, status=1, env=use)
    sticky = os.path.join(folder, "sticky")
    os.mkdir(sticky)
    os.chmod(sticky, 0o1777)
    out, err = run("cache", "export", os.path.join(sticky, "e.db"), status=1, env=use)
    check("export: said once, as what it is", err == f"op2jit: {sticky}/e.db cannot be written: the directory {sticky} can be written by "
          "everybody: others could change the file while it is written. Name a folder in it that only you can write to\n", err)
    run("cache", "import", layer, status=1, env=dict(use, OP2_CACHE=os.path.join(sticky, "k.db")))
    check("nothing is left where no cache can be", os.listdir(sticky) == [], str(os.listdir(sticky)))
    check("as a layer", "res_calc" in run("cache", "ls", env=dict(use, OP2_CACHE=db, OP2_CACHE_RO=layer))[0])
    other = dict(use, OP2_CACHE=os.path.join(folder, "new", "other.db"))
    check("import makes a cache", json.loads(run("cache", "import", "--json", layer, env=other)[0])["imported"] == 3)
    check("clear a loop", "1 binaries cleared" in run("cache", "clear", "update", env=use)[0])
    _, err = run("cache", "ls", "update", status=1, env=use)
    check("ls of what was cleared", "op2jit cache why update says what became of it" in err, err)
    check("gc --cap", json.loads(run("cache", "gc", "--cap", "1K", "--json", env=use)[0])["evicted"] == 3)
    check("why: evicted", " res_calc evicted: " in run("cache", "why", "--limit", "1", env=use)[0])
    check("clear all", "3 binaries cleared" in run("cache", "clear", env=other)[0])
    for wrong in "3X", "", " 3M", "+3M", "-3M", "0", "3MM", "1e9", "9000000T", "99999999999999999999":
        _, err = run("cache", "gc", "--cap", wrong, status=2, env=use)
        check(f"gc --cap {wrong}", f'--cap "{wrong}": expected' in err, err)
    for wrong in "x", "", "3x", "1e9", "-1", "+1", " 1", "99999999999", "99999999999999999999":
        out, err = run("cache", "why", "--limit", wrong, status=2, env=use)
        check(f"why --limit {wrong}", not out and f'--limit "{wrong}": expected' in err, out + err)

    out, _ = run("tune", "ls", env=use)
    check("tune ls", "* res_calc" in out and "blocks:128" in out and "blocks:64" not in out, out)
    check("tune ls tells apart", re.search(r"^      signature of update, mesh mesh 1, machine cpu \"A\"$", out, re.M), out)
    check("tune ls: all of a layout's words, the begin of a hash", "signature layout of dat grad, 3 double, on set cells, mesh mesh 1" in out and
          "01234567" not in out, out)
    lines = out.splitlines()
    check("tune ls: columns", max(map(len, lines)) <= 100 and
          len({found.end() for found in (re.search(r"median|\d ms", line) for line in lines) if found}) == 1, out)
    out, _ = run("tune", "show", "dat grad", env=use)
    check("tune show: a layout", "dat grad, signature layout of dat grad, 3 double, on set cells\n" in out, out)
    for words in (("tune", "ls"), ("tune", "show"), ("tune", "clear"), ("cache", "clear"), ("cache", "why")):
        _, err = run(*words, "res_clac", status=1, env=use)
        check(f"{words}: nearest", "a loop named res_clac; did you mean res_calc?" in err, err)
    _, err = run("tune", "ls", "nosuch", status=1, env=use)
    check("tune ls: no name near", "nothing was measured of a loop named nosuch; op2jit warm PROGRAM measures its loops" in err, err)
    out, _ = run("tune", "show", "res_calc", env=use)
    check("tune show: against the default", re.search(r"of default +count +on +why\n", out) and
          re.search(r"\* blocks:128 +1\.0000 ms +100 % +5  20", out) and re.search(r"blocks:64 +2\.0000 ms +200 % +5  20", out), out)
    check("tune show: why", re.search(r"\* blocks:128 .*  used: the fastest\n", out) and re.search(r"  blocks:64 .*  slower\n", out) and
          re.search(r"failed .*  it could not be used\n", out), out)
    out, _ = run("tune", "show", "update", env=use)
    for variant, why in (("\\* scalar", "used: the default, as none is faster by more than the noise"), ("  strip4", "faster than the default by less than the noise"),
                         ("  strip8", "too few runs to be compared"), ("  strip16", "of another run")):
        check(f"tune show: why {variant}", re.search(variant + " .*[0-9]  " + why + "\n", out), out)
    check("tune show: why so far", "used: the best so far, not all were tried\n" in run("tune", "show", "save", env=use)[0])
    out, _ = run("tune", "show", "res_calc", env=use)
    check("tune show", "failed" in out and "blocks:64" in out and 'cpu "A"' in out, out)
    measured = os.path.join(folder, "measured.json")
    held = sqlite3.connect(db) # so that the cache has all its files already
    held.execute("SELECT count(*) FROM sqlite_master").fetchall()
    failed = subprocess.run([OP2JIT, "tune", "export", measured], env={**os.environ, **use}, capture_output=True, text=True, preexec_fn=no_room)
    held.close()
    check("tune export: no room", failed.returncode == 1 and "measured.json cannot be written: File too large" in failed.stderr, failed.stderr)
    check("tune export: nothing is left", not os.path.exists(measured))
    rows = json.loads(run("tune", "export", "-", env=use)[0])
    check("tune export", len(rows) == 10 and rows[0]["target"] == 'cpu "A"', str(rows))
    check("tune clear", "10 measurements" in run("tune", "clear", env=use)[0])
    run("tune", "show", "res_calc", status=1, env=use)

    info = json.loads(run("info", "--json", env=dict(use, OP2_FP="strict"))[0])
    row = [v for v in info["variables"] if v["name"] == "OP2_FP"][0]
    check("info", row["value"] == "strict" and row["source"] == "environment", str(row))
    check("info has backends", "native" in [b["name"] for b in info["backends"]])
    check("info: cache and plugins", info["cache"] == use["OP2_CACHE"] and
          {"mpi-openmpi", "mpi-mpich", "hdf5", "ptscotch"} <= set(info["plugins"]), str(info)[:600])
    alone = os.path.join(folder, "op2jit") # away from its plugins
    shutil.copy(OP2JIT, alone)
    info = json.loads(subprocess.run([alone, "info", "--json"], env={**os.environ, **use, "OP2_PLUGINS": ""}, capture_output=True, text=True).stdout)
    works = {b["name"]: b["works"] for b in info["backends"]}
    check("info without a compiler", not info["compiler"]["there"] and works["native"] and not works["seq"] and not works["openmp"], str(info)[:1500])
    mesh = os.path.join(folder, "mesh.h5")
    with open(mesh, "wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n")
    done = subprocess.run([alone, "mesh", "info", mesh], env={**os.environ, **use, "OP2_PLUGINS": ""}, capture_output=True, text=True)
    check("a mesh without the plugin", done.returncode == 1 and "op2jit-hdf5.so" in done.stderr and "libhdf5-dev" in done.stderr, done.stderr)
    _, err = run("info", env=dict(use, OP2_FP="loose"), status=1)
    check("a wrong variable", "OP2_FP=loose" in err, err)
    # Without drivers of OpenCL, whose devices it lists: PoCL has an LLVM of its own.
    _, files = run("info", env=dict(use, LD_DEBUG="files", OCL_ICD_VENDORS=folder + "/"))
    for word in ("libLLVM", "op2jit-clang", "libmpi", "libmpich"):
        check(f"info opens {word}", f"{word}" not in " ".join(re.findall(r"calling init: (\S+)", files)))

    seen = os.path.join(folder, "seen")
    out, err = run("warm", "sh", "-c", f'echo "$OP2_TUNE $1" >"{seen}"; exit 7', "x", "--json", env=use, status=7)
    check("warm", open(seen).read() == "force --json\n" and "0 new binaries" in err, err)
    subprocess.run([FILL, db], check=True)
    change = "import sqlite3; c = sqlite3.connect('{}'); c.execute(\"{}\"); c.commit()"
    _, err = run("warm", "true", env=use)
    check("warm: a run that tunes nothing", "warm: 0 new binaries, 0 variants" in err and "tuned" not in err, err)
    more = change.format(db, "UPDATE tuning SET count = count + 1")
    _, err = run("warm", sys.executable, "-c", more, env=use)
    check("warm: counts what was measured again", re.search("first time, [1-9][0-9]* again", err), err)
    for word, says in (("OP2_CACHE=off", "there is no cache"), ("OP2_BACKEND=native", "native kernels are"), ("OP2_JIT=off", "nothing is compiled")):
        name, value = word.split("=")
        for words, env in ((["true", word], use), (["true"], dict(use, **{name: value}))):
            _, err = run("warm", *words, env=env, status=1)
            check(f"warm {words} with {word}", f"warm: {word}: " in err and says in err and "0 new" not in err, err)
    elsewhere = os.path.join(folder, "elsewhere.db")
    _, err = run("warm", "OP2_CACHE=" + elsewhere, "sh", "-c", f'echo "$OP2_CACHE" >"{seen}"; exec "{FILL}" "{elsewhere}"', env=use)
    check("warm: a variable in front of the program", open(seen).read() == elsewhere + "\n" and "4 new binaries" in err, err)
    os.remove(elsewhere)
    _, err = run("warm", "sh", "-c", f'exec "{FILL}" "{elsewhere}"', "OP2_CACHE=" + elsewhere, env=use)
    check("warm looks where the program's own argument says", "4 new binaries" in err, err)
    run("warm", "/nowhere/program", env=use, status=1)
    run("warm", status=2, env=use)

    _, err = run("cahce", status=2)
    check("did you mean cache", 'did you mean "cache"' in err, err)
    _, err = run("cache", "verfy", status=2)
    check("did you mean verify", 'did you mean "verify"' in err, err)
    run("cache", "ls", "--nonsense", status=2, env=use)
    run("cache", "export", status=2, env=use)
    run("cache", "path", "more", status=2, env=use)
    run(status=2)
    check("version", re.fullmatch(r"op2jit \d+\.\d+\.\d+\n", run("--version")[0]))


def not_caches(folder):
    """A file that OP2_CACHE names by mistake is left alone by every command; a cache that is damaged is set aside, and found."""
    notes = os.path.join(folder, "notes.txt")
    words = "what I must not lose\n" * 400
    with open(notes, "w", encoding="utf-8") as file:
        file.write(words)
    use = {"OP2_CACHE": notes}
    for command in ["ls"], ["stats"], ["why"], ["verify"], ["gc"], ["clear"], ["clear", "k"], ["import", notes], ["export", notes + "2"]:
        _, err = run("cache", *command, status=1, env=use)
        check(f"cache {command[0]} of no cache", "notes.txt is no kernel cache" in err, err)
    _, err = run("tune", "clear", status=1, env=use)
    check("tune clear of no cache", "notes.txt is no kernel cache" in err, err)
    with open(notes, encoding="utf-8") as file:
        check("it is as it was", file.read() == words)
    check("nothing is beside it", [name for name in os.listdir(folder) if name.startswith("notes")] == ["notes.txt"],
          str(os.listdir(folder)))

    db = os.path.join(folder, "cut.db")
    subprocess.run([FILL, db], check=True)
    with open(db, "r+b") as file:
        file.truncate(os.path.getsize(db) // 2)
    out, _ = run("cache", "verify", status=1, env={"OP2_CACHE": db})
    check("verify finds that the file was damaged", "set aside as" in out and "1 finding" in out, out)
    check("verify again", "0 findings" in run("cache", "verify", env={"OP2_CACHE": db})[0])


def manual():
    page = re.sub(r"\\f[A-Z]", "", open(PAGE).read()).replace("\\-", "-")
    overview = run("--help")[0]
    check("help of a group", "cache gc" in run("cache", "--help")[0] and "tune ls" not in run("cache", "--help")[0])
    commands = re.findall(r"^  ((?:cache|tune|mesh) \w+|info|warm)\b", overview, re.M)
    check("the help lists the commands", len(commands) == 18, overview)
    for command in commands:
        check(f"the manual page has {command}", re.search(rf"op2jit {command}\b", page))
        out, _ = run(*command.split(), "--help")
        check(f"help of {command}", out.startswith(f"usage: op2jit {command}"), out)
        for option in re.findall(r"^  (--\w+)", out, re.M):
            check(f"the manual page has {option}", option in page)


with tempfile.TemporaryDirectory() as directory:
    main(directory)
    not_caches(directory)
manual()
print("\n".join(failures) if failures else "all well")
sys.exit(1 if failures else 0)
