"""Versions have members, and their evidence stands apart from hyperpriors and price: reports and predictors rewritten.

One version at a time: a report is some kilobytes, a predictor at most some megabytes. Checkpoints are removed, since
trainings are other sequences of fits than before: jobs that were running begin anew.
"""

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, prod
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from alembic import op

from relevance_bayes.documents.models.earlier import EarlierModel, Json, Members, earlier_evidence, upgraded_report

revision: str = "2026_11_25_evidence"
down_revision: str | None = "2026_11_24_log_noise"
branch_labels: str | None = None
depends_on: str | None = None

VERSIONS = sa.table("model_versions", sa.column("id", sa.Uuid()), sa.column("report", sa.Text()))
POSTERIORS = sa.table("posteriors", sa.column("version_id", sa.Uuid()), sa.column("content", sa.LargeBinary()))

CHECKPOINTS = sa.table("job_checkpoints")

PREAMBLE = struct.Struct("<4sBBHIQI")
PREDICTOR = 2
"""The content of a frame."""


@dataclass(frozen=True)
class Stored:
    """An array as it is stored: its bytes in C order, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    content: bytes


FLAT = ("noise_sd", "degrees_of_freedom", "widths", "warps", "terms", "process_sd", "last_gain", "next_gain")


def upgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    for version, report, content in _supervised():
        value, arrays = _read(content)
        target = _fields(_fields(_fields(value)["encoding"])["target"])
        models = [_earlier(model, arrays, target) for model in _models(value)]
        spec = _object(_object(report["plan"])["spec"])
        for model, one in zip(_models(value), models, strict=True):
            evidence = earlier_evidence(one, _object(spec["prior"]), _object(spec["likelihood"]))
            model["evidence"] = {"record": "LogEvidence", "fields": dict(vars(evidence))}
            del model["log_marginal_likelihood"]
        functions = sum(one.functions for one in models)
        _write(version, upgraded_report(report, models, functions), value, arrays)


def downgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    for version, report, content in _supervised():
        value, arrays = _read(content)
        for model in _models(value):
            evidence = _fields(model.pop("evidence"))
            model["log_marginal_likelihood"] = _number(evidence["value"]) - _number(evidence["price"])
        _write(version, _before(report), value, arrays)


def _before(report: Members) -> Members:
    """A report as it was, without what it did not have."""
    members = [_object(one) for one in _list(report.pop("members"))]
    score, others = report.pop("integrated_evidence"), [_object(one) for one in _list(report.pop("alternatives"))]
    by_evidence = [one for one in others if one["kind"] == "integrated_evidence"]
    by_folds = [one for one in others if one["kind"] == "fold_log_density"]
    several = len(members) > 1
    found = _object(members[0]["hyperparameters"])
    alone: Members = {name: found[name] for name in FLAT}
    none: Members = {name: [] if isinstance(found[name], list) else None for name in FLAT}
    plan = _object(report["plan"])
    spec = _object(plan["spec"])
    selected: Members = {
        "prior": spec["prior"],
        "likelihood": spec["likelihood"],
        "functions": report["functions"],
        "score": score,
    }
    contenders = (
        [selected, *({name: one[name] for name in selected} for one in by_evidence)] if score is not None else []
    )
    compared = [{name: one[name] for name in one if name not in {"functions", "kind"}} for one in by_folds]
    evidence = _object(members[0]["evidence"])
    return {
        **report,
        **(none if several else alone),
        "log_marginal_likelihood": None if several else _number(evidence["value"]) - _number(evidence["price"]),
        "contenders": list[Json](contenders),
        "compared": list[Json](compared),
        "members": [_member_before(one) for one in members] if several else [],
    }


def _member_before(member: Members) -> Json:
    found, unreduced = _object(member["hyperparameters"]), _object(member["evidence_unreduced"])
    evidence = _number(_object(member["evidence"])["value"])
    names = ("widths", "warps", "noise_sd", "process_sd")
    return {
        **{name: member[name] for name in ("kernel", "weight", "functions")},
        **{name: found[name] for name in names},
        "label": member["label"],
        "log_marginal_likelihood": evidence,
        "process_log_marginal_likelihood": _number(unreduced.get("value", evidence)),
    }


def _supervised() -> Iterator[tuple[UUID, Members, bytes]]:
    """Each version of numbers or classes, with its report and predictor."""
    connection = op.get_bind()
    ids = connection.execute(sa.select(VERSIONS.c.id).order_by(VERSIONS.c.id)).scalars().all()
    for version in ids:
        report = json.loads(
            connection.execute(sa.select(VERSIONS.c.report).where(VERSIONS.c.id == version)).scalar_one()
        )
        if report.get("task") in {"regression", "classification"}:
            content = sa.select(POSTERIORS.c.content).where(POSTERIORS.c.version_id == version)
            yield version, report, bytes(connection.execute(content).scalar_one())


def _read(data: bytes) -> tuple[Json, list[Stored]]:
    magic, version, flags, kind, header_size, body_size, _ = PREAMBLE.unpack_from(data)
    if (magic, version, kind) != (b"RLVC", 1, PREDICTOR) or len(data) != PREAMBLE.size + header_size + body_size:
        raise ValueError(f"expected a predictor, got {data[:24]!r}")
    header = json.loads(data[PREAMBLE.size : PREAMBLE.size + header_size])
    body = data[PREAMBLE.size + header_size :]
    body = zlib.decompress(body) if flags & 1 else body
    return header["value"], list(_arrays(header["arrays"], body))


def _arrays(described: list[tuple[str, list[int], int]], body: bytes) -> Iterator[Stored]:
    for dtype, shape, offset in described:
        yield Stored(dtype, tuple(shape), body[offset : offset + prod(shape) * int(dtype[-1])])


def _framed(value: Json, arrays: Sequence[Stored]) -> bytes:
    described: list[Json] = []
    body = bytearray()
    for array in arrays:
        body += bytes(-len(body) % 8)
        described.append([array.dtype, list[Json](array.shape), len(body)])
        body += array.content
    document: Json = {"arrays": described, "value": value}
    header = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    covered = PREAMBLE.pack(b"RLVC", 1, 0, PREDICTOR, len(header), len(body), 0)[:-4]
    checksum = zlib.crc32(bytes(body), zlib.crc32(header, zlib.crc32(covered)))
    return b"".join((covered, struct.pack("<I", checksum), header, body))


def _write(version: UUID, report: Members, value: Json, arrays: list[Stored]) -> None:
    connection = op.get_bind()
    text = json.dumps(report, ensure_ascii=False, separators=(",", ":"))
    content = _framed(value, arrays)
    connection.execute(sa.update(VERSIONS).where(VERSIONS.c.id == version).values(report=text))
    connection.execute(sa.update(POSTERIORS).where(POSTERIORS.c.version_id == version).values(content=content))


def _models(value: Json) -> list[Members]:
    """The fields of the models of a predictor, those of a pool in their order."""
    found: list[Members] = []
    if isinstance(value, dict):
        if value.get("record") == "Model":
            return [_fields(value)]
        for one in value.values():
            found += _models(one)
    elif isinstance(value, list):
        for one in value:
            found += _models(one)
    return found


def _earlier(model: Members, arrays: list[Stored], target: Members) -> EarlierModel:
    scale = _number(target["scale"])
    alpha = np.frombuffer(arrays[int(_number(_object(model["alpha"])["array"]))].content, "<f8")
    gains = [None if model.get(name) is None else _number(model[name]) for name in ("last_gain", "next_gain")]
    with np.errstate(over="ignore"):
        return EarlierModel(
            log_marginal_likelihood=_number(model["log_marginal_likelihood"]),
            functions=len(alpha),
            candidates=int(_number(model["candidates"])),
            log_alphas=float(np.log(alpha).sum()),
            alphas=float(alpha.sum()),
            noise_sd=None if model["noise_sd"] is None else _number(model["noise_sd"]),
            unit=1.0 if target.get("logarithmic") else scale,
            log_units=_number(model["rows"]) * log(scale),
            last_gain=gains[0],
            next_gain=gains[1],
        )


def _fields(value: Json) -> Members:
    return _object(_object(value)["fields"])


def _object(value: Json) -> Members:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _number(value: Json) -> float:
    assert isinstance(value, int | float)
    return float(value)
