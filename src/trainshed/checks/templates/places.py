"""Which field of the cluster file a place in a template follows from."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from trainshed.checks.templates.accepted import Owner, accepted_by_us
from trainshed.checks.templates.model import Assembly
from trainshed.documents.problems import Path
from trainshed.findings import Finding, Place
from trainshed.findings.tools import TemplateFinding
from trainshed.orchestrators import Orchestrator, traits
from trainshed.plan import ClusterPlan
from trainshed.spec import AmiPipelineSpec

# By how a resource type begins, the most specific first; those of orchestrators are among their
# traits.
_FIELDS: tuple[tuple[str, Path], ...] = (
    ("AWS::EC2::LaunchTemplate", ("instance",)),
    ("AWS::EC2::PlacementGroup", ("instance",)),
    ("AWS::ECR::", ("image",)),
    ("AWS::EFS::", ("storage", "efs")),
    ("AWS::IAM::", ("iam",)),
    ("AWS::EC2::Security", ()),
    ("AWS::EC2::", ("network",)),
)
_NAME: Path = ("name",)


def stack_owners(
    plans: Iterable[ClusterPlan], pipeline: AmiPipelineSpec | None = None
) -> Mapping[str, Owner]:
    """Return what each stack follows from; a shared one from the first of its clusters."""
    owners: dict[str, Owner] = {}
    for plan in plans:
        fields: dict[str, Path] = {
            plan.name: (),
            plan.prerequisites_stack_name: ("instance", "ami"),
            plan.network.stack_name: ("network",),
        }
        for storage in plan.storages:
            fields[storage.stack_name] = tuple(storage.field.split("."))
        if plan.repository:
            fields[plan.repository.stack_name] = ("image",)
        if plan.control_plane:
            fields[plan.control_plane.stack_name] = ("kubernetes",)
        for name, field in fields.items():
            owners.setdefault(
                name,
                Owner(where=plan.where, field=field, kms_key=plan.security.kms_key),
            )
    if pipeline:
        owners.setdefault(
            pipeline.name,
            Owner(where=pipeline.where, field=(), kms_key=pipeline.kms_key),
        )
    return owners


def located(
    found: TemplateFinding,
    tool: str,
    assembly: Assembly,
    owners: Mapping[str, Owner],
) -> Finding:
    """Return a finding in our form, at its place.

    What is in none of our stacks stands at the project's `cdk.json`.
    """
    owner = owners.get(found.stack or "")
    finding = Finding(
        rule=found.rule,
        severity=found.severity,
        message=found.message,
        remedy=found.remedy,
        place=Place(file="cdk.json"),
        accepted=found.accepted,
        tool=tool,
        resource=found.path,
        source=found.source,
    )
    if not owner or not found.stack:
        return finding
    return replace(
        finding,
        place=_place(owner, assembly.resource_type(found.stack, found.path)),
        accepted=found.accepted or accepted_by_us(tool, found.rule, owner),
    )


def _place(owner: Owner, resource_type: str | None) -> Place:
    field = owner.field
    of_jobs = {key: (name,) for each in Orchestrator for key, name in traits(each).fields.items()}
    for beginning, path in (*of_jobs.items(), *_FIELDS):
        if resource_type and resource_type.startswith(beginning):
            field = path or owner.field
            break
    # What is about the whole cluster, or a field that the file leaves out, stands at the name.
    there = field and field[:1] in owner.where.positions
    return replace(
        Place.of(owner.where, field if there else _NAME), field=".".join(map(str, field))
    )
