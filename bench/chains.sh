#!/bin/sh
# ./dev bench chains: see turns/chains.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/turns/chains.py" "$@"
