"""A model that an estimator fits and one that the service trains are the same; documents move between them."""

import hashlib
import json
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from relevance_bayes.client.responses import ComponentsJob, Dataset, Json, RegressionVersion
from relevance_bayes.core.types import Array
from relevance_bayes.documents.schema import DOCUMENT_NAME
from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA
from tests.end_to_end.deployment import Api
from tests.library.estimators.tables import Cells, cells, litres

OF_ORIGIN = frozenset({"dataset_id", "seconds"})
"""Members of a report that depend on where and when a version was trained."""


def table_of(found: Cells) -> pa.Table:
    return pa.table({**found, "litres": litres(found)})


def uploaded(api: Api, table: pa.Table, directory: Path) -> Dataset:
    file = directory / "kiosk.parquet"
    pq.write_table(table, file)
    return api.calls.upload(file)


def content(document: bytes) -> dict[str, object]:
    """The members of an archive, without what depends on origin."""
    with zipfile.ZipFile(BytesIO(document)) as archive:
        found: dict[str, object] = {name: archive.read(name) for name in archive.namelist() if name != DOCUMENT_NAME}
        described = json.loads(archive.read(DOCUMENT_NAME))
    report = {name: value for name, value in described.pop("report").items() if name not in OF_ORIGIN}
    del described["source"]
    return {**found, "report": report, **described}


@dataclass(frozen=True, eq=False)
class Named:
    """A series of pandas, as far as an estimator needs one."""

    values: Array
    name: str

    def to_numpy(self) -> Array:
        return self.values

    def __len__(self) -> int:
        return len(self.values)


def test_an_estimator_and_the_service_learn_the_same_bytes(api: Api, tmp_path: Path) -> None:
    found, target = cells(), Named(litres(cells()), "litres")
    dataset = uploaded(api, table_of(found), tmp_path)
    options: dict[str, Json] = {"missing": "indicator", "effort": "normal", "holdout": 0.1}
    api.train(dataset_id=dataset.id, model="same", target="litres", task="regression", **options)
    model = RelevanceRegressor(missing="indicator", holdout=0.1).fit(pa.table(found), target)
    exported = api.calls.export("same", 1, "npz")
    ours, theirs = content(model.document_), content(exported)
    assert model.report_.dataset_digest == dataset.digest
    assert ours == theirs
    assert len(ours) > 8
    assert list(model.relevance_vectors_) == list(api.calls.relevance_vectors("same", 1))


def test_another_order_of_rows_and_columns_trains_the_same_model_to_the_bit(api: Api, tmp_path: Path) -> None:
    found = cells()
    table = table_of(found)
    order = np.random.default_rng(0).permutation(len(table))
    other = table.select(table.column_names[::-1]).take(order)
    options: dict[str, Json] = {"missing": "indicator", "effort": "normal", "holdout": 0.1}
    documents = []
    for name, one in (("stored", table), ("shuffled", other)):
        dataset = uploaded(api, one, tmp_path)
        api.train(dataset_id=dataset.id, model=name, target="litres", task="regression", **options)
        documents.append(content(api.calls.export(name, 1, "npz")))
    before, after = documents
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == ["report"]
    here, there = before["report"], after["report"]
    assert isinstance(here, dict)
    assert isinstance(there, dict)
    assert [here[name] for name in ("score", "metrics")] == [there[name] for name in ("score", "metrics")]
    rows = [[one.row for one in api.calls.relevance_vectors(name, 1)] for name in ("stored", "shuffled")]
    assert rows[0] == [None if row is None else order[row] for row in rows[1]]
    model, again = RelevanceRegressor.pull(api.calls, "stored"), RelevanceRegressor.pull(api.calls, "shuffled")
    np.testing.assert_array_equal(model.predict(table)[order], again.predict(other))


def test_classes_and_components_are_the_same(api: Api, tmp_path: Path) -> None:
    found = cells()
    dataset = uploaded(api, table_of(found), tmp_path)
    options: dict[str, Json] = {"missing": "indicator", "effort": "quick"}
    api.train(dataset_id=dataset.id, model="weather", target="holiday", **options, task="classification")
    inputs = {name: values for name, values in {**found, "litres": litres(found)}.items() if name != "holiday"}
    classes = Named(np.array(found["holiday"]), "holiday")
    model = RelevanceClassifier(missing="indicator", effort="quick").fit(pa.table(inputs), classes)
    ours, theirs = content(model.document_), content(api.calls.export("weather", 1, "npz"))
    # The target is the last column of an estimator's table: the digest of the table depends on the order of columns.
    for one in (ours, theirs):
        report = one["report"]
        assert isinstance(report, dict)
        del report["dataset_digest"]
    assert ours == theirs
    request: dict[str, Json] = {
        "dataset_id": dataset.id,
        "model": "parts",
        "task": "components",
        "missing": "indicator",
    }
    trainings = api.calls.trainings
    job = trainings.wait(trainings.submit(request, of=ComponentsJob).id, of=ComponentsJob)
    assert job.state == "succeeded", job
    components = SparseKernelPCA(missing="indicator").fit(table_of(found))
    assert content(components.document_) == content(api.calls.export("parts", 1, "npz"))
    pulled = SparseKernelPCA.pull(api.calls, "parts")
    np.testing.assert_array_equal(pulled.transform(table_of(found)), components.transform(table_of(found)))
    assert pulled.relevance_vectors_ == components.relevance_vectors_


def test_a_pushed_model_is_pulled_and_predicts_the_same_bits(api: Api) -> None:
    found = cells()
    table = pa.table(found)
    model = RelevanceRegressor(missing="indicator", effort="quick").fit(table, litres(found))
    version = model.push(api.calls, "pushed")
    assert isinstance(version, RegressionVersion)
    assert version.imported is not None
    assert version.imported.digest == hashlib.sha256(model.document_).hexdigest()
    pulled = RelevanceRegressor.pull(api.calls, "pushed")
    assert pulled.document_ == api.calls.export("pushed", version.version, "npz")
    assert api.calls.models["pushed"].pull(of=RelevanceRegressor).document_ == pulled.document_
    theirs, ours = content(pulled.document_), content(model.document_)
    assert isinstance(theirs["report"], dict)
    assert theirs["report"].pop("imported")["digest"] == version.imported.digest
    assert isinstance(ours["report"], dict)
    assert ours["report"].pop("imported") is None
    assert theirs == ours
    for one, other in zip(pulled.predict(table, return_std=True), model.predict(table, return_std=True), strict=True):
        np.testing.assert_array_equal(one, other)
    rows: dict[str, Json] = {"columns": {name: json.loads(json.dumps(found[name][:9], default=str)) for name in found}}
    predicted = api.calls.predict("pushed", rows).predictions
    mean, sd = model.predict(table.slice(0, 9), return_std=True)
    assert [one.mean for one in predicted] == mean.tolist()
    assert [one.sd for one in predicted] == sd.tolist()
