"""Apply objects of Kubernetes, server-side, and say what becomes of each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lightkube import ApiError, Client
from lightkube.resources.core_v1 import Namespace

from trainshed.errors import Failure
from trainshed.kubernetes.object_diff import FieldChange, field_changes
from trainshed.kubernetes.object_names import kind_of, name_of, named, namespace_of, where
from trainshed.kubernetes.objects import KubernetesObject

_NOT_FOUND, _CONFLICT, _INVALID, _INTERNAL = 404, 409, 422, 500
# Kubernetes, apiserver/pkg/admission/plugin/webhook: what the server says of one without an answer.
_NO_ANSWER = "failed calling webhook"


class ApplyOutcome(StrEnum):
    """What becomes of an object, or of a chart."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    LEFT = "left as it is, for somebody else installed it"
    NOT_ASKED = "applied, unasked: its webhook does not answer yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStep:
    """One object or chart, and what becomes of it.

    Attributes:
        name: kind, namespace and name, for instance `DaemonSet kube-system/trainshed-train-efa`;
            or a chart, `chart jobset 0.12.0`.
        outcome: what becomes of it.
        changes: fields that get other values.
    """

    name: str
    outcome: ApplyOutcome
    changes: tuple[FieldChange, ...] = ()


class OthersOwn(Failure):
    """Others own fields of objects.

    Args:
        conflicts: each field, and its owner, in words.
    """

    def __init__(self, *conflicts: str) -> None:
        super().__init__(
            "others own fields of these objects, and nothing was changed; remove the fields from "
            "their owners, or take them over once, but those of a chart: kubectl apply "
            "--server-side --force-conflicts --field-manager trainshed --filename FILE, FILE being "
            "kube/CLUSTER.yaml beside the templates",
            *conflicts,
        )
        self.conflicts = conflicts


def find_object(client: Client, wanted: KubernetesObject) -> KubernetesObject | None:
    """Return an object as the server has it; None where it is not there."""
    try:
        found: KubernetesObject = client.get(type(wanted), name_of(wanted), **where(wanted))
    except ApiError as error:
        if error.status.code == _NOT_FOUND:
            return None
        raise
    return found


def ask_about(
    client: Client,
    objects: Iterable[KubernetesObject],
    webhook_comes: Callable[[KubernetesObject], bool] = lambda _: False,
) -> list[ApplyStep]:
    """Ask the server what would become of objects; nothing changes.

    What is in a namespace that is among them, and not there yet, cannot be asked about, and would
    be created.

    Args:
        client: of the API server.
        objects: in their order.
        webhook_comes: whether the program that judges an object answers only later, so that the
            object is not asked about until then.

    Raises:
        OthersOwn: of fields that they set, of all of them.
        Failure: one is not valid.
        ApiError: the server refuses otherwise.
    """
    steps, conflicts, early = [], list[str](), set[str | None]()
    for each in objects:
        if isinstance(each, Namespace) and find_object(client, each) is None:
            early.add(name_of(each))
        if namespace_of(each) in early:
            steps.append(created(each))
            continue
        try:
            steps.append(apply_object(client, each, dry_run=True))
        except OthersOwn as found:
            conflicts += found.conflicts
        except ApiError as error:
            silent = error.status.code == _INTERNAL and _NO_ANSWER in (error.status.message or "")
            if not (silent and webhook_comes(each)):
                raise
            steps.append(ApplyStep(name=named(each), outcome=ApplyOutcome.NOT_ASKED))
    if conflicts:
        raise OthersOwn(*conflicts)
    return steps


def apply_object(client: Client, wanted: KubernetesObject, *, dry_run: bool) -> ApplyStep:
    """Apply an object.

    Args:
        client: of the API server.
        wanted: the object.
        dry_run: only ask what would become of it.

    Raises:
        OthersOwn: of fields that it sets.
        Failure: the object is not valid.
        ApiError: the server refuses otherwise.
    """
    before = find_object(client, wanted)
    try:
        after = client.apply(wanted, dry_run=dry_run)
    except ApiError as error:
        if error.status.code == _CONFLICT:
            raise OthersOwn(*_conflicts(wanted, error)) from error
        if error.status.code == _INVALID:
            raise _invalid(wanted, error) from error
        raise
    if before is None:
        return created(wanted)
    changes = field_changes(before.to_dict(), after.to_dict())
    outcome = ApplyOutcome.CHANGED if changes else ApplyOutcome.UNCHANGED
    return ApplyStep(name=named(wanted), outcome=outcome, changes=changes)


def created(wanted: KubernetesObject) -> ApplyStep:
    """Return the step of an object that is new."""
    return ApplyStep(name=named(wanted), outcome=ApplyOutcome.CREATED)


def _invalid(wanted: KubernetesObject, error: ApiError) -> Failure:
    space = f" --namespace {namespace_of(wanted)}" if namespace_of(wanted) else ""
    return Failure(
        f"{named(wanted)} is refused: {error.status.message}; if it cannot be changed, delete it "
        f"and run the command again: kubectl delete {kind_of(wanted).lower()} "
        f"{name_of(wanted)}{space}"
    )


def _conflicts(wanted: KubernetesObject, error: ApiError) -> Iterator[str]:
    causes = (error.status.details and error.status.details.causes) or []
    for cause in causes:
        yield f"{named(wanted)}: {cause.field}: {cause.message}"
    if not causes:
        yield f"{named(wanted)}: {error.status.message}"
