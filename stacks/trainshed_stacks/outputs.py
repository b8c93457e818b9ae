"""Outputs of a cluster's stack, for `trainshed job` and for people."""

import aws_cdk as cdk

from trainshed.orchestrators import ORCHESTRATOR_OUTPUT, Orchestrator


def add_outputs(
    stack: cdk.Stack, cluster: str, orchestrator: Orchestrator, **outputs: tuple[str, str]
) -> None:
    """Output what starts the jobs, and what they are submitted to.

    Args:
        stack: of the cluster.
        cluster: its name.
        orchestrator: what starts the jobs.
        outputs: what it is, and its value, by the output's name.
    """
    starter = {ORCHESTRATOR_OUTPUT: ("What starts the jobs", orchestrator.value)}
    for name, (description, value) in (starter | outputs).items():
        cdk.CfnOutput(stack, name, description=f"{description} ({cluster})", value=value)
