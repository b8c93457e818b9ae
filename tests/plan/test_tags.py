"""The user's own tags: which are refused, and what shared things carry."""

from collections.abc import Callable

import pytest

from trainshed.plan import ClusterPlan, Fleet, resource_tags

Problems = Callable[..., list[str]]


def text(name: str, added: str) -> str:
    return (
        f"name: {name}\nregion: us-west-2\ninstance: {{type: trn1.32xlarge}}\n"
        f"network: {{name: shared}}\n{added}\n"
    )


def many(number: int, name: str = "tag") -> str:
    return "tags: {" + ", ".join(f"{name}{n}: x" for n in range(number)) + "}"


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ("{aws:x: y}", "tags.aws:x: begins with aws:, which is reserved; take another"),
        ("{AWS:x: y}", "tags.AWS:x: begins with aws:, which is reserved; take another"),
        ("{x: Aws:y}", "tags.x: 'Aws:y' begins with aws:, which is reserved; take another value"),
        (
            "{trainshed:cluster: x}",
            "tags.trainshed:cluster: begins with trainshed:, which is reserved; take another",
        ),
        ("{Owner: x}", "tags.Owner: is a tag that trainshed sets itself; use the field owner"),
        ("{Name: x}", "tags.Name: is a tag that trainshed sets itself; take another key"),
        (
            "{team: a, Team: b}",
            "tags: team and Team differ in case only, which IAM does not distinguish",
        ),
        ("{team: 1}", "tags.team: 1 is not text: put it in quotes"),
        ("{team: }", "tags.team: is empty; give it a value, or leave the key out for its default"),
        (
            "{team: 'a;b'}",
            "tags.team: 'a;b' is not allowed; did you mean a-b? (allowed: letters, digits, spaces "
            "and _ . : / = + - @)",
        ),
        ("{team: ''}", "tags.team: '' is not allowed; for instance ml-platform (allowed: letters, "
         "digits, spaces and _ . : / = + - @)"),
        (f"{{team: {'x' * 257}}}",
         f"tags.team: '{'x' * 59}... is too long; at most 256 characters"),
        (f"{{{'k' * 128}: x}}", None),
    ],
)  # fmt: skip
def test_a_tag_that_some_service_would_refuse_is_reported(
    problems: Problems, tags: str, words: str | None
) -> None:
    (line,) = problems(text("Alpha", f"tags: {tags}"))

    if words is None:
        assert "is too long; at most 127 characters" in line
    else:
        assert line == f"a.yaml:5: {words}"


def test_there_are_at_most_forty(problems: Problems, planned: Callable[[str], ClusterPlan]) -> None:
    assert problems(text("Alpha", many(41))) == ["a.yaml:5: tags: 41 tags are too many; at most 40"]
    assert len(resource_tags([planned(text("Alpha", many(40))).tags])) == 41


def test_what_clusters_share_has_the_tags_of_all(fleet: Callable[..., Fleet]) -> None:
    found = fleet(
        text("Alpha", "owner: ann\ntags: {team: speech, stage: lab}"),
        text("Beta", "owner: bob\ntags: {team: vision, stage: lab}"),
    )

    assert resource_tags(cluster.tags for cluster in found.clusters) == {
        "owner": "ann bob",
        "team": "speech vision",
        "stage": "lab",
    }


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("tags: {team: x}", "tags: {Team: x}", "have tags that clash: team and Team differ in"),
        (many(30), many(30, "other"), "have tags that clash: 60 tags are too many"),
        (f"owner: {'x' * 200}", f"owner: {'y' * 56}", "give owner values of 257 characters"),
    ],
)
def test_tags_that_cannot_be_together_on_what_is_shared_are_reported(
    problems: Problems, first: str, second: str, words: str
) -> None:
    (line,) = problems(text("Alpha", first), text("Beta", second))

    assert words in line
    assert line.startswith("b.yaml:5: tags: ") or line.startswith("b.yaml:1: tags: ")
