"""What people are told by events."""

from pathlib import Path

import pytest

from trainshed.monitoring import monitoring_of
from trainshed.plan import load_fleet


@pytest.mark.parametrize(
    ("instance_type", "says"),
    [
        ("trn2.48xlarge", "EC2 begins to end its instances in 10 minutes."),
        ("trn2u.48xlarge", "EC2 has begun to end its instances."),
    ],
)
def test_the_message_of_a_capacity_block_goes_by_when_its_nodes_end(
    tmp_path: Path, instance_type: str, says: str
) -> None:
    file = tmp_path / "train.yaml"
    file.write_text(
        f"""name: TrainCluster
region: ap-south-2
instance: {{type: {instance_type}}}
capacity: {{capacity_block: cr-0123456789abcdef0}}
image: {{uri: "registry.example/train:1"}}
notify: [ml-platform@example.com]
"""
    )
    [plan] = load_fleet([file]).clusters

    watching = monitoring_of(plan)

    assert watching
    [rule] = [each for each in watching.rules if each.name == "block-ends"]
    assert says in str(rule.says)
