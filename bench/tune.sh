#!/bin/sh
# ./dev bench tune: see tune.py. Given the build directory; SAMPLES, OUT and QUICK say what is run and where it is kept.
exec python3 "$(dirname "$0")/tune.py" "$@"
