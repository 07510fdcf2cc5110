"""The members of a report that follow from the model: hyperparameters in the user's units, widths by input."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.hurdle import HurdleModel
from relevance_bayes.core.hyperparameters import InputMap
from relevance_bayes.core.kernels import Additive
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.per_class import PerClass
from relevance_bayes.core.pool import LearnedModel, Pool, degrees_of_freedom_of, n_functions
from relevance_bayes.documents.models import Hyperparameters, Member
from relevance_bayes.records.reports import InputTerm, InputWarp, InputWidth
from relevance_bayes.tables.encoding import (
    Encoding,
    InputEncoding,
    column_names,
    columns_of,
    user_evidence,
    user_noise_sd,
    user_process_sd,
)

Inputs: TypeAlias = Sequence[str] | None
"""The names of the inputs in the order to list them, by default that of the columns of X."""


def derived_members(learned: LearnedModel, encoding: Encoding, inputs: Inputs = None) -> tuple[Member, ...]:
    """Return the processes of a pool, the models of classes or of a hurdle, or the only model, as far as they follow
    from what was learned: without scores and, except of a nearest-neighbour process, without kernels."""
    match learned:
        case LocalModel():
            return (_local(learned, encoding, inputs),)
        case Pool():
            weights = learned.weights.tolist()
            pairs = zip(learned.members, weights, strict=True)
            return tuple(replace(_member(model, learned, encoding, inputs), weight=weight) for model, weight in pairs)
        case PerClass():
            labels = zip(learned.members, encoding.target.classes, strict=False)
            return tuple(
                replace(_member(model, model, encoding, inputs), weight=None, label=label) for model, label in labels
            )
        case HurdleModel():
            return tuple(replace(_member(model, model, encoding, inputs), weight=None) for model in learned.members)
        case Model():
            return (_member(learned, learned, encoding, inputs),)


def _member(model: Model, learned: LearnedModel, encoding: Encoding, inputs: Inputs) -> Member:
    """Return a model of what was learned, by whose degrees of freedom it predicts under Gaussian noise."""
    target, noise = encoding.target, model.likelihood
    tails = noise.degrees_of_freedom if isinstance(noise, StudentT) else degrees_of_freedom_of(learned)
    found = Hyperparameters(
        noise_sd=user_noise_sd(target, model.noise_sd),
        degrees_of_freedom=None if tails is None or tails == "learned" else float(tails),
        widths=model_widths(model, encoding, inputs),
        warps=model_warps(model, encoding, inputs),
        terms=model_terms(model, encoding, inputs),
        signal_sd=user_process_sd(target, model.signal_variance),
        last_gain=model.last_gain,
        next_gain=model.next_gain,
    )
    return Member(None, 1.0, model.size, found, user_evidence(target, model.evidence, model.rows))


def _local(learned: LocalModel, encoding: Encoding, inputs: Inputs) -> Member:
    """Return a nearest-neighbour process, which has no evidence, and whose functions are those of its trend."""
    target, process, scales = encoding.target, learned.process, learned.process.hyperparameters
    found = Hyperparameters(
        noise_sd=user_noise_sd(target, process.noise_sd),
        widths=tuple(named_widths(scales.input_map, encoding, inputs)),
        warps=map_warps(scales.input_map, encoding, inputs),
        signal_sd=user_process_sd(target, scales.signal_variance),
    )
    return Member(process.kernel, 1.0, n_functions(learned), found, None)


def model_widths(model: Model, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputWidth, ...]:
    """Return the widths of all kernels on all inputs; empty where none was kept."""
    return tuple(width for input_map in _maps(model) for width in named_widths(input_map, encoding, inputs))


def map_warps(input_map: InputMap, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputWarp, ...]:
    """Return the warps of a map; empty where it has none."""
    if input_map.skew is None and input_map.tail is None:
        return ()
    straight = np.zeros(encoding.width)
    skew = straight if input_map.skew is None else input_map.skew
    tail = straight if input_map.tail is None else input_map.tail
    return tuple(InputWarp(name, float(skew[column]), float(tail[column])) for column, name in _named(encoding, inputs))


def named_widths(input_map: InputMap, encoding: InputEncoding, inputs: Inputs = None) -> Iterator[InputWidth]:
    """Return one width for all inputs, which has no name, or one for each."""
    if len(input_map.widths) < encoding.width:
        yield InputWidth(None, float(input_map.widths[0]))
        return
    for column, name in _named(encoding, inputs):
        yield InputWidth(name, float(input_map.widths[column]))


def model_warps(model: Model, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputWarp, ...]:
    """Return the warps of the maps that have some."""
    return tuple(warp for bent in _maps(model) for warp in map_warps(bent, encoding, inputs))


def model_terms(model: Model, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputTerm, ...]:
    """Return the terms of single inputs, in the inputs' order."""
    return tuple(
        InputTerm(name, functions.kernel.shares[functions.kernel.alone.index(column)])
        for functions in model.functions
        if isinstance(functions, KernelFunctions) and isinstance(functions.kernel, Additive)
        for column, name in _named(encoding, inputs)
        if column in functions.kernel.alone
    )


def _named(encoding: InputEncoding, inputs: Inputs) -> Iterator[tuple[int, str]]:
    """Yield the columns of X with their names, in the order of the inputs, by default that of X."""
    names = column_names(encoding)
    listed = [column.name for column in encoding.inputs] if inputs is None else inputs
    for numbers in columns_of(encoding, listed):
        yield from ((number, names[number]) for number in numbers)


def _maps(model: Model) -> tuple[InputMap, ...]:
    """Return the maps of all inputs; the widths of a group are those of its request."""
    return tuple(functions.input_map for functions in model.functions if isinstance(functions, KernelFunctions))
