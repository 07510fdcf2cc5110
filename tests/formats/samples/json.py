"""Rows as a document, and predictions in one."""

import json
from collections.abc import Mapping, Sequence

from relevance_bayes.records.values import Cell

FlatRow = dict[str, Cell]
PARTS = frozenset({"total", "noise", "weights", "residual", "mean", "variance", "detail"})


def written(rows: Sequence[FlatRow]) -> bytes:
    return json.dumps({"rows": rows}).encode()


def read(content: bytes, names: Sequence[str]) -> list[FlatRow]:
    return [*map(flat, json.loads(content)["predictions"])]


def flat(row: Mapping[str, object]) -> FlatRow:
    """A prediction in JSON as the flat formats have it; a problem is its detail."""
    reported: FlatRow = {}
    for name, member in row.items():
        match name, member:
            case "probabilities", list(shares):
                reported |= {f"probability_{_name(share['label'])}": share["probability"] for share in shares}
            case "latent", list(latents):
                reported |= {f"latent_mean_{_name(one['label'])}": one["mean"] for one in latents}
                reported["latent_variance"] = latents[0]["variance"]
            case "components", list(components):
                reported |= {f"component_{place}": one for place, one in enumerate(components, start=1)}
            case "decision", dict(decision):
                reported |= {"decision": decision["label"], "expected_cost": decision["expected_cost"]}
            case _, dict(parts):
                reported |= {f"{name}_{part}": value for part, value in parts.items() if part in PARTS}
            case _, str() | int() | float() | bool() | None:
                reported[name] = member
    return reported


def _name(label: object) -> str:
    return label if isinstance(label, str) else json.dumps(label)
