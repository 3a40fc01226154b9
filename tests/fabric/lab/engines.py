"""Debian's Alertmanager, unpacked and not installed, and run for a test alone."""

import pathlib
import shutil

from .process import Daemon
from .wait import until

ALERTMANAGER_PORT = 9093
# After a notification a group exists for up to half a minute. News of the group, such as the next
# fault of the same part, waits for the group's next interval.
GROUP_INTERVAL_S = 1

# The path of its template is compiled in: /usr/share/prometheus/... An overlay in the process's own
# mount namespace puts it there for this process only.
_MOUNT = (
    'mount -t overlay overlay -o "ro,lowerdir=$1/usr/share:/usr/share" /usr/share'
    ' && shift && exec "$@"'
)

_CONFIG = """\
route:
  receiver: sink
  group_by: [alertname, part, place]   # one group is one fault
  group_wait: 0s
  group_interval: {interval}s
  repeat_interval: 1h
receivers:
  - name: sink
    webhook_configs:
      - url: {url}
        send_resolved: true
"""


def one_receiver(webhook):
    return _CONFIG.format(url=webhook, interval=GROUP_INTERVAL_S)


class Alertmanager(Daemon):
    """Alertmanager 0.25 at address:9093. configure: makes its config from the webhook's URL."""

    def __init__(self, engines, netns, address, folder, webhook, configure=one_receiver):
        folder = pathlib.Path(folder)
        shutil.rmtree(folder / "alertmanager", ignore_errors=True)
        data = folder / "alertmanager"
        data.mkdir(parents=True)
        config = folder / "alertmanager.yml"
        config.write_text(configure(webhook))
        engines = pathlib.Path(engines).resolve()
        super().__init__(
            "alertmanager",
            [
                engines / "usr/bin/prometheus-alertmanager",
                f"--config.file={config}",
                f"--storage.path={data}",
                f"--web.listen-address={address}:{ALERTMANAGER_PORT}",
                "--cluster.listen-address=",
                "--log.level=warn",
            ],
            netns,
            folder / "alertmanager.log",
            ALERTMANAGER_PORT,
            wrap=["unshare", "--mount", "sh", "-c", _MOUNT, "sh", engines],
        )
        self.address = address
        self.url = f"http://{address}:{ALERTMANAGER_PORT}"

    def wait_ready(self, seconds=15):
        return until("Alertmanager is ready", seconds, lambda: self.get("/-/ready").ok, [self])
