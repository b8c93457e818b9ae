"""A review's page in headless Chromium: what it asks for, how it lies, who can read it."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import skips
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, sync_playwright
from review_example import BROKEN_BASE, DANGEROUS, PLACES, QUIET, mapped

from trainshed.review.html import html_report
from trainshed.review.model import Part, Review

REVIEWS = {"dangerous": DANGEROUS, "quiet": QUIET, "broken-base": BROKEN_BASE}
# Without a sandbox, because CI runs it as root; the page is our own.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# However busy the machine is.
PATIENCE_MS = 600_000
PHONE, DESKTOP = 360, 1280


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A headless Chromium with a profile of its own, which cannot reach any network."""
    skips.unless("chromium")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=shutil.which("chromium"),
            headless=True,
            args=ARGUMENTS,
            offline=True,
            timeout=PATIENCE_MS,
        )
        context.set_default_timeout(PATIENCE_MS)
        yield context
        context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """An empty page."""
    page = context.new_page()
    yield page
    page.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Review], str]:
    """Write a review's page; return its address."""
    folder = tmp_path_factory.mktemp("pages")

    def write(review: Review) -> str:
        file = folder / f"{len([*folder.iterdir()])}.html"
        file.write_text(html_report(review), encoding="utf-8")
        return file.as_uri()

    return write


@pytest.mark.parametrize("review", REVIEWS.values(), ids=REVIEWS)
def test_a_page_asks_for_nothing_and_has_no_errors(
    page: Page, written: Callable[[Review], str], review: Review
) -> None:
    requests: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    address = written(review)

    page.goto(address)

    assert requests == [address]
    assert said == []


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize("review", REVIEWS.values(), ids=REVIEWS)
def test_a_page_does_not_scroll_sideways(
    page: Page, written: Callable[[Review], str], review: Review, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(written(review))

    assert width_of(page) <= width


def test_texts_without_a_space_do_not_make_a_page_wider(
    page: Page, written: Callable[[Review], str]
) -> None:
    page.set_viewport_size({"width": PHONE, "height": 800})
    page.goto(written(mapped(DANGEROUS, lambda text: text + "W" * 200)))

    assert width_of(page) <= PHONE


def width_of(page: Page) -> int:
    """Return how wide a page is, with what lies outside of the window."""
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("review", REVIEWS.values(), ids=REVIEWS)
def test_an_audit_finds_nothing(
    page: Page, written: Callable[[Review], str], review: Review, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": PHONE, "height": 800})
    page.goto(written(review))
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")

    found = Axe().run(page).response

    assert [f"{each['id']}: {each['nodes'][0]['html']}" for each in found["violations"]] == []
    assert "color-contrast" in {each["id"] for each in found["passes"]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_colour_scheme(
    page: Page, written: Callable[[Review], str], scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(written(QUIET))

    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert (colour == "rgb(255, 255, 255)") == (scheme == "light")


def test_the_keyboard_reaches_everything(page: Page, written: Callable[[Review], str]) -> None:
    page.goto(written(DANGEROUS))

    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the risks"
    assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    folded = page.locator("details", has_text="1 fixed finding")
    for _ in range(60):
        if "1 fixed finding" in focused(page):
            break
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")

    assert folded.evaluate("each => each.open")
    assert page.get_by_text("scratch storage loses its data").is_visible()


def focused(page: Page) -> str:
    """Return the text of the link or summary that has the focus."""
    text: str = page.evaluate(
        "document.activeElement.matches('a,summary') ? document.activeElement.innerText : ''"
    )
    return text


@pytest.mark.parametrize("review", REVIEWS.values(), ids=REVIEWS)
def test_headings_have_an_order(
    page: Page, written: Callable[[Review], str], review: Review
) -> None:
    page.goto(written(review))

    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(each => +each.tagName[1])"
    )

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_most_dangerous_comes_first(page: Page, written: Callable[[Review], str]) -> None:
    page.goto(written(DANGEROUS))

    assert page.locator("h2").all_inner_texts() == [
        *("Risks", "Clusters", "Changes by stack", "Permissions", "Security-group rules"),
        *("Cost per hour", "Quotas needed", "Findings", "Notes"),
    ]


def test_everything_that_is_known_is_in_the_page(
    page: Page, written: Callable[[Review], str]
) -> None:
    page.goto(written(DANGEROUS))

    said = page.locator("html").inner_html()
    text = "".join(page.locator("body").evaluate("each => each.textContent").split())

    # A source is an address.
    for place in set(PLACES) - {*_unsaid(DANGEROUS)}:
        assert "".join(place.split()) in text or place in said, place


def _unsaid(review: Review) -> Iterator[str]:
    yield from ("trainshed", *(run.tool for run in review.findings.runs))
    yield from review.cost.full_after.unknown if review.cost.full_after else ()
    yield from (each.logical_id for stack in review.stacks for each in stack.resources)
    for cluster in review.clusters:
        yield from _kinds(cluster.picture.parts)


def _kinds(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        yield part.kind
        yield from _kinds(part.parts)


def test_marks_have_words(page: Page, written: Callable[[Review], str]) -> None:
    page.goto(written(DANGEROUS))

    words = {*page.locator(".mark, .tag").all_inner_texts()}

    assert words >= {
        *("high", "medium", "error", "info", "replaced", "removed", "may be replaced", "added"),
        *("changed", "changed in place", "not changed", "gained", "lost", "not complete"),
        *("forces the replacement", "may force a replacement"),
    }


def test_tables_say_what_they_are(page: Page, written: Callable[[Review], str]) -> None:
    page.goto(written(DANGEROUS))

    tables = page.locator("table")
    assert tables.count() == 6
    for table in tables.all():
        assert table.locator("caption").text_content()
        assert table.locator("th:not([scope])").count() == 0
        region = table.locator("xpath=..")
        assert region.get_attribute("tabindex") == "0"
        assert region.get_attribute("aria-label")


def test_a_picture_has_a_name_for_those_who_hear_it(
    page: Page, written: Callable[[Review], str]
) -> None:
    page.goto(written(DANGEROUS))

    pictures = page.get_by_role("img")

    assert pictures.count() == 2  # the third is folded
    assert "TrainCluster" in pictures.first.aria_snapshot()


def test_hostile_texts_stay_texts(page: Page, written: Callable[[Review], str]) -> None:
    hostile = '"><script>document.title = "owned"</script><img src="https://example.com/x.png">'
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    source = replace(DANGEROUS.findings.new[0], source="javascript:alert(1)")
    review = mapped(DANGEROUS, lambda text: f"{text}{hostile}")
    review = replace(review, findings=replace(review.findings, new=(source,)))

    page.goto(written(review))

    assert not page.title().startswith("owned")
    assert len(requests) == 1
    assert page.locator("script, img").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0


def test_paper_shows_what_is_folded(page: Page, written: Callable[[Review], str]) -> None:
    page.goto(written(DANGEROUS))
    folded = page.get_by_text("scratch storage loses its data")
    assert not folded.is_visible()

    page.emulate_media(media="print")

    assert folded.bounding_box()["height"] > 0  # type: ignore[index]
    assert not page.locator("nav").is_visible()


def test_the_page_is_one_file(tmp_path: Path) -> None:
    page = html_report(DANGEROUS)

    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "url(" not in page
