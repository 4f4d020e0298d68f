#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example of the library, as somebody who tries it: it ends with 0, what its calls wrote is there, and nothing else is.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
mkdir "$place/ws"
HOME=$place "$1" "$place/state" "$place/ws" >"$place/out" 2>&1 || { cat "$place/out"; exit 1; }
grep -q "exec is allowed" "$place/out"
grep -q "hello from /workspace" "$place/out"
grep -q '"error":"exit_3"' "$place/out"
test -f "$place/ws/hello.sh"
