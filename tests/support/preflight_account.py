"""An account that is asked about a cluster."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from embedded_aws.embedded import EmbeddedAws
from trainshed.findings import Finding
from trainshed.plan import ClusterPlan, load_fleet
from trainshed.preflight import SharedAnswers, Subject, ask_account

REGION, ZONE = "us-west-2", "usw2-az4"
TRN_QUOTA = "L-2C3B7624"
# A launch that could not be tried.
NOT_TRIED = "TS-ACC-091"
Templates = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account of an embedded AWS.

    Attributes:
        aws: where it is.
        folder: for cluster files.
        ids: of what is in it, by what it is.
    """

    aws: EmbeddedAws
    folder: Path
    ids: dict[str, str] = field(default_factory=dict)

    def plan(self, **fields: Any) -> ClusterPlan:
        """Return the plan of a cluster that is fine, but for these fields; None leaves one out."""
        cluster = {
            "name": "TrainCluster",
            "region": REGION,
            "zone": ZONE,
            "instance": {"type": "trn1.32xlarge", "nodes": {"max": 4}},
            "image": {"uri": "registry.example/train:1"},
        }
        file = self.folder / "train.yaml"
        given = {**cluster, **fields}
        file.write_text(json.dumps({key: given[key] for key in given if given[key] is not None}))
        [plan] = load_fleet([file]).clusters
        return plan

    def subject(
        self,
        *,
        now: datetime | None = None,
        template: Mapping[str, Any] | None = None,
        client: Callable[[str], Any] | None = None,
        **fields: Any,
    ) -> Subject:
        """Return a cluster and this account."""
        return Subject(
            plan=self.plan(**fields),
            aws=SharedAnswers(REGION, client or self.aws.client),
            now=now or datetime.now(UTC),
            template=template,
        )

    def ask(self, **subject: Any) -> list[Finding]:
        """Return what is found of a cluster that is fine, but for these fields."""
        return list(ask_account(self.subject(**subject)).findings)

    @property
    def network(self) -> dict[str, str]:
        """The field `network` of a cluster in the existing network."""
        return {"vpc": self.ids["vpc"], "subnet": self.ids["subnet"]}


def deploy(account: Account, templates: Templates, *names: str) -> None:
    """Deploy some of the stacks."""
    for name in names:
        account.aws.deploy(templates[name], stack_name=name)


def rules(found: list[Finding]) -> list[str]:
    """Return the ids of what was found, but for a launch that could not be tried."""
    return sorted(finding.rule for finding in found if finding.rule != NOT_TRIED)


def only(found: list[Finding]) -> Finding:
    """Return the one thing that was found."""
    [finding] = [finding for finding in found if finding.rule != NOT_TRIED]
    return finding


@contextmanager
def answering(
    account: Account, service: str, operation: str, change: Callable[[dict[str, Any]], object]
) -> Iterator[None]:
    """Change the answers to one operation."""

    def changed(parsed: dict[str, Any], **_: Any) -> None:
        change(parsed)

    name, events = f"after-call.{service}.{operation}", account.aws.client(service).meta.events
    events.register(name, changed)
    try:
        yield
    finally:
        events.unregister(name, changed)
