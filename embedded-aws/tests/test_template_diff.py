"""What programs that compare templates learn of resource types."""

import pytest

from embedded_aws.template_diff import holds_data


@pytest.mark.parametrize(
    "resource_type, expected",
    [
        ("AWS::RDS::DBCluster", True),  # on the list of cfn-lint and the CDK
        ("AWS::MemoryDB::Cluster", True),  # it has backups
        ("AWS::DSQL::Cluster", True),  # it can be protected
        ("AWS::AutoScaling::AutoScalingGroup", False),  # protected in steps, for its instances
        ("AWS::EC2::Subnet", False),
        ("AWS::Nothing::Here", False),
        ("Custom::Thing", False),
    ],
)
def test_published_data_say_which_types_hold_data(resource_type: str, expected: bool) -> None:
    assert holds_data(resource_type, "us-west-2") is expected
