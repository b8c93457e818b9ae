"""Waiting: for an AMI to be available, for SSM to take a value."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from trainshed.ami import channel_store, publishing
from trainshed.ami.channel import Channel
from trainshed.aws import Region
from trainshed.errors import Failure

IMAGE = "ami-0123456789abcdef0"


class Answers(Region):
    """A region that gives each call's answers in turn, and the last one again and again."""

    def __init__(self, answers: Mapping[str, list[Any]]) -> None:
        super().__init__("us-west-2")
        self._answers = {name: list(given) for name, given in answers.items()}

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        given = self._answers[operation]
        found: dict[str, Any] = given.pop(0) if len(given) > 1 else given[0]
        return found

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        yield from self.call(service, operation)[key]


def images(state: str, reason: str = "") -> dict[str, Any]:
    return {
        "Images": [
            {
                "ImageId": IMAGE,
                "State": state,
                "StateReason": {"Message": reason},
                "CreationDate": "2026-11-20T12:00:00.000Z",
                "Tags": [{"Key": "trainshed:build", "Value": "20261120T113000Z"}],
            }
        ]
    }


def history(*values: str) -> dict[str, Any]:
    return {
        "Parameters": [
            {
                "Version": number,
                "Value": value,
                "LastModifiedDate": datetime(2026, 11, 1, tzinfo=UTC),
            }
            for number, value in enumerate(values, 1)
        ]
    }


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes by sleeping only."""
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    for module in (publishing, channel_store):
        monkeypatch.setattr(module, "sleep", sleep)
        monkeypatch.setattr(module, "monotonic", lambda: now)


def test_a_pending_image_is_waited_for() -> None:
    region = Answers({"describe_images": [images("pending")] * 30 + [images("available")]})
    lines: list[str] = []

    found = publishing.await_ami(region, IMAGE, show=lines.append)

    assert found.state == "available"
    assert set(lines) == {f"waiting for {IMAGE} in us-west-2"}


def test_an_image_that_stays_pending_is_given_up_after_an_hour() -> None:
    region = Answers({"describe_images": [images("pending")]})

    with pytest.raises(Failure, match="still pending after 60 minutes; repeat the command"):
        publishing.await_ami(region, IMAGE, show=lambda _: None)


def test_an_image_that_failed_is_reported_with_awss_reason() -> None:
    region = Answers({"describe_images": [images("failed", "Client.InternalError: no snapshot")]})

    with pytest.raises(Failure, match=r"is failed \(Client.InternalError: no snapshot\)"):
        publishing.await_ami(region, IMAGE, show=lambda _: None)


CHANNEL = Channel(cell="neuron/ecs", name="candidate")


def test_a_write_waits_until_ssm_has_validated_the_value() -> None:
    before, after = history("ami-1"), history("ami-1", IMAGE)
    region = Answers({"put_parameter": [{}], "get_parameter_history": [before, before, after]})

    assert channel_store.write(region, CHANNEL, IMAGE, "published") == 2


def test_a_value_that_ssm_drops_is_a_failure() -> None:
    region = Answers({"put_parameter": [{}], "get_parameter_history": [history("ami-1")]})

    with pytest.raises(Failure, match=r"SSM did not take .* ec2:DescribeImages"):
        channel_store.write(region, CHANNEL, IMAGE, "published")
