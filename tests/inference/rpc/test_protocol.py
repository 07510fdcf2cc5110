"""The code that was made from the protocol's file."""

import subprocess
import sys
from pathlib import Path

import app.inference.rpc

FOLDER = Path(app.inference.rpc.__file__).parent


def test_what_was_generated_is_what_the_protocols_file_states(tmp_path: Path) -> None:
    made = ("--python_out", str(tmp_path), "--pyi_out", str(tmp_path))
    command = [sys.executable, "-m", "grpc_tools.protoc", "--proto_path", str(FOLDER), *made, "open_inference.proto"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for file in ("open_inference_pb2.py", "open_inference_pb2.pyi"):
        kept = (FOLDER / "generated" / file).read_text()
        assert (tmp_path / file).read_text() == kept, f"{file} is not what `make protocol` makes"
