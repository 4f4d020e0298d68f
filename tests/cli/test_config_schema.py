# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of creel.json5 says yes and no to the same files as creel itself."""
import json

import jsonschema
import pytest


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    from conftest import Creel
    return Creel(tmp_path_factory.mktemp("schema"))("config", "schema", status=0).json


GOOD = [
    {},
    {"$schema": "./x.json", "version": 1},
    {"profile": "ci", "compat": "openclaw-2026.9", "import": []},
    {"identity": {"mainKey": "m", "pairs": [{"channel": "telegram", "agent": "g-coder", "chat_id": -100123}],
                  "tokens": [{"ref": "env:T", "pairs": "*"}, {"ref": "raw:x y", "pairs": []}]}},
    {"mode": {"when": "all", "trust": {"default": "light", "rules": [
        {"match": "untrusted:*", "trust": "docker", "allow": ["read"], "deny": [], "route": {"hosts": ["h"]},
         "limits": {"memory": "2g", "pids": 5, "cpus": 0.5, "timeout_s": 600}}]}}},
    {"tools": {"per": {"shell": {"enforce": "require", "template": "alpine:3.20", "ttl": 300}},
               "elevated": {"allowFrom": {"telegram": [1, "*"]}}, "byProvider": {"p/m": {"deny": ["x"]}}}},
    {"network": {"browser": {"cdpSourceRange": None}}, "backend": {"opensandbox": {"apiKey": "env:K"}}},
    {"backend": {"ulimits": {"nofile": "1:2", "nproc": 5, "core": {"soft": 0, "hard": 1}}}},
    {"mounts": {"binds": ["/a:/b:ro"]}, "env": {"set": {"A": "${B}"}}, "limits": {"memory": 4096, "tmpfs": "64MiB"}},
    {"agents": {"main": {"default": True, "mode": {"when": "off"}, "mounts": {"binds": []}}, "b_2": {}}},
]
BAD = [
    [],
    {"mdoe": {}},
    {"version": 2},
    {"mode": "all"},
    {"mode": {"when": "sometimes"}},
    {"mode": {"when": None}},
    {"mode": {"trust": {"rules": [{"trust": "none"}]}}},
    {"mode": {"trust": {"rules": [{"match": "x"}]}}},
    {"mode": {"trust": {"rules": [{"match": "", "trust": "none"}]}}},
    {"mode": {"trust": {"rules": [{"match": "x", "trust": "none", "limits": {"stdout": 5}}]}}},
    {"limits": {"pids": 0}},
    {"limits": {"pids": 1.5}},
    {"limits": {"cpus": 2000}},
    {"limits": {"memory": "lots"}},
    {"backend": {"readOnlyRoot": "yes"}},
    {"backend": {"opensandbox": {"apiKey": "plain"}}},
    {"env": {"set": {"1A": "x"}}},
    {"env": {"set": {"A": "x\ny"}}},
    {"env": {"set": {"A": 1}}},
    {"tools": {"allow": "read"}},
    {"tools": {"allow": [1]}},
    {"tools": {"byProvider": {"p": {"alow": []}}}},
    {"tools": {"per": {"x": {"ttl": 0}}}},
    {"mounts": {"binds": [" "]}},
    {"agents": {"A B": {}}},
    {"agents": {"a": {"audit": {"path": "x"}}}},
    {"agents": {"a": {"default": "yes"}}},
    {"identity": {"pairs": [{"channel": "t", "agent": "a"}]}},
    {"identity": {"pairs": [{"channel": "t", "agent": "a", "chat_id": "x/y"}]}},
    {"identity": {"tokens": [{"ref": "env:T"}]}},
    {"import": [{"format": "toml", "path": "x"}]},
    {"import": [{"format": "creel"}]},
    {"backend": {"image": "a\u0000b"}},
]


def test_it_is_a_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")


def test_it_knows_every_key(schema, creel):
    for key in creel("config", "keys", status=0).out.split():
        node = schema
        for word in key.split("."):
            node = node["properties"][word]
        assert node["description"]


@pytest.mark.parametrize("config", GOOD, ids=json.dumps)
def test_both_accept(schema, creel, config):
    jsonschema.Draft202012Validator(schema).validate(config)
    creel("config", "show", "-c", "creel:" + creel.file("creel.json5", json.dumps(config)), status=0)


@pytest.mark.parametrize("config", BAD, ids=json.dumps)
def test_both_refuse(schema, creel, config):
    assert not jsonschema.Draft202012Validator(schema).is_valid(config)
    creel("config", "show", "-c", "creel:" + creel.file("creel.json5", json.dumps(config)), status=125)


@pytest.mark.parametrize("profile", ["openclaw", "athena", "tier1", "bilrost", "openclaw-net", "ci"])
def test_what_is_shown_fits_the_schema(schema, creel, profile):
    shown = creel("config", "show", "--all", "--json", "--profile", profile, status=0).json
    jsonschema.Draft202012Validator(schema).validate(shown)
