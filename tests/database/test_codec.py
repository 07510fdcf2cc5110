import struct
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.database.frame import PREAMBLE, BodyCodec, Content, Json, NewerReleaseError, UnreadableBytesError, pack, write
from app.datasets.repository import decode_block, encode_block
from app.jobs.checkpoint_repository import decode_fit_log, encode_fit_log
from app.registry.version_repository import decode_predictor, encode_predictor
from relevance_bayes.core.algorithms.state import Process, State, Termination, Trial
from relevance_bayes.core.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from relevance_bayes.core.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from relevance_bayes.core.inference.posterior import Augmentation
from relevance_bayes.core.kernels import Additive, Gaussian, Kernel
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    GaussianNoise,
    Likelihood,
    LogGaussian,
    LogVariance,
    OneAgainstRest,
)
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.core.models.model import InputRange, LogNoise, Model
from relevance_bayes.core.models.pool import Pool
from relevance_bayes.documents.schema import FORMAT_VERSION, Stored, content_of, extract_arrays
from relevance_bayes.tables.columns import Block, BooleanArray, CategoryArray, Column, NumberArray, TimestampArray
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.report import ApproximationPredictor
from relevance_bayes.tasks.components.report import ComponentsPredictor
from relevance_bayes.tasks.images.code import decode
from relevance_bayes.tasks.images.encoding import encode
from relevance_bayes.tasks.images.report import ImagePredictor
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from relevance_bayes.tasks.union import Predictor
from tests import samples
from tests.class_names import class_names_in
from tests.narrowing import of_kind
from tests.properties import examples
from tests.small_approximation import version_of_a_term
from tests.small_components import version_of_components
from tests.small_image import version_of_an_image

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS: Mapping[int, Callable[[bytes], bytes]] = {
    BodyCodec.NONE: bytes,
    BodyCodec.ZLIB: zlib.compress,
    BodyCodec.ZSTD: zstd.compress,
}


def _bits(column: Column) -> tuple[str, bytes, tuple[str, ...]]:
    match column:
        case CategoryArray(codes, labels):
            return codes.dtype.str, codes.tobytes(), labels
        case NumberArray(values) | TimestampArray(values):
            return values.dtype.str, values.tobytes(), ()
        case BooleanArray(flags):
            return flags.dtype.str, flags.tobytes(), ()


def _same(one: Block, other: Block) -> bool:
    return [(name, type(column), _bits(column)) for name, column in one.items()] == [
        (name, type(column), _bits(column)) for name, column in other.items()
    ]


def test_a_block_comes_back_to_the_bit() -> None:
    block = samples.block(1000)
    assert _same(block, decode_block(encode_block(block)))


def test_a_block_without_rows_comes_back() -> None:
    block: Block = {"x": NumberArray(np.empty(0)), "y": CategoryArray(np.empty(0, np.int32), ())}
    assert _same(block, decode_block(encode_block(block)))


@settings(deadline=None, max_examples=examples(13))
@given(
    st.text(),
    arrays(np.float64, st.integers(0, 30), elements=st.floats(allow_subnormal=True)),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True),
)
def test_any_numbers_and_texts_come_back_to_the_bit(
    name: str, values: np.ndarray[tuple[int], np.dtype[np.float64]], labels: list[str]
) -> None:
    codes = np.arange(len(values), dtype=np.int32) % (len(labels) + 1) - 1
    block: Block = {name: NumberArray(values), name + "2": CategoryArray(codes, tuple(labels))}
    try:
        encoded = encode_block(block)
    except UnicodeEncodeError:
        assert any(0xD800 <= ord(letter) < 0xE000 for letter in name)
        return
    assert _same(block, decode_block(encoded))


def test_what_repeats_is_packed_and_noise_is_not() -> None:
    rows = 10_000
    repeating: Block = {"x": NumberArray(np.full(rows, 0.1))}
    noise: Block = {"x": NumberArray(np.random.default_rng(0).normal(size=rows))}
    assert len(encode_block(repeating)) < rows
    assert 8 * rows < len(encode_block(noise)) < 8 * rows + 200
    assert _same(repeating, decode_block(encode_block(repeating)))


def packed(codec: int, stored: Callable[[bytes], bytes]) -> bytes:
    """Return the block of `samples.block(3)` whose body is stored with a codec, by the layout in the module's text."""
    encoded = encode_block(samples.block(3))
    length = int(struct.unpack_from("<I", encoded, 8)[0])
    header, body = encoded[24 : 24 + length], stored(encoded[24 + length :])
    covered = struct.pack("<4sBBHIQ", b"RLVC", 1, codec, 1, length, len(body))
    return covered + struct.pack("<I", zlib.crc32(covered + header + body)) + header + body


@pytest.mark.parametrize("codec", list(BodyCodec), ids=lambda codec: codec.name.lower())
def test_blocks_of_every_codec_are_read(codec: BodyCodec) -> None:
    assert encode_block(samples.block(3))[5] == BodyCodec.NONE
    assert _same(samples.block(3), decode_block(packed(codec, COMPRESS[codec])))


def test_compressible_blocks_are_written_with_zstd() -> None:
    encoded = encode_block({"x": NumberArray(np.full(10_000, 0.1))})
    length = int(struct.unpack_from("<I", encoded, 8)[0])
    assert encoded[5] == 2
    assert zstd.decompress(encoded[24 + length :]) == np.full(10_000, 0.1).tobytes()


@pytest.mark.parametrize("codec", [3, 255])
def test_a_codec_that_is_unknown_is_of_a_newer_release(codec: int) -> None:
    with pytest.raises(NewerReleaseError, match=rf"written by a newer release: .* got {codec}$"):
        decode_block(packed(codec, bytes))


def test_columns_that_are_views_come_back() -> None:
    both = np.random.default_rng(0).normal(size=(50, 2))
    block: Block = {"a": NumberArray(both[:, 0]), "b": NumberArray(both[::-1, 1])}
    assert _same(block, decode_block(encode_block(block)))


def decoded(data: bytes) -> SupervisedPredictor:
    return of_kind(SupervisedPredictor, decode_predictor(data))


def _equal(one: SupervisedPredictor, other: SupervisedPredictor) -> bool:
    return encode_predictor(one) == encode_predictor(other)


def test_a_predictor_comes_back_to_the_bit() -> None:
    predictor = samples.predictor()
    back = decoded(encode_predictor(predictor))
    assert back.encoding == predictor.encoding
    assert [type(label) for label in back.encoding.target.classes] == [int, float, bool, str]
    assert _equal(predictor, back)
    functions = back.model.functions[0]
    assert isinstance(functions, KernelFunctions)
    assert functions.rows.dtype == np.intp
    assert functions.input_map.skew is not None
    assert functions.input_map.tail is None
    assert functions.kernel == Additive(Gaussian(), (2, 0), (0.1, 1.0 / 3.0))
    inputs = back.model.functions[2]
    assert isinstance(inputs, InputFunctions)
    assert inputs.columns.dtype == np.intp
    assert (back.model.signal_variance, back.model.last_gain, back.model.next_gain) == (1.0 / 7.0, None, 5e-324)


def test_the_terms_of_a_function_come_back_to_the_bit() -> None:
    rng = np.random.default_rng(3)
    terms = KernelExpansion(rng.normal(size=(4, 2)), rng.normal(size=4), rng.uniform(0.1, 2.0, (4, 2)), 1.0 / 3.0)
    predictor = ApproximationPredictor(InputEncoding.plain(["x", "w"]), terms)
    back = of_kind(ApproximationPredictor, decode_predictor(encode_predictor(predictor)))
    assert back.encoding == predictor.encoding
    assert back.expansion.constant == terms.constant
    for one, other in (
        (back.expansion.centres, terms.centres),
        (back.expansion.coefficients, terms.coefficients),
        (back.expansion.widths, terms.widths),
    ):
        np.testing.assert_array_equal(one, other)


def test_the_code_of_an_image_comes_back_to_the_bit() -> None:
    code = encode(np.add.outer(np.sin(np.arange(12.0)), np.arange(9.0) % 3), functions=5)
    predictor = ImagePredictor(InputEncoding.plain(["row", "column"]), code)
    back = of_kind(ImagePredictor, decode_predictor(encode_predictor(predictor)))
    np.testing.assert_array_equal(decode(back.code), decode(code))
    assert back.encoding == predictor.encoding
    assert (back.code.path, back.code.error, back.code.functions) == (code.path, code.error, code.functions)
    assert encode_predictor(back) == encode_predictor(predictor)


def test_what_error_bars_are_made_of_comes_back_to_the_bit() -> None:
    predictor = samples.predictor()
    functions, *_ = predictor.model.functions
    assert isinstance(functions, KernelFunctions)
    for precisions in (None, np.geomspace(1e-9, 1e9, functions.size)):
        model = replace(predictor.model, augmentation=Augmentation(functions, 1.0 / 3.0, precisions))
        made = replace(predictor, learned=model)
        back = decoded(encode_predictor(made))
        assert isinstance(back.model.augmentation, Augmentation)
        assert _equal(made, back)


def test_noise_known_by_row_comes_back_with_its_column() -> None:
    predictor = samples.predictor()
    target = replace(predictor.encoding.target, noise_column="sd")
    encoding = replace(predictor.encoding, target=target)
    made = SupervisedPredictor(encoding, replace(predictor.model, likelihood=GaussianNoise("rows")))
    back = decoded(encode_predictor(made))
    assert (back.encoding.target, back.model.likelihood) == (target, GaussianNoise("rows"))


def test_a_model_of_several_latents_a_row_comes_back_to_the_bit() -> None:
    predictor = samples.predictor()
    mean = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 4)))
    made = replace(predictor, learned=replace(predictor.model, likelihood=Categorical(4), mean=mean))
    functions, *_ = made.model.functions
    assert isinstance(functions, KernelFunctions)
    kept = Augmentation(functions, 0.1)
    least_squares = replace(made.model, likelihood=OneAgainstRest(4, 1.7), augmentation=kept)
    reported = replace(made, learned=least_squares)
    again = decoded(encode_predictor(reported))
    assert _equal(reported, again)
    assert again.model.likelihood == OneAgainstRest(4, 1.7)
    back = decoded(encode_predictor(made))
    assert back.model.likelihood == Categorical(4)
    np.testing.assert_array_equal(back.model.mean, mean)
    assert encode_predictor(back) == encode_predictor(made)


def test_a_model_for_each_class_comes_back_to_the_bit() -> None:
    first, *others = (samples.predictor(seed=seed) for seed in range(4))
    members = tuple(replace(one.model, likelihood=Bernoulli()) for one in (first, *others))
    made = replace(first, learned=PerClass(members, BernoulliPerClass(4, 1.4)))
    back = decoded(encode_predictor(made))
    assert isinstance(back.learned, PerClass)
    assert back.learned.likelihood == BernoulliPerClass(4, 1.4)
    assert encode_predictor(back) == encode_predictor(made)
    for one, other in zip(back.learned.members, members, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.covariance, other.covariance)
        assert one.likelihood == Bernoulli()


def test_the_same_predictor_gives_the_same_bytes_whatever_its_arrays_lie_like_in_memory() -> None:
    predictor = samples.predictor()
    model = predictor.model
    turned = SupervisedPredictor(
        predictor.encoding,
        type(model)(**{**vars(model), "covariance": np.asfortranarray(model.covariance)}),
    )
    assert encode_predictor(predictor) == encode_predictor(turned)
    assert encode_predictor(decoded(encode_predictor(predictor))) == encode_predictor(predictor)
    assert encode_predictor(predictor) != encode_predictor(samples.predictor(seed=1))


def test_the_format_is_the_documented_one() -> None:
    encoded = encode_block({"x": NumberArray(np.array([1.5, np.nan])), "y": BooleanArray(np.array([1, -1], np.int8))})
    header = b'{"arrays":[["<f8",[2],0],["|i1",[2],16]],"value":{"columns":[["x","number"],["y","boolean"]]}}'
    body = struct.pack("<dd", 1.5, float("nan")) + b"\x01\xff"
    assert encoded[:4] == b"RLVC"
    assert struct.unpack_from("<BBHIQ", encoded, 4) == (1, 0, 1, len(header), len(body))
    assert encoded[24:] == header + body


@pytest.mark.parametrize("kept", [0, 3, 23, 24, 60, -1])
def test_bytes_that_are_cut_off_are_refused(kept: int) -> None:
    encoded = encode_predictor(samples.predictor())
    with pytest.raises(UnreadableBytesError):
        decoded(encoded[:kept])


def test_bytes_too_many_are_refused() -> None:
    with pytest.raises(UnreadableBytesError, match="expected"):
        decoded(encode_predictor(samples.predictor()) + b"\x00")


def test_each_damaged_byte_is_noticed() -> None:
    encoded = encode_block(samples.block(3))
    for position in range(len(encoded)):
        damaged = bytearray(encoded)
        damaged[position] ^= 0x10
        with pytest.raises(UnreadableBytesError):
            decode_block(bytes(damaged))


@pytest.mark.parametrize("foreign", [b"", b"PAR1" + bytes(100), b"\x80\x04}q\x00." * 20])
def test_foreign_bytes_are_refused(foreign: bytes) -> None:
    with pytest.raises(UnreadableBytesError, match="something else"):
        decode_block(foreign)


def test_a_block_is_not_a_version() -> None:
    with pytest.raises(UnreadableBytesError, match="expected a version"):
        decoded(encode_block(samples.block()))


def test_a_later_version_is_refused_by_its_number() -> None:
    later = bytearray(encode_block(samples.block()))
    later[4] = 2
    with pytest.raises(UnreadableBytesError, match="version 1, got 2"):
        decode_block(bytes(later))


def _framed(format_version: int, content: Json, arrays: Mapping[str, Stored]) -> bytes:
    value: Json = {"format_version": format_version, "arrays": list(arrays), "content": content}
    return write(Content.VERSION, value, list(arrays.values()), compressible=False)


def test_content_of_another_format_version_is_refused_by_its_number() -> None:
    content, arrays = extract_arrays(content_of(samples.predictor()))
    assert _equal(decoded(_framed(FORMAT_VERSION, content, arrays)), samples.predictor())
    with pytest.raises(UnreadableBytesError, match="document format 1, got 2"):
        decoded(_framed(2, content, arrays))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"magic": 1}, "magic"),
        ({"task": "sorcery"}, "sorcery"),
        ({"inputs": []}, "inputs|widths"),
        ({"target": None}, "target"),
    ],
)
def test_content_with_other_members_is_refused(change: dict[str, Json], expected: str) -> None:
    content, arrays = extract_arrays(content_of(samples.predictor()))
    assert isinstance(content, dict)
    with pytest.raises(UnreadableBytesError, match=expected):
        decoded(_framed(FORMAT_VERSION, content | change, arrays))


def test_content_without_one_of_its_arrays_is_refused() -> None:
    content, arrays = extract_arrays(content_of(samples.predictor()))
    del arrays["model/mean"]
    with pytest.raises(UnreadableBytesError, match="'model/mean' is missing"):
        decoded(_framed(FORMAT_VERSION, content, arrays))


@pytest.mark.parametrize("kind", get_args(Kernel))
def test_each_kernel_comes_back(kind: type[Kernel]) -> None:
    predictor = samples.predictor()
    functions, *others = predictor.model.functions
    assert isinstance(functions, KernelFunctions)
    some = (replace(functions, kernel=kind()), GroupFunctions(np.array([1]), _one_input(kind())), *others)
    made = replace(predictor, learned=_of_functions(predictor.model, some))
    back = decoded(encode_predictor(made))
    kernels = [getattr(getattr(one, "of", one), "kernel", None) for one in back.model.functions]
    assert kernels[:2] == [kind(), kind()]
    assert _equal(back, made)


def _one_input(kernel: Kernel) -> KernelFunctions:
    return KernelFunctions(kernel, InputMap.isotropic(0.5), np.array([[0.25]]), np.array([0]))


def _of_functions(model: Model, functions: tuple[Functions, ...]) -> Model:
    one = np.ones(sum(some.size for some in functions))
    return replace(model, functions=functions, covariance=np.diag(one), mean=one, alpha=one, gamma=one)


@pytest.mark.parametrize("kind", get_args(SingleFunctions))
def test_each_kind_of_function_comes_back(kind: type[SingleFunctions]) -> None:
    column, one = np.array([0]), np.ones(1)
    every: tuple[SingleFunctions, ...] = (
        _one_input(Gaussian()),
        ConstantFunction(),
        InputFunctions(column),
        StepFunctions(column, one),
        FourierFunctions(column, one, 2.0 * one, 3.0 * one),
        SplineFunctions(2, column, one, 2.0 * one),
        GaborFunctions(np.ones((1, 1)), one, np.full((1, 1), 2.0), 3.0 * one),
    )
    (made,) = [functions for functions in every if isinstance(functions, kind)]
    predictor = samples.predictor()
    of_functions = replace(predictor, learned=_of_functions(predictor.model, (GroupFunctions(np.array([2]), made),)))
    back = decoded(encode_predictor(of_functions))
    (group,) = back.model.functions
    assert isinstance(group, GroupFunctions)
    assert isinstance(group.of, kind)
    assert _equal(back, of_functions)


@pytest.mark.parametrize("kind", get_args(Likelihood))
def test_each_likelihood_comes_back(kind: type[Likelihood]) -> None:
    predictor = samples.predictor()
    likelihood = kind(classes=4) if issubclass(kind, Categorical | OneAgainstRest) else kind()
    mean = np.random.default_rng(0).normal(size=(5, 4) if likelihood.latents > 1 else 5)
    made = replace(predictor, learned=replace(predictor.model, likelihood=likelihood, mean=mean))
    back = decoded(encode_predictor(made))
    assert back.model.likelihood == likelihood
    assert _equal(back, made)


def test_noise_of_its_own_function_comes_back() -> None:
    predictor = samples.predictor()
    noise = LogNoise(replace(predictor.model, likelihood=LogVariance()), -3.0, 2.0)
    made = replace(predictor, learned=replace(predictor.model, log_noise=noise))
    back = decoded(encode_predictor(made))
    assert back.model.log_noise is not None
    assert back.model.log_noise.model.likelihood == LogVariance()
    assert _equal(back, made)


def test_a_range_of_the_inputs_comes_back() -> None:
    predictor = samples.predictor()
    inputs = predictor.model.inputs
    bounds = InputRange(np.full(inputs, -1.5), np.linspace(2.0, 3.0, inputs))
    made = replace(predictor, learned=replace(predictor.model, likelihood=LogGaussian(), input_range=bounds))
    back = decoded(encode_predictor(made))
    assert back.model.input_range is not None
    assert _equal(back, made)


def test_a_pool_comes_back() -> None:
    members = tuple(samples.predictor(seed=seed).model for seed in range(2))
    made = replace(samples.predictor(), learned=Pool(members, np.array([0.25, 0.75])))
    back = decoded(encode_predictor(made))
    assert isinstance(back.learned, Pool)
    np.testing.assert_array_equal(back.learned.weights, [0.25, 0.75])
    assert _equal(back, made)


def test_no_name_of_a_class_is_written() -> None:
    predictors: list[Predictor] = [
        samples.predictor(),
        version_of_a_term().predictor,
        version_of_components().predictor,
        version_of_an_image().predictor,
    ]
    assert {type(predictor) for predictor in predictors} == set(get_args(Predictor))
    for data in [*map(encode_predictor, predictors), encode_fit_log((STATE,))]:
        assert class_names_in(data) == set()


def test_what_has_no_place_in_a_record_is_refused() -> None:
    with pytest.raises(TypeError, match="got set"):
        pack({1, 2}, [])
    with pytest.raises(TypeError, match="float64"):
        pack(np.zeros(3, np.float32), [])


def test_the_preamble_has_no_padding() -> None:
    assert PREAMBLE.size == 24


def test_components_come_back_to_the_bit() -> None:
    predictor = version_of_components().predictor
    encoded = encode_predictor(predictor)
    back = of_kind(ComponentsPredictor, decode_predictor(encoded))
    assert (back.encoding, back.components.kernel) == (predictor.encoding, predictor.components.kernel)
    np.testing.assert_array_equal(back.log_densities, predictor.log_densities)
    rows = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_array_equal(back.components.project(rows), predictor.components.project(rows))
    np.testing.assert_array_equal(back.components.log_density(rows), predictor.components.log_density(rows))
    assert back.components.rows.dtype == np.intp
    assert encode_predictor(back) == encoded


STATE = State(
    active=(3, 0),
    alpha=np.array([1.0, np.inf]),
    beta=2.0,
    weights=np.array([[0.1, 0.2], [0.3, -0.0]]),
    iteration=16,
    objective=-np.inf,
    termination=Termination.NOISE_FLOOR,
    process=Process(
        "noise",
        Hyperparameters(1.0, 2.0, np.array([3.0]), InputMap(np.array([0.5, 2.0]), np.zeros(2), np.zeros(2))),
        moved=np.ones((2, 2)),
        evidence_per_row=0.1,
        trial=Trial(Hyperparameters(1.0, 2.0, np.empty(0), InputMap.isotropic(1.0)), 5.0),
    ),
    phase="alone 1",
    best=State((0,), np.ones(1), 1.0, np.ones(1), 3, 1.5),
)


def test_a_log_of_fits_comes_back_to_the_bit() -> None:
    fit_log = (STATE, None, np.array([0.25, 1e-300]))
    data = encode_fit_log(fit_log)
    back = decode_fit_log(data)
    assert encode_fit_log(back) == data
    first, second, third = back
    assert isinstance(first, State)
    assert first.termination is Termination.NOISE_FLOOR
    assert (first.active, first.objective, second) == ((3, 0), -np.inf, None)
    assert np.array_equal(first.weights, STATE.weights)
    assert isinstance(third, np.ndarray)


def test_what_is_no_log_of_fits_is_refused() -> None:
    with pytest.raises(UnreadableBytesError, match="expected a log of fits"):
        decode_fit_log(write(Content.FIT_LOG, "something else", [], compressible=False))
    with pytest.raises(UnreadableBytesError, match="expected an entry of a log of fits"):
        decode_fit_log(write(Content.FIT_LOG, ["something else"], [], compressible=False))
