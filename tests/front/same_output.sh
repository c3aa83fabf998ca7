#!/bin/bash
# same_output.sh FILE COMMAND...: the command prints what is in the file.
file=$1
shift
if "$@" | diff -u "$file" -; then exit 0; fi
echo "$file is not what $1 prints: run it again and look at the difference"
exit 1
