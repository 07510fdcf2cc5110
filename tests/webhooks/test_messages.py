import base64
import hashlib
from itertools import accumulate

from app.webhooks.records import PAUSES, new_secret, signature


def hmac_sha256(key: bytes, content: bytes) -> bytes:
    """RFC 2104, by its definition."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + content).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


def test_a_signature_is_that_of_the_specification() -> None:
    """The example of the specification's own libraries."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_signature_is_hmac_of_id_time_and_body() -> None:
    secret, body = new_secret(), '{"a":"ä😀"}'.encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    version, _, found = signature(secret, "one", 1700000000, body).partition(",")
    assert version == "v1"
    assert base64.b64decode(found) == hmac_sha256(key, b"one.1700000000." + body)


def test_secrets_are_256_bits_and_no_two_are_alike() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) for secret in secrets} == {32}


def test_attempts_are_spread_as_the_specification_has_them() -> None:
    hours = [seconds / 3600 for seconds in accumulate(PAUSES)]
    assert [round(hour, 2) for hour in hours] == [0.0, 0.08, 0.58, 2.58, 7.58, 17.58, 31.58, 51.58, 75.58]
