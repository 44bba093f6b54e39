#!/usr/bin/env python3
"""Opens a page in headless Chromium and prints, as one JSON document, what the browser makes of it.

    open_page.py PAGE [--pictures FOLDER] [--timeout SECONDS]

The document has `messages` of the console (errors, warnings, what a policy refused), `requests` for
anything but the page itself, and for each of a few views (a window's width and colour scheme) the
`figures` (SVG elements with a title) with their size and number of visible marks, the least
`contrast` of text, and by how much the page `overflows` the window. --pictures keeps a screenshot a
view and a PDF. Exit code 77: there is no Chromium.
"""

import argparse
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NO_BROWSER = 77
VIEWS = {
    "light": {"width": 1280, "scheme": "light"},
    "dark": {"width": 1280, "scheme": "dark"},
    "narrow": {"width": 420, "scheme": "light"},
}

# Runs in the page, on behalf of the debugger: the page's own policy does not hold for it.
LOOK = r"""
(() => {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map(
        (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = luminance(rgb(getComputedStyle(document.body).backgroundColor));
  const contrast = (element) => {
    const style = getComputedStyle(element);
    const own = luminance(rgb(element.closest('svg') ? style.fill : style.color));
    return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
  };
  const hasText = (element) => [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
  const isSeen = (element) => element.checkVisibility();
  const isDrawn = (mark) => {
    const box = mark.getBoundingClientRect();
    return box.width + box.height > 0 ||
        (mark.classList.contains('dots') && mark.getAttribute('d') !== '');
  };
  const figures = [...document.querySelectorAll('svg[role=img]')].map((svg) => {
    const box = svg.getBoundingClientRect();
    const marks = [...svg.querySelectorAll('circle, rect, path, line, text')];
    return {
      title: svg.querySelector('title').textContent,
      width: box.width, height: box.height,
      marks: marks.length, drawn: marks.filter(isDrawn).length,
    };
  });
  const texts = [...document.querySelectorAll('body *')].filter(
      (e) => !['title', 'desc'].includes(e.tagName) && hasText(e) && isSeen(e));
  const root = document.documentElement;
  return {
    figures,
    contrast: Math.min(...texts.map(contrast)),
    overflows: Math.max(0, root.scrollWidth - root.clientWidth),
    height: root.scrollHeight,
  };
})()
"""


class Browser:
    """Chromium, spoken to over the pipes of --remote-debugging-pipe."""

    def __init__(self, program, profile, deadline):
        self.deadline = deadline
        self.events = []
        self._buffer = b""
        self._number = 0
        from_us, self._out = os.pipe()
        self._in, to_us = os.pipe()
        # Out of the way of 3 and 4, where Chromium looks.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (from_us, to_us)]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--disable-extensions",
             "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={profile}",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=place, pass_fds=(3, 4), start_new_session=True)
        for end in (from_us, to_us, *high):
            os.close(end)

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def call(self, method, session=None, **parameters):
        """The result of a command; events that come meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._receive())

    def _receive(self):
        while b"\0" not in self._buffer:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError("the browser did not answer in time")
            part = os.read(self._in, 1 << 16)
            if not part:
                raise RuntimeError("the browser ended")
            self._buffer += part
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)


def messages_of(events):
    texts = []
    for event in events:
        parameters = event.get("params", {})
        if event.get("method") == "Log.entryAdded":
            texts.append(parameters["entry"]["text"])
        elif event.get("method") == "Runtime.exceptionThrown":
            texts.append(parameters["exceptionDetails"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled":
            texts.append(" ".join(str(a.get("value", "")) for a in parameters["args"]))
    return texts


def requests_of(events, page):
    urls = [event["params"]["request"]["url"] for event in events
            if event.get("method") == "Network.requestWillBeSent"]
    return [url for url in urls if url != page and not url.startswith("data:")]


def look(browser, session, view, picture):
    """What the browser shows in a window of this width and colour scheme."""
    browser.call("Emulation.setEmulatedMedia", session,
                 features=[{"name": "prefers-color-scheme", "value": view["scheme"]}])
    browser.call("Emulation.setDeviceMetricsOverride", session, width=view["width"], height=900,
                 deviceScaleFactor=1, mobile=False)
    seen = browser.call("Runtime.evaluate", session, expression=LOOK, returnByValue=True)
    if "exceptionDetails" in seen:
        raise RuntimeError(seen["exceptionDetails"]["exception"]["description"])
    if picture:
        shot = browser.call("Page.captureScreenshot", session, captureBeyondViewport=True)
        picture.write_bytes(base64.b64decode(shot["data"]))
    return seen["result"]["value"]


def visit(browser, page, pictures):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(f"{domain}.enable", session)
    browser.call("Page.navigate", session, url=page)
    browser.wait_for("Page.loadEventFired")
    document = {"views": {}}
    for name, view in VIEWS.items():
        picture = pictures / f"{name}.png" if pictures else None
        document["views"][name] = look(browser, session, view, picture)
    paper = browser.call("Page.printToPDF", session, printBackground=False)["data"]
    document["pdf_bytes"] = len(base64.b64decode(paper))
    if pictures:
        (pictures / "paper.pdf").write_bytes(base64.b64decode(paper))
    document["messages"] = messages_of(browser.events)
    document["requests"] = requests_of(browser.events, page)
    return document


def main():
    parser = argparse.ArgumentParser(description="Opens a page in headless Chromium.")
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=18.0)
    options = parser.parse_args()
    program = shutil.which("chromium")
    if not program:
        print("no Chromium is installed (scripts/setup.sh --browser)", file=sys.stderr)
        return NO_BROWSER
    deadline = time.monotonic() + options.timeout
    with tempfile.TemporaryDirectory(prefix="whet-browser-", ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile, deadline)
        try:
            document = visit(browser, options.page.resolve().as_uri(), options.pictures)
        finally:
            browser.close()
    print(json.dumps(document, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
