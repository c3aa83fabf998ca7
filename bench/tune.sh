#!/bin/sh
# ./dev bench tune: see tune.py. Given the build directory.
exec python3 "$(dirname "$0")/tune.py" "$@"
