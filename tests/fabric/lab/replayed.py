"""Imitates InfluxDB 2 and 3 for a writer: no Debian package has them, so this server repeats
their answers word for word from their API references and sources."""

import collections
import gzip
import http.server
import json
import threading
import urllib.parse

from .sinks import Sink

CONFLICT = "rm_rnic,"  # lines of this measurement are refused: a field has another type than the column
LIMITED, DOWN = 5, 7  # the write with this number gets 429 and 503
LARGE = 40  # more lines in a write are too many


class Replayed(Sink):
    """version: 2 or 3. token, bucket: those that it accepts now; points: {line without its
    fields: ...} of what was accepted, each once; dropped: number of lines that it has refused."""

    def __init__(self, netns, address, port, version, org, bucket, token):
        self.version, self.org, self.bucket, self.token = version, org, bucket, token
        self.points, self.dropped, self.seen = {}, 0, collections.Counter()
        self.lock = threading.Lock()
        super().__init__(netns, address, port)

    def answer(self, path, query, head, body):
        """(status, headers, JSON or None)"""
        with self.lock:
            status, headers, reply = self._answer(path, query, head, body)
            self.seen[status] += 1
            return status, headers, reply

    def _answer(self, path, query, head, body):
        if path != "/api/v2/write":
            return 404, {}, {"code": "not found", "message": "path not found"}
        if head.get("Authorization") != f"Token {self.token}":
            # Version 3 has no more details in its answer.
            return 401, {}, None if self.version == 3 else {
                "code": "unauthorized", "message": "unauthorized access"}
        if self.version == 2 and query.get("org") != self.org:
            return 404, {}, {"code": "not found", "message":
                             f"organization name \"{query.get('org')}\" not found"}
        if query.get("bucket") != self.bucket:
            return 404, {}, {"code": "not found",
                             "message": f"bucket \"{query.get('bucket')}\" not found"}
        turn = sum(self.seen[status] for status in (204, 400, 422))
        if turn == LIMITED and not self.seen[429]:
            return 429, {"Retry-After": "1"}, {"code": "too many requests", "message":
                                               "org has exceeded limited_write plan limit"}
        if turn == DOWN and not self.seen[503]:
            return 503, {}, None
        return self._write(body.decode().splitlines())

    def _write(self, lines):
        if len(lines) > LARGE:
            return 413, {}, {"code": "request too large",
                             "message": "cannot read data: points batch is too large"}
        bad = []
        for number, line in enumerate(lines, 1):
            if line.startswith(CONFLICT):
                bad.append((number, line))
                continue
            head, _, rest = line.partition(" ")
            self.points[head, rest.rpartition(" ")[2]] = line
        self.dropped += len(bad)
        if not bad:
            return 204, {}, None
        if self.version == 2:
            return 422, {}, {"code": "unprocessable entity", "message":
                             "failure writing points to database: partial write: field type "
                             'conflict: input field "sent" on measurement "rm_rnic" is type '
                             f"integer, already exists as type float dropped={len(bad)}"}
        return 400, {}, {"error": "partial write of line protocol occurred", "data": [
            {"original_line": line, "line_number": number, "error_message":
             "invalid column type for column 'sent', expected iox::column_type::field::float, "
             "got iox::column_type::field::integer"} for number, line in bad]}

    class HANDLER(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            url = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(url.query))
            status, headers, reply = self.server.sink.answer(url.path, query, self.headers, body)
            text = b"" if reply is None else json.dumps(reply).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass
