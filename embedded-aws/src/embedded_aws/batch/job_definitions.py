"""Batch job definitions.

Batch API reference: retry attempts 1 to 10, at most 5 evaluateOnExit entries with their globs (only
a trailing `*`), which need `attempts`; timeout of at least 60 seconds; 24 KiB in all; multinode
definitions have nodeProperties and no Fargate. Inferred: the exact words.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.batch import tables
from embedded_aws.batch.container_properties import check_container
from embedded_aws.batch.node_properties import check_nodes
from embedded_aws.batch.refusals import check_between, check_name, refuse

# A job definition, as DescribeJobDefinitions returns it.
Definition = dict[str, Any]

_TEXT_GLOB = re.compile(r"[A-Za-z0-9.:\s]{0,511}\*?")
_NUMBER_GLOB = re.compile(r"[0-9]{0,511}\*?")
_GLOBS = {"onReason": _TEXT_GLOB, "onStatusReason": _TEXT_GLOB, "onExitCode": _NUMBER_GLOB}
_SIZE_BYTES = 24 * 1024


def find(call: Call, identifier: str) -> Definition:
    """Return a job definition by ARN, `name:revision` or name (its newest active revision).

    Raises:
        Refusal: there is none that is active.
    """
    for definition in reversed(tables.job_definitions(call).values()):
        name = definition["jobDefinitionName"]
        names = (definition["jobDefinitionArn"], f"{name}:{definition['revision']}", name)
        if identifier in names and definition["status"] == "ACTIVE":
            return definition
    raise refuse(f"JobDefinition {identifier} does not exist or is not ACTIVE")


@action("batch", "RegisterJobDefinition")
def register_job_definition(call: Call) -> dict[str, Any]:
    """Register a new revision of a job definition."""
    name = call.params["jobDefinitionName"]
    check_name("jobDefinitionName", name)
    _check_definition(call.params)
    existing = [d for d in tables.job_definitions(call).values() if d["jobDefinitionName"] == name]
    revision = 1 + max((d["revision"] for d in existing), default=0)
    arn = call.arn("batch", f"job-definition/{name}:{revision}")
    tables.job_definitions(call)[arn] = {
        **call.params,
        "jobDefinitionArn": arn,
        "revision": revision,
        "status": "ACTIVE",
        "containerOrchestrationType": "EKS" if "eksProperties" in call.params else "ECS",
    }
    call.backend("batch").tag_resource(arn, call.params.get("tags", {}))
    return {"jobDefinitionName": name, "jobDefinitionArn": arn, "revision": revision}


@action("batch", "DescribeJobDefinitions")
def describe_job_definitions(call: Call) -> dict[str, Any]:
    """Describe job definitions by name, ARN and status."""
    named = {*call.params.get("jobDefinitions", [])}
    name, status = call.params.get("jobDefinitionName"), call.params.get("status")
    found = []
    for arn, definition in tables.job_definitions(call).items():
        own = definition["jobDefinitionName"]
        names = {arn, own, f"{own}:{definition['revision']}"}
        if (
            (not named or names & named)
            and name in (None, own)
            and status in (None, definition["status"])
        ):
            found.append(definition)
    return {"jobDefinitions": tables.tagged(call, found, "jobDefinitionArn")}


@action("batch", "DeregisterJobDefinition")
def deregister_job_definition(call: Call) -> dict[str, Any]:
    """Make a revision inactive."""
    identifier = call.params["jobDefinition"]
    for arn, definition in tables.job_definitions(call).items():
        if identifier in (arn, f"{definition['jobDefinitionName']}:{definition['revision']}"):
            definition["status"] = "INACTIVE"
    return {}


def _check_definition(definition: Mapping[str, Any]) -> None:
    """Refuse a definition that Batch refuses.

    Raises:
        Refusal: ClientException.
    """
    if definition["type"] == "multinode":
        if "nodeProperties" not in definition:
            raise refuse("nodeProperties must be provided for a job definition of type multinode.")
        if "containerProperties" in definition:
            raise refuse("containerProperties are not for a job definition of type multinode.")
        if "FARGATE" in definition.get("platformCapabilities", []):
            raise refuse("Multi-node parallel jobs are not supported on Fargate.")
        check_nodes(definition["nodeProperties"])
    else:
        if "nodeProperties" in definition:
            raise refuse("nodeProperties are only for a job definition of type multinode.")
        if not {"containerProperties", "ecsProperties", "eksProperties"} & set(definition):
            raise refuse("containerProperties must be provided.")
        if "containerProperties" in definition:
            check_container(definition["containerProperties"])
    check_retry(definition.get("retryStrategy", {}))
    check_timeout(definition.get("timeout", {}))
    if (size := len(json.dumps(definition, separators=(",", ":")))) > _SIZE_BYTES:
        raise refuse(f"The job definition has {size} bytes; at most {_SIZE_BYTES} are allowed.")


def check_retry(strategy: Mapping[str, Any]) -> None:
    """Refuse a retry strategy that Batch refuses.

    Raises:
        Refusal: ClientException.
    """
    attempts, rules = strategy.get("attempts"), strategy.get("evaluateOnExit", [])
    if attempts is not None:
        check_between("retryStrategy.attempts", attempts, 1, 10)
    if rules and attempts is None:
        raise refuse("retryStrategy.evaluateOnExit requires retryStrategy.attempts.")
    if len(rules) > 5:
        raise refuse(f"retryStrategy.evaluateOnExit has {len(rules)} entries; at most 5.")
    for rule in rules:
        if rule["action"].upper() not in ("RETRY", "EXIT"):
            raise refuse(f"evaluateOnExit action {rule['action']} must be RETRY or EXIT.")
        patterns = {key: rule[key] for key in _GLOBS if rule.get(key) is not None}
        if not patterns:
            raise refuse(f"An evaluateOnExit entry must have one of {', '.join(_GLOBS)}.")
        for key, pattern in patterns.items():
            if not _GLOBS[key].fullmatch(pattern):
                raise refuse(
                    f"evaluateOnExit {key} '{pattern}' may hold {_WORDS[_GLOBS[key]]}, and an "
                    "asterisk at the end only."
                )


_WORDS = {_TEXT_GLOB: "letters, numbers, periods, colons and spaces", _NUMBER_GLOB: "numbers"}


def check_timeout(timeout: Mapping[str, Any]) -> None:
    """Refuse a timeout that Batch refuses.

    Raises:
        Refusal: ClientException.
    """
    seconds = timeout.get("attemptDurationSeconds", 60)
    if seconds < 60:
        raise refuse(f"timeout.attemptDurationSeconds {seconds} must be at least 60.")
