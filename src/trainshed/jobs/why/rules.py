"""All rules, in the order in which their findings are shown."""

from collections.abc import Callable, Iterator

from trainshed.findings import Finding, Severity
from trainshed.jobs.why import commands, ended, nodes, queue
from trainshed.jobs.why.capacity import (
    check_failed_launches,
    check_idle_nodes,
    check_quota,
    check_reservation,
)
from trainshed.jobs.why.evidence import Evidence

Rule = Callable[[Evidence], Iterator[Finding]]


def check_unanswered(evidence: Evidence) -> Iterator[Finding]:
    """What could not be asked may hide the reason."""
    for refusal in evidence.unanswered:
        yield Finding(
            rule="TS-JOB-020",
            severity=Severity.WARNING,
            message=f"not looked at: {refusal}",
            remedy="docs/jobs.md lists the permissions; then ask again",
        )


RULES: tuple[Rule, ...] = (
    ended.check_container,
    ended.check_exit_code,
    ended.check_host,
    ended.check_timeout,
    ended.check_stopped,
    commands.check_delivery,
    queue.check_dependencies,
    queue.check_queue,
    queue.check_environments,
    queue.check_kinds,
    queue.check_size,
    queue.check_status_reason,
    check_failed_launches,
    check_quota,
    check_reservation,
    check_idle_nodes,
    nodes.check_boots,
    nodes.check_joined,
    nodes.check_containers,
    nodes.check_silence,
    queue.check_ahead,
    check_unanswered,
)


def explain_job(evidence: Evidence) -> list[Finding]:
    """Return what every rule finds."""
    return [finding for rule in RULES for finding in rule(evidence)]
