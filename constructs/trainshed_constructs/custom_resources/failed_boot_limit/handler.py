"""Launches no more nodes when they keep powering themselves off.

EventBridge sends each stop and end of an instance. AWS Batch and EC2 Auto Scaling end nodes by the
API, which EC2 tells apart in `StateReason`.
"""

import json
import logging
import os
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.exceptions import ClientError

# Not `trainshed`, which nodes write: a job must not count nodes that never failed.
NAMESPACE, METRIC = "trainshed/boots", "NodesPoweredOff"


def handler(event: Any, context: object) -> None:
    """Count a node that powered itself off; launch no more when there are too many."""
    cluster = os.environ["CLUSTER"]
    limit, hours = (int(os.environ[name]) for name in ("LIMIT", "HOURS"))
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
    # A managed node group's own group is known at its nodes alone.
    group = seen[instance_id]
    stop, undo = (os.environ[name].replace("$GROUP", group) for name in ("STOP", "UNDO"))
    service, operation, arguments = json.loads(stop)
    getattr(boto3.client(service), operation)(**arguments)
    logging.error(
        "%s, because %d nodes powered themselves off; jobs that run go on. Put right what the "
        "nodes said, then: aws %s",
        *(os.environ["STOPPED"], count, undo),
    )


def _powered_themselves_off(ec2: Any, cluster: str) -> dict[str, str]:
    # EC2 filters: when hundreds of nodes end together, this is asked for each of them.
    nodes = [
        {"Name": "tag:trainshed:cluster", "Values": [cluster]},
        {"Name": "state-reason-code", "Values": ["Client.InstanceInitiatedShutdown"]},
    ]
    groups = {}
    for page in ec2.get_paginator("describe_instances").paginate(Filters=nodes):
        for node in (n for part in page["Reservations"] for n in part["Instances"]):
            tags = {tag["Key"]: tag["Value"] for tag in node.get("Tags", [])}
            # One that booted well and powers itself off later was marked by its job.
            if tags.get("trainshed:boot") != "ok":
                groups[node["InstanceId"]] = tags.get("aws:autoscaling:groupName", "")
    return groups


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
