"""Rows that trainings of every task leave in the database name no class of the code that made them."""

from pathlib import Path
from random import Random

import numpy as np

from app.database.engine import make_engine
from app.settings import Settings
from relevance_bayes.client.encodings import EncodeOptions, encode
from relevance_bayes.client.responses import ApproximationJob, ComponentsJob, Json
from tests.class_names import stored_class_names
from tests.end_to_end.deployment import Api


def test_trainings_of_every_task_leave_no_name_of_a_class(api: Api, tmp_path: Path) -> None:
    draw = Random(0)
    x: list[Json] = [draw.gauss(0.0, 1.0) for _ in range(30)]
    columns: dict[str, list[Json]] = {
        "x": x,
        "c": [draw.gauss(0.0, 1.0) for _ in x],
        "y": [draw.gauss(0.0, 1.0) for _ in x],
        "label": ["abc"[row % 3] for row in range(len(x))],
    }
    dataset = api.calls.create_dataset(columns, name="stored").id
    submit, finished = api.calls.trainings.submit, api.calls.trainings.wait
    api.train(dataset_id=dataset, target="y", inputs=["x"], model="stored-numbers", validation={"folds": 2})
    api.train(dataset_id=dataset, target="label", inputs=["x"], model="stored-classes")
    terms: dict[str, Json] = {"task": "approximation", "coefficients": "c", "inputs": ["x"], "width": 1.0}
    approximation = submit({**terms, "dataset_id": dataset, "model": "stored-terms"}, of=ApproximationJob)
    rows: dict[str, Json] = {"task": "components", "inputs": ["x", "c"], "model": "stored-rows"}
    components = submit({**rows, "dataset_id": dataset}, of=ComponentsJob)
    assert finished(approximation.id, of=ApproximationJob).state == "succeeded"
    assert finished(components.id, of=ComponentsJob).state == "succeeded"
    np.save(tmp_path / "image.npy", np.add.outer(np.sin(np.arange(12.0)), np.arange(9.0) % 3))
    encode(api.calls, tmp_path / "image.npy", model="stored-image", options=EncodeOptions(max_functions=4))
    engine = make_engine(Settings(database_url=api.database_url).url)
    try:
        assert stored_class_names(engine) == {}
    finally:
        engine.dispose()
