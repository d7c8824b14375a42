# SPDX-License-Identifier: GPL-2.0-only
"""The page of a run in a real browser: a click names the bottleneck, and nothing fails."""

import shutil

import pytest

from pyorch.look import write
from tests.look.small_runs import INCAST, SPRAYED

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.ns3,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]
SIZES = {"desk": (1400, 900), "phone": (390, 800)}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens the page of runs; errors on its console fail the test."""
    errors, pages = [], []

    def open_(runs, size="desk", scheme="light"):
        width, height = SIZES[size]
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(write(runs, tmp_path / "look.html").as_uri())
        page.wait_for_function("window.ready === true")
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert errors == []


def click(page, name, x, y):
    box = page.locator(f"canvas[data-name={name}]").first.bounding_box()
    page.mouse.click(box["x"] + x, box["y"] + y)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_click_on_the_slowest_message_names_its_bottleneck(opened, made, size, scheme):
    run = made(INCAST)
    page = opened([run], size, scheme)
    flows = run.flows.astype("Int64")
    slowest = flows.loc[(flows["receiver_end_ps"] - flows["start_ps"]).idxmax()]
    assert f"slowest message is {slowest['flow']}," in page.inner_text(".about")

    page.locator("canvas[data-name=list]").scroll_into_view_if_needed()
    click(page, "list", 5, 3)
    about = page.inner_text(".about")
    assert about.startswith(f"Message {slowest['flow']}, host {slowest['src']} to")
    leaf = run.paths.query("peer == @slowest.dst")["node"].iloc[0]
    assert f"Its bottleneck is switch {leaf} to host {slowest['dst']}" in about
    assert "was held back for" in about


def test_the_clock_moves_by_slider_keys_and_play(opened, made):
    page = opened([made(INCAST)])

    def now():
        return page.evaluate("clock.us")

    page.locator("#time").fill("20")
    assert now() == 20 and page.inner_text("#now") == "20.00 us"
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    assert now() == 22
    page.keyboard.press("Shift+ArrowLeft")
    assert now() == 2
    page.keyboard.press(" ")
    page.wait_for_function("clock.us > 2")


def test_search_finds_messages_hosts_and_links(opened, made):
    run = made(INCAST)
    page = opened([run])
    host = int(run.flows["src"].iloc[3])
    port = run.ports.iloc[5]
    for text, said in (
        (str(run.flows["flow"].iloc[2]), f"Message {run.flows['flow'].iloc[2]},"),
        (f"host {host}", f"host {host} to"),
        (f"{port['node']} to {port['peer']}", "Link "),
    ):
        page.locator("#search").fill(text)
        page.locator("#search").press("Enter")
        assert said in page.inner_text(".about"), text


def test_two_runs_are_shown_on_one_clock(opened, made):
    page = opened([made(INCAST), made(SPRAYED)])
    assert page.locator(".run").count() == 2
    page.locator("h1").click()
    page.keyboard.press("n")
    said = page.locator(".about").all_inner_texts()
    assert all(text.startswith("Message ") for text in said)
    assert "spread over many paths" in said[1]


def test_the_wheel_zooms_in_time(opened, made):
    page = opened([made(INCAST)])
    box = page.locator("canvas[data-name=rate]").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.wheel(0, -100)
    page.wait_for_function("clock.toUs - clock.fromUs < 0.9 * clock.endUs")
    page.locator("h1").click()
    page.keyboard.press("0")
    assert page.evaluate("clock.toUs - clock.fromUs === clock.endUs")
