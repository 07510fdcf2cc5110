"""Drift of a real service: two processes that share a directory see it in the rows of both, as a calculation of the
test does."""

from bisect import bisect_left
from math import log, sin
from pathlib import Path
from random import Random

import pytest

from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json
from relevance_bayes.records.reports import Histogram, NumberHistogram
from tests.conftest import migrated_database
from tests.end_to_end.deployment import Api, deployed
from tests.expositions import Scrape, scrape
from tests.waiting import until

Rows = dict[str, list[float | str]]

SERIES = {"owner": "local", "model": "shop", "version": "1"}


def drawn(number: int, *, seed: int, shift: float = 0.0, rain: float = 0.3) -> Rows:
    random = Random(seed)
    heat = [random.gauss(20 + shift, 5) for _ in range(number)]
    weather = ["rain" if random.random() < rain else "sun" for _ in range(number)]
    sold = [20 * sin(t / 3) - 20 * (w == "rain") + random.gauss(0, 2) for t, w in zip(heat, weather, strict=True)]
    return {"heat": [*heat], "weather": [*weather], "sold": [*sold]}


def counted(histogram: Histogram, values: list[float | str]) -> tuple[list[int], list[int]]:
    """The training rows and these by their bins, those of other categories and missing values included."""
    if isinstance(histogram, NumberHistogram):
        places = [bisect_left(histogram.edges, float(value)) for value in values]
        expected = [*histogram.counts, histogram.missing]
    else:
        labels = [one.label for one in histogram.categories]
        places = [labels.index(str(value)) for value in values]
        expected = [*(one.count for one in histogram.categories), histogram.other, histogram.missing]
    return expected, [places.count(place) for place in range(len(expected))]


def psi(histogram: Histogram, values: list[float | str]) -> float:
    expected, observed = counted(histogram, values)
    bins, total = len(expected), 0.0
    for one, other in zip(expected, observed, strict=True):
        p, q = (one + 0.5) / (sum(expected) + bins / 2), (other + 0.5) / (sum(observed) + bins / 2)
        total += q * log(q / p) + p * log(p / q)
    return total


def scraped(api: Api) -> Scrape:
    return scrape(api.http.get("/metrics").raise_for_status().text)


def of_models(found: Scrape) -> dict[str, float]:
    return {name: value for name, value in found.values.items() if 'model="' in name}


def predicted(calls: Client, rows: Rows) -> list[float | str]:
    sent: Json = {"heat": [*rows["heat"]], "weather": [*rows["weather"]]}
    return [float(one.mean or 0) for one in calls.predict("shop", {"columns": sent}).predictions]


def test_two_processes_report_the_drift_of_the_rows_of_both(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    shared = {"RELEVANCE_METRICS_DIRECTORY": str(tmp_path / "metrics")}
    trained_on = drawn(600, seed=1)
    with migrated_database("sqlite", request, tmp_path) as url, deployed(url, tmp_path) as deployment:
        deployment.start("worker")
        one, other = deployment.api(**shared), deployment.api(**shared)
        dataset = one.calls.create_dataset(trained_on, name="shop")
        one.train(dataset_id=dataset.id, target="sold", model="shop")
        baseline = one.calls.registry.baseline("shop", 1)
        assert baseline.target is not None
        assert baseline.rows == 600
        for histogram in (*baseline.inputs, baseline.target):
            expected, observed = counted(histogram, trained_on[histogram.name])
            assert expected == observed

        usual, drifted = [drawn(400, seed=2), drawn(300, seed=3)], drawn(300, seed=4, shift=25, rain=0.3)
        means = [*predicted(one.calls, usual[0]), *predicted(other.calls, usual[1])]
        until(lambda: of_models(scraped(one)) == of_models(scraped(other)) != {}, seconds=30)
        before = scraped(one)
        assert before.value("relevance_monitored_rows", **SERIES) == 700
        assert (before.value("relevance_input_drift_psi", **SERIES, input="heat") or 1) < 0.1
        assert (before.value("relevance_prediction_drift_psi", **SERIES) or 1) < 0.1
        assert (before.value("relevance_outside_support_ratio", **SERIES) or 0) < 0.05

        means += predicted(other.calls, drifted)
        until(lambda: scraped(one).value("relevance_monitored_rows", **SERIES) == 1000, seconds=30)
        after = scraped(one)
        for histogram in baseline.inputs:
            values = [value for rows in (*usual, drifted) for value in rows[histogram.name]]
            found = after.value("relevance_input_drift_psi", **SERIES, input=histogram.name) or 0
            assert found == pytest.approx(psi(histogram, values), rel=1e-9)
            assert (found > 0.25) == (histogram.name == "heat")
        found = after.value("relevance_prediction_drift_psi", **SERIES) or 0
        assert found == pytest.approx(psi(baseline.predictions, means), rel=1e-9)
        assert found > 0.15
        assert (after.value("relevance_outside_support_ratio", **SERIES) or 0) > 0.1
