import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.scoring import PredictedClasses, PredictedNumbers
from benchmarks.tables.catalogue import Task
from benchmarks.tables.ours import defaults
from benchmarks.tables.splits import divided
from benchmarks.tables.table import DataTable
from examples.demo.service import running_service
from relevance_bayes.client import connect
from relevance_bayes.client.responses import Json
from relevance_bayes.core.types import Indices
from tests.benchmarks.tables.small import small_table


def written(table: DataTable, rows: Indices, path: Path) -> list[Json]:
    """A CSV file of some rows, the target last; the same rows without it."""
    columns = [
        [column.labels[int(value)] if column.labels else value for value in column.values[rows].tolist()]
        for column in table.columns
    ]
    targets = [table.classes[int(value)] if table.classes else value for value in table.t[rows].tolist()]
    with path.open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream)
        lines.writerow([*(column.name for column in table.columns), "target"])
        lines.writerows(zip(*columns, targets, strict=True))
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["regression", pytest.param("classification", marks=pytest.mark.thorough)])
def test_the_predictions_are_those_of_a_job_that_names_data_and_target_alone(task: Task, tmp_path: Path) -> None:
    names: list[Json] = ["x", "colour"]
    with running_service(tmp_path / "test.db", log=tmp_path / "server.log") as url, connect(url) as calls:
        split = divided(small_table(task), 0)
        written(split.table, split.learned, tmp_path / f"{task}.csv")
        dataset = calls.upload(tmp_path / f"{task}.csv", name=task).id
        job = calls.trainings.wait(calls.trainings.submit({"dataset_id": dataset, "target": "target"}).id)
        assert job.state == "succeeded", job
        rows = written(split.table, split.measured, tmp_path / "measured.csv")
        served = calls.predict(task, {"names": names, "rows": rows}).predictions
        predicted = defaults(split).predicted
        if isinstance(predicted, PredictedNumbers):
            # A mean near 0 is a sum of terms that cancel: its rounding is relative to these.
            rounding = 1e-11 * float(np.abs(predicted.mean).max())
            assert [one.mean for one in served] == pytest.approx(predicted.mean.tolist(), rel=1e-9, abs=rounding)
            assert predicted.distribution is not None
            assert [one.sd for one in served] == pytest.approx(predicted.distribution.sd.tolist(), rel=1e-9)
        else:
            assert isinstance(predicted, PredictedClasses)
            probabilities = [[each.probability for each in one.probabilities or ()] for one in served]
            assert np.sort(probabilities, axis=1) == pytest.approx(np.sort(predicted.probabilities, axis=1), rel=1e-9)
