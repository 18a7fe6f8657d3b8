"""A headless Chromium. Without one the tests are skipped, but under CI they fail."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright


@pytest.fixture
def page():
    """An empty page, in a browser of its own."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        missing = "There is no Chromium here (Debian: apt install chromium)."
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1400, "height": 900})
        browser.close()
