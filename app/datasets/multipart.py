"""An incremental parser of multipart/form-data with one file."""

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.errors import MalformedBodyError
from relevance_bayes.records.errors import InvalidRequestError


class OneFile:
    """The parser of a form with one file: `feed` takes the body in pieces and returns the bytes of the file."""

    def __init__(self, content_type: str) -> None:
        _, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if not boundary:
            raise MalformedBodyError("The Content-Type of the form has no boundary.")
        self.media_type: str | None = None
        self.name: str | None = None
        self._found = False
        self._ended = False
        self._pieces: list[bytes] = []
        self._headers: dict[str, bytes] = {}
        self._header = self._value = b""
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin_part,
                    "on_header_field": self._read_header,
                    "on_header_value": self._read_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_headers,
                    "on_part_data": self._read_data,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise MalformedBodyError(f"The form can't be read: {error}.") from None

    @property
    def has_file(self) -> bool:
        """Return whether the file has begun, and its type and name are known."""
        return self._found

    def feed(self, piece: bytes) -> bytes:
        """Return the bytes of the file in the next piece of the body.

        Raises MalformedBodyError, and InvalidRequestError for a second file or another field.
        """
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise MalformedBodyError(f"The form can't be read: {error}.") from None
        data, self._pieces = b"".join(self._pieces), []
        return data

    def finish(self) -> None:
        """Raise MalformedBodyError where the form is incomplete, InvalidRequestError where it has no file."""
        if not self._ended:
            raise MalformedBodyError("The form is incomplete: expected a final boundary.")
        if not self._found:
            raise InvalidRequestError("The form has no file: send it as a part with a filename.")

    def _begin_part(self) -> None:
        self._headers = {}

    def _read_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _read_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value
        self._header = self._value = b""

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        name = options.get(b"filename")
        if name is None:
            field = options.get(b"name", b"").decode(errors="replace")
            raise InvalidRequestError(
                f"Expected only a file in the form, got the field {field!r}; send options as query parameters."
            )
        if self._found:
            raise InvalidRequestError("Expected one file in the form, got more; send one dataset in each request.")
        self._found = True
        self.name = name.decode(errors="replace")
        self.media_type = self._headers.get("content-type", b"").decode("latin-1") or None

    def _read_data(self, data: bytes, start: int, end: int) -> None:
        self._pieces.append(data[start:end])

    def _end(self) -> None:
        self._ended = True
