"""The log group of a cluster's jobs."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct


def job_logs(scope: Construct, construct_id: str) -> logs.LogGroup:
    """Declare it; what a run said outlives the compute, for three months."""
    return logs.LogGroup(
        scope,
        construct_id,
        retention=logs.RetentionDays.THREE_MONTHS,
        removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )
