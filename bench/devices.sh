#!/bin/sh
# ./dev bench devices: see devices.py. Given the build directory.
exec python3 "$(dirname "$0")/devices.py" "$@"
