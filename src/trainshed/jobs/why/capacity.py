"""Whether EC2 gives the instances that the job needs."""

from collections.abc import Iterator

from trainshed.capacity_reservations import BLOCK_ENDS_EARLY, OVER
from trainshed.catalogue import increase_command
from trainshed.findings import Finding, Severity
from trainshed.jobs.why.facts import Facts

# What EC2 and EC2 Auto Scaling say of a launch that failed, and what to do.
_REMEDIES = {
    "sufficient": "wait, ask for fewer nodes, or use another zone, a reservation or a Capacity "
    "Block (docs/spec.md)",
    "vcpu": "ask for a larger quota: Service Quotas, Amazon EC2",
    "instances than your current": "ask for a larger quota: Service Quotas, Amazon EC2",
    "limitexceeded": "ask for a larger quota: Service Quotas, Amazon EC2",
    "launch template": "deploy the cluster again, which makes a launch template that fits",
    "placement group": "deploy the cluster again; instances of other clusters must not be in the "
    "placement group",
    "not authorized": "allow it to the role AWSServiceRoleForAutoScaling, also in the policy of "
    "your KMS key (docs/security.md)",
    "kms": "allow the key to AWSServiceRoleForAutoScaling (docs/security.md)",
    "unsupported": "the zone lacks the instance type: trainshed explain names zones that have it",
}


def check_failed_launches(facts: Facts) -> Iterator[Finding]:
    """EC2 Auto Scaling knows why a launch failed, also where AWS Batch gives no reason."""
    messages = dict.fromkeys(each.message for each in facts.failed_launches)
    for message in messages if facts.waits else ():
        latest = max(each.at for each in facts.failed_launches if each.message == message)
        remedy = next(
            (text for part, text in _REMEDIES.items() if part in message.casefold()),
            "put right what the message names",
        )
        yield Finding(
            rule="TS-JOB-009",
            severity=Severity.ERROR,
            message=f"a launch of nodes failed at {latest:%Y-%m-%d %H:%M} UTC: "
            f"{' '.join(message.split()).rstrip('.')}",
            remedy=remedy,
        )


def check_quota(facts: Facts) -> Iterator[Finding]:
    """The whole job must fit in the account's quota at once; Capacity Blocks do not count."""
    applied = facts.quota
    in_block = facts.reservation is not None and facts.reservation.is_block
    if facts.waits and applied and not in_block and applied.value < facts.vcpus:
        region = facts.job.queue.split(":")[3]
        yield Finding(
            rule="TS-JOB-010",
            severity=Severity.ERROR,
            message=f"the job needs {facts.vcpus} vCPUs, and the account's quota "
            f"{applied.quota.name!r} ({applied.quota.code}) is {applied.value:g}",
            remedy=increase_command(applied.quota, facts.vcpus, region),
        )


def check_reservation(facts: Facts) -> Iterator[Finding]:
    """Nodes of a reservation or a block are there between its start and its end."""
    it = facts.reservation
    if it is None or not (facts.waits or facts.job.status == "FAILED"):
        return
    if it.starts_at and it.starts_at > facts.now:
        wrong = f"begins at {it.starts_at:%Y-%m-%d %H:%M} UTC"
        remedy = "wait: the job starts then"
    elif (it.ends_at and it.ends_at <= facts.now) or it.state in OVER:
        wrong = f"is over ({it.state})"
        remedy = "name another in capacity of the cluster file, and deploy"
    elif it.is_block and it.ends_at and it.ends_at - facts.now <= BLOCK_ENDS_EARLY:
        wrong = f"ends at {it.ends_at:%Y-%m-%d %H:%M} UTC, and EC2 ends its instances before that"
        remedy = "name another in capacity of the cluster file, and deploy"
    elif it.total < facts.job.node_count:
        wrong = f"is for {it.total} instances, and the job has {facts.job.node_count} nodes"
        remedy = f"submit with --nodes {it.total}"
    elif facts.waits and it.available < facts.job.node_count and not facts.instances:
        wrong = f"has {it.available} of its {it.total} instances free"
        remedy = "wait until the others are free, or ask for fewer nodes"
    else:
        return
    yield Finding(
        rule="TS-JOB-011", severity=Severity.ERROR, message=f"{it} {wrong}", remedy=remedy
    )
