"""The analyzer's page in a browser, with 1,000 racks that send at their usual rate.

feed_analyzer takes the place of the aggregators. The times of the first paint and the last
tile are by the browser's own clock, from the request for the page on. The cost of an update
is the browser's task time, averaged over seconds. Memory is that of the tab's heap, and
Anonymous of the tab's process and of the analyzer. feed_analyzer does not answer requests
for the hosts of a rack, so this program replaces these answers inside the page. Without an
installed Chromium there are no figures.
"""

import contextlib
import pathlib
import shutil
import sys
import tempfile
import time

import analyzer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fabric"))

RACKS = 1000
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
HOSTS = 16  # of a rack
# In place of the aggregators' answers: every tenth rack has another release, and a host that is
# down.
ANSWERED = """
const real = window.fetch;
const answer = (path) => {
  const tor = path.split("/")[3].split("?")[0];
  const odd = tor.endsWith("7");
  const hosts = Array.from({ length: arguments[0] }, (_, i) => ({
    host: `${tor}-h${i}`, state: odd && i === 0 ? "down" : "ok", version: odd ? "1.0" : "1.1", connected: true,
    address: "192.0.2.1", rnics: 8, slowed: "none", paused: false, silent_ms: 400, dropped_results: 0,
  }));
  return new Response(JSON.stringify({ region: "bench", tor, hosts }));
};
window.fetch = (path, how) => path.startsWith("/v1/hosts/")
  ? new Promise((done) => setTimeout(() => done(answer(path)), 5)) : real(path, how);
location.hash = "#/daemons";
"""
ALL_ASKED = """
const [hosts, done] = arguments;
const began = performance.now();
const look = () => [...document.querySelectorAll("section p")].some((p) => p.innerText.startsWith(hosts) && p.innerText.endsWith(" ok."))
  ? done(performance.now() - began) : requestAnimationFrame(look);
look();
"""
# Types the keys one after the other, and waits each time until the page is drawn.
TYPED = """
const [text, done] = arguments;
const field = document.getElementById("filter");
const began = performance.now();
const next = (i) => {
  if (i > text.length) return done((performance.now() - began) / text.length);
  field.value = text.slice(0, i);
  field.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => setTimeout(() => next(i + 1)));
};
next(1);
"""
FIRST_PAINT = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"


def spent(page):
    """Seconds of CPU of the browser's main thread, and bytes of the page's heap."""
    metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    named = {each["name"]: each["value"] for each in metrics}
    return named["TaskDuration"], named["JSHeapUsedSize"]


def tab_mb():
    """Returns the memory in MB of the largest of the browser's processes that show a page."""
    shown = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"--type=renderer" in (process / "cmdline").read_bytes():
                shown = max(shown, analyzer.anonymous_mb(process.name))
    return shown


def agents(page, racks):
    """Opens the view of all agents and measures from its first request on."""
    hosts = f"{racks * HOSTS:,}".replace(",", "\u202f") + " hosts, "
    before = spent(page)[0]
    page.driver.execute_script(ANSWERED, HOSTS)
    asked_ms = page.driver.execute_async_script(ALL_ASKED, hosts)
    busy_s = spent(page)[0] - before
    many = f"all agents of {racks:,} racks of {HOSTS} hosts: "
    return [
        {"name": many + "the last one is shown", "unit": "ms", "value": asked_ms},
        {"name": many + "the browser's time until then", "unit": "ms", "value": 1000 * busy_s},
        {"name": many + "a key in the filter", "unit": "ms", "value": page.driver.execute_async_script(TYPED, "r1-h1 ok")},
        {"name": many + "memory of the tab's process", "unit": "MiB", "value": tab_mb()},
    ]


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
    cpu, tab = analyzer.cpu_s(pid) - cpu, tab_mb()
    rows = agents(page, racks)
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
            "value": 100 * cpu / seconds,
        },
        {"name": many + "memory of the tab's process", "unit": "MiB", "value": tab},
        {"name": many + "the analyzer's memory", "unit": "MiB", "value": analyzer.anonymous_mb(pid)},
        *rows,
    ]


def run(options):
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        return []
    from lab.browser import browser

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = folder / "analyzer.yaml"
        config.write_text(CONFIG.format(link=analyzer.LINK, http=analyzer.HTTP, folder=folder))
        daemon = [options.build / "analyzer/analyzer", "--config", config]
        feed = [options.build / "tests/bench/feed_analyzer", "--address"]
        feed += [f"127.0.0.1:{analyzer.LINK}", "--aggregators", RACKS, "--summaries", SUMMARIES]
        feed += ["--incidents", 1, "--rate", analyzer.PACE, "--seconds", 600]
        with analyzer.running(daemon, folder / "analyzer.log") as pid:
            analyzer.until("ready", lambda: analyzer.get(analyzer.HTTP, "/readyz"))
            with analyzer.running(feed, folder / "feed.log"):
                reported = lambda: analyzer.get(analyzer.HTTP, "/v1/health").count('"tor"') >= RACKS  # noqa: E731
                analyzer.until("all racks are reported", reported)
                with browser(None, folder) as page:
                    return watch(options, pid, page, RACKS)
