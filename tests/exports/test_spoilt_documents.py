"""Documents of versions in which one number is not what a training can have made: refused with its place."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import cycle, islice

import pytest
from starlette.testclient import TestClient

from app.exports.formats import RENDERINGS
from app.identity import BUILT_IN_OWNER
from app.main import make_application
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.reports import Outlier
from relevance_bayes.records.values import IgnoredColumn
from relevance_bayes.tasks.supervised.report import Alternative
from relevance_bayes.tasks.supervised.request import Validation
from tests.applications import SmallParts
from tests.exports.known import of_terms
from tests.exports.learned import learned
from tests.exports.test_routes import MORE_BYTES, Json, changed_at, faults
from tests.exports.trained import trained

MINUS, TWO, HUGE = "-1", "2", "1e300"
SPOILT = (MINUS, TWO, HUGE, '"NaN"', "1e400", "9" * 400)

ANY = frozenset({MINUS, TWO, HUGE})
POSITIVE = frozenset({TWO, HUGE})
SMALL = frozenset({MINUS, TWO})
COUNTED = frozenset({TWO})

SPEC = r"/report/(plan/(spec|compared_models/\*)|alternatives/\*)"
FUNCTIONS = r"/model/(functions/\*|functions/\*/of|augmentation/functions)"
BESIDE = r"/model/(functions/\*/of|augmentation/functions)"
"""Functions whose kernel is no member's."""

TASK = "(approximation|components)?"

ACCEPTED: dict[str, frozenset[str]] = {
    # Columns and functions lie anywhere, weights and log densities have any size and sign.
    r"(components)?(/inputs/\*|/target)/shift": ANY,
    r"components/(model|report)/log_marginal_likelihood": ANY,
    r"/report/integrated_evidence": ANY,
    r"/model/mean/\*(/\*)?": ANY,
    FUNCTIONS + r"/(locations|origins|frequencies|phases)/\*(/\*)?": ANY,
    BESIDE + r"/kernel/offset": ANY,
    r"/model/functions/\*/of/centres/\*/\*": ANY,  # wavelets
    SPEC + r"/basis/\*/kernel/offset": ANY,
    r"/report/metrics/validation/nll": ANY,
    r"/report/(alternatives|members)/\*/score": ANY,
    r"approximation/model/(centres/\*/\*|constant)": ANY,
    r"approximation/report/integral": ANY,
    # Centres have distances, of which the squares are finite numbers; r2 is at most 1.
    r"(components/model/functions|/model/(augmentation/)?functions(/\*)?)/centres/\*/\*": SMALL,
    r"/report/metrics/validation/r2": frozenset({MINUS}),
    # Scales, precisions, errors and durations are positive.
    r"(components)?/inputs/\*/scale": POSITIVE,
    r"/target/scale": COUNTED,
    r"/model/(augmentation/functions|functions/\*/of)/widths/\*": POSITIVE,
    FUNCTIONS + r"/scales/\*": POSITIVE,
    r"/model/(alpha/\*|augmentation/spread|augmentation/precisions/\*)": POSITIVE,
    r"/model/covariance/\*/\*": frozenset({HUGE}),  # a variance in the corner, which must not be below the others
    SPEC + r"/prior/min_gain": POSITIVE,
    SPEC + r"/basis(/\*)?/width/shrinkage": POSITIVE,
    r"/report/plan/max_score_loss": POSITIVE,
    r"/report/alternatives/\*/prior/(a|b|c|d)": POSITIVE,
    r"/report/alternatives/\*/likelihood/degrees_of_freedom": frozenset({HUGE}),
    r"/report/metrics/(validation/(rmse|mae)|holdout/log_loss)": POSITIVE,
    r"approximation/report/(error|integral_negative|path/\*/error)": POSITIVE,
    r"components/report/variances/\*": POSITIVE,
    TASK + r"/report/seconds": POSITIVE,
    r"components/model/(functions/widths/\*|weights/\*|noise_variance)": COUNTED,
    TASK + SPEC + r"/basis/\*/(of/)?width/value(/\*)?": COUNTED,
    r"(approximation|components)/report/(plan/widths/\*|widths/\*/width)": COUNTED,
    r"(/model|/report/plan/spec)/likelihood/noise_sd": COUNTED,
    # Counts, degrees, numbers of columns and versions, and seeds may be 2.
    TASK + r"/source/version": COUNTED,
    TASK + r"/report/(rows_dropped|rows_held_out|rows_drawn|metrics/validation/rows|outliers/\*/row)": COUNTED,
    TASK + r"/report/(plan/(max_functions|seed|validation/folds)|path/\*/functions|alternatives/\*/functions)": COUNTED,
    SPEC + r"/(seed|prior/max_functions)": COUNTED,
    r"/model/functions/\*/columns/\*": COUNTED,
    FUNCTIONS + r"/degree": COUNTED,
    BESIDE + r"/kernel/degree": COUNTED,
    r"(components/model/functions|" + BESIDE + r")/kernel/power": COUNTED,
    SPEC + r"/basis/\*/(of/)?(harmonics|degree|levels|octaves|waves|directions|kernel/degree|kernel/power)": COUNTED,
}
"""Values that are valid at places of these kinds beside the one there, and why; elsewhere none are."""

FOUND = "/report/members/0/hyperparameters"

DERIVED: dict[str, tuple[str, ...]] = {
    "/target/scale": (FOUND + "/noise_sd", FOUND + "/signal_sd", "/report/members/0/evidence/value"),
    "/model/noise_sd": (FOUND + "/noise_sd",),
    "/model/signal_variance": (FOUND + "/signal_sd",),
    "/model/rows": ("/report/rows", "/report/members/0/evidence/value"),
    "/model/candidates": ("/report/candidates",),
    "/model/last_gain": (FOUND + "/last_gain",),
    "/model/next_gain": (FOUND + "/next_gain",),
    "/model/degrees_of_freedom": (FOUND + "/degrees_of_freedom",),
    "/model/likelihood/degrees_of_freedom": (FOUND + "/degrees_of_freedom",),
    "/model/evidence/value": ("/report/members/0/evidence/value",),
    "/model/evidence/log_hyperprior": ("/report/members/0/evidence/log_hyperprior",),
    "/model/evidence/price": ("/report/members/0/evidence/price",),
    "/model/likelihood/classes": ("/model/mean",),
    "/model/likelihood/temperature": ("/report/temperature",),
    "/model/functions/*/kernel/offset": ("/report/members/0/kernel",),
    "/model/functions/*/kernel/degree": ("/report/members/0/kernel",),
    "/model/functions/*/kernel/power": ("/report/members/0/kernel",),
    "/model/functions/*/terms/*/input": (FOUND + "/terms",),
    "/model/functions/*/widths/*": (FOUND + "/widths/0/width",),
    "/model/functions/*/skew/*": (FOUND + "/warps/0/skew",),
    "/model/functions/*/tail/*": (FOUND + "/warps/0/tail",),
    "approximation/model/coefficients/*": ("/report/integral_kept",),
    "approximation/model/widths/*/*": ("/report/integral_kept",),
    "components/report/rows": ("/report/rows_drawn",),
}
"""Figures that follow from others: where one of these is spoilt, the other's place may be named."""


def rich() -> ExportedVersion:
    """A version whose report has figures of all kinds."""
    made = trained("bent, additive, free")
    report, spec = made.report, made.report.plan.spec
    plan = replace(
        report.plan,
        ignored=(IgnoredColumn("note", "it holds no numbers"),),
        holdout=0.2,
        validation=Validation(3),
        compared_models=(
            replace(spec, prior=GaussianProcess("optimised", 3.0, 8, 0.5)),
            trained("fourier").report.plan.spec,
        ),
    )
    scores = {"rmse": 0.5, "mae": 0.4, "r2": 0.9, "nll": 1.0, "coverage_95": 0.9, "rows": 12.0}
    report = replace(
        report,
        plan=plan,
        metrics={"validation": scores},
        integrated_evidence=-1.0,
        alternatives=(
            Alternative(
                spec.basis[0],
                GaussianProcess("optimised", 3.0, 8, 0.5),
                spec.likelihood,
                3,
                "integrated_evidence",
                -1.0,
            ),
            Alternative(
                None,
                Independent(),
                trained("student_t, independent").predictor.model.likelihood,
                None,
                "fold_log_density",
                -2.0,
            ),
        ),
    )
    return replace(made, report=report)


def with_outliers() -> ExportedVersion:
    made = trained("student_t, independent")
    return replace(made, report=replace(made.report, outliers=(Outlier(3, 0.1),)))


def with_class_metrics() -> ExportedVersion:
    made = trained("categorical, independent")
    return replace(
        made, report=replace(made.report, metrics={"holdout": {"error": 0.1, "log_loss": 1.0, "brier": 0.2}})
    )


@cache
def documents() -> dict[str, Json]:
    """One of each task, kernel and dictionary that has numbers of its own."""
    names = ["gaussian rows, independent", "gaussian 0.1, independent", "one_against_rest, independent", "sigmoid"]
    names += ["polynomial", "rational_quadratic", "steps", "fourier", "splines", "wavelets", "groups"]
    made: dict[str, ExportedVersion] = {
        "rich": rich(),
        "outliers": with_outliers(),
        "classes": with_class_metrics(),
        **{name: trained(name) for name in names},
        "terms": of_terms(("x", "z"), 3, constant=0.25),
        "components": learned("by hand"),
    }
    return {name: json.loads(RENDERINGS["json"].render(one)) for name, one in made.items()}


def numbers(value: object, where: str = "") -> Iterator[str]:
    """The places of all numbers; of a list the first and the last element."""
    match value:
        case bool():
            return
        case int() | float():
            yield where
        case dict():
            for name, one in value.items():
                yield from numbers(one, f"{where}/{name}")
        case list():
            for place in sorted({0, len(value) - 1} - {-1}) if len(value) > 3 else range(len(value)):
                yield from numbers(value[place], f"{where}/{place}")
        case _:
            return


def kind(document: Json, pointer: str) -> str:
    """A place without the positions in lists, with the task before it."""
    task = str(document["task"])
    return ("" if task in {"regression", "classification"} else task) + re.sub(r"/\d+(?=/|$)", "/*", pointer)


def leaves() -> list[tuple[str, str, str]]:
    """Document, place and kind: one place of each kind."""
    found: dict[str, tuple[str, str, str]] = {}
    for name, document in documents().items():
        for pointer in numbers(document):
            found.setdefault(kind(document, pointer), (name, pointer, kind(document, pointer)))
    return list(found.values())


def spoilt(document: Json, pointer: str, token: str) -> bytes:
    return json.dumps(changed_at(document, pointer, "@spoilt@")).replace('"@spoilt@"', token).encode()


def is_named(pointer: str, named: str) -> bool:
    """Return whether a fault is at a place, or at what holds it."""
    return f"{pointer}/".startswith(f"{named}/")


def accepted(what: str) -> frozenset[str]:
    """The values that are valid at a place of this kind."""
    return next((tokens for pattern, tokens in ACCEPTED.items() if re.fullmatch(pattern, what)), frozenset())


@pytest.mark.thorough
@pytest.mark.parametrize("each", [2, pytest.param(len(SPOILT), marks=pytest.mark.thorough)])
def test_every_number_that_no_training_can_have_made_is_refused_with_its_place(parts: SmallParts, each: int) -> None:
    """Two ways to spoil each number, in turn; all of them in `make thorough`."""
    wrong: list[str] = []
    with TestClient(
        make_application(parts, MORE_BYTES), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        for number, (name, pointer, what) in enumerate(leaves()):
            for token in islice(cycle(SPOILT), number, number + each):
                with suppress(NotFoundError):
                    parts.catalogue.delete_model(BUILT_IN_OWNER, "twin")
                content = spoilt(documents()[name], pointer, token)
                response = client.post(
                    "/v1/models/twin/versions", content=content, headers={"Content-Type": "application/json"}
                )
                named = [str(one["pointer"]) for one in faults(response.json())] if response.status_code == 422 else []
                places = (pointer, *DERIVED.get(what, ()))
                is_refused = any(is_named(place, one) for place in places for one in named)
                if is_refused == (token in accepted(what)) or (not is_refused and response.status_code != 201):
                    wrong.append(f"{what} {token[:6]}: {response.status_code} at {named}")
    assert not wrong, "\n".join(wrong)


def test_the_documents_are_taken_in_as_they_are(parts: SmallParts) -> None:
    with TestClient(make_application(parts, MORE_BYTES), base_url="http://localhost") as client:
        for number, document in enumerate(documents().values()):
            response = client.post(f"/v1/models/twin{number}/versions", json=document)
            assert response.status_code == 201, response.text


TEXTS = [
    ("rich", "/source/model"),
    ("rich", "/model/termination"),
    ("rich", "/report/termination"),
    ("rich", "/report/dataset_digest"),
    ("rich", "/report/software_version"),
    ("rich", "/report/plan/task_reason"),
    ("rich", "/report/plan/ignored/0/name"),
    ("rich", "/report/plan/ignored/0/reason"),
    ("rich", FOUND + "/terms/0/input"),
    ("terms", "/report/plan/ignored/0/reason"),
    ("components", "/report/software_version"),
]


@pytest.mark.parametrize(("name", "pointer"), TEXTS)
def test_a_text_with_nul_is_refused_with_its_place(parts: SmallParts, name: str, pointer: str) -> None:
    with TestClient(
        make_application(parts, MORE_BYTES), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        response = client.post("/v1/models/twin/versions", json=changed_at(documents()[name], pointer, "a\0b"))
    assert response.status_code == 422, response.text
    assert pointer in [one["pointer"] for one in faults(response.json())]


IMPOSSIBLE = [
    ("/report/metrics/validation/coverage_95", 1.5),
    ("/report/metrics/validation", {"speed": 1.0}),
    ("/report/metrics/yesterday", {"rmse": 1.0}),
    ("/report/rows", -3),
    ("/report/termination", "tired"),
    ("/report/dataset_digest", "abc"),
    ("/report/plan/split", {"type": "group", "column": "\n"}),
    ("/report/plan/spec/likelihood/noise_sd", "rows"),
    ("/report/plan/compared_models/1/likelihood/noise_sd", "rows"),
    ("/report/alternatives/0/likelihood", {"type": "gaussian", "noise_sd": "rows"}),
    ("/model/termination", "tired"),
]


@pytest.mark.parametrize(("pointer", "value"), IMPOSSIBLE)
def test_a_report_of_what_can_not_be_is_refused_with_its_place(parts: SmallParts, pointer: str, value: object) -> None:
    with TestClient(
        make_application(parts, MORE_BYTES), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        response = client.post("/v1/models/twin/versions", json=changed_at(documents()["rich"], pointer, value))
    assert response.status_code == 422, response.text
    assert any(str(one["pointer"]).startswith(pointer) for one in faults(response.json())), response.text
