"""The JobSet of a submission: pods that take whole nodes, start together and end together."""

import re
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.jobs.sent_files import VARIABLE
from trainshed.jobs.submission import Submission
from trainshed.kubernetes.job_template import ATTEMPTS, CONTAINER, TIMEOUT, literal
from trainshed.kubernetes.jobsets import GROUP, VERSION
from trainshed.kubernetes.queue import QUEUE, QUEUE_LABEL
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.nodes.variables import BUCKET

# A job's name may be longer than labels are, and end otherwise.
NAME = "trainshed/job-name"
# Of the one replicated job.
NODES = "node"
# trainshed-launch reads it: Kubernetes says no pod how many there are.
_NODES_VARIABLE = "TRAINSHED_NODES"
# Pods of two attempts have the same names: so the nodes of one never meet those of the other.
_ATTEMPT_VARIABLE = "TRAINSHED_ATTEMPT"
# JobSet API: label of pods.
ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
# The webhook of JobSet wants NAME-node-0-INDEX and six characters more within 63; 9999 nodes.
_LONGEST_STEM = 38
# As long as AWS Batch keeps jobs that are over, at least.
_KEPT_SECONDS = 7 * 24 * 3600


def new_name(submission: Submission) -> str:
    """Return a name for a JobSet: a DNS label that begins with a letter."""
    stem = re.sub("[^a-z0-9]+", "-", submission.name.lower()).strip("-")
    if not stem[0].isalpha():
        stem = f"job-{stem}"
    return f"{stem[:_LONGEST_STEM].rstrip('-')}-{token_hex(3)}"


def make_jobset(
    submission: Submission,
    template: Mapping[str, Any],
    *,
    cluster: str,
    namespace: str,
    image: str,
    bucket: str | None,
    queued: bool,
) -> dict[str, Any]:
    """Return the JobSet of a submission.

    - A pod that ends with exit code 197, or whose node is lost, has the whole set start again. A
      failure of any other exit code, or the time-out, ends it: JobSet documentation, "Failure
      Policy"; Kubernetes documentation, "Pod failure policy". The kubelet of a node that goes may
      end a container with any code, so that the condition is asked first.
    - The image's entrypoint stays, as on AWS Batch: the command is its arguments.

    Args:
        submission: what is to run.
        template: the cluster's PodTemplate.
        cluster: name of the cluster.
        namespace: of its jobs.
        image: URI of the container image.
        bucket: name of the cluster's bucket, which the account is part of; None without.
        queued: it waits in the cluster's queue for all its nodes.
    """
    annotations = template["metadata"]["annotations"]
    timeout = submission.timeout_seconds or int(annotations[TIMEOUT])
    policy = [
        {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {
            "action": "FailJob",
            "onExitCodes": {
                "containerName": CONTAINER,
                "operator": "NotIn",
                "values": [PEER_LOST],
            },
        },
    ]
    job = {
        "completionMode": "Indexed",
        "parallelism": submission.nodes,
        "completions": submission.nodes,
        "backoffLimit": 0,
        "activeDeadlineSeconds": timeout,
        "podFailurePolicy": {"rules": policy},
        "template": _pod(submission, template["template"], image, bucket),
    }
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "JobSet",
        "metadata": {
            "name": new_name(submission),
            "namespace": namespace,
            "labels": {
                "app.kubernetes.io/managed-by": "trainshed",
                "app.kubernetes.io/component": "job",
                CLUSTER_LABEL: cluster,
                **({QUEUE_LABEL: QUEUE} if queued else {}),
            },
            "annotations": {NAME: submission.name},
        },
        "spec": {
            "ttlSecondsAfterFinished": _KEPT_SECONDS,
            "network": {"enableDNSHostnames": True},
            "failurePolicy": {
                "maxRestarts": int(annotations[ATTEMPTS]) - 1,
                "rules": [
                    {
                        "name": "failed",
                        "action": "FailJobSet",
                        "onJobFailureReasons": ["PodFailurePolicy", "DeadlineExceeded"],
                    }
                ],
            },
            "replicatedJobs": [{"name": NODES, "replicas": 1, "template": {"spec": job}}],
        },
    }


def _pod(
    submission: Submission, template: Mapping[str, Any], image: str, bucket: str | None
) -> dict[str, Any]:
    [container] = template["spec"]["containers"]
    planned = {each["name"]: each.get("value", "") for each in container.get("env", [])}
    sent = {VARIABLE: submission.files.archive} if submission.files else {}
    known = {BUCKET: bucket} if bucket else {}
    added = {**known, **submission.environment, **sent, _NODES_VARIABLE: str(submission.nodes)}
    environment = planned | {name: literal(value) for name, value in added.items()}
    attempt = {"fieldRef": {"fieldPath": f"metadata.labels['{ATTEMPT}']"}}
    variables: list[dict[str, Any]] = [
        {"name": name, "value": value} for name, value in environment.items()
    ]
    ours = {
        **container,
        "image": image,
        "args": [literal(word) for word in submission.command],
        "env": [*variables, {"name": _ATTEMPT_VARIABLE, "valueFrom": attempt}],
    }
    return {**template, "spec": {**template["spec"], "containers": [ours]}}
