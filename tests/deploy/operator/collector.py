"""In the place of the collector's image: receives spans by OTLP and deliveries of a webhook, and lists both as JSON.

It runs in a container of the service's image, as a file, beside the packages alone.
"""

import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SPANS: list[dict[str, str]] = []
DELIVERIES: list[str] = []


class Receiver(BaseHTTPRequestHandler):
    """POST to `/v1/traces` are spans, to any other path deliveries; GET lists them."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Record a request."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/traces":
            self._record(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
        else:
            DELIVERIES.append(body.decode())
        self._respond(b"")

    def do_GET(self) -> None:
        """List what was received."""
        self._respond(json.dumps({"spans": SPANS, "deliveries": DELIVERIES}).encode())

    def log_message(self, *_: object) -> None:
        """Write nothing."""

    def _record(self, body: bytes) -> None:
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            names = [one.value.string_value for one in group.resource.attributes if one.key == "service.name"]
            SPANS.extend(
                {"service": names[0], "name": span.name, "trace": span.trace_id.hex()}
                for scope in group.scope_spans
                for span in scope.spans
            )

    def _respond(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    servers = [ThreadingHTTPServer(("", port), Receiver) for port in (4318, 16686)]
    Thread(target=servers[0].serve_forever, daemon=True).start()
    servers[1].serve_forever()
