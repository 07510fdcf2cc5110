"""Tables with categories, days and gaps are learned from as they are, whatever library made them."""

import pickle
import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA
from relevance_bayes.estimators.columns import typed_column
from relevance_bayes.tables.columns import CategoryColumn, NumberColumn, TimestampColumn
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
    table, target = MAKERS["pyarrow"](TABLE), litres(TABLE)
    mean, sd, interval = model.predict(table, return_std=True, return_interval=0.9)
    assert model.score(table, target) > 0.95
    np.testing.assert_allclose(interval[:, 1] - interval[:, 0], 2 * 1.6448536 * sd, rtol=1e-6)
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
    with pytest.raises(ValueError, match="row 3, column temperature: `temperature` is missing"):
        model.predict(MAKERS["pyarrow"](TABLE))


def test_an_unknown_category_has_a_wider_interval_and_a_warning(model: RelevanceRegressor) -> None:
    rows = some(TABLE, slice(0, 2))
    rows["weather"] = ["rain", "snow"]
    note = re.escape("No training row had 'snow' in row 1, column weather: rows with an unknown category are")
    with pytest.warns(UserWarning, match=note):
        mean, sd = model.predict(MAKERS["pyarrow"](rows), return_std=True)
    assert np.isfinite(mean).all()
    rows["weather"] = ["rain", "rain"]
    _, known = model.predict(MAKERS["pyarrow"](rows), return_std=True)
    assert sd[0] == known[0]
    assert sd[1] > known[1]


def test_an_unknown_category_is_refused_with_its_row_on_request(model: RelevanceRegressor) -> None:
    rows = some(TABLE, slice(0, 2))
    rows["weather"] = ["rain", "snow"]
    refusing = pickle.loads(pickle.dumps(model)).set_params(unknown_categories="error")
    with pytest.raises(ValueError, match=re.escape("row 1, column weather: `weather` is 'snow'")):
        refusing.predict(MAKERS["pyarrow"](rows))
    with pytest.raises(ValueError, match="Expected unknown_categories of 'average' or 'error', got 'other'"):
        refusing.set_params(unknown_categories="other").predict(MAKERS["pyarrow"](rows))


def test_a_classifier_predicts_for_unknown_categories() -> None:
    inputs = {name: values for name, values in TABLE.items() if name != "temperature"}
    warm = np.where(litres(TABLE) > 45.0, "much", "little")
    model = RelevanceClassifier(missing="indicator", effort="quick").fit(MAKERS["pyarrow"](inputs), warm)
    rows = some(inputs, slice(0, 2))
    rows["weather"] = ["snow", "hail"]
    with pytest.warns(UserWarning, match="No training row had 'snow' in row 0, column weather and 1 more"):
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
    with pytest.raises(ValueError, match="`temperature` is 'warm' in row 0, expected a number"):
        model.predict(MAKERS["pyarrow"](rows))


def test_groups_stay_together_by_a_column_of_the_table() -> None:
    by_weather = {"type": "group", "column": "weather"}
    table = {name: values[6:] for name, values in TABLE.items()}
    model = RelevanceRegressor(split=by_weather, effort="quick").fit(MAKERS["pyarrow"](table), litres(TABLE)[6:])
    assert [column.name for column in model.report_.plan.ignored] == ["weather"]


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
    assert isinstance(numbers, NumberColumn)
    np.testing.assert_array_equal(numbers.values, [1.0, 2.5, np.nan, np.nan])
    texts = typed_column("c", np.array(["b", None, "a"], object))
    assert isinstance(texts, CategoryColumn)
    assert (texts.labels, texts.codes.tolist()) == (("a", "b"), [1, -1, 0])
    points = typed_column("t", np.array(["1970-01-01T00:00:01.5", "1970-01-02", None], object))
    assert isinstance(points, TimestampColumn)
    np.testing.assert_array_equal(points.values, [1.5, 86_400.0, np.nan])
    ids = typed_column("id", np.array([2**60, 2**60 + 1]))
    assert isinstance(ids, CategoryColumn)
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
