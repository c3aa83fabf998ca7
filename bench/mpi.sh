#!/bin/sh
# ./dev bench mpi: see mpi.py. Given the build directory and its options.
exec python3 "$(dirname "$0")/mpi.py" "$@"
