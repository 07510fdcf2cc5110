"""Rows of numbers by the short way are read as by the general one, or not at all."""

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats import line_stream
from app.formats.json_table import read_json, typed_block
from app.formats.line_stream import NumberRows, read_number_rows
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.tables.columns import NumberArray

NAMES = ("x", "y 2", "größe")
OTHERS = {"interval", "outputs", "explain"}

cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.integers(min_value=-9, max_value=9),
)
rare = st.one_of(st.none(), st.booleans(), st.just("1"), st.just(10**400), st.just([1.0]))
rows = st.lists(st.permutations(NAMES).flatmap(lambda names: st.fixed_dictionaries(dict.fromkeys(names, cells))))


def generally(body: bytes) -> list[list[float]] | None:
    """The numbers of a body as the reader of all bodies has them, None where something is wrong with it."""
    try:
        block, faults = typed_block(
            read_json(body, max_columns=100, others=OTHERS), [(name, "number") for name in NAMES]
        )
    except RelevanceError:
        return None
    if faults:
        return None
    columns = [column for column in block.values() if isinstance(column, NumberArray)]
    return [list(row) for row in zip(*(column.values.tolist() for column in columns), strict=True)]


def shortly(body: bytes) -> list[list[float]] | None:
    found = read_number_rows(body, NAMES)
    return None if found is None else found.block.matrix.tolist()


def written(rows: Sequence[object], others: dict[str, object], *, first: bool, spaced: bool) -> bytes:
    full = {**others, "rows": rows} if first else {"rows": rows, **others}
    separators = None if spaced else (",", ":")
    return json.dumps(full, ensure_ascii=False, indent=1 if spaced else None, separators=separators).encode()


@pytest.mark.parametrize("piece", [1, 40, 65_536])
@given(
    rows=rows,
    interval=st.sampled_from([None, 0.5, 1]),
    outputs=st.sampled_from([None, ("mean", "sd"), ()]),
    first=st.booleans(),
    spaced=st.booleans(),
)
def test_sound_rows_are_read_to_the_same_numbers(
    piece: int,
    rows: list[dict[str, float]],
    interval: float | None,
    outputs: tuple[str, ...] | None,
    first: bool,
    spaced: bool,
) -> None:
    options = {"interval": interval, "outputs": outputs}
    others: dict[str, object] = {name: value for name, value in options.items() if value is not None}
    body = written(rows, others, first=first, spaced=spaced)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line_stream, "PIECE_BYTES", piece)
        found = read_number_rows(body, NAMES)
    if not rows:
        assert found is None
        return
    assert found is not None
    assert found.block.matrix.tolist() == generally(body)
    assert found.interval == interval
    assert found.outputs == outputs


@pytest.mark.parametrize("piece", [1, 65_536])
@given(rows=rows, wrong=rare, place=st.integers(0, 100), data=st.data())
def test_what_is_wrong_with_a_cell_is_left_to_the_general_reader(
    piece: int, rows: list[dict[str, object]], wrong: object, place: int, data: st.DataObject
) -> None:
    spoilt: dict[str, object] = {**dict.fromkeys(NAMES, 1.0), data.draw(st.sampled_from(NAMES)): wrong}
    rows.insert(place % (len(rows) + 1), spoilt)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line_stream, "PIECE_BYTES", piece)
        assert shortly(written(rows, {}, first=True, spaced=False)) is None


SOUND = '{"x":1,"y 2":2,"größe":3}'


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        '{"rows":[]}',
        f"[{SOUND}]",
        f'{{"rows":{SOUND}}}',
        f'{{"rows":[{SOUND}]',
        f'{{"rows":[{SOUND}]}}]',
        f'{{"rows":[{SOUND}}}',
        f'{{"rows":[{SOUND},]}}',
        f'{{"rows":[{SOUND} {SOUND}]}}',
        f'{{"rows":[{SOUND},,{SOUND}]}}',
        f'{{"rows":[],"rows":[{SOUND}]}}',
        f'{{"rows":[{SOUND}],"rows":[{SOUND}]}}',
        f'{{"rows":[],"outputs":[{SOUND}]}}',
        f'{{"outputs":[{SOUND}],"rows":[]}}',
        f'{{"rows":[[{SOUND}]]}}',
        f'{{"rows":[{SOUND},[{SOUND}]]}}',
        f'{{"rows":[{SOUND}],"interval":null}}',
        f'{{"rows":[{SOUND}],"interval":0.5,"interval":0.5}}',
        f'{{"rows":[{SOUND}],"explain":1}}',
        f'{{"names":["x"],"rows":[{SOUND}]}}',
        '{"rows":[{"x":1,"y 2":2}]}',
        '{"rows":[{"x":1,"y 2":2,"größe":3,"z":4}]}',
        '{"rows":[{"x":1,"y 2":2,"größe":3,"x":1}]}',
        '{"rows":[{"\\u0078":1,"y 2":2,"größe":3}]}',
        '{"rows":[{"x":NaN,"y 2":2,"größe":3}]}',
        '{"rows":[{"x":1e999,"y 2":2,"größe":3}]}',
        "\ufeff" + f'{{"rows":[{SOUND}]}}',
    ],
)
@pytest.mark.parametrize("piece", [1, 65_536])
def test_all_other_bodies_are_left_to_the_general_reader(
    piece: int, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_stream, "PIECE_BYTES", piece)
    assert read_number_rows(body.encode(), NAMES) is None


def test_a_body_that_is_not_utf_8_is_left_to_the_general_reader() -> None:
    assert read_number_rows(b'{"rows":[{"x\xff":1,"y 2":2}]}', NAMES) is None


@pytest.mark.parametrize("names", [(), tuple(map(str, range(65))), ("a{", "b"), ("a}", "b")])
def test_names_that_the_short_way_is_not_made_for_are_left_to_the_general_reader(names: tuple[str, ...]) -> None:
    assert read_number_rows(json.dumps({"rows": [dict.fromkeys(names, 1.0)]}).encode(), names) is None


def test_a_long_body_is_read_in_pieces_yielding_after_each() -> None:
    values = np.random.default_rng(1).normal(size=(5_000, 3))
    body = json.dumps({"rows": [dict(zip(NAMES, row, strict=True)) for row in values.tolist()]}, ensure_ascii=False)
    yields: list[None] = []
    found = read_number_rows(body.encode(), NAMES, yield_gil=lambda: yields.append(None))
    assert isinstance(found, NumberRows)
    np.testing.assert_array_equal(found.block.matrix, values)
    assert len(yields) == -(-len(body.encode()) // line_stream.PIECE_BYTES)
