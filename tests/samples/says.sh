#!/bin/sh
# A sample passes and says what is expected. Usage: test_says.sh WORDS PROGRAM [arguments]
set -eu
words=$1
shift
said=$("$@")
case $said in
*"$words"*) ;;
*)
  echo "FAILED: it does not say '$words':"
  echo "$said"
  exit 1
  ;;
esac
