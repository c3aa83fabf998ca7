#!/bin/sh
# ./dev bench incache: see incache.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/incache.py" "$@"
