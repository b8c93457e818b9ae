"""The multi-node parallel job definition."""

from aws_cdk import aws_batch as batch
from constructs import Construct

from trainshed.spec import NodeRange

_Job = batch.CfnJobDefinition


def multi_node_job(
    scope: Construct,
    construct_id: str,
    *,
    nodes: NodeRange,
    container: batch.CfnJobDefinition.ContainerPropertiesProperty,
    retry_strategy: batch.CfnJobDefinition.RetryStrategyProperty,
    timeout_seconds: float,
) -> batch.CfnJobDefinition:
    """Declare the job definition of a cluster; see `BatchMultiNode`.

    L1, because the L2 MultiNodeJobDefinition closes the node range ("0:3"), so that numNodes
    cannot be overridden at submission: https://github.com/aws/aws-cdk/issues/29415

    Args:
        scope: parent.
        construct_id: id within the parent.
        nodes: fewest and most nodes.
        container: of each node.
        retry_strategy: when a job is tried again.
        timeout_seconds: how long one attempt may take.
    """
    return batch.CfnJobDefinition(
        scope,
        construct_id,
        type="multinode",
        platform_capabilities=["EC2"],
        propagate_tags=True,
        node_properties=_Job.NodePropertiesProperty(
            main_node=0,
            num_nodes=nodes.max,
            node_range_properties=[
                _Job.NodeRangePropertyProperty(
                    # Open, so that SubmitJob's nodeOverrides may ask for fewer nodes.
                    target_nodes="0:",
                    container=container,
                )
            ],
        ),
        retry_strategy=retry_strategy,
        timeout=_Job.TimeoutProperty(attempt_duration_seconds=timeout_seconds),
    )
