"""The aggregator sends to an OpenTelemetry collector the values that its /metrics shows at that
moment; the messages are decoded with OTLP's own definitions."""

import http.server
import subprocess
import time

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from lab.faults import RnicDead
from lab.places import ROOT
from lab.rackmesh import REGION, aggregator_of
from lab.sinks import Sink
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3"]}
PROTO = ROOT / "tests" / "otlp"
SERVICE = "opentelemetry/proto/collector/metrics/v1/metrics_service.proto"
REQUEST = "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest"
CUMULATIVE = 2
PORT = 4318
TOKEN = "a token of the lab"
SENT_S, EQUAL_S = 10, 30
SUFFIXES = {"s": "_seconds", "1": "_ratio"}  # as every translation to Prometheus appends them
MEASURES = 14
HALF = 0.5  # a host that stutters does not count all of its lost probes
AGE = "rackmesh_rnic_last_probe_age_seconds"  # it grows between two reads
# These are of h3/r0, which is dead.
LOST = "rackmesh_rnic_loss_ratio", frozenset(
    {"tor": "tor1", "host": "h3", "device": "r0", "direction": "from"}.items())
OPEN = "rackmesh_rack_incidents_open", frozenset({"tor": "tor1", "kind": "rnic-down"}.items())


class _Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = self.server.sink.receive(self.path, self.headers, body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Collector(Sink):
    """Receives messages, and reads the aggregator's metrics for each."""

    HANDLER = _Collector

    def __init__(self, netns, address, kind):
        self._kind = kind
        self.aggregator = None
        self.answer = (200, b"{}")
        self.pairs = []  # (message, /metrics)
        self.wrong = []
        super().__init__(netns, address, PORT)

    def came(self, count=1):
        """Whether so many messages have come, and all of them are valid."""
        assert not self.wrong, self.wrong
        return len(self.pairs) >= count

    def receive(self, path, headers, body):
        try:
            assert path == "/v1/metrics"
            assert headers["Content-Type"] == "application/json"
            assert headers["api-key"] == TOKEN
            message = json_format.Parse(body, self._kind())  # refuses unknown fields
            self.pairs.append((message, self.aggregator.metrics()))
        except Exception as error:  # noqa: BLE001: the test reports it
            self.wrong.append(repr(error))
        return self.answer


@pytest.fixture(scope="module")
def kind(tmp_path_factory):
    """A message class of the .proto files."""
    made = tmp_path_factory.mktemp("proto") / "descriptors"
    subprocess.run(
        ["protoc", f"-I{PROTO}", "--include_imports", f"--descriptor_set_out={made}", SERVICE],
        check=True)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file:
        pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(REQUEST))


@pytest.fixture
def rack(world, kind, tmp_path):
    headers = tmp_path / "headers"
    headers.touch(0o600)
    headers.write_text(f"api-key: {TOKEN}\n")

    def options(fabric):
        url = f"http://{fabric.management['centre']}:{PORT}"
        otlp = {"url": url, "interval_s": 1, "headers_file": str(headers)}
        return {"otlp": otlp, "summary": {"rnic_interval_s": 1}}

    rack = world(RACKS, spines=0, alertmanager=False, aggregator=options)
    fabric = rack.fabric
    collector = Collector(fabric.netns("centre"), fabric.management["centre"], kind)
    try:
        rack.collector, rack.aggregator = collector, rack.lab.aggregators["tor1"]
        collector.aggregator = rack.aggregator
        yield rack.start()
    finally:
        collector.close()


def attributes(of):
    return {each.key: each.value.string_value for each in of}


def metrics_of(message):
    return message.resource_metrics[0].scope_metrics[0].metrics


def is_ours(name):
    return name.startswith(("rackmesh_rnic_", "rackmesh_rack_"))


def reported(message):
    """{(name as in /metrics, labels): value}"""
    values = {}
    for metric in metrics_of(message):
        is_sum = metric.HasField("sum")
        name = metric.name.replace(".", "_") + SUFFIXES.get(metric.unit, "") + "_total" * is_sum
        for point in (metric.sum if is_sum else metric.gauge).data_points:
            key = name, frozenset(attributes(point.attributes).items())
            assert key not in values, key
            values[key] = point.as_int if is_sum else point.as_double
    return values


def shown(metrics):
    return {
        (name, frozenset(labels.items())): value
        for name, series in metrics.series.items() if is_ours(name)
        for labels, value in series
    }


def difference(message, metrics):
    one, other = reported(message), shown(metrics)
    both = one.keys() & other.keys()
    return sorted(map(str, [*(one.keys() ^ other.keys()),
                            *(key for key in both if key[0] != AGE and one[key] != other[key])]))


def test_a_collector_gets_the_values_of_metrics(rack, print_line):
    collector = rack.collector
    fault = RnicDead(rack.lab, rack.rnic("h3/r0"))
    fault.begin()
    rack.plain.wait_for(fault.fires, SENT_S, 0, str(fault))

    # A message that is sent just while a second is judged differs: then the next one is compared.
    def equal():
        if not collector.came():
            raise OSError("no message yet")
        message, metrics = collector.pairs[-1]
        values, wrong = reported(message), difference(message, metrics)
        if wrong:
            raise OSError(f"{len(wrong)} values differ, such as {wrong[:4]}")
        names = {name for name, _ in values}
        if len(names) < MEASURES or values.get(LOST, 0) < HALF or values.get(OPEN) != 1:
            raise OSError(f"not yet of the fault: {values}")
        return message, metrics

    message, metrics = until("a message is equal to /metrics", EQUAL_S, equal)
    values = reported(message)
    assert {name for name, _ in values} == {name for name in metrics.series if is_ours(name)}
    print_line(f"{len(values)} values equal, {len(message.SerializeToString())} bytes as protobuf")


def test_a_message_has_its_resource_and_its_time(rack):
    collector = rack.collector
    until("two messages of known RNICs came", SENT_S, lambda: knows_rnics(collector.pairs[-2:]))
    (before, _), (message, _) = collector.pairs[-2:]
    (resource,) = message.resource_metrics
    found = attributes(resource.resource.attributes)
    version = found.pop("service.version")
    assert found == {"service.name": "rackmesh-tor-aggregator", "rackmesh.region": REGION,
                    "service.instance.id": aggregator_of("tor1")}
    assert version and resource.scope_metrics[0].scope.version == version
    times = set()
    for metric in metrics_of(message):
        assert metric.unit and metric.description.endswith("."), metric.name
        if metric.HasField("sum"):
            assert metric.sum.is_monotonic
            assert metric.sum.aggregation_temporality == CUMULATIVE
            starts = {point.start_time_unix_nano for point in metric.sum.data_points}
            assert len(starts) == 1 and 0 < starts.pop() < point_time(before)
        times.update(point.time_unix_nano for point in points(metric))
    assert times == {point_time(message)}
    assert abs(point_time(message) / 1e9 - time.time()) < 3600
    assert point_time(before) < point_time(message)

    collector.answer = (200, b'{"partialSuccess":{"rejectedDataPoints":"5","errorMessage":"no"}}')
    until("what was rejected is counted", SENT_S, lambda: figure(rack, "rejected_points") >= 5)
    failed = figure(rack, "failed_attempts")
    collector.answer = (503, b"{}")
    until("failures are counted", SENT_S, lambda: figure(rack, "failed_attempts") > failed)
    collector.answer = (200, b"{}")
    sent = figure(rack, "sent")
    until("it is taken again", SENT_S, lambda: figure(rack, "sent") > sent)
    log = "\n".join(rack.aggregator.tail(2000, 300).split("\n"))
    assert "otlp: collector rejected 5 values" in log and "otlp: collector recovered" in log
    assert TOKEN not in log


def knows_rnics(pairs):
    """Whether the messages have RNICs: before the first RNIC is known a metric of RNICs has no
    points."""
    return len(pairs) == 2 and all(
        points(metric) for message, _ in pairs for metric in metrics_of(message)
        if metric.HasField("sum") or metric.name == metrics_of(message)[0].name)


def points(metric):
    return (metric.sum if metric.HasField("sum") else metric.gauge).data_points


def point_time(message):
    return points(metrics_of(message)[0])[0].time_unix_nano


def figure(rack, name):
    return rack.aggregator.metrics().sum(f"rackmesh_aggregator_otlp_{name}_total")
