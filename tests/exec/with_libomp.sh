#!/bin/sh
# Run a program built by gcc on clang's OpenMP runtime, which has gcc's entries too.
case $(LD_PRELOAD=libomp.so.5 LD_TRACE_LOADED_OBJECTS=1 "$1" 2>/dev/null) in
*libomp.so.5*=*/*) LD_PRELOAD=libomp.so.5 exec "$1" ;;
esac
echo "clang's OpenMP runtime, libomp.so.5, is not installed (package libomp5)"
exit 77
