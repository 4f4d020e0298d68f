# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.json is what the guard serves, every route of it answers, no route is missing from it, and answers are what it says."""
import json
import re

import jsonschema
import pytest

from guard_lab import CODER, ROOT, Guard, echo

API = json.loads((ROOT / "docs/openapi.json").read_text())
ROUTES = [(method.upper(), path) for path, row in API["paths"].items() for method in row if method != "parameters"]
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")


@pytest.fixture(scope="module")
def g():
    one = Guard("user", echo)
    try:
        yield one.start()
    finally:
        one.done()


def resolve(schema):
    return {**schema, "components": API["components"]}


def check(method, path, answer):
    """The answer's status is one that the file has for this route, and its body is what the file says of it."""
    row = API["paths"][path][method.lower()]["responses"]
    assert str(answer.status) in row, (method, path, answer)
    content = row[str(answer.status)].get("content", {})
    kind = answer.fields.get("content-type", "").split(";")[0]
    assert kind in content, (method, path, answer)
    if kind == "application/json":
        jsonschema.Draft202012Validator(resolve(content[kind]["schema"])).validate(answer.json)
    return answer


def real(path):
    return path.replace("{key}", "agent:x:main").replace("{id}", "p1")


BODIES = {
    "/run": {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "file_read", "args": {"path": "a"}},
    "/v1/calls": {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "exec", "args": {}},
    "/v1/explain": {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "exec"},
    "/v1/approvals/{id}": {"answer": "deny"},
    "/v1/pairing": {"channel": "telegram", "user": "u1"},
}
QUERIES = {"/v1/processes": "?agent=g-coder&type=telegram&chat_id=TG_CODER", "/v1/processes/{id}/kill": "?agent=g-coder&type=telegram&chat_id=TG_CODER",
           "/v1/admin/incident": "?request=r1"}


def test_the_file_is_sound_and_what_is_served(g):
    assert API["openapi"].startswith("3.1") and g.ask("GET", "/v1/openapi.json", token=None).json == API
    for schema in API["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(resolve(schema))
    ids = [row[m]["operationId"] for row in API["paths"].values() for m in row if m != "parameters"]
    assert len(ids) == len(set(ids))
    for path, row in API["paths"].items():
        assert re.findall(r"{(\w+)}", path) == [p["name"] for p in row.get("parameters", [])]


@pytest.mark.parametrize("method,path", ROUTES)
def test_every_route_of_the_file_answers_as_it_says(g, method, path):
    if path == "/v1/events":
        return  # a stream: test_guard.py and test_services.py
    body = BODIES.get(path)
    if body:
        schema = API["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(resolve(schema)).validate(body)
    assert check(method, path, g.ask(method, real(path) + QUERIES.get(path, ""), body, token="admin")).status == 200


@pytest.mark.parametrize("method,path", ROUTES)
def test_every_refusal_of_every_route_is_in_the_file(g, method, path):
    body = BODIES.get(path)
    where = real(path) + QUERIES.get(path, "")
    open_ = API["paths"][path][method.lower()].get("security") == []
    for token in (None, "wrong"):
        assert check(method, path, g.ask(method, where, body, token=token)).status == (200 if open_ else 401)
    sep = "&" if "?" in where else "?"
    if path != "/health":
        assert check(method, path, g.ask(method, where + sep + "odd=1", body, token="admin")).status == 422
    if body:
        for wrong in ({**body, "odd": 1}, [], b"{", {}):
            assert check(method, path, g.ask(method, where, wrong, token="admin")).status == 422
        assert check(method, path, g.ask(method, where, json.dumps(body).encode(), token="admin", more=[("Content-Type", "text/plain")])).status == 415


def test_no_route_of_the_guard_is_missing_from_the_file(g):
    source = (ROOT / "src/server/guard/routes.c").read_text()
    table = re.findall(r'{ HTTP_(\w+), +"([^"]+)"', source)
    assert sorted(table) == sorted(ROUTES)
    for path in API["paths"]:
        there = {m for m, p in ROUTES if p == path}
        for method in METHODS:
            status = g.ask(method, real(path), token="admin").status
            assert (status == 405) == (method not in there), (method, path, status)
