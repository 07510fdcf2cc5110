import json
import struct
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.domain.encoding import InputEncoding
from app.domain.models import ApproximationPredictor, ComponentsPredictor, ImagePredictor, SupervisedPredictor
from app.domain.tables import Block, BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from app.sparse_bayes.algorithms.state import Process, State, Termination, Trial
from app.sparse_bayes.approximation import Expansion
from app.sparse_bayes.augmentation import Augmentation
from app.sparse_bayes.basis import InputFunctions, KernelFunctions
from app.sparse_bayes.hyperparameters import Hyperparameters
from app.sparse_bayes.images import decode, encode
from app.sparse_bayes.kernels import Additive, Gaussian, Kernel
from app.sparse_bayes.likelihoods import Bernoulli, BernoulliPerClass, Categorical, GaussianNoise, OneAgainstRest
from app.sparse_bayes.likelihoods.temperature import Temperature
from app.sparse_bayes.per_class import PerClass
from app.sparse_bayes.scales import InputMap
from app.storage.codec import (
    UnreadableBytesError,
    decode_block,
    decode_predictor,
    decode_trail,
    encode_block,
    encode_predictor,
    encode_trail,
)
from app.storage.codec.frame import PREAMBLE, Content, Stored, write
from app.storage.codec.records import pack, reader_of
from tests.narrowing import of_kind
from tests.services.small_components import version_of_components
from tests.storage import samples


def _bits(column: Column) -> tuple[str, bytes, tuple[str, ...]]:
    match column:
        case CategoryColumn(codes, labels):
            return codes.dtype.str, codes.tobytes(), labels
        case NumberColumn(values) | TimestampColumn(values):
            return values.dtype.str, values.tobytes(), ()
        case BooleanColumn(flags):
            return flags.dtype.str, flags.tobytes(), ()


def _same(one: Block, other: Block) -> bool:
    return [(name, type(column), _bits(column)) for name, column in one.items()] == [
        (name, type(column), _bits(column)) for name, column in other.items()
    ]


def test_a_block_comes_back_to_the_bit() -> None:
    block = samples.block(1000)
    assert _same(block, decode_block(encode_block(block)))


def test_a_block_without_rows_comes_back() -> None:
    block: Block = {"x": NumberColumn(np.empty(0)), "y": CategoryColumn(np.empty(0, np.int32), ())}
    assert _same(block, decode_block(encode_block(block)))


@settings(deadline=None, max_examples=50)
@given(
    st.text(),
    arrays(np.float64, st.integers(0, 30), elements=st.floats(allow_subnormal=True)),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True),
)
def test_any_numbers_and_texts_come_back_to_the_bit(
    name: str, values: np.ndarray[tuple[int], np.dtype[np.float64]], labels: list[str]
) -> None:
    codes = np.arange(len(values), dtype=np.int32) % (len(labels) + 1) - 1
    block: Block = {name: NumberColumn(values), name + "2": CategoryColumn(codes, tuple(labels))}
    try:
        encoded = encode_block(block)
    except UnicodeEncodeError:
        assert any(0xD800 <= ord(letter) < 0xE000 for letter in name)
        return
    assert _same(block, decode_block(encoded))


def test_what_repeats_is_packed_and_noise_is_not() -> None:
    rows = 10_000
    repeating: Block = {"x": NumberColumn(np.full(rows, 0.1))}
    noise: Block = {"x": NumberColumn(np.random.default_rng(0).normal(size=rows))}
    assert len(encode_block(repeating)) < rows
    assert 8 * rows < len(encode_block(noise)) < 8 * rows + 200
    assert _same(repeating, decode_block(encode_block(repeating)))


def test_columns_that_are_views_come_back() -> None:
    both = np.random.default_rng(0).normal(size=(50, 2))
    block: Block = {"a": NumberColumn(both[:, 0]), "b": NumberColumn(both[::-1, 1])}
    assert _same(block, decode_block(encode_block(block)))


def decoded(data: bytes) -> SupervisedPredictor:
    return of_kind(SupervisedPredictor, decode_predictor(data))


def _equal(one: SupervisedPredictor, other: SupervisedPredictor) -> bool:
    arrays_of_one: list[Stored] = []
    arrays_of_other: list[Stored] = []
    return pack(one, arrays_of_one) == pack(other, arrays_of_other) and all(
        a.tobytes() == b.tobytes() and a.shape == b.shape and a.dtype == b.dtype
        for a, b in zip(arrays_of_one, arrays_of_other, strict=True)
    )


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
    assert (back.model.amplitude, back.model.last_gain, back.model.next_gain) == (1.0 / 7.0, None, 5e-324)


def test_the_terms_of_a_function_come_back_to_the_bit() -> None:
    rng = np.random.default_rng(3)
    terms = Expansion(rng.normal(size=(4, 2)), rng.normal(size=4), rng.uniform(0.1, 2.0, (4, 2)), 1.0 / 3.0)
    predictor = ApproximationPredictor(InputEncoding(samples.predictor().encoding.inputs[:1]), terms)
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


def test_a_predictor_from_before_there_were_several_kinds_is_one_of_data() -> None:
    arrays: list[Stored] = []
    packed = json.dumps(pack(samples.predictor(), arrays))
    assert packed.startswith('{"record": "SupervisedPredictor"')
    older = json.loads(packed.replace('"SupervisedPredictor"', '"Predictor"', 1))
    assert _equal(decoded(write(Content.PREDICTOR, older, arrays, compressible=False)), samples.predictor())


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
    told = replace(made, learned=least_squares)
    again = decoded(encode_predictor(told))
    assert _equal(told, again)
    assert again.model.likelihood == OneAgainstRest(4, 1.7)
    back = decoded(encode_predictor(made))
    assert back.model.likelihood == Categorical(4)
    np.testing.assert_array_equal(back.model.mean, mean)
    assert encode_predictor(back) == encode_predictor(made)


def test_a_sharpness_of_before_is_a_temperature_of_one_over_it() -> None:
    predictor = samples.predictor()
    mean = np.random.default_rng(0).normal(size=(5, 4))
    cases: tuple[tuple[Temperature, Temperature], ...] = ((0.5, 2.0), ("learned", "learned"))
    for temperature, before in cases:
        likelihood = OneAgainstRest(4, temperature)
        made = replace(predictor, learned=replace(predictor.model, likelihood=likelihood, mean=mean))
        arrays: list[Stored] = []
        packed = json.dumps(pack(made, arrays))
        older = packed.replace(f'"temperature": {json.dumps(temperature)}', f'"sharpness": {json.dumps(before)}')
        assert older != packed
        assert _equal(decoded(write(Content.PREDICTOR, json.loads(older), arrays, compressible=False)), made)


def test_a_model_for_each_class_comes_back_to_the_bit() -> None:
    first, second, third = (samples.predictor(seed=seed) for seed in range(3))
    members = tuple(replace(one.model, likelihood=Bernoulli()) for one in (first, second, third))
    made = replace(first, learned=PerClass(members, BernoulliPerClass(3, 1.4)))
    back = decoded(encode_predictor(made))
    assert isinstance(back.learned, PerClass)
    assert back.learned.likelihood == BernoulliPerClass(3, 1.4)
    assert encode_predictor(back) == encode_predictor(made)
    for one, other in zip(back.learned.members, members, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.covariance, other.covariance)
        assert one.likelihood == Bernoulli()


def test_classes_from_before_there_were_temperatures_have_none_learned() -> None:
    predictor = samples.predictor()
    made = replace(predictor, learned=replace(predictor.model, likelihood=Bernoulli()))
    arrays: list[Stored] = []
    older = json.dumps(pack(made, arrays)).replace('"temperature": "learned", ', "")
    assert "temperature" not in older
    assert _equal(decoded(write(Content.PREDICTOR, json.loads(older), arrays, compressible=False)), made)


def test_a_predictor_from_before_a_field_has_its_default() -> None:
    arrays: list[Stored] = []
    packed = json.dumps(pack(samples.predictor(), arrays))
    assert packed.count('"augmentation": null') == 1
    older = json.loads(packed.replace(', "augmentation": null', ""))
    back = decoded(write(Content.PREDICTOR, older, arrays, compressible=False))
    assert back.model.augmentation is None
    assert _equal(back, samples.predictor())


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
    encoded = encode_block({"x": NumberColumn(np.array([1.5, np.nan])), "y": BooleanColumn(np.array([1, -1], np.int8))})
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


def test_a_block_is_not_a_predictor() -> None:
    with pytest.raises(UnreadableBytesError, match="expected a predictor"):
        decoded(encode_block(samples.block()))


def test_a_later_version_is_refused_by_its_number() -> None:
    later = bytearray(encode_block(samples.block()))
    later[4] = 2
    with pytest.raises(UnreadableBytesError, match="version 1, got 2"):
        decode_block(bytes(later))


def test_an_unknown_class_is_never_made() -> None:
    evil = write(Content.PREDICTOR, {"record": "Popen", "fields": {"args": "true"}}, [], compressible=False)
    with pytest.raises(UnreadableBytesError, match="Popen"):
        decoded(evil)


def test_a_record_that_is_no_predictor_is_refused() -> None:
    record = write(Content.PREDICTOR, {"record": "ConstantFunction", "fields": {}}, [], compressible=False)
    with pytest.raises(UnreadableBytesError, match="ConstantFunction"):
        decoded(record)


def test_a_record_with_fields_of_another_time_is_refused() -> None:
    record = write(Content.PREDICTOR, {"record": "SupervisedPredictor", "fields": {"magic": 1}}, [], compressible=False)
    with pytest.raises(UnreadableBytesError, match="fields of SupervisedPredictor"):
        decoded(record)


def test_what_has_no_place_in_a_record_is_refused() -> None:
    with pytest.raises(TypeError, match="got set"):
        pack({1, 2}, [])
    with pytest.raises(TypeError, match="float64"):
        pack(np.zeros(3, np.float32), [])


def test_the_reader_knows_every_member_of_the_unions() -> None:
    known = set(reader_of(SupervisedPredictor).classes)
    assert {"InputMap", "Bernoulli", "GaussianNoise", "EncodedNumber", "EncodedCategory"} <= known
    assert {kernel.__name__ for kernel in get_args(Kernel)} <= known


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
        promise=0.1,
        trial=Trial(Hyperparameters(1.0, 2.0, np.empty(0), InputMap.isotropic(1.0)), 5.0),
    ),
    phase="alone 1",
    best=State((0,), np.ones(1), 1.0, np.ones(1), 3, 1.5),
)


def test_a_trail_comes_back_to_the_bit() -> None:
    trail = (STATE, None, np.array([0.25, 1e-300]))
    data = encode_trail(trail)
    back = decode_trail(data)
    assert encode_trail(back) == data
    first, second, third = back
    assert isinstance(first, State)
    assert first.termination is Termination.NOISE_FLOOR
    assert (first.active, first.objective, second) == ((3, 0), -np.inf, None)
    assert np.array_equal(first.weights, STATE.weights)
    assert isinstance(third, np.ndarray)


def test_what_is_no_trail_is_refused() -> None:
    with pytest.raises(UnreadableBytesError, match="expected a trail"):
        decode_trail(write(Content.TRAIL, "something else", [], compressible=False))
    with pytest.raises(UnreadableBytesError, match="expected where a fit was"):
        decode_trail(write(Content.TRAIL, ["something else"], [], compressible=False))
