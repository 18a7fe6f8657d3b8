"""A headless Chromium, a JupyterLab and the book. Without Chromium the tests are skipped, but under CI they fail."""

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.lab import SET_UP
from tests.browser.needed import needed
from tools.npm import package

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000                                                       # milliseconds, on a busy machine
TOKEN = "browser-test"


@contextmanager
def chromium():
    """A headless Chromium, playwright's."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        missing = "There is no Chromium here (Debian: apt install chromium)."
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page():
    """An empty page, in a browser of its own."""
    with chromium() as browser:
        yield browser.new_page(viewport={"width": 1400, "height": 900})


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests of a file."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def settings():
    """Where JupyterLab's settings are, as `make lab` says it; "" for a JupyterLab that is started without them."""
    return str(ROOT / "tools" / "jupyter")


@pytest.fixture(scope="module")
def server(folder, settings):
    """The address of a JupyterLab in the folder that the module's own fixture `folder` has made: where that has a
    Makefile, what `make lab` starts, unless there are no `settings`."""
    beside = folder.parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{kind}_DIR": str(beside / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    own |= SET_UP | {"OMP_NUM_THREADS": "1"}
    own["JUPYTER_CONFIG_PATH"] = settings
    course = folder if (folder / "coursekit").exists() else ROOT
    own["PYTHONPATH"] = os.pathsep.join([str(course), os.environ["PYTHONPATH"]])
    (beside / "CONFIG").mkdir()
    (beside / "CONFIG" / "jupyter_server_config.json").write_text(json.dumps({
        "ServerApp": {"ip": "127.0.0.1", "port": port, "port_retries": 0, "open_browser": False, "allow_root": True},
        "IdentityProvider": {"token": TOKEN}}))
    command = ["make", "lab"] if settings and (folder / "Makefile").exists() else [sys.executable, "-m", "jupyterlab"]
    with open(beside / "server.log", "w+") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=os.environ | own,
                                   start_new_session=True)
        try:
            until = time.monotonic() + 120
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", timeout=30).close()
                    break
                except (urllib.error.URLError, OSError):
                    assert process.poll() is None and time.monotonic() < until, (beside / "server.log").read_text()
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)                      # of `make`, and what it has started
            process.wait(30)


@pytest.fixture
def watched(page, server):
    """(page, what it complained of, what it asked for elsewhere): logged in; it reaches this machine alone."""
    complaints, elsewhere = [], []
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def stop(route):
        elsewhere.append(route.request.url)
        route.abort()

    page.route(lambda url: not url.startswith((server, "data:", "blob:")), stop)
    page.goto(f"{server}/login?token={TOKEN}")
    return page, complaints, elsewhere


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    """The folder of the book, made once for all tests that read it."""
    needed(lambda: package("mathjax"))
    folder = tmp_path_factory.mktemp("book")
    command = [sys.executable, "-m", "tools.book", folder / "book"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "book"


@pytest.fixture(scope="session")
def address(book):
    """Where a server of files, and of nothing else, offers the book."""
    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=book)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
