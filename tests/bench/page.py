"""The analyzer's page in a browser, of 1,000 racks that all tell at their usual pace.

feed_analyzer plays the aggregators. First paint and the last tile are by the browser's own
clock, from the moment that it was asked for the page; what an update costs is the browser's
task time, spread over seconds; memory is of all that the tab holds, and Anonymous of the
analyzer. Without an installed Chromium there are no figures.
"""

import pathlib
import shutil
import sys
import tempfile
import time

import analyzer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fabric"))

RACKS, SMOKE_RACKS = 1000, 100
WATCHED_S, SMOKE_WATCHED_S = 20, 4
SUMMARIES = 30  # of each rack: more than the bench lasts
CONFIG = """\
plaintext: true
name: bench
listen: 127.0.0.1:{link}
state_folder: {folder}/state
http:
  listen: 127.0.0.1:{http}
  socket: ""
"""
ALL_SHOWN = """
const [racks, done] = arguments;
const look = () => document.querySelectorAll(".rack").length >= racks
  ? done(performance.now()) : requestAnimationFrame(look);
look();
"""
FIRST_PAINT = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"


def spent(page):
    """Seconds of the browser's main thread, and bytes of the page's heap."""
    metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    named = {each["name"]: each["value"] for each in metrics}
    return named["TaskDuration"], named["JSHeapUsedSize"]


def watch(options, pid, page, racks):
    url = f"http://127.0.0.1:{analyzer.HTTP}/"
    page.driver.set_script_timeout(analyzer.DEADLINE_S)
    page.driver.execute_cdp_cmd("Performance.enable", {})
    page.open(url)
    shown_ms = page.driver.execute_async_script(ALL_SHOWN, racks)
    painted_ms = page.driver.execute_script(FIRST_PAINT)
    seconds = SMOKE_WATCHED_S if options.smoke else WATCHED_S
    before, cpu = spent(page)[0], analyzer.cpu_s(pid)
    time.sleep(seconds)
    after, heap = spent(page)
    complaints = page.complaints()
    if complaints:
        raise RuntimeError(f"the page complains: {complaints}")
    many = f"{racks:,} racks: "
    return [
        {"name": many + "first paint", "unit": "ms", "value": painted_ms, "gate": "aim value <= 1000"},
        {"name": many + "the last rack is shown", "unit": "ms", "value": shown_ms},
        {
            "name": many + "the browser's time for updates, of one core",
            "unit": "%",
            "value": 100 * (after - before) / seconds,
        },
        {"name": many + "the page's heap", "unit": "MiB", "value": heap / 2**20},
        {
            "name": many + "the analyzer's CPU, fed and looked at, of one core",
            "unit": "%",
            "value": 100 * (analyzer.cpu_s(pid) - cpu) / seconds,
        },
        {"name": many + "the analyzer's memory", "unit": "MiB", "value": analyzer.anonymous_mb(pid)},
    ]


def run(options):
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        return []
    from lab.browser import browser

    racks = SMOKE_RACKS if options.smoke else RACKS
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = folder / "analyzer.yaml"
        config.write_text(CONFIG.format(link=analyzer.LINK, http=analyzer.HTTP, folder=folder))
        daemon = [options.build / "analyzer/analyzer", "--config", config]
        feed = [options.build / "tests/bench/feed_analyzer", "--address"]
        feed += [f"127.0.0.1:{analyzer.LINK}", "--aggregators", racks, "--summaries", SUMMARIES]
        feed += ["--incidents", 1, "--rate", analyzer.PACE, "--seconds", 600]
        with analyzer.running(daemon, folder / "analyzer.log") as pid:
            analyzer.until("ready", lambda: analyzer.get(analyzer.HTTP, "/readyz"))
            with analyzer.running(feed, folder / "feed.log"):
                told = lambda: analyzer.get(analyzer.HTTP, "/v1/health").count('"tor"') >= racks  # noqa: E731
                analyzer.until("all racks are told of", told)
                with browser(None, folder) as page:
                    return watch(options, pid, page, racks)
