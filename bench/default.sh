#!/bin/sh
# ./dev bench default: see turns/default.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/turns/default.py" "$@"
