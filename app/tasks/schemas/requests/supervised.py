"""A training to predict numbers or classes, as it comes in."""

from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Discriminator, Field, Tag

from app.jobs.request_schemas import JobIn, NameIn
from app.registry.schemas.likelihoods import AnyLikelihood, requested
from relevance_bayes.core.spec import Algorithm
from relevance_bayes.plans.requests import (
    BasisChoice,
    Effort,
    LocalOption,
    Missing,
    Prefer,
    PriorChoice,
    RandomSplit,
    Split,
    SupervisedRequest,
    Task,
    Validation,
)
from relevance_bayes.types.errors import Fault

OneBasis = Annotated[BasisChoice, Field(discriminator="type")]
Bases = Annotated[tuple[OneBasis, ...], Field(min_length=1, max_length=16)]


def _one_or_list(value: object) -> str:
    return "list" if isinstance(value, list | tuple) else "one"


class SupervisedJobIn(JobIn):
    """The members of all supervised requests; only `dataset_id` and `target` have to be said."""

    dataset_id: UUID = Field(description="The dataset to learn from.")
    target: str = Field(min_length=1, description="The column to predict.")
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = Field(
        None, description="The columns to predict from; without it, every column that is fit for it."
    )
    model: NameIn | None = Field(None, description="The model's name; without it, the dataset's.")
    likelihood: Annotated[AnyLikelihood, Field(discriminator="type")] | None = Field(
        None,
        description="How targets scatter. `gaussian`, the default for numbers: noise of one size, learned or given as "
        '`noise_sd`; or of a size of its own in each row, given as `{"column": NAME}`: a column of its sds, above 0, '
        "in the target's units, which is no input; or `heteroscedastic`: a second function of the inputs, learned too, "
        "is its logarithm. `student_t`: some rows are outliers; `degrees_of_freedom`, how heavy the tails "
        "are, is learned or a number above 2. `log_gaussian`: targets above 0 that scatter in per cent. `poisson`: "
        "counts; `negative_binomial`: counts that scatter more. "
        "`bernoulli`, the default for two classes. `categorical`, the default for 3 to 10: a function for each "
        "class; `classes` is counted where it is not said. `bernoulli_per_class`: a model for each of three classes or "
        "more against all others, with functions and scales of its own. `one_against_rest`, the default for more than "
        "10: least squares to zeros and ones, each class against all others, as cheap as a number. Classes have a "
        "`temperature` T, p to the power of 1/T and normalised: a number from 0.05 to 20, or `learned` from rows that "
        "were not learned from.",
    )
    basis: (
        Annotated[Annotated[OneBasis, Tag("one")] | Annotated[Bases, Tag("list")], Discriminator(_one_or_list)] | None
    ) = Field(
        None,
        description="The functions to choose from. One kernel alone is short for it and a bias, with the inputs "
        "themselves as well under a Gaussian process prior; a list is exact. Without it, Gaussian kernels so. A "
        "kernel's `width` is one for each input, by evidence, and for numbers there is a `warp` of each; under "
        "independent weights that are asked for it is found by 5-fold cross-validation. A `fixed` one above 0 may be "
        "a list, one for each of the named `inputs`; a text column's categories share theirs. `additive`, if it is "
        "`evidence`, gives inputs a term of their own where the evidence finds that their effects add to all others'. "
        "Dictionaries are functions that stand on no row, for signals: `steps` jump, one for each place between two "
        "values of an input; `b_splines` are smooth bumps of all sizes; `fourier` waves repeat over the range; `gabor` "
        "waves die down, over one input or two. Each sees every input; in a `group` it sees the `inputs` named, and so "
        "does a kernel, whose width is given there. They go with independent weights, and each function pays for its "
        "choice among all (`price`) unless a prior is named.",
    )
    prior: Annotated[PriorChoice, Field(discriminator="type")] | None = Field(
        None,
        description="What is known of the weights beforehand. `gaussian_process`: the functions are part of a process, "
        "and predictions know what the few leave of it; under Gaussian noise the share `rho` of that, from 0 to 1, is "
        "taken for noise of each row. `independent`: a precision for each. `automatic`, the default: a process, and "
        "where rows are few enough independent weights beside it; the better is kept.",
    )
    algorithm: Annotated[Algorithm, Field(discriminator="type")] | None = Field(
        None,
        description="How the evidence is climbed; without it, greedily under a Gaussian process, else sequentially.",
    )
    standardise: bool | None = Field(
        None,
        description="Whether inputs are scaled to mean 0 and sd 1; without it, unless a width is given as a number.",
    )
    missing: Missing = Field("error", description="What to do with rows in which a value is missing.")
    split: Annotated[Split, Field(discriminator="type")] = Field(
        RandomSplit(), description="Which rows belong together when some are held out or folded."
    )
    holdout: float = Field(0.0, ge=0, le=0.9, description="The share of rows that is only measured on.")
    validation: Validation | None = Field(
        None,
        description="Measure by cross-validation: when the model is made, the whole training (search for a width and "
        "comparisons included) is done again `folds` times, each time without one fold of the training rows, and "
        "measured on that fold. It takes about `folds` times as long again. `split` holds for folds as well: groups "
        "stay together, and under `order` each stretch but the first is predicted from all before it. Inputs and "
        "target are scaled once, by all training rows. The figures are the version's `metrics.validation`.",
    )
    seed: int = Field(
        0, ge=0, le=2**53 - 1, description="Decides, with the rows' content, which rows are held out or folded."
    )

    effort: Effort = Field(
        "normal",
        description="How much is computed. `normal`: a training is measured by five whole trainings, each on four "
        "fifths of the rows: of 5,000 of them where there are more, and above 20,000 by one training on nine tenths. "
        "Where kernel and prior are left open several processes are learned: of numbers they are weighted by how each "
        "predicts rows that it has not learned from, of classes the one that predicts them best is taken. `thorough`: "
        "ten folds, of 20,000 rows where there are more, up to 100,000; one more process; and ten times the work "
        "before folds or processes are left out. `quick`: one model, or the best of few by evidence, without `score` "
        "unless a `validation` is asked for.",
    )
    prefer: Prefer = Field(
        "accuracy",
        description="How far several processes are reduced to few functions. `accuracy`: they lose .01 nats a row of "
        "their score; `small`: .05, for fewer functions. `max_score_loss` says it as a number.",
    )
    max_score_loss: float | None = Field(
        None,
        gt=0,
        le=10,
        allow_inf_nan=False,
        description="Nats a row of its `score` that the model may lose by the reduction; more is lost where a "
        "prediction of one row by more functions would take twice the CPU time that it takes with 20. Null: as "
        "`prefer` has it.",
    )

    local: Annotated[LocalOption, Field(discriminator="type")] | None = Field(
        None,
        description="Whether a prediction may be conditioned on the rows nearest to it, which the version then keeps. "
        "`neighbours`: a nearest-neighbour Gaussian process, of the targets or of the residuals of the sparse model, "
        "with Gaussian noise of one size. `none`: the sparse model. `automatic`, the default: from 5,000 rows on, "
        "if they take at most 16 MiB and `effort` is not `quick`, such processes are compared with the sparse model on "
        "at most 1,000 rows kept apart, and the best is taken where it is better by more than its standard error and "
        "`max_score_loss`. A version that keeps rows can't be exported as ONNX or Python, has no covariance of "
        "predictions, and its functions are those of the sparse model alone.",
    )

    def to_request(self) -> SupervisedRequest:
        """The same in the domain's words."""
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
        )

    def as_sent(self, fault: Fault) -> Fault:
        """A fault of the request with its pointer into what was sent, where one basis may stand for a list."""
        if isinstance(self.basis, tuple) or fault.pointer is None or not fault.pointer.startswith("/basis/0"):
            return fault
        return replace(fault, pointer=f"/basis{fault.pointer.removeprefix('/basis/0')}")

    def _task(self) -> Task | None:
        return None


class InferredJobIn(SupervisedJobIn):
    """A training whose task follows from the target: texts, booleans and two integers are classes, else numbers.

    A likelihood for numbers makes two integers a quantity, and `categorical` makes numbers classes.
    """

    task: None = None


class RegressionJobIn(SupervisedJobIn):
    """A training to predict a number."""

    task: Literal["regression"]

    def _task(self) -> Task:
        return self.task


class ClassificationJobIn(SupervisedJobIn):
    """A training to predict one of at least two and at most 50 classes."""

    task: Literal["classification"]

    def _task(self) -> Task:
        return self.task
