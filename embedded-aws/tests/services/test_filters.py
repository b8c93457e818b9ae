"""Filters of EC2: any value of one filter, all of several filters, and wildcards."""

from collections.abc import Callable
from typing import Any

import pytest

from embedded_aws.embedded import EmbeddedAws

Filters = list[dict[str, Any]]


def tagged(**tags: str) -> list[dict[str, Any]]:
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    return [{"ResourceType": "volume", "Tags": pairs}] if pairs else []


@pytest.fixture
def volumes(ec2: Any) -> Callable[[Filters], list[str]]:
    """What names the volumes that filters mean, out of five."""
    made = {
        name: ec2.create_volume(
            Size=1, AvailabilityZone="us-west-2a", TagSpecifications=tagged(**tags)
        )["VolumeId"]
        for name, tags in {
            "plain": {},
            "claim": {"claim": "data", "owner": "me"},
            "driver": {"driver": "ebs", "owner": "you"},
            "both": {"claim": "logs", "driver": "ebs"},
            "other": {"driver-of-x": "e", "own[er]": "a*b"},
        }.items()
    }

    def found(filters: Filters) -> list[str]:
        known = [{"Name": "volume-id", "Values": list(made.values())}]
        ids = {
            each["VolumeId"] for each in ec2.describe_volumes(Filters=known + filters)["Volumes"]
        }
        return [name for name, volume in made.items() if volume in ids]

    return found


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([("tag-key", ["claim", "driver"])], ["claim", "driver", "both"]),
        ([("tag-key", ["claim", "nothing"])], ["claim", "both"]),
        ([("tag-key", ["claim"]), ("tag:driver", ["ebs"])], ["both"]),
        ([("tag-key", ["driver*", "cl*"])], ["claim", "driver", "both", "other"]),
        ([("tag:owner", ["me", "y*"])], ["claim", "driver"]),
        ([("tag:owner", ["Me"])], []),
        ([("tag-value", ["ebs", "logs"])], ["driver", "both"]),
        ([("tag:driver", ["eb?"])], ["driver", "both"]),
        ([("tag:driver", ["ebs?"])], ["driver", "both"]),
        ([("tag:driver", ["e?"])], []),
        ([("tag-key", ["own[er]"])], ["other"]),
        ([("tag:own[er]", [r"a\*b"])], ["other"]),
        ([("tag:own[er]", [r"a\?b"])], []),
        ([("size", ["1"])], ["plain", "claim", "driver", "both", "other"]),
        ([("tag-key", ["nothing"])], []),
    ],
)
def test_any_value_of_a_filter_and_all_filters(
    volumes: Callable[[Filters], list[str]],
    filters: list[tuple[str, list[str]]],
    expected: list[str],
) -> None:
    found = volumes([{"Name": name, "Values": values} for name, values in filters])

    assert found == expected


def test_instances_are_found_by_wildcards(ec2: Any) -> None:
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    made = ec2.run_instances(ImageId=image, InstanceType="m5.large", MinCount=1, MaxCount=1)
    [mine] = [each["InstanceId"] for each in made["Instances"]]

    def found(*values: str) -> bool:
        filters = [
            {"Name": "instance-type", "Values": list(values)},
            {"Name": "instance-id", "Values": [mine]},
        ]
        return bool(ec2.describe_instances(Filters=filters)["Reservations"])

    assert found("c5.*", "m5.*")
    assert not found("m6*", "m5")


def test_two_filters_of_the_same_name_are_refused(
    clean_aws: EmbeddedAws, refusal: Callable[..., Any]
) -> None:
    # AWS joins them by and, which moto cannot.
    ec2 = clean_aws.client("ec2")
    twice = [{"Name": "tag-key", "Values": [key]} for key in ("claim", "driver")]

    for call in (ec2.describe_volumes, ec2.describe_instance_types):
        refused = refusal(call, Filters=twice)
        assert refused.code == "UnsupportedOperation"
        assert "two filters tag-key" in refused.message
