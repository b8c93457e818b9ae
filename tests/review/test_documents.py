"""docs/review.md shows the report and the picture of a change of TrainCluster as they are today."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.app.synthesis import read_assembly
from trainshed.checks import judge
from trainshed.plan import Fleet, load_fleet
from trainshed.review.changes import compare_templates
from trainshed.review.markdown import markdown_report
from trainshed.review.model import Review, Side
from trainshed.review.reviewing import make_review
from trainshed.review.svg import svg

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def review(synthesise: Callable[[Fleet], Path], tmp_path_factory: pytest.TempPathFactory) -> Review:
    """The review of what the page names: eight nodes more, and scratch-2 for the storage."""
    text = (ROOT / "clusters" / "train.yaml").read_text()
    changed = text.replace("max: 16", "max: 24").replace("persistent-2", "scratch-2")
    changed = re.sub(r" +(throughput|metadata_iops): .*\n", "", changed)
    file = tmp_path_factory.mktemp("clusters") / "train.yaml"
    before, after = (side(file, each, synthesise) for each in (text, changed))
    return make_review(before, after, compare_templates(before.stacks, after.stacks, ROOT), ())


def side(file: Path, text: str, synthesise: Callable[[Fleet], Path]) -> Side:
    file.write_text(text)
    fleet = load_fleet([file])
    return Side(
        name="a side",
        fleet=fleet,
        stacks=read_assembly(synthesise(fleet)),
        findings=tuple(finding for plan in fleet.clusters for finding in judge(plan, fleet)),
        runs=(),
    )


def words(text: str) -> str:
    """Without line breaks, which the page has elsewhere, and the escapes of Markdown.

    The templates of the tests have no paths of constructs: the report names a resource by its id,
    which is the path without slashes, and a hash.
    """
    without_hashes = re.sub(r"(?<=[a-z])[0-9A-F]{8}\b", "", text)
    return " ".join(without_hashes.replace("\\", "").replace("/", "").split())


def test_the_page_shows_parts_of_the_report(review: Review) -> None:
    page = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^```markdown\n(.*?)^```", page, re.M | re.S)
    report = words(markdown_report(review))

    shown = [words(part) for part in example.split("\n...\n") if part]

    assert shown
    for part in shown:
        assert part in report


def test_the_committed_picture_is_that_of_the_review(review: Review) -> None:
    [cluster] = review.clusters

    committed = (ROOT / "docs" / "images" / "review-train.svg").read_text(encoding="utf-8")
    assert committed == svg(cluster.picture)
