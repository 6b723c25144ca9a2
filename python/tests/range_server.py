"""A local HTTP server of one directory that knows ranges, and counts the bytes it sends."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Iterator


class RangeHandler(SimpleHTTPRequestHandler):
    """Answers GET with the range that is asked for."""

    protocol_version = "HTTP/1.1"
    sent = 0
    """Bytes of files that were sent."""

    def do_GET(self) -> None:
        data = Path(self.translate_path(self.path)).read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        start, end = (int(asked[1]), min(int(asked[2]) + 1, len(data))) if asked else (0, len(data))
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.end_headers()
        RangeHandler.sent += end - start
        self.wfile.write(data[start:end])

    def end_headers(self) -> None:
        if self.command == "HEAD":
            self.send_header("Accept-Ranges", "bytes")
        super().end_headers()

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """The URL of the server while it runs."""
    RangeHandler.sent = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(RangeHandler, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
