#!/bin/bash
# run.sh PROGRAM [ARGUMENT...]: the program on PoCL, OpenCL on the host's processors. Status 77 where that is not installed.
set -u
export OP2_BACKEND=${OP2_BACKEND-opencl} OP2_TUNE=${OP2_TUNE-off}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder
vendors=/etc/OpenCL/vendors/pocl.icd
if [ ! -e "$vendors" ]; then
  echo "skipped: there is no PoCL ($vendors); install pocl-opencl-icd, or ./dev test --with opencl"
  exit 77
fi
export OCL_ICD_VENDORS=$vendors POCL_CACHE_DIR=${POCL_CACHE_DIR-$folder}
"$@"
