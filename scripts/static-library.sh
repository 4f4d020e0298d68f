#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One object of many archives, with nothing but the public names to be seen, in an archive of its own.
#   static-library.sh LD OBJCOPY AR OUTPUT ARCHIVE...
set -eu
ld=$1 objcopy=$2 ar=$3 output=$4
shift 4
object=${output%.a}-all.o
rm -f "$output"
"$ld" -r -o "$object" --whole-archive "$@"
"$objcopy" --localize-hidden "$object"
"$ar" rcs "$output" "$object"
rm -f "$object"
