import json
from pathlib import Path

import pytest

from app.cli.training import Choices, spelled_out


def test_options_are_spelled_out_as_the_api_wants_them() -> None:
    choices = Choices(
        target="y", inputs=["a", "b"], kernel="linear_spline", width="0.5", noise_sd=0.1, split="column:who"
    )
    assert spelled_out(choices, None) == {
        "target": "y",
        "inputs": ["a", "b"],
        "basis": [
            {"type": "kernel", "kernel": {"type": "linear_spline"}, "width": {"type": "fixed", "value": 0.5}},
            {"type": "bias"},
        ],
        "likelihood": {"type": "gaussian", "noise_sd": 0.1},
        "split": {"by": "column", "column": "who"},
    }


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("random", {"by": "random"}),
        ("order", {"by": "order"}),
        ("order:when", {"by": "order", "column": "when"}),
        ("column:a:b", {"by": "column", "column": "a:b"}),
    ],
    ids=["random", "order", "order by column", "column with a colon"],
)
def test_a_split_is_spelled_out(text: str, split: dict[str, str]) -> None:
    assert spelled_out(Choices(target="y", split=text), None)["split"] == split


@pytest.mark.parametrize("way", ["cross_validation", "evidence"])
def test_a_way_to_find_the_width_is_spelled_out(way: str) -> None:
    document = spelled_out(Choices(target="y", width=way), None)
    assert document["basis"] == [
        {"type": "kernel", "kernel": {"type": "gaussian"}, "width": {"type": way}},
        {"type": "bias"},
    ]


def test_options_win_over_the_request_file(tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"target": "x", "seed": 3, "algorithm": {"type": "sequential"}}))
    document = spelled_out(Choices(target="y"), request)
    assert document == {"target": "y", "seed": 3, "algorithm": {"type": "sequential"}}
