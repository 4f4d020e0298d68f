#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One object of many archives, with nothing but the public names to be seen, in an archive of its own.
#   static-library.sh OUTPUT ARCHIVE...
set -eu
output=$1
shift
object=${output%.a}-all.o
rm -f "$output"
ld -r -o "$object" --whole-archive "$@"
objcopy --localize-hidden "$object"
ar rcs "$output" "$object"
rm -f "$object"
