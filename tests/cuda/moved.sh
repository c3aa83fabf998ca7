#!/bin/bash
# moved.sh AIRFOIL: after airfoil's first iteration nothing but the results of `update` moves between host and device, by the report's
# own figures for each loop.
set -u
airfoil=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for iterations in 1 9; do
  OP2_TIMING=json:$work/$iterations.json "$airfoil" --cells 1500 --iters $iterations >"$work/said" 2>&1 || {
    cat "$work/said"
    exit 1
  }
done
python3 - "$work/1.json" "$work/9.json" <<'END'
import json, sys

first, ninth = ({row["name"]: row for row in json.load(open(name))["loops"]} for name in sys.argv[1:])
failed = False
none = {"calls": 0}  # loops that are one from the third iteration on
for name, row in ninth.items():
    calls = row["calls"] - first.get(name, none)["calls"]
    moved = row.get("bytes_moved", 0) - first.get(name, none).get("bytes_moved", 0)
    wanted = moved // calls if calls and name == "update" else 0
    once = name == "find_largest" and calls == 0
    good = (calls > 0 or once) and moved == wanted * calls and wanted <= 64
    print(f"{name}: {first.get(name, none).get('bytes_moved', 0):.0f} bytes in the first iteration, {moved:.0f} in {calls} later calls")
    failed |= not good
moved_at_first = sum(row.get("bytes_moved", 0) for row in first.values())
sys.exit("moved what it should not" if failed or moved_at_first < 100000 else 0)
END
