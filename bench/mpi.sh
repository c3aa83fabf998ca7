#!/bin/sh
# ./dev bench mpi: see mpi.py. Given the build directory.
exec python3 "$(dirname "$0")/mpi.py" "$@"
