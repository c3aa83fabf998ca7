#!/bin/sh
# ./dev bench replay: see replay.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/replay.py" "$@"
