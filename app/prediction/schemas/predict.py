"""Predict requests: options, and the table of rows."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.http.openapi import DESCRIBED, described
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Cell, Label
from relevance_bayes.tasks.decisions import ClassPrior, DecisionOptions


def query_parameters() -> list[dict[str, object]]:
    """Return the options of a JSON body as query parameters."""
    schema = PredictOptionsIn.model_json_schema(ref_template="#/components/schemas/{model}-Input")
    listed: list[dict[str, object]] = []
    for name, member in schema["properties"].items():
        given = {"name": name, "in": "query", "description": f"Not for a JSON body: {member.pop('description')}"}
        reported = {key: value for key, value in member.items() if key not in {"title", "default"} or value is not None}
        if name == "row_ids":
            given["description"] = "Not for a JSON body: the column that has the caller's own ids of the rows."
            reported = {"type": "string"}
        nested = name in {"class_priors", "costs"}
        listed.append(
            {**given, "content": {"application/json": {"schema": reported}}}
            if nested
            else {**given, "schema": reported}
        )
    for option in DESCRIBED:
        reported = {"type": "string"}
        listed.append({"name": option, "in": "query", "description": described(option), "schema": reported})
    return listed


Output = Literal[
    "mean",
    "sd",
    "variance",
    "interval",
    "label",
    "probabilities",
    "latent",
    "support",
    "value",
    "components",
    "reconstruction_error",
    "log_density",
    "novelty",
]


Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ClassPriorIn(BaseModel):
    """The prior of a class among the rows to predict for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Label
    prior: float = Field(ge=0, le=1)


class PredictionOptions(BaseModel):
    """Options of predictions in all requests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interval: float = Field(0.95, gt=0, lt=1, description="The probability between `lower` and `upper`.")
    outputs: Annotated[list[Output], Field(min_length=1)] | None = Field(
        None,
        description="The members of each prediction: of `mean`, `sd`, `variance`, `interval`, `support` for "
        "numbers, of `label`, `probabilities`, `latent`, `support` for classes, of `value` for a known function, of "
        "`components`, `reconstruction_error`, `log_density`, `novelty` for components; by default all.",
    )
    components: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="The maximum number of components in the response, and for `reconstruction_error`; by default 10. "
        "Only for components.",
    )
    class_priors: Annotated[list[ClassPriorIn], Field(min_length=1)] | None = Field(
        None,
        description="The frequencies of classes among the rows to predict for, where they differ from those of the "
        "training rows (`class_rows` of the version). All classes, in any order; they sum to 1. `probabilities` "
        "and `label` are then under these priors; `latent` does not change.",
    )
    costs: Annotated[list[list[Cost]], Field(min_length=1)] | None = Field(
        None,
        description="The cost of each decision: `costs[truth][decision]`, a row for each true class, and in it a cost "
        "for each decision, both in the order of the version's `classes`; 0 and above. A correct decision may "
        "have a cost too. By default an incorrect one costs 1 and a correct one 0.",
    )
    reject_cost: Cost | None = Field(
        None,
        description="The cost of no decision for a row: where the expected cost of every decision is higher, "
        "`decision.label` is null.",
    )
    unknown_categories: UnknownCategories = Field(
        "average",
        description="A row with a category that no training row had: predicted as the average over the known "
        "categories, weighted by their frequencies among the training rows, with a wider interval; or an error. For "
        "components always an error.",
    )
    nulls: Nulls = Field(
        "average",
        description="A row with a missing value of an input: predicted as the average over the values of training "
        "rows, the more alike a row is the more, with a wider interval; or an error. Inputs with at least 20 gaps, and "
        "2 %, in training have an indicator of missing values instead, and their rows are predicted as others are.",
    )
    csv_escape_formulas: bool = Field(
        False,
        description="Only for CSV: whether texts and names of columns that a spreadsheet would take for formulas "
        "(they begin with =, +, -, @, a tab or the end of a line, and are not numbers) get an apostrophe.",
    )

    @property
    def deciding(self) -> DecisionOptions | None:
        """Return the options of decisions between classes; None without any."""
        priors, costs = self.class_priors, self.costs
        if priors is None and costs is None and self.reject_cost is None:
            return None
        return DecisionOptions(
            None if priors is None else tuple(ClassPrior(one.label, one.prior) for one in priors),
            None if costs is None else tuple(map(tuple, costs)),
            self.reject_cost,
        )


class PredictOptionsIn(PredictionOptions):
    """Prediction options with a table."""

    on_error: Literal["fail", "per_row"] = Field(
        "fail", description="Whether an invalid row fails the request, or has its problem in its place."
    )
    covariance: bool = Field(
        False,
        description="Whether to return the covariance of the predictions, for sums and averages of them: for "
        "numbers under Gaussian noise, at most 1,000 rows, and at most 64 with missing values or unknown categories.",
    )
    explain: Annotated[int, Field(ge=1, le=20)] | None = Field(
        None, description="The number of functions with the largest contributions to return with each prediction."
    )
    row_ids: list[str] | str | None = Field(
        None,
        description="The caller's own ids of the rows, texts of 1 to 200 characters, by which a model that records "
        "predictions compares them with outcomes: in JSON a list with one for each row, or the name of a column of the "
        "table that has them, which the model does not read.",
    )

    @property
    def row_id_column(self) -> str | None:
        """Return the column that has the row ids, None where there is none."""
        return self.row_ids if isinstance(self.row_ids, str) else None


class PredictColumnsIn(PredictOptionsIn):
    """A table by columns.

    Where the model has a noise column, it is optional, for all rows.
    """

    columns: dict[str, list[Cell]]


class PredictRecordsIn(PredictOptionsIn):
    """A table by rows, each with the names of its columns."""

    rows: list[dict[str, Cell]]


class PredictArraysIn(PredictOptionsIn):
    """A table by rows, with the names of the columns once."""

    names: list[str]
    rows: list[list[Cell]]


PredictIn: TypeAlias = PredictColumnsIn | PredictRecordsIn | PredictArraysIn
PREDICT_IN: TypeAdapter[PredictIn] = TypeAdapter(PredictIn)
"""The three forms of a table, only for OpenAPI: tables are parsed by app.formats, whose errors have rows and columns.
"""
