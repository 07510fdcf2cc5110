"""The members of a version's document are stored without names of classes.

One version at a time, at most some megabytes each, all in one transaction. Checkpoints are removed, since those held
names of classes too: jobs that were running begin anew. `sharpness`, of which one over it is the `temperature` now, is
written so in requests, plans, results and reports.

Both forms are read and written by what stands here, whatever the service's own code may become.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import TypeAlias
from uuid import UUID

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_03_documents"
down_revision: str | None = "2026_11_25_evidence"
branch_labels: str | None = None
depends_on: str | None = None


@dataclass(frozen=True)
class Stored:
    """An array as it is stored: its bytes in C order, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    content: bytes


Value: TypeAlias = "bool | int | float | str | Stored | Sequence[Value] | dict[str, Value] | None"
Members: TypeAlias = dict[str, Value]

POSTERIORS = sa.table("posteriors", sa.column("version_id", sa.Uuid()), sa.column("content", sa.LargeBinary()))
CHECKPOINTS = sa.table("job_checkpoints")
TEXTS = (("model_versions", ("report",)), ("training_jobs", ("request", "plan", "result")))

PREAMBLE = struct.Struct("<4sBBHIQI")
RECORDS, DOCUMENT = 2, 4
"""The content of a frame: records by the names of their classes, or members of a document."""

FUNCTIONS = {
    "ConstantFunction": "bias",
    "InputFunctions": "inputs",
    "StepFunctions": "steps",
    "FourierFunctions": "fourier",
    "SplineFunctions": "b_splines",
    "GaborFunctions": "gabor",
}
KERNELS = {
    "cauchy": "Cauchy", "city_block": "CityBlock", "gaussian": "Gaussian", "laplacian": "Laplacian",
    "matern_3_2": "Matern32", "matern_5_2": "Matern52", "rational_quadratic": "RationalQuadratic", "linear": "Linear",
    "polynomial": "Polynomial", "linear_spline": "LinearSpline", "cubic": "Cubic", "thin_plate": "ThinPlate",
    "sigmoid": "Sigmoid",
    "inverse_multiquadric": "InverseMultiquadric",
    "periodic": "Periodic",
}  # fmt: skip
LIKELIHOODS = {
    "gaussian": "GaussianNoise", "log_gaussian": "LogGaussian", "log_variance": "LogVariance", "student_t": "StudentT",
    "poisson": "Poisson", "bernoulli": "Bernoulli", "bernoulli_per_class": "BernoulliPerClass",
    "categorical": "Categorical", "one_against_rest": "OneAgainstRest",
}  # fmt: skip


def upgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    _rewrite(lambda content: _framed_document(_document(_with_arrays(*_read(content, RECORDS)))))
    connection = op.get_bind()
    for name, columns in TEXTS:
        table = sa.table(name, sa.column("id", sa.Uuid()), *(sa.column(column, sa.Text()) for column in columns))
        for column in columns:
            text = table.c[column]
            for row in connection.execute(sa.select(table.c.id, text).where(text.contains('"sharpness"'))).all():
                converted = json.dumps(
                    _with_temperatures(json.loads(row[1])), ensure_ascii=False, separators=(",", ":")
                )
                connection.execute(sa.update(table).where(table.c.id == row[0]).values({column: converted}))


def downgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    _rewrite(lambda content: _framed_records(_records(_document_of(content))))


def _rewrite(change: Callable[[bytes], bytes]) -> None:
    connection = op.get_bind()
    version, content = POSTERIORS.c.version_id, POSTERIORS.c.content
    ids: Sequence[UUID] = connection.execute(sa.select(version).order_by(version)).scalars().all()
    for one in ids:
        before = bytes(connection.execute(sa.select(content).where(version == one)).scalar_one())
        connection.execute(sa.update(POSTERIORS).where(version == one).values(content=change(before)))


# From records to a document


def _document(value: Value) -> Members:
    name, predictor = _record(value)
    _, encoding = _record(predictor["encoding"])
    inputs: Value = [_input(one) for one in _list(encoding["inputs"])]
    match name:
        case "SupervisedPredictor" | "Predictor":
            target = _record(encoding["target"])[1]
            task = "classification" if _list(target["classes"]) else "regression"
            target = {"logarithmic": False, "noise_column": None, **target}
            learned = _learned(predictor["learned"] if "learned" in predictor else predictor["model"])
            return {"task": task, "inputs": inputs, "target": target, "model": learned}
        case "ApproximationPredictor":
            terms = _record(predictor["expansion"])[1]
            return {"task": "approximation", "inputs": inputs, "model": terms}
        case "ImagePredictor":
            code = _record(predictor["code"])[1]
            path = [dict(zip(("functions", "error"), _list(one), strict=True)) for one in _list(code["path"])]
            return {
                "task": "image",
                "inputs": inputs,
                "model": {**code, "wavelets": _functions(code["wavelets"]), "path": path},
            }
        case "ComponentsPredictor":
            found = _record(predictor["components"])[1]
            model: Members = {
                "functions": _kernel_functions(found),
                "weights": found["weights"],
                "noise_variance": found["noise_variance"],
                "log_marginal_likelihood": found["evidence"],
                "log_densities": predictor["log_densities"],
            }
            return {"task": "components", "inputs": inputs, "model": model}
    raise ValueError(f"expected a predictor, got {name}")


def _input(value: Value) -> Members:
    name, fields = _record(value)
    return fields if name == "EncodedNumber" else {**fields, "kind": "category"}


def _learned(value: Value) -> Members:
    name, fields = _record(value)
    match name:
        case "Pool":
            return {"weights": fields["weights"], "members": [_learned(one) for one in _list(fields["members"])]}
        case "PerClass":
            likelihood = _record(fields["likelihood"])[1]
            return {"likelihood": likelihood, "members": [_learned(one) for one in _list(fields["members"])]}
    gains = {name: _finite(fields.get(name)) for name in ("last_gain", "next_gain")}
    augmentation, log_noise = fields.get("augmentation"), fields.get("log_noise")
    return {
        **{name: fields[name] for name in fields if name != "inputs"},
        **gains,
        "likelihood": _likelihood(fields["likelihood"]),
        "functions": [_functions(one) for one in _list(fields["functions"])],
        "amplitude": fields.get("amplitude"),
        "augmentation": None if augmentation is None else _augmentation(_record(augmentation)[1]),
        "evidence": _record(fields["evidence"])[1],
        "jitter": fields.get("jitter"),
        "log_noise": None if log_noise is None else _log_noise(_record(log_noise)[1]),
    }


def _finite(value: Value) -> Value:
    return None if isinstance(value, float) and not isfinite(value) else value


def _likelihood(value: Value) -> Members:
    _, fields = _record(value)
    converted = _with_temperatures(fields)
    assert isinstance(converted, dict)
    if fields["type"] in {"bernoulli", "categorical", "one_against_rest"}:
        return {"temperature": "learned", **converted}
    return dict(converted)


def _log_noise(fields: Members) -> Members:
    return {**fields, "model": _learned(fields["model"])}


def _augmentation(fields: Members) -> Members:
    return {"precisions": None, **fields, "functions": _functions(fields["functions"])}


def _functions(value: Value) -> Members:
    name, fields = _record(value)
    match name:
        case "KernelFunctions":
            return _kernel_functions(fields)
        case "GroupFunctions":
            return {"type": "group", "columns": fields["columns"], "of": _functions(fields["of"])}
    return {"type": FUNCTIONS[name], **fields}


def _kernel_functions(fields: Members) -> Members:
    """Without the rows that the centres stood on: those are beside the version, in its list of functions."""
    (name, kernel), bend = _record(fields["kernel"]), _record(fields["input_map"])[1]
    terms: Value = []
    if name == "Additive":
        pairs = zip(_list(kernel["alone"]), _list(kernel["shares"]), strict=True)
        terms = [{"input": alone, "share": share} for alone, share in pairs]
        kernel = _record(kernel["kernel"])[1]
    return {"type": "kernel", "kernel": kernel, "terms": terms, **bend, "centres": fields["centres"]}


def _with_temperatures(value: Value) -> Value:
    if isinstance(value, list):
        return [_with_temperatures(one) for one in value]
    if not isinstance(value, dict):
        return value
    converted = {name: _with_temperatures(one) for name, one in value.items() if name != "sharpness"}
    if "sharpness" in value:
        sharpness = value["sharpness"]
        converted["temperature"] = 1.0 / sharpness if isinstance(sharpness, int | float) else sharpness
    return converted


def _record(value: Value) -> tuple[str, Members]:
    match value:
        case {"record": str(name), "fields": dict(fields)}:
            return name, fields
    raise ValueError(f"expected a record, got {value!r}")


def _list(value: Value) -> Sequence[Value]:
    assert isinstance(value, list)
    return value


# From a document to records


def _records(document: Members) -> Value:
    model, inputs = _object(document["model"]), [_input_record(_object(one)) for one in _list(document["inputs"])]
    apart = _made("InputEncoding", inputs=inputs)
    match document["task"]:
        case "approximation":
            return _made("ApproximationPredictor", encoding=apart, expansion=_made("Expansion", **model))
        case "image":
            path = [[_object(one)["functions"], _object(one)["error"]] for one in _list(model["path"])]
            code = {**model, "wavelets": _functions_record(_object(model["wavelets"])), "path": path}
            return _made("ImagePredictor", encoding=apart, code=_made("ImageCode", **code))
        case "components":
            _, functions = _record(_functions_record(_object(model["functions"])))
            kept = {name: model[name] for name in ("weights", "noise_variance")}
            found = _made("Components", **functions, **kept, evidence=model["log_marginal_likelihood"])
            densities = model["log_densities"]
            return _made("ComponentsPredictor", encoding=apart, components=found, log_densities=densities)
    encoding = _made("Encoding", inputs=inputs, target=_made("EncodedTarget", **_object(document["target"])))
    width = sum(map(_width, _list(document["inputs"])))
    return _made("SupervisedPredictor", encoding=encoding, learned=_learned_record(model, width))


def _input_record(column: Members) -> Value:
    if column["kind"] == "category":
        return _made("EncodedCategory", **{name: column[name] for name in column if name != "kind"})
    return _made("EncodedNumber", **column)


def _width(value: Value) -> int:
    column = _object(value)
    size = len(_list(column["categories"])) if column["kind"] == "category" else 1
    return size + bool(column["indicator"])


def _learned_record(model: Members, inputs: int) -> Value:
    if "members" in model:
        members = [_learned_record(_object(one), inputs) for one in _list(model["members"])]
        if "weights" in model:
            return _made("Pool", members=members, weights=model["weights"])
        return _made("PerClass", members=members, likelihood=_typed(_object(model["likelihood"]), LIKELIHOODS))
    made: Members = {
        **model,
        "inputs": inputs,
        "likelihood": _typed(_object(model["likelihood"]), LIKELIHOODS),
        "functions": [_functions_record(_object(one)) for one in _list(model["functions"])],
        "evidence": _made("LogEvidence", **_object(model["evidence"])),
    }
    if model["augmentation"] is not None:
        kept = _object(model["augmentation"])
        functions = _functions_record(_object(kept["functions"]))
        made["augmentation"] = _made("Augmentation", **{**kept, "functions": functions})
    if model["log_noise"] is not None:
        noise = _object(model["log_noise"])
        made["log_noise"] = _made("LogNoise", **{**noise, "model": _learned_record(_object(noise["model"]), inputs)})
    return _made("Model", **made)


def _functions_record(functions: Members) -> Value:
    rest = {name: value for name, value in functions.items() if name != "type"}
    match functions["type"]:
        case "kernel":
            kernel = _typed(_object(functions["kernel"]), KERNELS)
            if terms := [_object(one) for one in _list(functions["terms"])]:
                alone, shares = ([one[name] for one in terms] for name in ("input", "share"))
                kernel = _made("Additive", kernel=kernel, alone=alone, shares=shares)
            bend = _made("InputMap", **{name: functions[name] for name in ("widths", "skew", "tail")})
            centres = functions["centres"]
            size = centres.shape[0] if isinstance(centres, Stored) else len(_list(centres))
            rows = Stored("<i8", (size,), struct.pack(f"<{size}q", *range(size)))
            return _made("KernelFunctions", kernel=kernel, input_map=bend, centres=centres, rows=rows)
        case "group":
            return _made("GroupFunctions", columns=functions["columns"], of=_functions_record(_object(functions["of"])))
    return _made(next(name for name, kind in FUNCTIONS.items() if kind == functions["type"]), **rest)


def _typed(fields: Members, names: dict[str, str]) -> Value:
    return _made(names[str(fields["type"])], **fields)


def _made(record: str, /, **fields: Value) -> Value:
    return {"record": record, "fields": fields}


def _object(value: Value) -> Members:
    assert isinstance(value, dict)
    return value


# Frames


def _read(data: bytes, content: int) -> tuple[Value, list[Stored]]:
    magic, version, flags, kind, header_size, body_size, _ = PREAMBLE.unpack_from(data)
    if (magic, version, kind) != (b"RLVC", 1, content) or len(data) != PREAMBLE.size + header_size + body_size:
        raise ValueError(f"expected a frame of content {content}, got {data[:24]!r}")
    header = json.loads(data[PREAMBLE.size : PREAMBLE.size + header_size])
    body = data[PREAMBLE.size + header_size :]
    body = zlib.decompress(body) if flags & 1 else body
    return header["value"], list(_arrays(header["arrays"], body))


def _arrays(described: list[tuple[str, list[int], int]], body: bytes) -> Iterator[Stored]:
    for dtype, shape, offset in described:
        yield Stored(dtype, tuple(shape), body[offset : offset + prod(shape) * int(dtype[-1])])


def _write(content: int, value: Value, arrays: Sequence[Stored]) -> bytes:
    described: list[Value] = []
    body = bytearray()
    for array in arrays:
        body += bytes(-len(body) % 8)
        described.append([array.dtype, list(array.shape), len(body)])
        body += array.content
    converted = {"arrays": described, "value": value}
    header = json.dumps(converted, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    covered = PREAMBLE.pack(b"RLVC", 1, 0, content, len(header), len(body), 0)[:-4]
    checksum = zlib.crc32(bytes(body), zlib.crc32(header, zlib.crc32(covered)))
    return b"".join((covered, struct.pack("<I", checksum), header, body))


def _with_arrays(value: Value, arrays: list[Stored]) -> Value:
    match value:
        case {"array": int(number)}:
            return arrays[number]
        case dict():
            return {name: _with_arrays(one, arrays) for name, one in value.items()}
        case list():
            return [_with_arrays(one, arrays) for one in value]
        case _:
            return value


def _framed_document(document: Members) -> bytes:
    """An array is called by the way to it through the members; one without numbers is a list."""
    arrays: dict[str, Stored] = {}

    def apart(value: Value, name: str) -> Value:
        match value:
            case Stored(shape=shape) if prod(shape):
                arrays[name] = value
                return {"array": name}
            case Stored(shape=shape):
                return [[] for _ in range(shape[0])] if len(shape) > 1 else []
            case dict():
                return {member: apart(inner, f"{name}/{member}") for member, inner in value.items()}
            case list():
                return [apart(inner, f"{name}/{place}") for place, inner in enumerate(value)]
        assert value is None or isinstance(value, bool | int | float | str)
        return value

    content: Value = {member: apart(value, member) for member, value in document.items()}
    value: Value = {"format_version": 2, "arrays": sorted(arrays), "content": content}
    return _write(DOCUMENT, value, [arrays[name] for name in sorted(arrays)])


def _document_of(data: bytes) -> Members:
    value, arrays = _read(data, DOCUMENT)
    assert isinstance(value, dict)
    names = [str(name) for name in _list(value["arrays"])]
    numbers = {name: number for number, name in enumerate(names)}

    def put_back(value: Value) -> Value:
        match value:
            case {"array": str(name)}:
                return arrays[numbers[name]]
            case dict():
                return {name: put_back(one) for name, one in value.items()}
            case list():
                return [put_back(one) for one in value]
            case _:
                return value

    return _object(put_back(value["content"]))


def _framed_records(value: Value) -> bytes:
    arrays: list[Stored] = []

    def apart(value: Value) -> Value:
        match value:
            case Stored():
                arrays.append(value)
                return {"array": len(arrays) - 1}
            case dict():
                return {member: apart(inner) for member, inner in value.items()}
            case list():
                return [apart(inner) for inner in value]
        assert value is None or isinstance(value, bool | int | float | str)
        return value

    converted = apart(value)
    return _write(RECORDS, converted, arrays)
