"""An issuer of tokens on a real socket, with keys that a test rotates."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from app.accounts.tokens import DISCOVERY

AUDIENCE = "relevance"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def new_key(algorithm: str = "ES256") -> PrivateKey:
    if algorithm[:2] in {"RS", "PS"}:
        return rsa.generate_private_key(65537, 2048)
    return ec.generate_private_key(ec.SECP256R1()) if algorithm == "ES256" else ed25519.Ed25519PrivateKey.generate()


def public_document(key: PrivateKey, key_id: str | None) -> dict[str, object]:
    if isinstance(key, rsa.RSAPrivateKey):
        document: dict[str, object] = dict(RSAAlgorithm.to_jwk(key.public_key(), as_dict=True))
    elif isinstance(key, ec.EllipticCurvePrivateKey):
        document = dict(ECAlgorithm.to_jwk(key.public_key(), as_dict=True))
    else:
        document = dict(OKPAlgorithm.to_jwk(key.public_key(), as_dict=True))
    return document if key_id is None else document | {"kid": key_id}


@dataclass
class TokenIssuer:
    """An issuer; `responses` replace its documents by path: a status, headers and a body."""

    keys: dict[str | None, PrivateKey] = field(default_factory=lambda: {"first": new_key()})
    responses: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    requested: list[str] = field(default_factory=list)
    responds: Event = field(default_factory=Event)
    url: str = ""

    def content(self, path: str) -> tuple[int, dict[str, str], bytes]:
        self.requested.append(path)
        self.responds.wait(30.0)
        if path in self.responses:
            return self.responses[path]
        if path == DISCOVERY:
            return 200, {}, json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys"}).encode()
        return 200, {}, json.dumps({"keys": [public_document(key, name) for name, key in self.keys.items()]}).encode()

    def claims(self, **changes: object) -> dict[str, object]:
        now = int(time.time())
        usual = {"iss": self.url, "aud": AUDIENCE, "sub": "acme", "exp": now + 600, "iat": now, "scope": "read predict"}
        return {name: value for name, value in (usual | changes).items() if value is not None}

    def token(
        self,
        claims: Mapping[str, object] | None = None,
        *,
        key_id: str | None = "first",
        algorithm: str = "ES256",
        key: PrivateKey | None = None,
    ) -> str:
        """A token of the issuer; with a `key` of somebody else, a forged one."""
        headers = {} if key_id is None else {"kid": key_id}
        return jwt.encode(dict(claims or self.claims()), key or self.keys[key_id], algorithm, headers=headers)


def refused_tokens(issuer: TokenIssuer) -> list[str]:
    """Tokens that are forged, expired, not yet valid, for another audience, of another issuer, and unsigned."""
    now = int(time.time())
    wrong: list[dict[str, object]] = [
        {"exp": now - 60},
        {"nbf": now + 600},
        {"aud": "another"},
        {"iss": "https://a.test"},
    ]
    admin = [issuer.claims(scope="admin", **changes) for changes in ({}, *wrong)]
    unsigned = jwt.encode(admin[0], "", "none", headers={"kid": "first"})
    return [issuer.token(admin[0], key=new_key()), unsigned, *map(issuer.token, admin[1:])]


@contextmanager
def serving() -> Iterator[TokenIssuer]:
    issuer = TokenIssuer()
    issuer.responds.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = issuer.content(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        issuer.responds.set()
        server.shutdown()
        thread.join()
        server.server_close()
