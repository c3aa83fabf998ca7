#!/bin/sh
# ./dev bench samples: see samples.py. Given the build directory.
exec python3 "$(dirname "$0")/samples.py" "$@"
