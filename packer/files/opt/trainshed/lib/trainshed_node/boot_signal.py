"""Tells AWS how the boot of a node went: a tag of the instance, and a metric if it failed.

CloudFormation is told where a stack's creation waits for the node. The role of the nodes may do
just that (`NodeRole`, `Ec2Cluster`). What cannot be sent is logged, within a minute, and the boot
goes on.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

from trainshed_node.instance import instance_id
from trainshed_node.settings import Settings, Signal
from trainshed_node.system import Finished, run

TAG = "trainshed:boot"
OK = "ok"
_NAMESPACE, _METRIC = "trainshed", "BootsFailed"
# EC2 user guide, "Tag restrictions": the length, and what all services take in a value.
_TAG_LENGTH = 256
_NOT_IN_TAGS = re.compile(r"[^A-Za-z0-9+\-=._:/@]+")
# Without a way to the service a call ends by itself, or is ended.
_CONNECT_SECONDS, _READ_SECONDS = "5", "10"
_CALL_SECONDS = 30
# How often CloudFormation is signalled, and how long to wait in between.
_SIGNALS = 10
_PAUSE_SECONDS = 20

Log = Callable[[str], None]


def tell_success(settings: Settings, log: Log) -> None:
    """Set the tag to `ok`, also where an earlier boot set it to a failure; signal CloudFormation.

    A failure is not signalled: the node powers off, and one that replaces it may boot well.
    """
    if settings.cluster:
        _tag(settings.region, OK, log)
    if settings.signals:
        _signal(settings.region, settings.signals, log)


def tell_failure(settings: Settings, error: str, log: Log) -> None:
    """Set the tag to `failed: ` and why, and count the failure."""
    if not settings.cluster:
        return
    tell_unfit(settings, error, log)
    failure = {
        "MetricName": _METRIC,
        "Dimensions": [{"Name": "Cluster", "Value": settings.cluster}],
        "Value": 1,
        "Unit": "Count",
    }
    arguments = ("--namespace", _NAMESPACE, "--metric-data", json.dumps([failure]))
    _call(settings.region, "cloudwatch", "put-metric-data", *arguments, log=log)


def tell_unfit(settings: Settings, error: str, log: Log) -> None:
    """Set the tag to `failed: ` and why: the node takes no job of plain EC2 nodes any more."""
    _tag(settings.region, f"failed: {error}", log)


def _signal(region: str, signals: Signal, log: Log) -> None:
    """Signal CloudFormation; again and again, because a signal that is lost undoes the stack."""
    for _ in range(_SIGNALS):
        done = _call(
            region,
            *("cloudformation", "signal-resource", "--stack-name", signals.stack),
            *("--logical-resource-id", signals.resource),
            *("--unique-id", instance_id(), "--status", "SUCCESS"),
            log=log,
        )
        # A stack that is there takes no signal: of a node that reboots, or replaces another.
        if done.ok or "ValidationError" in done.last_line:
            return
        time.sleep(_PAUSE_SECONDS)


def _tag(region: str, value: str, log: Log) -> None:
    tag = {"Key": TAG, "Value": _NOT_IN_TAGS.sub(" ", value)[:_TAG_LENGTH]}
    arguments = ("--resources", instance_id(), "--tags", json.dumps([tag]))
    _call(region, "ec2", "create-tags", *arguments, log=log)


def _call(region: str, service: str, operation: str, *arguments: str, log: Log) -> Finished:
    done = run(
        *("aws", service, operation, "--region", region),
        *("--cli-connect-timeout", _CONNECT_SECONDS, "--cli-read-timeout", _READ_SECONDS),
        *arguments,
        timeout=_CALL_SECONDS,
    )
    if not done.ok:
        log(f"WARNING: {service} {operation} of the boot's signal failed ({done.last_line})")
    return done
