"""What rackmeshctl writes to stderr, and its exit status."""

import http.server
import json
import subprocess
import threading

import pytest


def run(build, *words):
    nobody = ["--aggregator", "127.0.0.1:1", "--analyzer", "127.0.0.1:1", "--controller", "127.0.0.1:1"]
    ran = subprocess.run([build / "ctl" / "rackmeshctl", *nobody, *words], capture_output=True, text=True, timeout=60, check=False)
    return ran.returncode, ran.stderr


@pytest.mark.parametrize("words", (("mesh", ""), ("drill", ""), ("switch", "sw1", ""), ("services", "--host", ""), ("health", "--region", "")))
def test_an_empty_name_does_not_select_everything(build, words):
    assert run(build, *words) == (
        2,
        "rackmeshctl: an argument is empty: is a variable not set?\nTry: rackmeshctl --help, or COMMAND --help\n",
    )


@pytest.mark.parametrize("words", (("--analyzer", "", "health"), ("health", "--analyzer="), ("racks", "-a", "")))
def test_an_address_is_not_empty(build, words):
    status, error = run(build, *words)
    assert status == 2 and "is empty: is a variable not set?" in error, error


@pytest.mark.parametrize("option", ("--seconds", "--limit", "--region"))
def test_an_option_of_drill_without_a_value_is_named(build, option):
    status, error = run(build, "drill", "h1/r0", option)
    assert status == 2 and f"{option} needs a value" in error, error


@pytest.mark.parametrize("count, note", ((999, ""), (1000, "rackmeshctl: the first 1000 incidents are listed, there may be more\n")))
def test_a_list_of_incidents_that_is_cut_is_said_to_be(build, count, note):
    body = json.dumps({"changes": 5000, "open": 5000, "incidents": [{"id": str(n), "state": "open"} for n in range(count)]}).encode()

    class Analyzer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Analyzer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert run(build, "--analyzer", f"127.0.0.1:{server.server_port}", "--through", "analyzer", "incidents", "--open") == (1, note)
        server.shutdown()
