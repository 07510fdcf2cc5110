"""The API's schemas of requests for regression and classification."""

from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Discriminator, Field, Tag

from app.jobs.schemas import JobIn, NameIn
from app.tasks.schemas.specification import AnyLikelihood, requested
from relevance_bayes.core.spec import Algorithm
from relevance_bayes.plans.requests import (
    BasisChoice,
    Budget,
    Dates,
    Effort,
    LocalOption,
    Missing,
    Prefer,
    PriorChoice,
    RandomSplit,
    Split,
    SupervisedRequest,
    Task,
    Text,
    Validation,
)
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import Label

OneBasis = Annotated[BasisChoice, Field(discriminator="type")]
Bases = Annotated[tuple[OneBasis, ...], Field(min_length=1, max_length=16)]


def _one_or_list(value: object) -> str:
    return "list" if isinstance(value, list | tuple) else "one"


class SupervisedJobIn(JobIn):
    """The members of all supervised requests; only `dataset_id` and `target` are required."""

    dataset_id: UUID = Field(description="The dataset to learn from.")
    target: str = Field(min_length=1, description="The column to predict.")
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = Field(
        None, description="The input columns. Default: every suitable column."
    )
    model: NameIn | None = Field(None, description="The model's name. Default: the dataset's.")
    likelihood: Annotated[AnyLikelihood, Field(discriminator="type")] | None = Field(
        None,
        description="The distribution of targets around the function. `gaussian`, the default for numbers: noise of "
        "one size, learned or given as `noise_sd`; or of a size for each row, given as "
        '`{"column": NAME}`: a column of its sds, above 0, in the target\'s units, which is no input; or '
        "`heteroscedastic`: its logarithm is a second function of the inputs, learned too. `student_t`: some rows are "
        "outliers; `degrees_of_freedom`, the heaviness of the tails, is learned or a number above 2. `log_gaussian`: "
        "targets above 0 with relative noise. `logit_gaussian`: shares above 0 and below 1. `poisson`: counts; "
        "`negative_binomial`: overdispersed counts. `hurdle`: amounts that are often exactly 0, and else above it. "
        "`bernoulli`, the default for two classes. `bernoulli_per_class`, the default for 3 to 10: a model of each "
        "class against all others, with functions and scales of its own. `categorical`, the default for more if rows "
        "times classes are at most 12,000: a function for each class; `classes` is counted by default. "
        "`one_against_rest`, the default otherwise: least squares to zeros and ones, each class against all others, as "
        "cheap as a number. Under independent weights `categorical` is the default for 3 to 10, and "
        "`one_against_rest` for more. Classes have a "
        "`temperature` T, p to the power of 1/T and normalised: a number from 0.05 to 20, or `learned` from held-out "
        "rows.",
    )
    basis: (
        Annotated[Annotated[OneBasis, Tag("one")] | Annotated[Bases, Tag("list")], Discriminator(_one_or_list)] | None
    ) = Field(
        None,
        description="The functions to select from. A single kernel stands for it and a bias, under a Gaussian process "
        "prior also for the inputs themselves; a list is exact. Default: Gaussian kernels, likewise. A kernel's "
        "`width` is one for each input, by evidence, and for numbers there is a `warp` of each; under requested "
        "independent weights it is found by 5-fold cross-validation. A `fixed` width above 0 may be a list, one for "
        "each of the named `inputs`; the categories of a text column share theirs. `additive`, if it is `evidence`, "
        "gives inputs a term of their own where the evidence finds that their effects are additive. "
        "Dictionaries are functions without a row, for signals: `steps` jump, one between each two adjacent values of "
        "an input; `b_splines` are smooth bumps of all sizes; `fourier` functions are periodic over the range; `gabor` "
        "functions are localised waves of one input or two. Each reads every input; in a `group` it reads the named "
        "`inputs`, and so does a kernel, whose width is given there. They need independent weights, and each function "
        "pays a `price` for its selection among all unless a prior is given.",
    )
    prior: Annotated[PriorChoice, Field(discriminator="type")] | None = Field(
        None,
        description="The prior of the weights. `gaussian_process`: the functions are part of a process, and "
        "predictions include the variance that the few functions leave out; under Gaussian noise the share `rho` of "
        "that, from 0 to 1, counts as noise of each row. `independent`: a precision for each weight. `automatic`, the "
        "default: a process and, where rows are few enough, also independent weights; the better one is kept.",
    )
    algorithm: Annotated[Algorithm, Field(discriminator="type")] | None = Field(
        None,
        description="The algorithm of the evidence. Default: greedy under a Gaussian process, else sequential.",
    )
    standardise: bool | None = Field(
        None,
        description="Whether inputs are standardised to mean 0 and sd 1. Default: unless a width is given as a number.",
    )
    missing: Missing | None = Field(
        None,
        description="The handling of missing values. `error`: a training with one is refused, and so is a "
        "row to predict. `drop_rows`: rows with one are left out of the training. `indicator`: the mean, or the shares "
        "of the categories, replaces them, and a 0/1 column marks them where there were some; rows without a target "
        "are left out. Default: `indicator` where a column has missing values, else `error`.",
    )
    split: Annotated[Split, Field(discriminator="type")] = Field(
        RandomSplit(), description="The rows that are kept together in holdout and folds."
    )
    holdout: float = Field(0.0, ge=0, le=0.9, description="The share of rows that are held out to measure metrics.")
    validation: Validation | None = Field(
        None,
        description="Cross-validation: after the training, the complete training (including the search for a width and "
        "comparisons) is repeated `folds` times, each time without one fold of the training rows, and measured on that "
        "fold. It takes about `folds` times as long again. `split` applies to folds as well: groups stay together, and "
        "under `order` each stretch but the first is predicted from all before it. Inputs and target are standardised "
        "once, by all training rows. The metrics are the version's `metrics.validation`.",
    )
    seed: int = Field(0, ge=0, le=2**53 - 1, description="With the rows' content, determines holdout and folds.")

    effort: Effort = Field(
        "normal",
        description="The amount of computation. `normal`: a training is measured by five complete trainings, each on "
        "four fifths of the rows: of 5,000 of them where there are more, and above 20,000 by one training on nine "
        "tenths. Where kernel and prior are left open several processes are trained: of numbers they are weighted by "
        "their predictions of held-out rows, of classes the one that predicts these best is selected. `thorough`: ten "
        "folds, of 20,000 rows where there are more, up to 100,000; one more process; ten times the work before folds "
        "or processes are left out; and up to 120 iterations in each joint optimisation. `quick`: one "
        "model, or the best of few by evidence, without `score` unless a `validation` is requested.",
    )
    prefer: Prefer = Field(
        "accuracy",
        description="The reduction of several processes to few functions. `accuracy`: it costs .01 nats a row of their "
        "score; `small`: .05, for fewer functions. `max_score_loss` sets it as a number.",
    )
    max_score_loss: float | None = Field(
        None,
        gt=0,
        le=10,
        allow_inf_nan=False,
        description="The limit of the `score`, in nats a row, that the reduction may cost; it costs more where a "
        "prediction of one row by more functions would take twice the CPU time that it takes with 20. null: as set by "
        "`prefer`.",
    )

    local: Annotated[LocalOption, Field(discriminator="type")] | None = Field(
        None,
        description="Whether a prediction may be conditioned on its nearest rows, which the version then stores. "
        "`neighbours`: a nearest-neighbour Gaussian process, of the targets or of the residuals of the sparse model, "
        "with Gaussian noise of one size. `none`: the sparse model. `automatic`, the default: from 5,000 rows on, "
        "if they take at most 16 MiB and `effort` is not `quick`, such processes are compared with the sparse model on "
        "at most 1,000 held-out rows, and the best is selected where it is better by more than its standard error and "
        "`max_score_loss`. A version that stores rows can't be exported as ONNX or Python, has no covariance of "
        "predictions, and its functions are those of the sparse model alone.",
    )

    dates: Dates = Field(
        "calendar",
        description="The inputs of a timestamp. `calendar`: its seconds, a trend, and its position within the year, "
        "the week (by days) and the day, each a sine and a cosine, so that 31 December is beside 1 January; of "
        "periods of which the training rows span at least two. One model is compared over five folds with them and "
        "without, on at most 1,000 rows, and they are kept where they predict better by more than two standard "
        "errors; the version's `calendar` states which. `time`: the seconds alone, without the comparison.",
    )

    text: Text = Field(
        "target",
        description="The treatment of texts of more than 50 values. `target`: each is encoded by its effect on the "
        "target, shrunk towards the mean the more, the fewer rows it has; a training row by the targets of the other "
        "four of five folds, without its own. One model is compared by folds with them and without, on at most 1,000 "
        "rows, and they are kept where they predict better by more than two standard errors; the version's `texts` "
        "states which. The row of a text that did not occur in training is averaged over such effects, unless "
        "`unknown_categories` of the prediction is `error`. `leave_out`: no inputs, and the job's `ignored` states so.",
    )

    keep_rows: bool = Field(
        True,
        description="Whether the version keeps the inputs of 64 training rows, drawn by content, of which a missing "
        "value of a row to predict is drawn: several together, and given the other values of the row. They are a part "
        "of exported documents. Without them such values are drawn from the histograms of the version's baseline, each "
        "for itself, whose intervals are wider where inputs are correlated.",
    )

    budget: Budget | None = Field(
        None,
        description="The most work of the training: what `cpu_seconds` of the reference core compute, whatever the "
        "speed of the worker, so that equal requests give equal versions. Left out are, in this order, alternatives of "
        "noise and prior, nearest-neighbour processes, further processes, two of five folds, all but a quick training, "
        "and rows; the job and the version state what was left out. A budget below a quick training of 50 rows is "
        "refused. null: no budget.",
    )

    positive_class: Label | None = Field(
        None,
        description="The class that counts as positive: evaluations have its precision, recall, specificity, F1 and "
        "area under the ROC curve. A text names a number or truth value by its JSON, too. null: none.",
    )

    def to_request(self) -> SupervisedRequest:
        """Return the request as the service's record."""
        likelihood, noise_column = requested(self.likelihood)
        return SupervisedRequest(
            dataset_id=self.dataset_id,
            target=self.target,
            inputs=self.inputs,
            model=self.model,
            task=self._task(),
            likelihood=likelihood,
            basis=self.basis,
            prior=self.prior,
            algorithm=self.algorithm,
            standardise=self.standardise,
            missing=self.missing,
            split=self.split,
            holdout=self.holdout,
            validation=self.validation,
            seed=self.seed,
            noise_column=noise_column,
            effort=self.effort,
            prefer=self.prefer,
            max_score_loss=self.max_score_loss,
            local=self.local,
            dates=self.dates,
            text=self.text,
            keep_rows=self.keep_rows,
            budget=self.budget,
            positive_class=self.positive_class,
        )

    def as_sent(self, fault: Fault) -> Fault:
        """Return a fault with its pointer into the request, where a single basis may stand for a list."""
        if isinstance(self.basis, tuple) or fault.pointer is None or not fault.pointer.startswith("/basis/0"):
            return fault
        return replace(fault, pointer=f"/basis{fault.pointer.removeprefix('/basis/0')}")

    def _task(self) -> Task | None:
        return None


class InferredJobIn(SupervisedJobIn):
    """A training whose task follows from the target: texts, booleans and two integers are classes, else numbers.

    With a likelihood for numbers two integers are a number; with `categorical` numbers are classes.
    """

    task: None = None


class RegressionJobIn(SupervisedJobIn):
    """A training to predict a number."""

    task: Literal["regression"]

    def _task(self) -> Task:
        return self.task


class ClassificationJobIn(SupervisedJobIn):
    """A training to predict one of at least two and at most 1,000 classes."""

    task: Literal["classification"]

    def _task(self) -> Task:
        return self.task
