"""docs/reference/kernels.md has the formula of every kernel as it is computed, and its equal in scikit-learn."""

import json
import re
from dataclasses import fields
from math import prod
from pathlib import Path
from typing import get_args
from uuid import UUID

import numpy as np
import pytest
from sklearn.gaussian_process import kernels

from app.registry.trainings import TRAINING
from relevance_bayes.core.kernels import Covariance, Kernel
from relevance_bayes.core.kernels.hyperparameters import Width
from relevance_bayes.core.types import Array
from relevance_bayes.records.json import validate

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "kernels.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) ?\|$", PAGE.split("| parameter |")[0], re.MULTILINE)
FORMULAS = {kind: (formula, equal) for kind, formula, equal in ROWS if kind != "type"}
KERNELS = {kernel.type: kernel for kernel in (member() for member in get_args(Kernel))}
R = 0.7
X, Z = np.array([[0.3, 1.1], [0.9, 0.2]]), np.array([[1.4, 0.5], [0.25, 0.8], [2.0, 1.7]])


def parameters(kernel: Kernel) -> dict[str, float]:
    return {one.name: getattr(kernel, one.name) for one in fields(kernel) if one.name != "type"}


def value(formula: str, kernel: Kernel, x: Array, z: Array) -> float:
    """The page's formula at two points."""
    code = re.findall(r"`(.*?)`", formula)[0]
    functions = {name: getattr(np, name) for name in ("exp", "sqrt", "log", "tanh")}
    u, v = x / R, z / R
    names = {
        "d": np.linalg.norm(u - v),
        "c": np.abs(u - v).sum(),
        "p": u @ v,
        "s": np.square(np.sin(np.pi * (u - v))).sum(),
        **functions,
        **parameters(kernel),
    }
    if "product over inputs" in formula:
        pairs = zip(u.tolist(), v.tolist(), strict=True)
        return prod(float(eval(code, {"u": a, "v": b, "m": min(a, b)})) for a, b in pairs)
    return float(eval(code, names))


def test_the_page_has_every_kernel() -> None:
    assert set(KERNELS) - set(FORMULAS) == set(), "add a row for each to the first table of docs/reference/kernels.md"
    assert set(FORMULAS) - set(KERNELS) == set(), "are no kernels"


@pytest.mark.parametrize("kind", sorted(FORMULAS))
def test_a_formula_is_what_is_computed(kind: str) -> None:
    kernel = KERNELS[kind]
    shown = [[value(FORMULAS[kind][0], kernel, x, z) for z in Z] for x in X]
    np.testing.assert_allclose(kernel(X / R, Z / R), shown, rtol=1e-12)


@pytest.mark.parametrize("kind", sorted(kind for kind, (_, equal) in FORMULAS.items() if equal))
def test_a_kernel_of_scikit_learn_is_the_same(kind: str) -> None:
    kernel, equal = KERNELS[kind], FORMULAS[kind][1]
    r = 1.0 if "for r = 1" in equal else R
    (code,) = re.findall(r"`(.*?)`", equal)
    theirs = eval(code, {**vars(kernels), "sqrt": np.sqrt, "r": r, **parameters(kernel)})
    np.testing.assert_allclose(kernel(X / r, Z / r), theirs(X, Z), rtol=1e-12)


@pytest.mark.parametrize("kind", sorted(FORMULAS))
def test_the_length_scale_of_a_kernel_is_scikit_learns(kind: str) -> None:
    of_width = re.match(r"`\w+\(r( / sqrt\(2\))?[,)]", FORMULAS[kind][1])
    expected = None if of_width is None else 2.0**-0.5 if of_width[1] else 1.0
    assert KERNELS[kind].length_scale_of_width == expected, "set length_scale_of_width in the class"


def test_the_page_has_every_parameter_with_its_default() -> None:
    listed = {
        (kind, name, float(default.replace(",", "")))
        for name, kind, default in re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\S+) \|", PAGE, re.MULTILINE)
    }
    assert listed == {(kind, *one) for kind, kernel in KERNELS.items() for one in parameters(kernel).items()}


def test_the_kernels_of_a_process_are_the_first_of_the_table() -> None:
    first = {*list(FORMULAS)[: len(get_args(Covariance))]}
    assert first == {member().type for member in get_args(Covariance)}, "move these rows above that of `linear`"


def test_the_request_of_the_page_is_valid() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    request = {"dataset_id": str(UUID(int=0)), "target": "y", **json.loads(shown)}
    assert validate(TRAINING.request.adapter, request).dataset_id == UUID(int=0)


def test_the_page_has_every_way_to_find_a_width() -> None:
    named = set(re.findall(r'^\| `\{"type": "(\w+)"', PAGE, re.MULTILINE))
    assert named == {one.type for one in get_args(Width)}
