"""Tables with categories, days and gaps are learned from as they are, whatever library made them."""

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pytest
import scipy
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA
from relevance_bayes.estimators.base import MissingValues, Table, table_column, typed_column
from relevance_bayes.estimators.fitting import FittedSupervised
from relevance_bayes.records.values import NumberForm
from relevance_bayes.tables.columns import CategoryArray, NumberArray, TimestampArray
from tests.library.estimators.tables import MAKERS, Cells, cells, litres

TABLE = cells()


@pytest.fixture(params=MAKERS)
def made(request: pytest.FixtureRequest) -> Callable[[Cells], object]:
    return MAKERS[str(request.param)]


@pytest.fixture(scope="module")
def model() -> RelevanceRegressor:
    return RelevanceRegressor(missing="indicator", effort="quick").fit(MAKERS["pyarrow"](TABLE), litres(TABLE))


def some(table: Cells, rows: "slice[int, int, None]") -> Cells:
    return {name: values[rows] for name, values in table.items()}


@pytest.mark.thorough
def test_a_table_of_each_library_gives_the_same_model(
    made: Callable[[Cells], object], model: RelevanceRegressor
) -> None:
    other = RelevanceRegressor(missing="indicator", effort="quick").fit(made(TABLE), litres(TABLE))
    assert other.report_.dataset_digest == model.report_.dataset_digest
    assert other.relevance_vectors_ == model.relevance_vectors_
    assert [column.kind for column in other.report_.plan.inputs] == [
        "number",
        "category",
        "boolean",
        "timestamp",
        "number",
    ]
    rows = made(some(TABLE, slice(3, 6)))
    np.testing.assert_array_equal(other.predict(rows), model.predict(MAKERS["pyarrow"](some(TABLE, slice(3, 6)))))
    assert other.feature_names_in_.tolist() == [*TABLE]
    assert other.n_features_in_ == len(TABLE)


def test_a_model_explains_a_table_and_its_intervals_contain_the_targets(model: RelevanceRegressor) -> None:
    complete = some(TABLE, slice(6, None))  # rows with missing values have intervals of mixtures
    table, target = MAKERS["pyarrow"](complete), litres(complete)
    mean, sd, interval = model.predict(table, return_std=True, return_interval=0.9)
    assert model.score(table, target) > 0.95
    degrees_of_freedom = model.members_[0].hyperparameters.degrees_of_freedom
    assert degrees_of_freedom is not None
    width = 2.0 * scipy.stats.t.ppf(0.95, degrees_of_freedom) * sd
    np.testing.assert_allclose(interval[:, 1] - interval[:, 0], width, rtol=1e-6)
    inside = (interval[:, 0] < target) & (target < interval[:, 1])
    assert 0.8 < inside.mean() < 1.0
    assert ((interval[:, 0] < mean) & (mean < interval[:, 1])).all()


def test_gaps_are_refused_on_request(made: Callable[[Cells], object]) -> None:
    with pytest.raises(ValueError, match=r"`temperature` has 1 missing value.*(?s:.*)`weather` has 1 missing value"):
        RelevanceRegressor(missing="error").fit(made(TABLE), litres(TABLE))


def test_gaps_have_an_indicator_by_default() -> None:
    model = RelevanceRegressor(effort="quick").fit(MAKERS["pyarrow"](TABLE), litres(TABLE))
    assert model.report_.plan.missing == "indicator"
    assert model.report_.plan.missing_reason.startswith(
        "Inputs `temperature` (1 row) and `weather` (1 row) with missing"
    )
    assert np.isfinite(model.predict(MAKERS["pyarrow"](TABLE))).all()


def test_rows_with_gaps_are_left_out_on_request() -> None:
    model = RelevanceRegressor(missing="drop_rows", effort="quick").fit(MAKERS["pyarrow"](TABLE), litres(TABLE))
    assert model.report_.rows_dropped == 2
    with pytest.warns(UserWarning, match="Row 4 of the data has no value of temperature and 1 more"):
        _, sd = model.predict(MAKERS["pyarrow"](TABLE), return_std=True)
    assert sd[3] > 2.0 * np.median(sd)
    model.set_params(nulls="error")
    with pytest.raises(ValueError, match="row 4 of the data, column temperature: `temperature` is missing"):
        model.predict(MAKERS["pyarrow"](TABLE))


def test_an_unknown_category_has_a_wider_interval_and_a_warning(model: RelevanceRegressor) -> None:
    rows = some(TABLE, slice(0, 2))
    rows["weather"] = ["rain", "snow"]
    note = re.escape(
        "No training row had 'snow' in row 2 of the data, column weather: rows with an unknown category are"
    )
    with pytest.warns(UserWarning, match=note):
        mean, sd = model.predict(MAKERS["pyarrow"](rows), return_std=True)
    assert np.isfinite(mean).all()
    rows["weather"] = ["rain", "rain"]
    _, known = model.predict(MAKERS["pyarrow"](rows), return_std=True)
    assert sd[0] == pytest.approx(known[0], rel=1e-12)
    assert sd[1] > known[1]


def test_an_unknown_category_is_refused_with_its_row_on_request(model: RelevanceRegressor) -> None:
    rows = some(TABLE, slice(0, 2))
    rows["weather"] = ["rain", "snow"]
    refusing = pickle.loads(pickle.dumps(model)).set_params(unknown_categories="error")
    with pytest.raises(ValueError, match=re.escape("row 2 of the data, column weather: `weather` is 'snow'")):
        refusing.predict(MAKERS["pyarrow"](rows))
    with pytest.raises(ValueError, match="Expected unknown_categories of 'average' or 'error', got 'other'"):
        refusing.set_params(unknown_categories="other").predict(MAKERS["pyarrow"](rows))


def test_a_classifier_predicts_for_unknown_categories() -> None:
    inputs = {name: values for name, values in TABLE.items() if name != "temperature"}
    warm = np.where(litres(TABLE) > 45.0, "much", "little")
    model = RelevanceClassifier(missing="indicator", effort="quick").fit(MAKERS["pyarrow"](inputs), warm)
    rows = some(inputs, slice(0, 2))
    rows["weather"] = ["snow", "hail"]
    with pytest.warns(UserWarning, match="No training row had 'snow' in row 1 of the data, column weather and 1 more"):
        np.testing.assert_allclose(model.predict_proba(MAKERS["pyarrow"](rows)).sum(axis=1), 1.0)


@pytest.mark.thorough
def test_a_fold_with_an_unknown_category_has_no_score_where_it_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(6)
    frame = pandas.DataFrame({"guests": random.normal(size=60), "site": ["rare", *["a", "b"] * 29, "a"]})
    model = RelevanceRegressor(effort="quick", unknown_categories="error")
    with pytest.warns(UserWarning, match="Scoring failed"):
        scores = cross_val_score(model, frame, frame["guests"] ** 2, cv=3)
    assert np.isnan(scores).tolist() == [True, False, False]
    with pytest.raises(ValueError, match="`site` is 'rare'"):
        cross_val_score(model, frame, frame["guests"] ** 2, cv=3, error_score="raise")
    with pytest.warns(UserWarning, match="No training row had 'rare'"):
        averaged = cross_val_score(RelevanceRegressor(effort="quick"), frame, frame["guests"] ** 2, cv=3)
    assert np.isfinite(averaged).all()


def test_a_column_of_another_kind_is_refused(model: RelevanceRegressor) -> None:
    rows = some(TABLE, slice(0, 2)) | {"temperature": ["warm", "cold"]}
    with pytest.raises(ValueError, match="`temperature` is 'warm' in row 1 of the data, expected a number"):
        model.predict(MAKERS["pyarrow"](rows))


def test_groups_stay_together_by_a_column_of_the_table() -> None:
    by_weather = {"type": "group", "column": "weather"}
    table = {name: values[6:] for name, values in TABLE.items()}
    model = RelevanceRegressor(split=by_weather, effort="quick").fit(MAKERS["pyarrow"](table), litres(TABLE)[6:])
    assert [column.name for column in model.report_.plan.ignored] == ["weather"]


@pytest.mark.thorough
def test_classes_of_texts_are_learned_and_components_found(made: Callable[[Cells], object]) -> None:
    inputs = {name: values for name, values in TABLE.items() if name != "weather"}
    warm = np.where(litres(TABLE) > 45.0, "much", "little")
    model = RelevanceClassifier(missing="indicator", effort="quick").fit(made(inputs), warm)
    assert model.classes_.tolist() == ["little", "much"]
    assert model.score(made(inputs), warm) > 0.8
    components = SparseKernelPCA(missing="indicator").fit(made(TABLE))
    assert components.transform(made(some(TABLE, slice(0, 4)))).shape == (4, 10)


@pytest.mark.parametrize("estimator", [RelevanceRegressor, RelevanceClassifier, SparseKernelPCA])
def test_an_estimator_that_is_not_fitted_has_no_document(estimator: type[RelevanceRegressor]) -> None:
    with pytest.raises(NotFittedError):
        _ = estimator().document_


def test_a_pickle_is_the_document_and_the_functions(model: RelevanceRegressor) -> None:
    data = pickle.dumps(model)
    again = pickle.loads(data)
    assert model.document_ in data
    assert again.document_ == model.document_
    assert again.relevance_vectors_ == model.relevance_vectors_
    assert len(model.relevance_vectors_) == model.report_.functions
    table = MAKERS["pyarrow"](TABLE)
    for one, other in zip(again.predict(table, return_std=True), model.predict(table, return_std=True), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.thorough
def test_a_document_predicts_the_table_of_its_training_with_columns_that_were_left_out(
    made: Callable[[Cells], object],
) -> None:
    numbered: Cells = {"row": [*range(60)], **{name: TABLE[name] for name in ("guests", "day")}, "site": ["a"] * 60}
    fitted = RelevanceRegressor(effort="quick").fit(made(numbered), litres(TABLE))
    assert [column.name for column in fitted.report_.plan.ignored] == ["row", "site"]
    again = RelevanceRegressor.from_document(fitted.document_)
    np.testing.assert_array_equal(again.predict(made(numbered)), fitted.predict(made(numbered)))
    turned = {name: numbered[name] for name in ("day", "guests")}
    np.testing.assert_array_equal(again.predict(made(turned)), fitted.predict(made(numbered)))
    with pytest.raises(ValueError, match="X has no column 'guests'"):
        again.predict(made({"day": numbered["day"]}))


def test_a_document_predicts_the_array_of_its_training_with_columns_that_were_left_out() -> None:
    random = np.random.default_rng(8)
    X = np.column_stack([np.ones(60), random.normal(size=60), random.normal(size=60), np.ones(60)])
    fitted = RelevanceRegressor(effort="quick").fit(X, np.sin(X[:, 1]) + X[:, 2])
    for version in (RelevanceRegressor.from_document(fitted.document_), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(version.predict(X), fitted.predict(X))
    again = RelevanceRegressor.from_document(fitted.document_)
    assert again.n_features_in_ == 3
    np.testing.assert_array_equal(again.predict(X[:, :3]), fitted.predict(X))
    with pytest.raises(ValueError, match="X has 2 features, but RelevanceRegressor is expecting at least 3"):
        again.predict(X[:, :2])
    with pytest.raises(ValueError, match="X has 3 features, but RelevanceRegressor is expecting 4"):
        again.fit(X, X[:, 1]).predict(X[:, :3])


@pytest.mark.parametrize("estimator", [RelevanceRegressor, RelevanceClassifier, SparseKernelPCA])
def test_a_fit_that_fails_leaves_no_model(estimator: type[RelevanceRegressor]) -> None:
    X = np.random.default_rng(9).normal(size=(40, 2))
    model = estimator().set_params(**({} if estimator is SparseKernelPCA else {"effort": "quick"}))
    model.fit(X, X[:, 0] > 0.0)
    with pytest.raises(ValueError, match="No column"):
        model.fit(np.ones((5, 1)), np.arange(5) > 2)
    with pytest.raises(NotFittedError):
        model.score(X, X[:, 0] > 0.0) if hasattr(model, "score") else model.transform(X)


def test_values_of_objects_are_read_by_their_kind() -> None:
    numbers = typed_column("n", np.array([1, 2.5, None, float("nan")], object))
    assert isinstance(numbers, NumberArray)
    np.testing.assert_array_equal(numbers.values, [1.0, 2.5, np.nan, np.nan])
    texts = typed_column("c", np.array(["b", None, "a"], object))
    assert isinstance(texts, CategoryArray)
    assert (texts.labels, texts.codes.tolist()) == (("a", "b"), [1, -1, 0])
    points = typed_column("t", np.array(["1970-01-01T00:00:01.5", "1970-01-02", None], object))
    assert isinstance(points, TimestampArray)
    np.testing.assert_array_equal(points.values, [1.5, 86_400.0, np.nan])
    ids = typed_column("id", np.array([2**60, 2**60 + 1]))
    assert isinstance(ids, CategoryArray)
    assert ids.labels == (str(2**60), str(2**60 + 1))


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
def test_categories_of_pandas_are_categories_also_where_they_are_numbers() -> None:
    pandas = import_module("pandas")
    zones = np.array([10, 20, 30])[np.arange(60) % 3]
    guests = [float(str(one)) for one in TABLE["guests"]]
    frame = pandas.DataFrame({"zone": pandas.Categorical(zones), "guests": guests})
    target = np.where(zones == 20, 5.0, 0.0) + 0.01 * np.array(guests)
    model = RelevanceRegressor(effort="quick").fit(frame, target)
    assert [(one.kind, one.categories) for one in model.report_.plan.inputs] == [
        ("category", ("10", "20", "30")),
        ("number", ()),
    ]
    assert model.score(frame, target) > 0.9
    np.testing.assert_array_equal(model.predict(frame.assign(zone=zones)), model.predict(frame))
    gaps = frame.assign(zone=pandas.Categorical([None, *zones[1:].tolist()]))
    filled = RelevanceRegressor(effort="quick", missing="indicator").fit(gaps, target)
    assert filled.report_.plan.inputs[0].categories == ("10", "20", "30")


def test_infinity_and_durations_are_refused() -> None:
    with pytest.raises(ValueError, match="`n` contains infinity"):
        typed_column("n", np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="`d` has durations"):
        typed_column("d", np.array([1, 2], "timedelta64[s]"))
    with pytest.raises(TypeError, match="`o` has a dict"):
        typed_column("o", np.array([{}, 1], object))


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
@pytest.mark.parametrize("names", [[0, 1], [2019, 2020], [1, "weather"]], ids=["positions", "years", "mixed"])
def test_names_may_be_integers_beside_texts(names: list[object]) -> None:
    pandas = import_module("pandas")
    frame = pandas.DataFrame({"guests": TABLE["guests"], "weather": [one or "rain" for one in TABLE["weather"]]})
    target = litres(TABLE)
    model = RelevanceRegressor(effort="quick").fit(frame, target)
    renamed = frame.set_axis(names, axis="columns")
    other = RelevanceRegressor(effort="quick").fit(renamed, target)
    assert [(one.name, one.kind) for one in other.report_.plan.inputs] == [
        (str(names[0]), "number"),
        (str(names[1]), "category"),
    ]
    np.testing.assert_array_equal(other.predict(renamed), model.predict(frame))
    assert other.n_features_in_ == 2
    assert not hasattr(other, "feature_names_in_")
    with pytest.raises(ValueError, match=r"X has 1 features, but RelevanceRegressor is expecting 2"):
        other.predict(renamed.iloc[:, :1].astype(str))


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
def test_integer_names_of_numbers_are_those_of_an_array() -> None:
    pandas = import_module("pandas")
    matrix = np.random.default_rng(0).normal(size=(30, 2))
    model = RelevanceRegressor(effort="quick").fit(pandas.DataFrame(matrix), matrix[:, 0])
    assert {one.name for one in model.report_.plan.inputs} <= {"x0", "x1"}
    with pytest.raises(ValueError, match="Expected columns with different names"):
        RelevanceRegressor().fit(pandas.DataFrame([["a", 1.0], ["b", 2.0]], columns=["0", 0]), [1.0, 2.0])


@pytest.mark.parametrize("library", [name for name in MAKERS if name != "pandas"])
def test_a_null_is_a_gap_and_nan_is_refused_as_the_service_does(library: str) -> None:
    table = MAKERS[library]({"x": [1.0, None, float("nan")]})
    with pytest.raises(
        ValueError, match="`x` is NaN in row 3 of the data, expected a finite number; null is a missing value"
    ):
        RelevanceRegressor().fit(table, [1.0, 2.0, 3.0])
    column = table_column(MAKERS[library]({"x": [1.0, None, 2.0]}), "x")  # type: ignore[arg-type]  # of any library
    assert isinstance(column, NumberArray)
    np.testing.assert_array_equal(column.values, [1.0, np.nan, 2.0])


def test_a_null_in_a_dictionary_of_pyarrow_is_a_gap() -> None:
    column = pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode()])
    texts = table_column(pa.table({"t": column}), "t")
    assert isinstance(texts, CategoryArray)
    assert (texts.labels, texts.codes.tolist()) == (("a", "b"), [0, -1, 1])
    with pytest.raises(ValueError, match="y has a missing value in row 2 of the data"):
        RelevanceClassifier().fit([[1.0], [2.0], [3.0]], column)


def table_of(made: Callable[[Cells], object], table: Cells) -> Table:
    found = made(table)
    assert isinstance(found, Table)
    return found


def test_words_for_missing_values_are_gaps_beside_numbers_booleans_and_times(made: Callable[[Cells], object]) -> None:
    moments: list[object] = ["2026-01-01", "2026-01-02", "NA", " n/a ", "?", "2026-01-04"]
    column = table_column(table_of(made, {"day": moments}), "day", missing=MissingValues())
    assert isinstance(column, TimestampArray)
    assert np.isnan(column.values).tolist() == [False, False, True, True, True, False]
    texts = table_column(table_of(made, {"code": ["NA", "SE", "NO"]}), "code", missing=MissingValues())
    assert isinstance(texts, CategoryArray)
    assert texts.labels == ("NA", "NO", "SE")


@pytest.mark.skipif(find_spec("pandas") is None, reason="only pandas has columns of objects")
def test_a_column_of_objects_has_the_gaps_of_the_same_csv() -> None:
    cells: list[object] = [1, "NA", 2.5, "null", "", "-", 4]
    column = typed_column("x", np.array(cells, dtype=object), missing=MissingValues())
    assert isinstance(column, NumberArray)
    np.testing.assert_array_equal(column.values, [1.0, np.nan, 2.5, np.nan, np.nan, np.nan, 4.0])
    with pytest.raises(ValueError, match="`x` is 'NA' in row 2 of the data, expected a number"):
        typed_column("x", np.array(cells, dtype=object), missing=MissingValues.of(["-", ""]))


def test_listed_missing_values_replace_the_defaults_in_every_column(made: Callable[[Cells], object]) -> None:
    missing = MissingValues.of(["-9", "se"])
    table = table_of(made, {"x": [1.0, -9.0, 3.0], "n": [-9, 5, 6], "code": ["NA", "SE", "NO"]})
    read = {name: table_column(table, name, missing=missing) for name in ("x", "n", "code")}
    assert isinstance(read["x"], NumberArray)
    assert isinstance(read["n"], NumberArray)
    assert isinstance(read["code"], CategoryArray)
    np.testing.assert_array_equal(read["x"].values, [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(read["n"].values, [np.nan, 5.0, 6.0])
    assert [read["code"].labels[code] if code >= 0 else None for code in read["code"].codes] == ["NA", None, "NO"]


@pytest.mark.thorough
def test_an_estimator_learns_and_predicts_with_its_missing_values() -> None:
    table = cells()
    table["temperature"][7] = None
    marked = {**table, "temperature": [-99.0 if one is None else one for one in table["temperature"]]}
    model = RelevanceRegressor(effort="quick").fit(MAKERS["pyarrow"](table), litres(table))
    other = RelevanceRegressor(effort="quick", missing_values=["-99"]).fit(MAKERS["pyarrow"](marked), litres(table))
    assert other.report_.dataset_digest == model.report_.dataset_digest
    np.testing.assert_array_equal(
        other.predict(MAKERS["pyarrow"](some(marked, slice(2, 9)))),
        model.predict(MAKERS["pyarrow"](some(table, slice(2, 9)))),
    )
    array = np.column_stack([np.arange(40.0), np.tile([1.0, 2.0, 4.0, -99.0], 10)])
    gaps = np.where(array == -99.0, np.nan, array)
    first = SparseKernelPCA(components=1, missing_values=["-99"]).fit(array)
    np.testing.assert_array_equal(first.transform(array), SparseKernelPCA(components=1).fit(gaps).transform(gaps))


def test_missing_values_are_a_list_of_texts() -> None:
    with pytest.raises(ValueError, match="Expected missing_values as a list of texts, got 'NA'"):
        RelevanceRegressor(missing_values="NA").fit(MAKERS["pyarrow"](TABLE), litres(TABLE))


def test_a_document_keeps_the_forms_of_numbers_in_files() -> None:
    table = some(cells(), slice(6, 40))
    model = RelevanceRegressor(effort="quick", inputs=["guests", "temperature"]).fit(
        MAKERS["pyarrow"](table), litres(table)
    )
    version = FittedSupervised.read(model.document_)
    exported, form = version.exported, NumberForm("€", thousands=",")
    plan = exported.report.plan
    inputs = tuple(replace(one, form=form if one.name == "guests" else None) for one in plan.inputs)
    written = replace(exported, report=replace(exported.report, plan=replace(plan, inputs=inputs)))
    document = FittedSupervised.of(written, version.vectors).document
    assert FittedSupervised.read(document).exported.report.plan.inputs == inputs
    assert b"number_forms" not in model.document_
    assert b"number_forms" in document
