#!/bin/sh
# ./dev bench same: see turns/same.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/turns/same.py" "$@"
