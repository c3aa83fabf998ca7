#!/bin/sh
# ./dev bench tasks: see tasks.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/tasks.py" "$@"
