"""The job definition of one container, which AWS Batch runs on Spot, too."""

from aws_cdk import aws_batch as batch
from constructs import Construct

_Job = batch.CfnJobDefinition


def single_node_job(
    scope: Construct,
    construct_id: str,
    *,
    container: batch.CfnJobDefinition.ContainerPropertiesProperty,
    retry_strategy: batch.CfnJobDefinition.RetryStrategyProperty,
    timeout_seconds: float,
) -> batch.CfnJobDefinition:
    """Declare the job definition of a cluster; see `BatchSpotNode`.

    Args:
        scope: parent.
        construct_id: id within the parent.
        container: of the job.
        retry_strategy: when a job is tried again.
        timeout_seconds: how long one attempt may take.
    """
    return batch.CfnJobDefinition(
        scope,
        construct_id,
        type="container",
        platform_capabilities=["EC2"],
        propagate_tags=True,
        container_properties=container,
        retry_strategy=retry_strategy,
        timeout=_Job.TimeoutProperty(attempt_duration_seconds=timeout_seconds),
    )
