"""Outputs of a cluster's stack, for `trainshed job` and for people."""

import aws_cdk as cdk


def add_outputs(stack: cdk.Stack, cluster: str, **outputs: tuple[str, str]) -> None:
    """Output what jobs are submitted to.

    Args:
        stack: of the cluster.
        cluster: its name.
        outputs: what it is, and its value, by the output's name.
    """
    for name, (description, value) in outputs.items():
        cdk.CfnOutput(stack, name, description=f"{description} ({cluster})", value=value)
