#!/bin/sh
# ./dev bench jit: see jit.py. Given the build directory.
exec python3 "$(dirname "$0")/jit.py" "$@"
