"""The examples in docstrings run, and the library alone imports no scikit-learn."""

import doctest
import subprocess
import sys
from importlib import import_module

import pytest

MODULES = {"regressor": "RelevanceRegressor", "classifier": "RelevanceClassifier", "kernel_pca": "SparseKernelPCA"}


@pytest.mark.parametrize(("module", "name"), MODULES.items(), ids=MODULES)
def test_the_example_of_an_estimator_runs(module: str, name: str) -> None:
    found = import_module(f"relevance_bayes.estimators.{module}")
    examples = doctest.DocTestFinder().find(getattr(found, name), name)
    assert sum(len(one.examples) for one in examples) >= 6
    assert doctest.testmod(found).failed == 0


@pytest.mark.parametrize(
    "module", ["relevance_bayes", "relevance_bayes.client", "relevance_bayes.tasks.supervised.training"]
)
def test_only_estimators_import_scikit_learn(module: str) -> None:
    program = f"import sys, {module}; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.thorough
def test_estimators_need_no_service_and_no_client() -> None:
    program = (
        "import sys; sys.modules['pandas'] = None  # scikit-learn imports it, and it imports pyarrow\n"
        "import relevance_bayes.estimators; print({'app', 'httpx', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
