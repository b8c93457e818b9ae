"""Disables a compute environment whose nodes keep powering themselves off.

EventBridge sends each stop and end of an instance. A node powers itself off when its first boot
fails; AWS Batch and EC2 Auto Scaling end nodes by the API, which EC2 tells apart in `StateReason`.
"""

import logging
import os
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.exceptions import ClientError

# Not `trainshed`, which nodes write: a job must not count nodes that never failed.
NAMESPACE, METRIC = "trainshed/boots", "NodesPoweredOff"


def handler(event: Any, context: object) -> None:
    """Count a node that powered itself off; disable the environment when there are too many."""
    cluster, environment = os.environ["CLUSTER"], os.environ["ENVIRONMENT"]
    limit, hours, minimum = (int(os.environ[name]) for name in ("LIMIT", "HOURS", "MIN_VCPUS"))
    instance_id = event["detail"]["instance-id"]
    ec2 = boto3.client("ec2")
    seen = _powered_themselves_off(ec2, cluster)
    if instance_id not in seen:
        return
    # EC2 knows at once, but forgets within the hour; a metric remembers, but minutes late.
    count = max(len(seen), _count_one_more(boto3.client("cloudwatch"), cluster, hours))
    logging.warning(
        "%s powered itself off, node %d of %s to do so in %d hours, of which %d are allowed:\n%s",
        *(instance_id, count, cluster, hours, limit - 1, _console(ec2, instance_id)),
    )
    if count < limit:
        return
    # A disabled environment keeps its minimum of nodes, and goes on to replace those.
    none = {"computeResources": {"minvCpus": 0}} if minimum else {}
    boto3.client("batch").update_compute_environment(
        computeEnvironment=environment, state="DISABLED", **none
    )
    back = f" --compute-resources minvCpus={minimum}" if minimum else ""
    logging.error(
        "disabled %s, because %d nodes powered themselves off; jobs that run go on. Put right what "
        "the nodes said, then: aws batch update-compute-environment --compute-environment %s "
        "--state ENABLED%s",
        *(environment, count, environment, back),
    )


def _powered_themselves_off(ec2: Any, cluster: str) -> set[str]:
    nodes = [{"Name": "tag:trainshed:cluster", "Values": [cluster]}]
    pages = ec2.get_paginator("describe_instances").paginate(Filters=nodes)
    return {
        instance["InstanceId"]
        for page in pages
        for reservation in page["Reservations"]
        for instance in reservation["Instances"]
        if instance.get("StateReason", {}).get("Code") == "Client.InstanceInitiatedShutdown"
    }


def _count_one_more(cloudwatch: Any, cluster: str, hours: int) -> int:
    # Read before it is written, or it would or would not be among what is read.
    now = datetime.now(UTC)
    dimensions = [{"Name": "Cluster", "Value": cluster}]
    points = cloudwatch.get_metric_statistics(
        Namespace=NAMESPACE,
        MetricName=METRIC,
        Dimensions=dimensions,
        StartTime=now - timedelta(hours=hours),
        # The end is exclusive.
        EndTime=now + timedelta(minutes=1),
        Period=300,
        Statistics=["Sum"],
    )["Datapoints"]
    cloudwatch.put_metric_data(
        Namespace=NAMESPACE,
        MetricData=[{"MetricName": METRIC, "Dimensions": dimensions, "Value": 1}],
    )
    return int(sum(point["Sum"] for point in points)) + 1


def _console(ec2: Any, instance_id: str) -> str:
    try:
        output = ec2.get_console_output(InstanceId=instance_id).get("Output", "")
    except ClientError as error:
        # What a node said matters less than the limit.
        output = f"trainshed: its console cannot be read: {error}"
    said = [line.strip() for line in output.splitlines() if "trainshed: " in line]
    return "\n".join(said[-10:]) or (
        "its console is not there yet; within an hour: aws ec2 get-console-output --instance-id "
        f"{instance_id} --output text"
    )
