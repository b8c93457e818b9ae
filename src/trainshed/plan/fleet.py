"""Several clusters in one app: what they share, and whether they agree on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainshed.documents.problems import Problem
from trainshed.plan.cluster import ClusterPlan, make_plan
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.plan.network import NetworkPlan
from trainshed.plan.repository import RepositoryPlan
from trainshed.plan.sharing import conflicts, duplicate_names
from trainshed.plan.storage import StoragePlan
from trainshed.spec import ClusterSpec, SpecError, read_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Every cluster of an app.

    Attributes:
        clusters: in the order given.
    """

    clusters: tuple[ClusterPlan, ...]

    @property
    def networks(self) -> dict[str, NetworkPlan]:
        """Networks by stack name; a shared one has the subnets and endpoints of all its users."""
        merged: dict[str, NetworkPlan] = {}
        for cluster in self.clusters:
            mine = cluster.network
            known = merged.setdefault(mine.stack_name, mine)
            merged[mine.stack_name] = replace(
                known,
                subnets=tuple(dict.fromkeys((*known.subnets, *mine.subnets))),
                control_plane_subnets=tuple(
                    dict.fromkeys((*known.control_plane_subnets, *mine.control_plane_subnets))
                ),
                endpoint_services=tuple(
                    dict.fromkeys((*known.endpoint_services, *mine.endpoint_services))
                ),
            )
        return merged

    @property
    def storages(self) -> dict[str, StoragePlan]:
        """Shared storage by stack name."""
        return {each.stack_name: each for cluster in self.clusters for each in cluster.storages}

    @property
    def control_planes(self) -> dict[str, ControlPlanePlan]:
        """Control planes of Kubernetes by stack name."""
        found = (cluster.control_plane for cluster in self.clusters if cluster.control_plane)
        return {each.stack_name: each for each in found}

    @property
    def repositories(self) -> dict[str, RepositoryPlan]:
        """ECR repositories by stack name."""
        found = (cluster.repository for cluster in self.clusters if cluster.repository)
        return {repository.stack_name: repository for repository in found}


def load_fleet(
    paths: Sequence[Path], *, account: str | None = None, region: str | None = None
) -> Fleet:
    """Read cluster files and plan them together.

    Args:
        paths: one file for each cluster.
        account: AWS account of the environment.
        region: AWS region of the environment.

    Raises:
        SpecError: with what is wrong in all of the files.
    """
    readings = [read_spec(path) for path in paths]
    specs = [reading.spec for reading in readings if reading.spec]
    problems = [problem for reading in readings for problem in reading.problems]
    try:
        fleet = plan_fleet(specs, account=account, region=region)
    except SpecError as error:
        # A field that was taken out as faulty has been shown already.
        shown = {(problem.where.file, problem.path) for problem in problems}
        problems += [p for p in error.problems if (p.where.file, p.path) not in shown]
    if problems:
        raise SpecError(problems)
    return fleet


def plan_fleet(
    specs: Iterable[ClusterSpec], *, account: str | None = None, region: str | None = None
) -> Fleet:
    """Plan clusters together.

    Raises:
        SpecError: with every contradiction within clusters and between them.
    """
    clusters: list[ClusterPlan] = []
    problems: list[Problem] = []
    specs = tuple(specs)
    for spec in specs:
        try:
            clusters.append(make_plan(spec, account=account, region=region))
        except SpecError as error:
            problems += error.problems
    problems += (*duplicate_names(specs), *conflicts(clusters))
    if problems:
        raise SpecError(problems)
    return Fleet(clusters=tuple(clusters))
