"""What an image needs on the host against what an AMI has: findings, never a pass unseen."""

import pytest

from trainshed.containers.drivers import check_drivers

LABELS = {
    "trainshed.accelerator": "habana",
    "trainshed.driver.habana-driver": ">=1.21,<1.22",
    "trainshed.driver.efa-installer": ">=1.50.0",
    "maintainer": "somebody",
}
TAGS = {
    "trainshed:accelerator": "habana",
    "trainshed:version:habana-driver": "1.21.3-57",
    "trainshed:version:efa-installer": "1.50.0",
}


def found(labels: dict[str, str] | None, tags: dict[str, str] | None) -> list[str]:
    return [
        f"{finding.rule} {finding.severity}"
        for finding in check_drivers(labels, tags, image="train:v1", ami="ami-1")
    ]


def test_an_ami_with_every_driver_is_clean() -> None:
    assert found(LABELS, TAGS) == []


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        ("1.21", []),
        ("1.21.99-1", []),
        ("1.20.9-1", ["TS-IMG-001 error"]),
        ("1.22", ["TS-IMG-001 error"]),
        ("1.22.0-1", ["TS-IMG-001 error"]),
        ("1.3.0", ["TS-IMG-001 error"]),
    ],
)
def test_a_driver_is_in_the_range_or_not(version: str, rules: list[str]) -> None:
    assert found(LABELS, TAGS | {"trainshed:version:habana-driver": version}) == rules


@pytest.mark.parametrize(
    ("range_", "holds"),
    [(">=1.50", True), (">1.50.0", False), ("<=1.50.0.0", True), ("<1.50", False)],
)
def test_a_version_is_compared_by_its_numbers(range_: str, holds: bool) -> None:
    labels = LABELS | {"trainshed.driver.efa-installer": range_}

    assert (found(labels, TAGS) == []) is holds


def test_another_accelerator_is_an_error() -> None:
    assert found(LABELS, TAGS | {"trainshed:accelerator": "neuron"}) == ["TS-IMG-002 error"]


@pytest.mark.parametrize(
    ("labels", "tags", "rules"),
    [
        pytest.param(None, TAGS, ["TS-IMG-003 warning"], id="no-labels-to-read"),
        pytest.param({}, TAGS, ["TS-IMG-003 warning"], id="not-ours"),
        pytest.param(LABELS, None, ["TS-IMG-004 warning"], id="no-ami"),
        pytest.param(LABELS, {}, ["TS-IMG-004 warning"] * 2, id="no-tags"),
        pytest.param(
            LABELS | {"trainshed.driver.habana-driver": "any"},
            TAGS,
            ["TS-IMG-003 warning"],
            id="no-range",
        ),
        pytest.param(
            LABELS | {"trainshed.driver.habana-driver": ">=1.21,!=1.21.3"},
            TAGS,
            ["TS-IMG-003 warning"],
            id="half-a-range",
        ),
    ],
)
def test_not_being_able_to_look_is_a_finding(
    labels: dict[str, str] | None, tags: dict[str, str] | None, rules: list[str]
) -> None:
    assert found(labels, tags) == rules


def test_an_image_for_rehearsals_runs_on_any_ami() -> None:
    assert found({"trainshed.accelerator": "cpu"}, TAGS) == []


def test_the_message_names_both_and_what_to_do() -> None:
    (finding,) = check_drivers(
        LABELS, TAGS | {"trainshed:version:efa-installer": "1.48.0"}, image="train:v1", ami="ami-1"
    )

    assert "train:v1 needs efa-installer >=1.50.0 on the host, and ami-1 has 1.48.0" in str(finding)
    assert "move image and AMI together" in finding.remedy
