"""Run tests on fixed mutants of the code that selects, warns and limits: each must make a test fail.

`python -m tests.mutation` runs those that have no result yet, and prints the survivors; `--choose` makes the list anew,
and `--again` runs survivors again. A result is kept by the mutant, in build/mutation.txt, so a run can be broken off.
"""

import argparse
import os
import sys
from itertools import chain, islice, zip_longest
from pathlib import Path

from tests.mutation.mutants import Mutant, mutated_texts
from tests.mutation.running import ROOT, run

LIST = Path(__file__).with_name("mutants.txt")
RESULTS = ROOT / "build" / "mutation.txt"

CHOSEN = 300

KILLED, SURVIVED = "killed", "survived"

MIN_KILLED = 0.85

TESTS: dict[str, tuple[str, ...]] = {
    "app/accounts/limit_repository.py": ("tests/accounts/test_limit_repository.py", "tests/accounts/test_limits.py"),
    "app/accounts/limits.py": ("tests/accounts/test_limits.py",),
    "app/accounts/rate_limiter.py": ("tests/accounts/test_rate_limiter.py", "tests/http/test_rate_limits.py"),
    "app/settings.py": ("tests/test_settings.py",),
    "library/relevance_bayes/records/accounts.py": ("tests/accounts/test_limit_routes.py",),
    "library/relevance_bayes/core/selection/by_folds.py": (
        "tests/library/core/selection/test_by_folds.py",
        "tests/library/core/selection/test_class_training.py",
    ),
    "library/relevance_bayes/core/selection/candidates.py": (
        "tests/library/core/selection/test_few_rows.py",
        "tests/library/core/selection/test_beside_a_tenth.py",
        "tests/library/core/models/test_hurdle.py",
        "tests/library/core/selection/test_bounded_targets.py",
    ),
    "library/relevance_bayes/core/selection/evaluation.py": (
        "tests/library/core/selection/test_pool_evaluation.py",
        "tests/library/core/selection/test_bounded_targets.py",
    ),
    "library/relevance_bayes/core/selection/local.py": ("tests/library/core/selection/test_local.py",),
    "library/relevance_bayes/core/selection/scoring.py": (
        "tests/library/core/selection/test_scoring.py",
        "tests/library/core/selection/test_validation.py",
    ),
    "library/relevance_bayes/core/selection/training.py": (
        "tests/library/core/selection/test_class_training.py",
        "tests/library/core/selection/test_training.py",
    ),
    "library/relevance_bayes/tasks/supervised/cost.py": (
        "tests/library/tasks/supervised/test_planning_folds.py",
        "tests/library/tasks/supervised/test_planning.py",
    ),
    "library/relevance_bayes/tasks/supervised/diagnostics.py": (
        "tests/library/tasks/supervised/test_report.py",
        "tests/library/tasks/supervised/test_warnings.py",
        "tests/tasks/supervised/test_reliability.py",
    ),
    "library/relevance_bayes/tasks/supervised/plan.py": (
        "tests/library/tasks/supervised/test_automatic_prior.py",
        "tests/library/tasks/supervised/test_planning_pools.py",
        "tests/library/tasks/supervised/test_planning_classes.py",
        "tests/library/tasks/supervised/test_planning_local.py",
        "tests/library/tasks/supervised/test_planning_folds.py",
        "tests/library/tasks/supervised/test_planning.py",
    ),
    "library/relevance_bayes/tasks/supervised/target.py": (
        "tests/library/tasks/supervised/test_automatic_prior.py",
        "tests/library/tasks/supervised/test_planning_pools.py",
        "tests/library/tasks/supervised/test_planning_classes.py",
        "tests/library/tasks/supervised/test_planning_local.py",
        "tests/library/tasks/supervised/test_planning_folds.py",
        "tests/library/tasks/supervised/test_planning.py",
    ),
}
"""The files whose mutants are chosen, and the tests that must notice them, the quickest first."""


def texts(path: str) -> dict[Mutant, str]:
    """The text of a file with each of its mutants."""
    return mutated_texts(path, (ROOT / path).read_text("utf-8"))


def choose() -> list[Mutant]:
    """Return the chosen mutants, as many of each file as it has up to an even share."""
    ranked = [sorted(texts(path), key=lambda one: one.rank) for path in TESTS]
    in_turn = (one for one in chain.from_iterable(zip_longest(*ranked)) if one is not None)
    return sorted(islice(in_turn, CHOSEN))


def listed() -> list[Mutant]:
    """Read the chosen mutants."""
    return [Mutant.of(line) for line in LIST.read_text("utf-8").splitlines()]


def record(mutant: Mutant, is_killed: bool) -> None:
    """Keep a result."""
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(f"{KILLED if is_killed else SURVIVED}\t{mutant.line}\n")


def results() -> dict[str, str]:
    """Return the last results, by the lines of the mutants."""
    lines = RESULTS.read_text("utf-8").splitlines() if RESULTS.exists() else []
    return {line: result for result, _, line in (line.partition("\t") for line in lines)}


def main() -> int:
    """Run what has no result; return 1 where fewer are killed than MIN_KILLED."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--choose", action="store_true", help="make the list of mutants anew")
    parser.add_argument("--again", action="store_true", help="run survivors again")
    parser.add_argument("files", nargs="*", help="those whose mutants are run, by default all")
    given = parser.parse_args()
    if given.choose:
        LIST.write_text("".join(f"{one.line}\n" for one in choose()), "utf-8")
        return 0
    os.chdir(ROOT)
    RESULTS.parent.mkdir(exist_ok=True)
    awaited = {None, SURVIVED} if given.again else {None}
    before = results()
    mutants = [one for one in listed() if not given.files or one.path in given.files]
    for path in sorted({one.path for one in mutants}):
        if missing := {one for one in mutants if one.path == path} - texts(path).keys():
            sys.stdout.write(f"{len(missing)} mutants of {path} are not found: choose again by --choose\n")
            return 1
        waiting = [one for one in mutants if one.path == path and before.get(one.line) in awaited]
        if waiting and not run(path, waiting, TESTS[path], record):
            sys.stdout.write(f"the tests of {path} fail without a mutant\n")
            return 1
    after = {one: results()[one.line] for one in mutants}
    for one, result in after.items():
        if result == SURVIVED:
            sys.stdout.write(f"survived: {one.line}\n")
    killed = [*after.values()].count(KILLED)
    sys.stdout.write(f"{killed} of {len(mutants)} mutants are killed\n")
    return int(killed < MIN_KILLED * len(mutants))


if __name__ == "__main__":
    sys.exit(main())
