#!/bin/sh
# ./dev bench fusion: see turns/fusion.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/turns/fusion.py" "$@"
