#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# S2's nine cases against services that run (creel serve all). The first that fails ends it.
#   SANDBOX_GUARD_TOKEN       a token for the pairs g-coder:TG_GROUP_CODER_ID and g-hello:TG_GROUP_HELLO_ID; without it: SKIP, or FAIL with OPENCLAW_TEST_MODE=strict
#   CREEL_GUARD               http://127.0.0.1:18888
#   CREEL_RUNNER              the runner's socket, or its address
#   OPENCLAW_WORKSPACES_ROOT  ~/.openclaw/workspaces, as mounts.workspace.root says
set -uo pipefail
guard=${CREEL_GUARD:-http://127.0.0.1:18888}
runner=${CREEL_RUNNER:-/run/creel/runner.sock}
spaces=${OPENCLAW_WORKSPACES_ROOT:-$HOME/.openclaw/workspaces}
coder=TG_GROUP_CODER_ID hello=TG_GROUP_HELLO_ID

fail() { echo "FAIL: $*" >&2; exit 1; }
pass() { echo "PASS: $*"; }

if [ -z "${SANDBOX_GUARD_TOKEN:-}" ]; then
  [ "${OPENCLAW_TEST_MODE:-}" = strict ] && fail "SANDBOX_GUARD_TOKEN is not set"
  echo "SKIP: SANDBOX_GUARD_TOKEN is not set"
  exit 0
fi

# run AGENT CHAT TOOL ARGS: "STATUS BODY"
run() {
  curl -sS --max-time 90 -o - -w '\n%{http_code}' "$guard/run" -H "Authorization: Bearer $SANDBOX_GUARD_TOKEN" -H 'Content-Type: application/json' \
    -d "{\"agent\":\"$1\",\"scope\":{\"type\":\"telegram\",\"chat_id\":\"$2\"},\"tool\":\"$3\",\"args\":$4}" | { mapfile -t lines; echo "${lines[-1]} ${lines[*]:0:${#lines[@]}-1}"; }
}
is_ok() { [[ $1 == "200 "*'"ok":true'* ]]; }

mkdir -p "$spaces/g-coder/group_$coder" "$spaces/g-hello/group_$hello" || fail "cannot make the workspaces below $spaces"
echo hello > "$spaces/g-hello/group_$hello/hello.txt"

curl -fsS --max-time 10 "$guard/health" | grep -q '"status":"ok"' || fail "1 Sandbox Health"
pass "1 Sandbox Health"

is_ok "$(run g-hello $hello file_read '{"path":"hello.txt"}')" || fail "2 Workspace Containment: the control does not work"
got=$(run g-coder $coder file_read "{\"path\":\"../../g-hello/group_$hello/hello.txt\"}")
is_ok "$got" && fail "2 Workspace Containment: $got"
pass "2 Workspace Containment"

got=$(run g-coder $hello file_read '{"path":"hello.txt"}')
[[ $got == "403 "* ]] || fail "2.1 Spoof Attempt Denied: $got"
pass "2.1 Spoof Attempt Denied"

got=$(run g-coder $coder file_read '{"path":"../../.env"}')
is_ok "$got" && fail "3 No Secrets Exposure: $got"
pass "3 No Secrets Exposure"

got=$(run g-coder $coder shell_exec '{"cmd":["curl","-fsS","https://example.com"]}')
is_ok "$got" && fail "4 No Internet Egress: $got"
pass "4 No Internet Egress"

got=$(run g-coder $coder shell_exec '{"cmd":["curl","-fsS","http://ollama:11434/api/tags"]}')
is_ok "$got" || fail "5 Allowed Internal Egress: $got"
pass "5 Allowed Internal Egress"

if [ -S "$runner" ]; then to=(--unix-socket "$runner" http://runner/run); else to=("http://$runner/run"); fi
got=$(curl -sS --max-time 10 -o /dev/null -w '%{http_code}' "${to[@]}" -H 'Content-Type: application/json' -d '{}')
[ "$got" = 401 ] || fail "5.1 Tool-Runner Auth Required: $got"
pass "5.1 Tool-Runner Auth Required"

got=$(run g-coder $coder shell_exec '{"cmd":["python3","-c","open(\"rw_test.txt\",\"w\").write(\"x\")"]}')
is_ok "$got" && fail "5.2 RW Enforcement: $got"
[ ! -e "$spaces/g-coder/group_$coder/rw_test.txt" ] || fail "5.2 RW Enforcement: the file is there"
pass "5.2 RW Enforcement"

got=$(run g-coder $coder file_read '{"path":"missing.txt"}')
[[ $got == *Traceback* || $got == *'File \"'* ]] && fail "6 Tool Output Sanitization: $got"
is_ok "$got" && fail "6 Tool Output Sanitization: $got"
pass "6 Tool Output Sanitization"
