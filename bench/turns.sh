#!/bin/sh
# ./dev bench turns: see turns.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/turns.py" "$@"
