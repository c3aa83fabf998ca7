#!/bin/sh
# ./dev bench layout: see layout.py. Given the build directory.
exec python3 "$(dirname "$0")/layout.py" "$@"
