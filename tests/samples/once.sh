#!/bin/sh
# A sample passes and says the expected words in one line, not one for each of its loops. Usage: test_once.sh WORDS PROGRAM [arguments]
set -eu
words=$1
shift
said=$("$@" 2>&1)
[ "$(echo "$said" | grep -cF "$words")" = 1 ] || {
  echo "FAILED: it does not say '$words' once:"
  echo "$said"
  exit 1
}
