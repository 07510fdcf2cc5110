"""Copies the packages of the page into app/web/page/vendor; `python -m tests.browser.vendor` needs npm and the network.

npm verifies each package by the hash of its registry. Imports become relative, since the page has no import map.
"""

import json
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "app" / "web" / "page" / "vendor"
MANIFEST, LICENCES = "manifest.json", "LICENCES.txt"


@dataclass(frozen=True)
class Package:
    """A package of npm: its name, version and licence, and the modules to copy, by their names in the page."""

    name: str
    version: str
    licence: str
    modules: dict[str, str]


PACKAGES = (
    Package("preact", "11.2.0", "MIT", {"preact.js": "dist/preact.mjs", "hooks.js": "hooks/dist/hooks.mjs"}),
    Package("htm", "3.1.1", "Apache-2.0", {"htm.js": "dist/htm.module.js"}),
)

IMPORTS = {'"preact"': '"./preact.js"'}
_SOURCE_MAP = re.compile(rb"\n//# sourceMappingURL=.*\n?$")


def main() -> None:
    """Write the modules, their licences, and the manifest."""
    FOLDER.mkdir(exist_ok=True)
    manifest: dict[str, dict[str, str]] = {}
    licences: list[str] = []
    for package in PACKAGES:
        files = contents(package)
        for name, source in package.modules.items():
            module = relative(files[source])
            (FOLDER / name).write_bytes(module)
            manifest[name] = {
                "package": package.name,
                "version": package.version,
                "licence": package.licence,
                "source": source,
                "sha256": sha256(module).hexdigest(),
            }
        licences.append(
            f"{package.name} {package.version} ({package.licence})\n\n{files['LICENSE'].decode().strip()}\n"
        )
    (FOLDER / LICENCES).write_text(f"\n{'-' * 78}\n\n".join(licences))
    (FOLDER / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")


def contents(package: Package) -> dict[str, bytes]:
    """Return the files of a package by their paths in it."""
    with tempfile.TemporaryDirectory() as folder:
        command = ("npm", "pack", f"{package.name}@{package.version}", "--silent", "--pack-destination", folder)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as opened:
            files = {member.name: opened.extractfile(member) for member in opened if member.isfile()}
            return {name.partition("/")[2]: file.read() for name, file in files.items() if file is not None}


def relative(module: bytes) -> bytes:
    """Return a module with relative imports, and without the comment that names a source map."""
    text = _SOURCE_MAP.sub(b"\n", module).decode()
    for name, path in IMPORTS.items():
        text = text.replace(f"from{name}", f"from{path}")
    return text.encode()


if __name__ == "__main__":
    main()
