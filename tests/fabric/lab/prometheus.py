"""Debian's Prometheus, unpacked and not installed, with the config of the docs."""

import pathlib
import urllib.parse

import yaml

from . import http
from .places import ROOT
from .process import Daemon
from .wait import until

PROMETHEUS_PORT = 9090
FILES = ROOT / "docs" / "prometheus"
EVERY = "1s"  # interval of scrapes: a test cannot wait for the usual 15 s


def config_for(targets, credentials):
    """The config in the docs, with these targets ({job: ["address:port"]}) and the files of a
    viewer."""
    config = yaml.safe_load((FILES / "prometheus.yaml").read_text())
    config["global"].update(scrape_interval=EVERY, evaluation_interval=EVERY)
    config["rule_files"] = [str(FILES / name) for name in config["rule_files"]]
    for job in config["scrape_configs"]:
        job.pop("scrape_interval", None)
        job["tls_config"].update(
            ca_file=str(credentials.authorities),
            cert_file=str(credentials.certificate),
            key_file=str(credentials.key),
        )
        labels = {"region": "lab"} if job["job_name"] != "rackmesh-analyzer" else {}
        job.pop("file_sd_configs", None)
        job["static_configs"] = [{"targets": targets[job["job_name"]], "labels": labels}]
    return config


class Prometheus(Daemon):
    """Prometheus 2 at address:9090."""

    def __init__(self, engines, netns, address, folder, config):
        folder = pathlib.Path(folder) / "prometheus"
        folder.mkdir(parents=True)
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        super().__init__(
            "prometheus",
            [
                pathlib.Path(engines).resolve() / "usr/bin/prometheus",
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={address}:{PROMETHEUS_PORT}",
                "--log.level=warn",
            ],
            netns,
            folder / "prometheus.log",
            PROMETHEUS_PORT,
        )
        self.address = address

    def api(self, path, **query):
        asked = f"/api/v1/{path}?{urllib.parse.urlencode(query, doseq=True)}"
        answer = http.get(self.netns, self.address, self.port, asked)
        if answer.status == 400:
            raise ValueError(answer.text)
        return answer.json["data"]

    def wait_scraping(self, seconds=30):
        """Waits until every target has been scraped without an error."""

        def unhealthy():
            targets = self.api("targets", state="active")["activeTargets"]
            return [(t["scrapeUrl"], t["lastError"]) for t in targets if t["health"] != "up"]

        until("Prometheus scrapes everybody", seconds, lambda: unhealthy() == [], [self])

    def query(self, text):
        """The series of an instant query."""
        return self.api("query", query=text)["result"]
