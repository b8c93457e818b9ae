"""What the rules over an account look at: a cluster, and its account."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trainshed.findings import Over
from trainshed.plan import ClusterPlan
from trainshed.preflight.shared_answers import SharedAnswers


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is looked at.

    Attributes:
        plan: the cluster.
        aws: its region of the account.
        now: the time.
        template: the synthesised template of the cluster's own stack, if it is known.
    """

    plan: ClusterPlan
    aws: SharedAnswers
    now: datetime
    template: Mapping[str, Any] | None = None


accounts: Over[Subject, Subject] = Over(
    command="preflight",
    parts=lambda subject: (subject,),
    orchestrator=lambda subject: subject.plan.orchestrator,
)
