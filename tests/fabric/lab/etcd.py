"""Debian's etcd, unpacked and not installed: a cluster, and its faults."""

import base64
import concurrent.futures
import contextlib
import json
import pathlib
import shutil
import time

from . import http
from .netns import run
from .process import Daemon, end
from .wait import FULL, until

CLIENT_PORT = 2379
PEER_PORT = 2380
READY_S = 20
CALL_S = 5  # then the next member is asked
READ_S = 1  # then the read is sent again
HEDGE_S = 0.2  # then the read is also sent to the other members
QUOTA_BYTES = 64 << 20
# A member that receives no heartbeat from its leader for a second starts an election. Longer, since
# the machine may stand still for a moment, which must not look like a fault of the test.
SLOW_TO_ELECT = () if FULL else ("--heartbeat-interval=300", "--election-timeout=3000")


def b64(text):
    return base64.b64encode(text.encode()).decode()


def text_of(value):
    return base64.b64decode(value).decode()


def prefix_end(prefix):
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


class Refused(OSError):
    """etcd has answered with an error."""


class Member(Daemon):
    """One etcd process in its own namespace."""

    def __init__(self, engines, netns, name, address, folder, cluster, state, more=()):
        folder = pathlib.Path(folder)
        data = folder / name
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True, mode=0o700)
        super().__init__(
            name,
            [
                pathlib.Path(engines).resolve() / "usr/bin/etcd",
                f"--name={name}",
                f"--data-dir={data}",
                f"--listen-client-urls=http://{address}:{CLIENT_PORT}",
                f"--advertise-client-urls=http://{address}:{CLIENT_PORT}",
                f"--listen-peer-urls=http://{address}:{PEER_PORT}",
                f"--initial-advertise-peer-urls=http://{address}:{PEER_PORT}",
                f"--initial-cluster={cluster}",
                f"--initial-cluster-state={state}",
                f"--quota-backend-bytes={QUOTA_BYTES}",
                "--logger=zap",
                "--log-level=warn",
                *SLOW_TO_ELECT,
                *more,
            ],
            netns,
            folder / f"{name}.log",
            CLIENT_PORT,
        )
        self.address = address
        self.url = f"http://{address}:{CLIENT_PORT}"
        self.peer_url = f"http://{address}:{PEER_PORT}"

    def healthy(self):
        answer = http.get(self.netns, self.address, CLIENT_PORT, "/health")
        return answer.ok and answer.json.get("health") == "true"

    def wait_ready(self, seconds=READY_S):
        return until(f"{self.name} is healthy", seconds, self.healthy, [self])


class Etcd:
    """The members etcd1 .. etcdN, each in the namespace of the same name.

    token_s: authentication is on, and tokens (JWT) are valid for so many seconds.
    """

    USER, PASSWORD = "rackmesh", "correct-horse"

    def __init__(self, engines, fabric, folder, members=3, token_s=None):
        self._engines, self._fabric = engines, fabric
        self._folder = pathlib.Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._token_s, self._token, self._answered = token_s, None, None
        self._readers = concurrent.futures.ThreadPoolExecutor(4 * members, "etcd-read")
        self._more = self._tokens() if token_s else ()
        names = [f"etcd{i + 1}" for i in range(members)]
        urls = {n: f"http://{fabric.management[n]}:{PEER_PORT}" for n in names}
        cluster = ",".join(f"{n}={url}" for n, url in urls.items())
        self.members = {n: self._member(n, cluster, "new") for n in names}

    def _tokens(self):
        key = self._folder / "jwt.key"
        public = self._folder / "jwt.pub"
        run("openssl", "genrsa", "-out", key, "2048")
        run("openssl", "rsa", "-in", key, "-pubout", "-out", public)
        return (
            f"--auth-token=jwt,pub-key={public},priv-key={key},"
            f"sign-method=RS256,ttl={self._token_s}s",
        )

    def _member(self, name, cluster, state):
        fabric = self._fabric
        return Member(
            self._engines,
            fabric.netns(name),
            name,
            fabric.management[name],
            self._folder,
            cluster,
            state,
            self._more,
        )

    @property
    def endpoints(self):
        return [member.url for member in self.members.values()]

    def login(self):
        """The options of a client's config for authentication."""
        if not self._token_s:
            return {}
        password = self._folder / "password"
        password.write_text(self.PASSWORD)
        password.chmod(0o600)
        return {"user": self.USER, "password_file": str(password)}

    def start(self):
        for member in self.members.values():
            member.start()
        for member in self.members.values():
            member.wait_ready()
        if self._token_s:
            self._close_doors()
        return self

    def _close_doors(self):
        """Creates the users root and rackmesh, and turns authentication on: from now on every
        request needs a token."""
        self.call("/v3/auth/user/add", {"name": "root", "password": self.PASSWORD})
        self.call("/v3/auth/role/add", {"name": "root"})
        self.call("/v3/auth/user/grant", {"user": "root", "role": "root"})
        self.call("/v3/auth/role/add", {"name": "rackmesh"})
        self.call(
            "/v3/auth/role/grant",
            {
                "name": "rackmesh",
                "perm": {
                    "permType": 2,
                    "key": b64("/rackmesh/"),
                    "range_end": b64(prefix_end("/rackmesh/")),
                },
            },
        )
        self.call("/v3/auth/user/add", {"name": self.USER, "password": self.PASSWORD})
        self.call("/v3/auth/user/grant", {"user": self.USER, "role": "rackmesh"})
        self.call("/v3/auth/enable", {})

    def stop(self):
        self._readers.shutdown()
        end(self.members.values())

    # ---- asking -----------------------------------------------------------------

    def call(self, path, body, member=None):
        """The answer of the first member that answers; OSError if none does."""
        last = None
        # The member that answered last is asked first: one that is cut off only answers late.
        names = sorted(self.members, key=lambda name: name != self._answered)
        asked = [member] if member else [self.members[name] for name in names]
        for each in asked:
            try:
                seconds = http.TIMEOUT_S if each is asked[-1] else CALL_S
                answer = self._ask(each, path, body, seconds=seconds)
                self._answered = each.name
                return answer
            except Refused:
                raise
            except OSError as error:
                last = error
        raise OSError(f"{path}: no member answers: {last}")

    def _first(self, path, body):
        """The answer to a read from the member that answers first; OSError if none does.

        A member that has forwarded a request to a former leader does not answer for up to 7 s,
        while the cluster works.
        """
        deadline, last = time.monotonic() + http.TIMEOUT_S, TimeoutError()
        while isinstance(last, TimeoutError) and time.monotonic() < deadline:
            names = sorted(self.members, key=lambda name: name != self._answered)
            asked = {}
            for some, seconds in ((names[:1], HEDGE_S), (names[1:], None)):
                for name in some:
                    asked[self._readers.submit(self._read, name, path, body)] = name
                with contextlib.suppress(concurrent.futures.TimeoutError):
                    for each in concurrent.futures.as_completed(asked, seconds):
                        last = each.exception()
                        if isinstance(last, OSError) and not isinstance(last, Refused):
                            continue
                        self._answered = asked[each]
                        return each.result()
        raise OSError(f"{path}: no member answers: {last}")

    def _read(self, name, path, body):
        return self._ask(self.members[name], path, body, seconds=READ_S)

    def _ask(self, member, path, body, again=True, seconds=http.TIMEOUT_S):
        head = {"Authorization": self._token} if self._token else {}
        answer = http.post(
            member.netns, member.address, CLIENT_PORT, path, body, head, seconds
        )
        if answer.ok:
            return json.loads(answer.text)
        if self._token_s and again and answer.status in (400, 401):
            self._token = self._fetch_token(member, seconds)
            return self._ask(member, path, body, False, seconds)
        if answer.status >= 500:
            raise OSError(f"{member.name}: {answer.text}")
        raise Refused(f"{member.name}: {answer.text}")

    def _fetch_token(self, member, seconds):
        who = {"name": "root", "password": self.PASSWORD}
        path = "/v3/auth/authenticate"
        answer = http.post(
            member.netns, member.address, CLIENT_PORT, path, who, seconds=seconds
        )
        return json.loads(answer.text).get("token") if answer.ok else None

    def range(self, prefix, member=None):
        """({key: (value, mod_revision)}, revision) from a linearizable read."""
        path = "/v3/kv/range"
        body = {"key": b64(prefix), "range_end": b64(prefix_end(prefix))}
        answer = self.call(path, body, member) if member else self._first(path, body)
        found = {
            text_of(kv["key"]): (text_of(kv.get("value", "")), int(kv["mod_revision"]))
            for kv in answer.get("kvs", [])
        }
        return found, int(answer["header"]["revision"])

    def put(self, key, value):
        return self.call("/v3/kv/put", {"key": b64(key), "value": b64(value)})

    def delete(self, key):
        return self.call("/v3/kv/deleterange", {"key": b64(key)})

    def leader(self):
        """The member that leads the cluster, or None."""
        for member in self.members.values():
            with contextlib.suppress(OSError):
                status = self._ask(member, "/v3/maintenance/status", {})
                if status.get("leader") == status["header"]["member_id"]:
                    return member
        return None

    def wait_healthy(self, seconds=READY_S):
        until(
            "all of etcd is well",
            seconds,
            lambda: all(member.healthy() for member in self.members.values()),
            every=0.1,
        )

    # ---- faults --------------------------------------------------------------------

    def compact(self):
        """Compacts to the newest revision: every watch that is behind fails."""
        revision = self.range("/rackmesh/")[1]
        self.call("/v3/kv/compaction", {"revision": str(revision), "physical": True})

    def replace(self, name):
        """Removes a member for good, and adds an empty one in its place."""
        old = self.members[name]
        with contextlib.suppress(ProcessLookupError, AttributeError):
            old.kill()
        rest = [m for n, m in self.members.items() if n != name]
        listed = self.call("/v3/cluster/member/list", {}, rest[0])["members"]
        ids = {m.get("name") or m["peerURLs"][0]: m["ID"] for m in listed}
        gone = ids.get(name) or ids.get(old.peer_url)
        until(
            f"{name} is taken out",
            READY_S,
            lambda: self.call("/v3/cluster/member/remove", {"ID": gone}, rest[0]),
        )
        until(
            f"{name} is put in again",
            READY_S,
            lambda: self.call("/v3/cluster/member/add", {"peerURLs": [old.peer_url]}, rest[0]),
        )
        cluster = ",".join(f"{n}={m.peer_url}" for n, m in self.members.items())
        self.members[name] = self._member(name, cluster, "existing")
        self.members[name].start()

    def fill(self):
        """Fills the database to its quota (NOSPACE): reads and deletes still work."""
        lump = "x" * (1 << 20)
        for i in range(2 * (QUOTA_BYTES >> 20)):
            try:
                self.put(f"/fill/{i:04}", lump)
            except Refused:
                return
        raise AssertionError("the quota was never reached")

    def empty(self):
        """Undoes fill(): deletes, compacts, defragments and disarms the alarm."""
        self.call(
            "/v3/kv/deleterange", {"key": b64("/fill/"), "range_end": b64(prefix_end("/fill/"))}
        )
        self.compact()
        for member in self.members.values():
            self._ask(member, "/v3/maintenance/defragment", {})
        alarms = self.call("/v3/maintenance/alarm", {"action": "GET"}).get("alarms", [])
        for alarm in alarms:
            self.call("/v3/maintenance/alarm", dict(alarm, action="DEACTIVATE"))
