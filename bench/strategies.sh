#!/bin/sh
# ./dev bench strategies: see turns/strategies.py. Given the build directory, or - to look at the options only.
exec python3 "$(dirname "$0")/turns/strategies.py" "$@"
