"""A small table as a body in each format, and answers in each format as rows again."""

import csv
import io
import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from app.api.negotiation import ROW_TYPES, RowFormat
from app.domain.tables import Cell

MEDIA_TYPES: Mapping[RowFormat, str] = {coded: media_type for media_type, coded in ROW_TYPES.items()}

FlatRow = dict[str, Cell]


def written(coded: RowFormat, rows: Sequence[FlatRow]) -> bytes:
    """Rows that all have the same columns; in npy None is NaN, and all else a number."""
    names = [*rows[0]]
    match coded:
        case "json":
            return json.dumps({"rows": rows}).encode()
        case "ndjson":
            return "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        case "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([["" if cell is None else cell for cell in row.values()] for row in rows])
            return text.getvalue().encode()
        case "arrow":
            return arrow_stream(pa.Table.from_pylist([*map(dict, rows)]))
        case "parquet":
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist([*map(dict, rows)]), sink)
            return sink.getvalue().to_pybytes()
        case "npy":
            return npy(np.array([[np.nan if cell is None else cell for cell in row.values()] for row in rows], float))


def arrow_stream(table: pa.Table, options: pa.ipc.IpcWriteOptions | None = None) -> bytes:
    """A table in Arrow's own format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue().to_pybytes()


def npy(array: ArrayLike) -> bytes:
    """An array as a file."""
    body = io.BytesIO()
    np.save(body, array, allow_pickle=True)
    return body.getvalue()


def read(coded: RowFormat, content: bytes, names: Sequence[str]) -> list[FlatRow]:
    """Predictions as flat rows; those of npy are called `names`."""
    match coded:
        case "json":
            return [*map(flat, json.loads(content)["predictions"])]
        case "ndjson":
            return [flat(json.loads(line)) for line in content.splitlines()]
        case "csv":
            return [
                {name: _cell(text) for name, text in row.items()}
                for row in csv.DictReader(io.StringIO(content.decode()))
            ]
        case "arrow":
            return pa.ipc.open_stream(content).read_all().to_pylist()
        case "parquet":
            return pq.read_table(pa.BufferReader(content)).to_pylist()
        case "npy":
            matrix = np.load(io.BytesIO(content), allow_pickle=False)
            assert matrix.shape[1] == len(names)
            return [
                {name: None if np.isnan(cell) else cell for name, cell in zip(names, row, strict=True)}
                for row in matrix.tolist()
            ]


def _cell(text: str) -> Cell:
    try:
        return float(text)
    except ValueError:
        return {"true": True, "false": False, "": None}.get(text, text)


def flat(row: Mapping[str, object]) -> FlatRow:
    """A prediction in JSON as the flat formats have it; a problem is its detail."""
    told: FlatRow = {}
    for name, member in row.items():
        match name, member:
            case "probabilities", list(shares):
                told |= {f"probability_{_name(share['label'])}": share["probability"] for share in shares}
            case "latent", list(latents):
                told |= {f"latent_mean_{_name(one['label'])}": one["mean"] for one in latents}
                told["latent_variance"] = latents[0]["variance"]
            case "components", list(components):
                told |= {f"component_{place}": one for place, one in enumerate(components, start=1)}
            case "decision", dict(decision):
                told |= {"decision": decision["label"], "expected_cost": decision["expected_cost"]}
            case _, dict(parts):
                told |= {f"{name}_{part}": value for part, value in parts.items() if part in PARTS}
            case _, str() | int() | float() | bool() | None:
                told[name] = member
    return told


PARTS = frozenset({"total", "noise", "weights", "residual", "mean", "variance", "detail"})


def _name(label: object) -> str:
    return label if isinstance(label, str) else json.dumps(label)
