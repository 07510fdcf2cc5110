"""Rows of the data of versions, which reports predict."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from app.datasets.service import Row
from app.formats.json_table import read_json, typed_block
from app.prediction import PredictRequest, ServedVersion, outputs_of, predict
from app.prediction.json_codec import predictions_json
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import Json
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.components.report import ComponentsReport
from relevance_bayes.tasks.options import PredictOptions
from relevance_bayes.tasks.supervised.report import SupervisedReport

COMPONENTS = 2
"""The components that are the axes of a map."""


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows with their numbers in the dataset, as a block of the inputs of a version."""

    numbers: tuple[int, ...]
    block: Block


def predictable_rows(served: ServedVersion, rows: Sequence[Row]) -> SampledRows | None:
    """Return the rows without gaps, or all where the version fills gaps; None where there are none, or no inputs."""
    report = served.version.report
    if not isinstance(report, SupervisedReport | ComponentsReport):
        return None
    names = [name for name, _ in served.columns]
    kept = [(row.number, [row.cells.get(name) for name in names]) for row in rows]
    if report.plan.missing != "indicator":
        kept = [(number, cells) for number, cells in kept if None not in cells]
    if not kept:
        return None
    body = json.dumps({"names": names, "rows": [cells for _, cells in kept]}).encode()
    raw = read_json(body, max_columns=len(names), max_containers=len(kept) + 3)
    return SampledRows(tuple(number for number, _ in kept), typed_block(raw, served.columns)[0])


def component_rows(served: ServedVersion, rows: SampledRows) -> list[Json]:
    """Return the rows by their first components, and how new they are; none where one of them can't be predicted."""
    try:
        request = PredictRequest(rows.block, PredictOptions(components=COMPONENTS), refuses=True)
        prediction = predict(served, request)
    except InvalidDataError:
        return []
    content = b"".join(predictions_json(served, prediction, outputs=outputs_of(served.version)))
    predictions = json.loads(content)["predictions"]
    members = ("components", "novelty", "log_density")
    return [
        {"row": number, **{name: one[name] for name in members}}
        for number, one in zip(rows.numbers, predictions, strict=True)
    ]
