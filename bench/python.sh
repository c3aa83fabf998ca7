#!/bin/bash
# python.sh BUILD: what the package in Python costs, by Debian's Python; see python.py.
set -u
build=$(cd "$1" && pwd) || exit 1
root=$(cd "$(dirname "$0")/.." && pwd)
/usr/bin/python3 -c 'import numpy' 2>/dev/null || {
  echo "/usr/bin/python3 has no NumPy: apt-get install python3-numpy"
  exit 1
}
PYTHONPATH=$root/python OP2JIT_LIBRARY=$build/libop2jit.so PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$root/bench/python.py" "$build"
