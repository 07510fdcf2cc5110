"""Images and signals to few functions and back, on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.commands import Run


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    row, column = np.indices((16, 20))
    path = tmp_path / "Moon.png"
    shades = 60.0 + 150.0 * np.exp(-((row - 8.0) ** 2 + (column - 9.0) ** 2) / 12.0)
    Image.fromarray(shades.astype(np.uint8)).save(path)
    return path


def test_a_picture_is_reported_and_made_again(requested: Run, picture: Path, tmp_path: Path) -> None:
    done = requested("encode", str(picture), "--psnr", "36")
    assert done.exit_code == 0, done.stderr
    assert "image of 16 x 20 pixels" in done.stdout
    assert "dB for a peak of 1" in done.stdout
    version = json.loads(requested("models", "moon", "--json").stdout)
    assert (version["task"], version["functions"] < 40) == ("image", True)
    assert requested("decode", "moon", "--output", str(tmp_path / "again.png")).exit_code == 0
    assert requested("decode", "moon", "--output", str(tmp_path / "again.npy")).exit_code == 0
    with Image.open(picture) as original, Image.open(tmp_path / "again.png") as again:
        missed = np.asarray(original, np.float64) - np.asarray(again, np.float64)
    assert np.sqrt(np.mean(missed**2)) < 255.0 * 10 ** (-36 / 20) + 0.5
    assert np.load(tmp_path / "again.npy").shape == (16, 20)
    job = next(job for job in json.loads(requested("jobs", "--json").stdout) if job["model"] == "moon")
    assert "image" in requested("jobs", job["id"]).stdout


def test_a_signal_is_reported_and_made_again(requested: Run, tmp_path: Path) -> None:
    signal = np.repeat([1.0, 3.0], 20) + 0.1 * np.random.default_rng(0).normal(size=40)
    np.save(tmp_path / "jump.npy", signal)
    done = requested("encode", str(tmp_path / "jump.npy"), "--noise-sd", "0.1")
    assert done.exit_code == 0, done.stderr
    assert "regression of value" in done.stdout
    assert requested("decode", "jump", "--output", str(tmp_path / "out.npy")).exit_code == 0
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), np.repeat([1.0, 3.0], 20), atol=0.15)
    refused = requested("decode", "jump", "--output", str(tmp_path / "out.png"))
    assert refused.exit_code == 1


def test_what_can_not_be_read_or_written_is_stated(requested: Run, picture: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no image")
    assert requested("encode", str(text)).exit_code == 2
    broken = tmp_path / "broken.npy"
    broken.write_bytes(b"no array")
    assert requested("encode", str(broken)).exit_code == 1
    assert requested("decode", "moon", "--output", str(tmp_path / "again.gif")).exit_code == 2
