#!/bin/bash
# files.sh COMMAND...: the command with a folder of its own behind it.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$@" "$folder"
