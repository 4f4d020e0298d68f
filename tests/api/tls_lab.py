# SPDX-License-Identifier: Apache-2.0
"""Certificates as openssl makes them, and clients that trust exactly one."""
import contextlib
import os
import ssl
import subprocess

import pytest

from guard_lab import Wire

CA_CONFIG = """[ca]
default_ca = c
[c]
database = {dir}/index
serial = {dir}/serial
new_certs_dir = {dir}
default_md = sha256
policy = p
copy_extensions = copy
email_in_dn = no
[p]
commonName = supplied
"""


def openssl(*args):
    return subprocess.run(["openssl", *map(str, args)], capture_output=True, text=True, check=True, timeout=60).stdout


class Cert:
    """Signed by itself, for 127.0.0.1 and localhost where `names` says nothing else; `dates` are (from, until) as openssl ca takes them."""

    def __init__(self, where, name="tls", days=90, dates=None, key=("ec", "-pkeyopt", "ec_paramgen_curve:P-256"), give=lambda path: None,
                 names="IP:127.0.0.1,DNS:localhost,IP:10.9.8.7"):
        self.cert, self.key = where / f"{name}.crt", where / f"{name}.key"
        subject = ["-subj", f"/CN={name}", "-addext", f"subjectAltName={names}"]
        if dates:
            (where / "index").write_text("")
            (where / "index.attr").write_text("unique_subject = no\n")
            (where / "serial").write_text("01\n")
            (where / "ca.cnf").write_text(CA_CONFIG.format(dir=where))
            openssl("req", "-new", "-newkey", *key, "-nodes", "-keyout", self.key, "-out", where / "csr", *subject)
            openssl("ca", "-config", where / "ca.cnf", "-batch", "-selfsign", "-notext", "-in", where / "csr", "-keyfile", self.key, "-out", self.cert,
                    "-startdate", dates[0], "-enddate", dates[1])
        else:
            openssl("req", "-x509", "-newkey", *key, "-nodes", "-keyout", self.key, "-out", self.cert, "-days", days, *subject)
        self.key.chmod(0o600)
        give(self.key)
        give(self.cert)

    def options(self):
        return ["-e", f"serve.tls.cert={self.cert}", "-e", f"serve.tls.key={self.key}"]

    def context(self):
        c = ssl.create_default_context(cafile=str(self.cert))
        return c

    def wrap(self, sock, name="127.0.0.1", timeout=60):
        sock.settimeout(timeout)
        return Wire(self.context().wrap_socket(sock, server_hostname=name), timeout)

    def serial(self):
        return openssl("x509", "-in", self.cert, "-noout", "-serial").strip()


@contextlib.contextmanager
def network_elsewhere(kind):
    """A network of its own with an address that is not loopback: nothing of this machine's own is touched."""
    if os.getuid() != 0 and not os.environ.get("CREEL_MUST_WORK"):
        pytest.skip("a network namespace with an address takes root")
    name = f"creel-{kind}-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True, timeout=60)
    try:
        for words in (["link", "set", "lo", "up"], ["addr", "add", "10.9.8.7/32", "dev", "lo"]):
            subprocess.run(["ip", "-n", name, *words], check=True, timeout=60)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True, timeout=60)
