"""Imitates the metrics of a host with an mlx5 RNIC, since the lab has none and a veth has few
counters.

It has every counter that docs/counters.md lists for that driver, with the agent's labels; a
unit test compares that list with the agent's table. It also has the queue pairs of a pod with a
name and of a service, with their own counts. Each counter grows with time, at its own rate per
second.
"""

import contextlib
import http.server
import re
import socket
import threading
import time

from . import netns as namespaces
from .places import ROOT

CARD_PORT = 9179
_ROW = re.compile(r"^\| `\w+` \| `(rdma_\w+)` \| ([^|]+) \| ([^|]+) \|", re.M)
PRIORITIES = 8
# Counters of which tests check the ratios, so they have fixed rates per second.
EACH_S = {
    "rdma_rx_packets_total": 100_000,
    "rdma_np_ecn_marked_roce_packets_total": 2_000,
    "rdma_np_cnp_sent_total": 100,
    "rdma_rp_cnp_handled_total": 90,
    "rdma_rp_cnp_ignored_total": 5,
    "rdma_rx_bytes_phy_total": 10_000_000_000,
    "rdma_port_rate_mbps": 400_000,
}

# Rates per second of the queue pairs of one process, by the names of mlx5.
COUNTED_APART = {
    "rdma_rx_bytes": 1_000_000, "rdma_tx_bytes": 2_000_000, "rx_read_requests": 100,
    "rx_write_requests": 200, "local_ack_timeout_err": 1, "packet_seq_err": 2,
}


def counters():
    """[(name, unit)] of the counters of an mlx5 RNIC."""
    found = _ROW.findall((ROOT / "docs" / "counters.md").read_text())
    return [(name, unit) for name, unit, drivers in found if "mlx5" in drivers or "all" in drivers]


def reported(name, unit, seconds):
    many = " per priority" in unit or " per lane" in unit
    index = "lane" if " per lane" in unit else "priority"
    for i in range(PRIORITIES if many else 1):
        more = f',{index}="{i}"' if many else ""
        each_s = EACH_S.get(name, 10 + i)
        value = int(seconds * each_s) if name.endswith("_total") else each_s
        yield f'{name}{{host="card",device="mlx5_0",port="1"{more}}} {value}'


def metrics(seconds):
    lines = [line for name, unit in counters() for line in reported(name, unit, seconds)]
    pod, service = "0d1f4c7e-6f0e-4c56-9d5c-3f7f0b6c1a55", "trainer.service"
    place = 'device="mlx5_0",port="1"'
    lines += [
        # From the analyzer, which has this metric if every RNIC of a region counts CNPs.
        'rackmesh_region_cnp_arrival_ratio{region="lab"} 0.95',
        "rackmesh_agent_user_qps_over_limit 0",
        "rackmesh_agent_user_counters_left_out 1",
        f'rackmesh_agent_user_qps{{{place},service="pod:{pod}",pod_uid="{pod}",process="python3"}} 16',
        f'rackmesh_agent_user_qps{{{place},service="{service}",pod_uid="",process="ib_write_bw"}} 4',
        f'rackmesh_agent_pod_info{{pod_uid="{pod}",namespace="ml",pod="train-0",'
        'owner_kind="StatefulSet",owner_name="train"} 1',
        # From kube-state-metrics.
        f'kube_pod_info{{uid="{pod}",namespace="ml",pod="train-0",created_by_kind="StatefulSet",'
        'created_by_name="train"} 1',
    ]
    users = {f'service="pod:{pod}",pod_uid="{pod}",process="python3"': 3,
             f'service="{service}",pod_uid="",process="ib_write_bw"': 1}
    lines += [
        f'rackmesh_agent_user_counter_total{{{place},{user},counter="{counter}"}}'
        f' {int(seconds * share * each_s)}'
        for user, share in users.items() for counter, each_s in COUNTED_APART.items()
    ]
    return "\n".join(lines) + "\n"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = metrics(time.monotonic() - self.server.began).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def card(netns, address):
    """Serves the metrics at address:CARD_PORT inside the namespace."""
    with namespaces.inside(netns):
        sock = socket.create_server((address, CARD_PORT))
    server = http.server.ThreadingHTTPServer(sock.getsockname(), _Handler, bind_and_activate=False)
    server.socket.close()
    server.socket, server.began = sock, time.monotonic()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"{address}:{CARD_PORT}"
    finally:
        server.shutdown()
        server.server_close()
