"""A deployed cluster for tests of `trainshed job`."""

from embedded_aws.embedded import EmbeddedAws

CLUSTER = """name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
image: {uri: "registry.example/train:1"}
"""


def outputs(aws: EmbeddedAws) -> dict[str, str]:
    """Return the outputs of the cluster's stack."""
    found = aws.client("cloudformation").describe_stacks(StackName="TrainCluster")["Stacks"][0]
    return {each["OutputKey"]: each["OutputValue"] for each in found["Outputs"]}
