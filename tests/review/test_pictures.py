"""The two drawings of a cluster in a review: Mermaid and SVG."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from planned_types import TAKEN

from trainshed.parts.model import Arrow
from trainshed.plan import ClusterPlan
from trainshed.review.mermaid import mermaid
from trainshed.review.model import Mark, Part, Topology
from trainshed.review.svg import svg
from trainshed.review.topology import topology
from trainshed.spec import Orchestrator

TRAIN = """
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {capacity_gib: 4800, s3: {bucket: our-data, prefix: a_b*c/}}}
"""
SVG = "{http://www.w3.org/2000/svg}"
# A label between quotes: text that is only itself, entities by number, and line breaks.
LABEL = r'"(?:[A-Za-z0-9 ,./()+=-]|#[0-9]+;|<br/>)+"'
ID = r"[a-z][a-z0-9-]*"
STATEMENTS = {
    "title": r"accTitle: [A-Za-z0-9 -]+",
    "node": rf"({ID})(?:\[{LABEL}\]|\[\({LABEL}\)\])",
    "subgraph": rf"subgraph ({ID})\[{LABEL}\]",
    "direction": r"direction TB",
    "end": r"end",
    "arrow": rf"({ID}) -->\|{LABEL}\| ({ID})",
    "style": r"classDef ([a-z-]+) stroke:#[0-9a-f]{6},stroke-width:\dpx(,stroke-dasharray:\d \d)?",
    "class": rf"class ({ID}(?:,{ID})*) ([a-z-]+)",
}


def check_structure(text: str) -> None:
    """Refuse what is not a flowchart of the few statements that we write, with the ids that it has.

    The parser of Mermaid itself is a package of npm that nothing else needs, so it is no part of
    the tests: versions 10.9 and 11.17 were run by hand over the pictures of these tests, which were
    looked at in Chromium, too.
    """
    first, *lines = text.splitlines()
    assert first == "flowchart TB"
    seen: dict[str, list[tuple[str, ...]]] = {kind: [] for kind in STATEMENTS}
    depth = 0
    for line in lines:
        kinds = [
            (kind, found)
            for kind, form in STATEMENTS.items()
            if (found := re.fullmatch(form, line.strip()))
        ]
        assert len(kinds) == 1, line
        kind, found = kinds[0]
        depth += {"subgraph": 1, "end": -1}.get(kind, 0)
        assert depth >= 0
        seen[kind].append(found.groups())
    assert depth == 0
    ids = [name for (name,) in (*seen["node"], *seen["subgraph"])]
    assert len(ids) == len(set(ids))
    assert not {"end", "graph", "subgraph", "default", "style", "class"} & set(ids)
    used = [name for arrow in seen["arrow"] for name in arrow]
    used += [name for names, _ in seen["class"] for name in names.split(",")]
    assert set(used) <= set(ids)
    assert {name for _, name in seen["class"]} == {name for name, _ in seen["style"]}


def check_svg(text: str) -> ElementTree.Element:
    """Refuse what is not well-formed, has boxes outside of the picture, or texts too long."""
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("role"), root.get("width")) == (f"{SVG}svg", "img", "100%")
    title, words = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None and words is not None
    assert title.text and words.text
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == (
        title.get("id"),
        words.get("id"),
    )
    _, _, width, height = map(int, root.attrib["viewBox"].split())
    assert width == 360
    for box in root.iter(f"{SVG}rect"):
        left, top, wide, high = (int(box.attrib[key]) for key in ("x", "y", "width", "height"))
        assert left > 0 and left + wide < width
        assert top > 0 and top + high < height
    for line in root.iter(f"{SVG}text"):
        assert line.text
        end = line.get("class") == "arriving"
        room = int(line.attrib["x"]) if end else width - int(line.attrib["x"])
        assert len(line.text) * 7 <= room
    for path in root.iter(f"{SVG}path"):
        assert all(-width <= int(number) for number in re.findall(r"-?\d+", path.attrib["d"]))
    return root


@pytest.mark.parametrize(("name", "orchestrator"), TAKEN)
def test_every_type_can_be_drawn(
    plan_of: Callable[[str, Orchestrator], ClusterPlan], name: str, orchestrator: Orchestrator
) -> None:
    plan = plan_of(name, orchestrator)
    picture = topology(plan, plan, ())

    check_structure(mermaid(picture))
    root = check_svg(svg(picture))

    assert f"instance type: {name}" in "".join(root.itertext())
    assert "classDef" not in mermaid(picture)


def test_a_mark_is_a_word_and_a_class(planned: Callable[[str], ClusterPlan]) -> None:
    picture = topology(planned(TRAIN), planned(TRAIN.replace("4800", "7200")), ())

    drawn = mermaid(picture)
    root = check_svg(svg(picture))

    check_structure(drawn)
    assert 'storage[("changed#58; file system#58; Lustre persistent-2<br/>' in drawn
    assert "#8594; 7200 GiB" in drawn
    assert "  class storage changed" in drawn
    kinds = [box.get("class") for box in root.iter(f"{SVG}rect")]
    assert kinds.count("changed") == 1
    names = ["".join(line.itertext()) for line in root.iter(f"{SVG}text")]
    assert any(line.startswith("changed: file system:") for line in names)
    assert "changed: file system: Lustre persistent-2" in (root.findtext(f"{SVG}desc") or "")


def example(name: str, *, mark: Mark = Mark.SAME, link: str = "to") -> Topology:
    return Topology(
        title="Train in us-west-2",
        parts=(
            Part(id="job", kind="job", lines=(name,), mark=mark),
            Part(id="b", kind="b", lines=("b",)),
        ),
        links=(Arrow(start="job", end="b", text=link),),
    )


@pytest.mark.parametrize("mark", [mark for mark in Mark if mark is not Mark.SAME])
def test_every_mark_has_a_style_in_both_drawings(mark: Mark) -> None:
    drawn, page = mermaid(example("queue", mark=mark)), svg(example("queue", mark=mark))

    kind = mark.replace(" ", "-")
    check_structure(drawn)
    assert f'job["{mark}#58; queue"]' in drawn
    assert f"class job {kind}" in drawn
    assert f'<rect class="{kind}"' in page
    assert page.count(f".topology .{kind} {{") == 2  # light and dark
    assert f"{mark}: queue" in page


@pytest.mark.parametrize(
    "hostile",
    [
        'a"]; click job "javascript:alert(1)"',
        "end",
        "<script>alert(1)</script>",
        "a & b #quot; #9829; %%{init: {}}%%",
        "`**bold** _it_`",
        "1. list",
        "style x:#fff; classDef a:#b;",
        "|pipe| {brace} \\ back",
        "two\nlines",
        "]]>",
    ],
)
def test_no_text_is_taken_for_syntax(hostile: str) -> None:
    picture = example(hostile, link=hostile)

    drawn, page = mermaid(picture), svg(picture)

    check_structure(drawn)
    root = check_svg(page)
    labels = re.findall(r'"([^"]*)"', drawn)
    decoded = [re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label) for label in labels]
    assert decoded.count(hostile) == 2
    written = "".join("".join(line.itertext()) for line in root.iter(f"{SVG}text"))
    assert "".join(hostile.split()) in "".join(written.split())


def test_nested_parts_are_boxes_in_boxes(planned: Callable[[str], ClusterPlan]) -> None:
    plan = planned(TRAIN)
    root = check_svg(svg(topology(plan, plan, ())))

    boxes = [
        tuple(int(box.attrib[key]) for key in ("x", "y", "width", "height"))
        for box in root.iter(f"{SVG}rect")
    ]

    def within(inner: tuple[int, ...], outer: tuple[int, ...]) -> bool:
        return all(
            outer[axis] < inner[axis]
            and inner[axis] + inner[axis + 2] < outer[axis] + outer[axis + 2]
            for axis in (0, 1)
        )

    def apart(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return one[1] + one[3] < other[1] or other[1] + other[3] < one[1]

    assert len(boxes) == 13
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert apart(one, other) or within(other, one)


def test_every_arrow_ends_at_a_box(planned: Callable[[str], ClusterPlan]) -> None:
    plan = planned(TRAIN)
    picture = topology(plan, plan, ())

    root = check_svg(svg(picture))

    heads = [path for path in root.iter(f"{SVG}path") if path.get("class") == "head"]
    edges = [
        (int(box.attrib["x"]), int(box.attrib["x"]) + int(box.attrib["width"]))
        for box in root.iter(f"{SVG}rect")
    ]
    tops = [int(box.attrib["y"]) for box in root.iter(f"{SVG}rect")]
    assert len(heads) == len(picture.links)
    for head in heads:
        start = re.match(r"M(\d+) (\d+)", head.attrib["d"])
        assert start
        assert int(start[2]) in tops or int(start[1]) in [right for _, right in edges]
    texts = {"".join(line.itertext()) for line in root.iter(f"{SVG}text")}
    assert {link.text for link in picture.links} <= texts


def test_arrows_along_the_side_end_beside_their_texts(
    planned: Callable[[str], ClusterPlan],
) -> None:
    plan = planned(TRAIN + "orchestrator: ec2\n")

    root = check_svg(svg(topology(plan, plan, ())))

    texts = {
        "".join(line.itertext()): int(line.attrib["y"])
        for line in root.iter(f"{SVG}text")
        if line.get("class") == "arriving"
    }
    paths = [path.attrib["d"] for path in root.iter(f"{SVG}path") if path.get("class") == "arrow"]
    ends = {int(found[1]) for path in paths if (found := re.search(r"V(\d+)H\d+$", path))}
    assert texts.keys() == {"runs jobs on", "launches", "linked"}
    assert sorted(texts.values()) == sorted(end + 5 for end in ends)


def test_the_style_of_a_picture_stays_in_it(planned: Callable[[str], ClusterPlan]) -> None:
    plan = planned(TRAIN)

    root = check_svg(svg(topology(plan, plan, ())))

    sheet = root.findtext(f"{SVG}style") or ""
    rules = [line.strip() for line in sheet.splitlines() if "{" in line and "@media" not in line]
    assert all(rule.startswith(".topology ") for rule in rules)
    assert "prefers-color-scheme: dark" in sheet
