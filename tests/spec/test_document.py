"""YAML to values and lines, and every text that is no cluster."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainshed.documents.yaml import DocumentError, parse_document
from trainshed.errors import TrainshedError
from trainshed.plan import ClusterPlan
from trainshed.spec import cluster_files, read_spec

GOOD = "name: Cluster1\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
Problems = Callable[..., list[str]]
Planned = Callable[[str], ClusterPlan]
EMPTY = "a.yaml: is empty; a cluster needs at least `name` and `instance: {type: ...}`"
BILLION = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9) if before else 'x, x, x'}]\n"
    for before, name in zip(["", *"abcdefghijk"], "abcdefghijkl", strict=True)
)

TAGS = [
    *(f"!!{name}" for name in ("bool", "int", "float", "null", "str", "timestamp", "merge", "set")),
    *("!!python/name:os.system", "!<tag:yaml.org,2002:int>", "!Ref", "!"),
]
SCALARS = [
    "",
    "abc",
    "yes",
    "1",
    "1:60",
    "0x",
    "_",
    "-",
    "+",
    ".",
    "~",
    ".inf",
    "1e9999",
    "2020-99-99",
]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("", EMPTY, id="empty"),
        pytest.param("# nothing\n", EMPTY, id="comment"),
        pytest.param("null\n", EMPTY, id="null"),
        pytest.param("- a\n", "a.yaml:1: holds a list; a cluster is a mapping", id="list"),
        pytest.param("train", "a.yaml:1: holds 'train'; a cluster is a mapping", id="text"),
        pytest.param(
            "name: A\n\tregion: x\n", "a.yaml:2: invalid YAML: a tab; indent with", id="tab"
        ),
        pytest.param("name: [a\n", "a.yaml:2: invalid YAML: expected ',' or ']'", id="unclosed"),
        pytest.param(
            GOOD + "region: us-east-1\n",
            "a.yaml:4: the key 'region' is on line 2 too",
            id="duplicate-key",
        ),
        pytest.param(
            GOOD + "job: {attempts: 1, attempts: 2}\n",
            "a.yaml:4: the key 'attempts' is on line 4 too",
            id="duplicate-nested-key",
        ),
        pytest.param(
            GOOD + "---\nname: B\n", "a.yaml:4: invalid YAML: a second document", id="two-documents"
        ),
        pytest.param("name: a\0b\n", "a.yaml: invalid YAML: unacceptable character", id="nul"),
        pytest.param(
            GOOD + "network: *shared\n", "a.yaml:4: invalid YAML: found undefined alias", id="alias"
        ),
        pytest.param(GOOD + "owner: !secret x\n", "a.yaml:4: the tag !secret is not", id="tag"),
        pytest.param(
            GOOD + "owner: !!python/object/apply:os.getcwd []\n", "a.yaml:4: the tag", id="python"
        ),
        pytest.param(GOOD + "owner: !!binary aGk=\n", "a.yaml:4: the tag tag:yaml", id="binary"),
        pytest.param(
            GOOD + 'owner: !!bool "abc"\n',
            "a.yaml:4: 'abc' does not fit its tag !!bool; leave the tag out",
            id="no-bool",
        ),
        pytest.param(
            GOOD + "owner: !!int ''\n", "a.yaml:4: '' does not fit its tag !!int", id="no-int"
        ),
        pytest.param(GOOD + "network: !!set {a}\n", "a.yaml:4: the tag tag:yaml", id="set"),
        pytest.param(GOOD + "? [a, b]\n: 1\n", "a.yaml:4: a key must be text", id="list-as-key"),
        pytest.param(
            GOOD + "network: &a {name: *a}\n", "a.yaml:4: an anchor holds itself", id="itself"
        ),
        pytest.param(GOOD + "network: {<<: 5}\n", "a.yaml:4: `<<` takes an anchored", id="merge"),
        pytest.param(GOOD + f"network: {'[' * 1000}", "a.yaml: is nested too deeply", id="deep"),
        pytest.param(BILLION + GOOD, "stands for more than 10000 values", id="billion-laughs"),
        pytest.param(
            GOOD + f"job: {{attempts: {'9' * 5000}}}\n", "a.yaml:4: the number is too", id="digits"
        ),
        pytest.param(
            GOOD + f"job: {{attempts: 0x{'f' * 5000}}}\n", "a.yaml:4: the number is", id="hex"
        ),
        pytest.param(
            GOOD.encode("utf-16"), "a.yaml: cannot be read: not UTF-8 text", id="not-utf-8"
        ),
        pytest.param("%YAML 3.0\n---\n" + GOOD, "a.yaml:1: invalid YAML", id="yaml-3"),
    ],
)
def test_a_text_that_is_no_cluster_is_reported_in_one_line(
    problems: Problems, text: str | bytes, line: str
) -> None:
    (message,) = problems(text)

    assert line in message


@given(
    version=st.sampled_from(["", "%YAML 1.1\n---\n", "%YAML 1.2\n---\n"]),
    tag=st.sampled_from(TAGS),
    scalar=st.sampled_from(SCALARS) | st.text(),
    place=st.sampled_from(["owner: {}\n", "{}: x\n", "job: [{}]\n", "<<: {}\n"]),
)
def test_any_tag_on_any_scalar_is_read_or_refused(
    version: str, tag: str, scalar: str, place: str
) -> None:
    text = version + place.format(f"{tag} {json.dumps(scalar)}")

    with suppress(DocumentError):
        assert isinstance(parse_document(text).value, dict)


def test_a_text_that_grows_without_bound_is_refused(problems: Problems) -> None:
    (message,) = problems(BILLION)

    assert "stands for more than 10000 values" in message


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "no.yaml"

    reading = read_spec(path)

    assert [str(problem) for problem in reading.problems] == [
        f"{path}: cannot be read: no such file or directory"
    ]


def test_a_directory_is_reported_with_the_way_to_name_its_files(tmp_path: Path) -> None:
    reading = read_spec(tmp_path)

    assert [str(problem) for problem in reading.problems] == [
        f"{tmp_path}: is a directory; name its files: {tmp_path}/*.yaml"
    ]


@pytest.mark.parametrize("context", [["clusters/train.yaml"], 5, True, {"a": "b"}, ""])
def test_a_context_that_is_no_text_is_reported(context: object) -> None:
    with pytest.raises(TrainshedError, match=r"^clusters: .* is not a path or a glob; name"):
        cluster_files(context, "-c clusters=")


def test_a_file_without_read_permission_is_reported(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(GOOD, encoding="utf-8")
    path.chmod(0)
    request.getfixturevalue("ordinary_user")

    reading = read_spec(path)

    assert [str(problem) for problem in reading.problems] == [
        f"{path}: cannot be read: permission denied"
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\ufeff" + GOOD, id="byte-order-mark"),
        pytest.param(GOOD.replace("\n", "\r\n"), id="crlf"),
        pytest.param("%YAML 1.1\n---\n" + GOOD, id="yaml-1.1"),
        pytest.param("---\n" + GOOD + "...\n", id="document-marks"),
        pytest.param(
            '{"name": "Cluster1", "instance": {"type": "trn1.32xlarge"}, "region": "us-west-2"}',
            id="json",
        ),
    ],
)
def test_other_ways_to_write_a_cluster_are_read(planned: Planned, text: str) -> None:
    assert planned(text).name == "Cluster1"


def test_dates_and_numbers_in_text_fields_stay_as_they_are_written(planned: Planned) -> None:
    assert planned(GOOD + "owner: 2026-01-31\n").tags["owner"] == "2026-01-31"


def test_anchors_and_merge_keys_work_and_own_keys_win(planned: Planned) -> None:
    plan = planned(
        "name: Cluster1\n"
        "region: us-west-2\n"
        "instance: &node\n  type: trn1.32xlarge\n  root_gib: 300\n"
        "job:\n  environment: &first {A: one, B: one}\n"
    )
    merged = parse_document(
        "base: &base {type: a, root_gib: 300}\n"
        "other: &other {type: b, ami: x}\n"
        "instance:\n  root_gib: 500\n  <<: [*base, *other]\n"
    )

    assert plan.root_volume.gib == 300
    assert isinstance(merged.value, dict)
    assert merged.value["instance"] == {"type": "a", "root_gib": 500, "ami": "x"}


def test_a_merged_value_stands_on_the_line_of_its_anchor() -> None:
    document = parse_document("base: &b\n  type: a\n  ami: x\ninstance:\n  <<: *b\n  type: c\n")

    assert document.positions["instance", "ami"].line == 3
    assert document.positions["instance", "type"].line == 6
