"""A document as npz: each list of numbers in its `model` is an array of the archive, named by its path.

`document.json` is the document with {"array": name} in place of arrays; numbers are `<f8`, indices `<i8`. There are no
pickles and no dates: the same version gives the same bytes.
"""

import io
import json
import zipfile
import zlib

import numpy as np

from relevance_bayes.documents.arrays import Stored, extract_arrays, restore_arrays
from relevance_bayes.documents.exported import ExportedVersion
from relevance_bayes.documents.reading import version_of
from relevance_bayes.documents.schema import DOCUMENT, VersionDocument
from relevance_bayes.types.errors import InvalidDataError

DOCUMENT_NAME = "document.json"
ENDING = ".npy"
NO_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date of a zip archive."""


def write(document: VersionDocument) -> bytes:
    """Return a document as an archive."""
    reported, arrays = extract_arrays(document)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        content = json.dumps(reported, ensure_ascii=False, separators=(",", ":")).encode()
        archive.writestr(zipfile.ZipInfo(DOCUMENT_NAME, NO_DATE), content)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}{ENDING}", NO_DATE), member.getvalue())
    return sink.getvalue()


def read(data: bytes) -> ExportedVersion:
    """Return the version in an archive that `write` made; raises InvalidDataError, InvalidRequestError.

    The size of the archive is not limited: for files of others, see the service's import.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            content = json.loads(archive.read(DOCUMENT_NAME))
            arrays = {
                name.removesuffix(ENDING): _array(archive, name) for name in archive.namelist() if name.endswith(ENDING)
            }
            document = restore_arrays(content, arrays)
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError) as error:
        raise InvalidDataError("The data can't be read as a version in npz.") from error
    return version_of(DOCUMENT.decode(document))


def _array(archive: zipfile.ZipFile, name: str) -> Stored:
    with archive.open(name) as member:
        found: Stored = np.lib.format.read_array(io.BytesIO(member.read()), allow_pickle=False)
    return found
