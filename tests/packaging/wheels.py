"""Both wheels, and empty environments that they are installed into."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Wheels:
    """The files of the two distributions."""

    library: Path
    server: Path


@dataclass(frozen=True)
class Environment:
    """A virtual environment at `path`."""

    path: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.path / "bin" / "python"

    def command(self, name: str) -> Path:
        """The path of one of its commands."""
        return self.path / "bin" / name

    def run(self, program: str, folder: Path) -> str:
        """The output of a program, run as a file in `folder`."""
        file = folder / "program.py"
        file.write_text(program)
        return run(str(self.python), str(file), folder=folder)

    def distributions(self) -> list[str]:
        """The names of what is installed."""
        listed = run(str(UV), "pip", "list", "--quiet", "--format", "freeze", "--python", str(self.python), folder=ROOT)
        return [line.partition("==")[0].lower() for line in listed.splitlines() if line]


def built(source: Path, into: Path, target: str = "wheel") -> Path:
    """The wheel, or the archive of sources (`sdist`), of the distribution in `source`."""
    into.mkdir(parents=True)
    run(sys.executable, "-P", "-m", "hatchling", "build", "--target", target, "--directory", str(into), folder=source)
    (archive,) = into.iterdir()
    return archive


def environment(path: Path, *requirements: str) -> Environment:
    """A new environment with these requirements, and what they need in the versions of the project's lock."""
    run(str(UV), "venv", "--quiet", "--python", sys.executable, str(path), folder=ROOT)
    made = Environment(path)
    lock = path.parent / f"{path.name}.txt"
    lock.write_text(run(str(UV), "pip", "freeze", "--exclude-editable", "--python", sys.executable, folder=ROOT))
    install = ("pip", "install", "--quiet", "--only-binary", ":all:", "--constraints", str(lock))
    run(str(UV), *install, "--python", str(made.python), *requirements, folder=ROOT)
    return made


def run(*command: str, folder: Path) -> str:
    """The output of a command; its own messages where it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
