"""Debian's headless Chromium, in the namespace of the daemon whose page it shows."""

import contextlib
import json
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from . import nss, wait
from .wait import until

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
    """What somebody sees, and does."""

    def __init__(self, driver):
        self.driver = driver
        self._log = []

    def open(self, url):
        self.driver.get(url)

    def find(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """Read in one go: elements may be replaced meanwhile."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(e => e.offsetParent !== null).map(e => e.innerText)",
            selector,
        )

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def complaints(self):
        """What the console has said as an error: also what the page's policy forbade."""
        self._log += self.driver.get_log("browser")
        return [line["message"] for line in self._log if line["level"] == "SEVERE"]

    def prefer(self, scheme):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def seen(page, what, selector, holds, seconds=wait.PATIENCE_S):
    """Waits until the texts there are as they should be."""
    until(what, seconds, lambda: holds(page.texts(selector)))


# The policy stands for the finger that picks a certificate from the browser's list; ip has
# given its child a mount namespace of its own.
_OWNED = (
    "#!/bin/sh\nHOME={folder} exec ip netns exec {netns} sh -c "
    "'mount --bind {folder}/etc /etc/chromium && exec {command} \"$@\"' sh \"$@\"\n"
)


def _own(folder, authority, person):
    """A home whose browser believes the authority and has a person's certificate (None: none)."""
    nss.fill(folder / ".pki" / "nssdb", authority, person)
    policies = folder / "etc" / "policies" / "managed"
    policies.mkdir(parents=True)
    pick = json.dumps({"pattern": "https://*", "filter": {}})
    (policies / "pick.json").write_text(json.dumps({"AutoSelectCertificateForUrls": [pick]}))


@contextlib.contextmanager
def browser(netns, folder, authority=None, person=None):
    """The driver is here, and speaks over a pipe with the browser there. netns: None: here.
    authority: for https, the file that it believes; person: the Credentials it shows."""
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
