"""Imitates a Cisco Nexus as far as its counters go: NX-API over https, with the shapes of its
JSON: one row is an object, several rows are an array, and most numbers are strings."""

import base64
import contextlib
import http.server
import json
import socket
import ssl
import threading

from . import netns as namespaces

NXAPI_PORT = 8443
BACKLOG = 64
USER = "rackmesh"
HUGE = 9 << 20  # bytes; longer than the aggregator reads of an answer


def table(name, rows):
    return {f"TABLE_{name}": {f"ROW_{name}": rows[0] if len(rows) == 1 else rows}}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self):
        nexus = self.server.nexus
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        login = "Basic " + base64.b64encode(f"{USER}:{nexus.password}".encode()).decode()
        if nexus.stopped:  # this connection is older
            self.close_connection = True
            return
        nexus.asked += 1
        if nexus.hangs or nexus.slow_command in body["ins_api"]["input"]:
            nexus.awake.wait(60)
        if self.path != "/ins" or self.headers.get("Authorization") != login:
            self.reply(401, b"")
        else:
            self.reply(200, nexus.reply(body["ins_api"]))

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, nexus, sock):
        self.nexus = nexus
        super().__init__(sock.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = sock

    def handle_error(self, *_):
        pass  # tests have clients that give up in the middle of an answer


class Nexus:
    """Listens at address:8443 inside the namespace until stopped. Its certificate is from the
    authority."""

    def __init__(self, netns, address, authority, password, ports):
        self.password = password
        self.asked, self.stopped = 0, False
        self.hangs, self.awake = False, threading.Event()
        self.slow_command = "(none)"  # a request with this command gets no answer
        self.raw = None  # bytes to send instead of an answer
        self.unknown = set()  # commands that it answers with an error
        self.ports = [f"Ethernet1/{i + 1}" for i in range(ports)] + ["ii1/1/1"]
        self.lights = {}  # {port: [received power of each lane]}
        self.neighbors = []  # (port, system's name, id of its port)
        self.counts = {}  # (command, port, field) or (port, group, statistic)
        files = authority.issue([], "nexus", hosts=[address])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate, files.key)
        with namespaces.inside(netns):
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with contextlib.ExitStack() as undo:
            undo.callback(sock.close)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((address, NXAPI_PORT))
            sock.listen(BACKLOG)
            # The thread of the connection makes the handshake, so that a slow client delays no other.
            sock = context.wrap_socket(
                sock, server_side=True, do_handshake_on_connect=False)
            self._server = _Server(self, sock)
            undo.pop_all()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self.stopped = True
        self.wake()
        self._server.shutdown()
        self._server.server_close()

    def hang(self):
        self.hangs = True
        self.awake.clear()

    def wake(self):
        self.hangs = False
        self.awake.set()

    # ---- its answers ----

    def count(self, *where, value):
        self.counts[where] = value

    def of(self, *where):
        return self.counts.get(where, "0")

    def reply(self, asked):
        if self.raw is not None:
            return self.raw
        outputs = [self.output(each.strip()) for each in asked["input"].split(" ;")]
        answer = {"type": asked["type"], "version": "1.0", "sid": "eoc",
                  "outputs": {"output": outputs[0] if len(outputs) == 1 else outputs}}
        return json.dumps({"ins_api": answer}).encode().replace(b"NOT-UTF-8", b"\xff")

    def output(self, command):
        body = {
            "show interface counters": self.interface_counters,
            "show interface counters errors": self.errors,
            "show interface flowcontrol": self.flowcontrol,
            "show interface priority-flow-control": self.priority_flow_control,
            "show queuing interface": self.queuing,
            "show queuing tabular": self.tabular,
            "show queuing pfc-queue detail": self.pfc_queue,
            "show lldp neighbors detail": self.lldp,
            "show interface transceiver details": self.transceivers,
        }.get(command)
        if body is None or command in self.unknown:
            return {"input": command, "msg": "Input CLI command error", "code": "400",
                    "clierror": "% Invalid command"}
        return {"input": command, "msg": "Success", "code": "200", "body": body()}

    def transceivers(self):
        rows = [{"interface": port, "sfp": "present", "type": "QSFP-100G-SR4", **table("lane", [
            {"lane_number": str(lane + 1), "temperature": "34.48", "tx_pwr": "-1.78", "rx_pwr": power,
             "rx_pwr_alrm_lo": "-14.10"} for lane, power in enumerate(lanes)])}
                for port, lanes in self.lights.items()]
        return table("interface", rows) if rows else {}

    def lldp(self):
        rows = [{"chassis_type": "4", "chassis_id": "0200.0000.0001", "l_port_id": port,
                 "port_id": port_id, "port_desc": "null", "sys_name": name}
                for port, name, port_id in self.neighbors]
        return table("nbor_detail", rows) if rows else {}

    def rows(self, key, *fields):
        """For each port one row per list of fields."""
        return [{key: port, **{field: self.of(port, field) for field in names}}
                for port in self.ports for names in fields]

    def interface_counters(self):
        ways = []
        for way in ("in", "out"):
            of = "rx" if way == "in" else "tx"
            ways.append(table(f"{of}_counters", self.rows(
                f"interface_{of}", [f"eth_{way}bytes", f"eth_{way}ucast"],
                [f"eth_{way}mcast", f"eth_{way}bcast"])))
        return {**ways[0], **ways[1]}

    def errors(self):
        return table("interface", self.rows(
            "interface",
            ["eth_align_err", "eth_fcs_err", "eth_xmit_err", "eth_rcv_err", "eth_undersize",
             "eth_outdisc"],
            ["eth_single_col", "eth_multi_col", "eth_late_col", "eth_excess_col",
             "eth_carri_sen", "eth_runts"],
            ["eth_giants", "eth_deferred_tx", "eth_inmactx_err", "eth_inmacrx_err",
             "eth_symbol_err"],
            ["eth_indisc"]))

    def flowcontrol(self):
        rows = self.rows("interface", ["rx-pause", "tx-pause"])
        return table("flowcontrol", [
            {**row, "interface": row["interface"].replace("Ethernet", "Eth")} for row in rows])

    def priority_flow_control(self):
        rows = [{"if_name_str": port, "admin": "Auto", "oper": "On (8)",
                 "rx-stats": self.of(port, "rx-stats"), "tx-stats": self.of(port, "tx-stats")}
                for port in self.ports]
        return table("module", [{"module_number": "1", **table("pfc_interface", rows)}])

    def queuing(self):
        return table("module", [table("queuing_interface", [
            row for port in self.ports for row in (self.egress(port), self.ingress(port))])])

    def egress(self, port):
        groups = [
            {"eq-qosgrp": group, **table("qosgrp_egress_stats_entry", [
                {"eq-stat-type": kind, "eq-stat-units": unit,
                 "eq-uc-stat-value": self.of(port, group, f"{kind} {unit}"),
                 "eq-mc-stat-value": "0"}
                for kind in ("Tx", "Dropped") for unit in ("Pkts", "Byts")])}
            for group in ("0", "3")]
        return {"dir": "Egress", "if_name_str": f"{port} [System]",
                **table("qosgrp_egress_stats", groups),
                **table("egress_stats_entry", [
                    {"ep-stat-type": "WRED Drop", "ep-stat-units": "Pkts",
                     "ep-stat-value": self.of(port, "WRED Drop")}])}

    def ingress(self, port):
        return {"dir": "Ingress", "if_name_str": port,
                **table("ingress_stats_entry", [
                    {"ip-stat-type": "Ingress MMU Drop", "ip-stat-units": unit,
                     "ip-stat-value": self.of(port, f"MMU {unit}")}
                    for unit in ("Pkts", "Byts")]),
                **table("pfc_stats", [
                    {"cos": str(cos), "pfc-qosgrp": str(cos), "pfc-pg": "-",
                     "tx-pause-state": "Inactive", "rx-pause-state": "Inactive",
                     "tx-pause-count": self.of(port, cos, "tx-pause-count"),
                     "rx-pause-count": self.of(port, cos, "rx-pause-count")}
                    for cos in range(8)])}

    def tabular(self):
        return table("queuing_interface", [
            {"if_name_str": port, "ing_drop_pkt": "0",
             **{f"tx_uc_ecn_pkt_qos_{i}": self.of(port, i, "ecn") for i in range(8)}}
            for port in self.ports])

    def pfc_queue(self):
        return table("queuing_interface", [
            {"if_name_str": port, "wd-status": "Enabled", **table("qosgrp_stats", [
                {"eq-qosgrp": "3", "eq-qosgrp-state": self.counts.get(
                    (port, "watchdog"), "Active"),
                 **table("qosgrp_stats_entry", [
                     {"q-stat-type": "pkts", "q-shutdown": self.of(port, "q-shutdown")}])}])}
            for port in self.ports])
