from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.core.types import Mask
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.planning import held_out_rows
from relevance_bayes.tasks.rows import Ranks, content_hash
from relevance_bayes.tasks.supervised.request import RandomSplit
from relevance_bayes.tasks.supervised.rows import Cut, InputLevels, RecurringRows, cut
from tests.small_tables import cut_up, numbers, texts

Row = tuple[float, str]


def held_out(rows: list[Row], share: float, *, ends: tuple[int, ...] = ()) -> Mask:
    """Of rows of an input and a target."""
    block: Block = {"x": numbers(*(x for x, _ in rows)), "y": texts(*(y for _, y in rows))}
    levels = InputLevels(["x"])
    levels.add(block)
    contents, places = content_hash(block, ("x", "y"), 0), content_hash(block, ("x",), 0)
    recurring = RecurringRows.of(contents, places, few_levels=levels.is_few, maximum=held_out_rows(len(rows), share))
    where: Cut = cut(RandomSplit(), recurring.begun()(contents, places), share)
    masks, again = [], recurring.begun()
    for _, piece in cut_up(block, *ends):
        ranks: Ranks = again(content_hash(piece, ("x", "y"), 0), content_hash(piece, ("x",), 0))
        mask, where = where.apply(ranks)
        masks.append(mask)
    return np.concatenate(masks)


ROWS = st.lists(st.tuples(st.integers(0, 30).map(float), st.sampled_from("ab")), min_size=20, max_size=60)


@given(ROWS, st.floats(0.1, 0.5), st.lists(st.integers(0, 60), max_size=3).map(sorted))
def test_rows_with_equal_inputs_are_held_out_together(rows: list[Row], share: float, ends: list[int]) -> None:
    mask = held_out(rows, share, ends=tuple(min(end, len(rows)) for end in ends))
    sizes = Counter(x for x, _ in rows)
    few = len(sizes) < 12 and len(rows) >= 5 * len(sizes)
    both = {x for (x, _), out in zip(rows, mask, strict=True) if out} & {
        x for (x, _), out in zip(rows, mask, strict=True) if not out
    }
    assert few or all(sizes[x] > held_out_rows(len(rows), share) for x in both)
    assert 0 < mask.sum() < len(rows)


@given(st.data(), ROWS)
def test_the_order_of_the_rows_does_not_change_what_is_held_out(data: st.DataObject, rows: list[Row]) -> None:
    shuffled = data.draw(st.permutations(rows))
    before, after = (
        Counter(row for row, out in zip(some, held_out(some, 0.3), strict=True) if out) for some in (rows, shuffled)
    )
    assert before == after


@pytest.mark.parametrize("copies", [2, 3])
def test_a_table_given_more_than_once_holds_out_its_own_rows_so_often(copies: int) -> None:
    rows = [(float(x), "ab"[x % 2]) for x in range(40)]
    once = held_out(rows, 0.25)
    assert once.sum() == 10
    assert held_out(rows * copies, 0.25).tolist() == once.tolist() * copies


def test_few_combinations_of_categories_are_divided() -> None:
    rows = [(float(x), y) for x in range(4) for y in "ab" for _ in range(25)]
    mask = held_out(rows, 0.2)
    assert mask.sum() == 40
    assert set(Counter(row for row, out in zip(rows, mask, strict=True) if out)) == set(rows)
