"""Debian's headless Chromium, in the namespace of the daemon whose page it shows."""

import contextlib
import json
import re
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from . import nss, wait
from .wait import until

# Chromium reports each HTTP error on the console, which a page cannot prevent. These are the documented
# answers for an aggregator that is not connected, or does not answer in time.
_UNANSWERED = re.compile(
    r"/v1/(mesh|counters|hosts|drill)/\S+ - Failed to load resource: .* status of 50[34] ")

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # of root, in namespaces of the tests' own
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--window-size=1400,900",
)
PATIENCE_S = 120


class Browser:
    """A browser window: reads what it shows, and types into it."""

    def __init__(self, driver):
        self.driver = driver
        self._log = []

    def open(self, url):
        self.driver.get(url)

    def find(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """The visible texts of all matching elements. They are read in one call, since elements
        may be replaced meanwhile."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(e => e.offsetParent !== null).map(e => e.innerText)",
            selector,
        )

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def complaints(self):
        """The errors on the console, including what the page's Content-Security-Policy has
        forbidden, except the analyzer's answers that an aggregator does not answer."""
        self._log += self.driver.get_log("browser")
        severe = [line["message"] for line in self._log if line["level"] == "SEVERE"]
        return [message for message in severe if not _UNANSWERED.search(message)]

    def prefer(self, scheme):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def seen(page, what, selector, holds, seconds=wait.PATIENCE_S):
    """Waits until holds(texts) is true for the visible texts of the elements that match the
    selector."""
    try:
        until(what, seconds, lambda: holds(page.texts(selector)))
    except wait.Overdue as error:
        shown = page.texts(selector), page.texts("body")
        raise wait.Overdue(f"{error}; {selector} shows {shown[0]!r}, the page {shown[1]!r}") from None


# The policy chooses the certificate that a person would choose from the browser's list. ip gives its
# child a mount namespace, so the bind mount is visible to this browser only.
_OWNED = (
    "#!/bin/sh\nHOME={folder} exec ip netns exec {netns} sh -c "
    "'mount --bind {folder}/etc /etc/chromium && exec {command} \"$@\"' sh \"$@\"\n"
)


def _own(folder, authority, person):
    """A home folder whose browser trusts the authority and has a person's certificate (None: no
    certificate)."""
    nss.fill(folder / ".pki" / "nssdb", authority, person)
    policies = folder / "etc" / "policies" / "managed"
    policies.mkdir(parents=True)
    pick = json.dumps({"pattern": "https://*", "filter": {}})
    (policies / "pick.json").write_text(json.dumps({"AutoSelectCertificateForUrls": [pick]}))


@contextlib.contextmanager
def browser(netns, folder, authority=None, person=None):
    """Starts the browser in the namespace (None: in this one). The driver runs here and talks
    to the browser over a pipe. authority: for https, the authority to trust; person: the
    Credentials that the browser shows."""
    command = shutil.which("chromium")
    if netns is not None:
        there = folder / "chromium"
        line = f'#!/bin/sh\nexec ip netns exec {netns} {command} "$@"\n'
        if authority is not None:
            _own(folder, authority, person)
            line = _OWNED.format(folder=folder, netns=netns, command=command)
        there.write_text(line)
        there.chmod(0o755)
        command = str(there)
    options = Options()
    options.binary_location = command
    for flag in (*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.set_page_load_timeout(PATIENCE_S)
        yield Browser(driver)
    finally:
        driver.quit()
