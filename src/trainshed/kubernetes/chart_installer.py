"""Install a chart of others: applied as our own objects are, and never over somebody else's."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from lightkube import Client
from lightkube.resources.admissionregistration_v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apiregistration_v1 import APIService
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Secret, Service, ServiceAccount
from lightkube.resources.rbac_authorization_v1 import (
    ClusterRole,
    ClusterRoleBinding,
    Role,
    RoleBinding,
)

from trainshed.errors import Failure
from trainshed.kubernetes.applied import delete_applied, find_applied, is_applied
from trainshed.kubernetes.chart_objects import CHART_LABEL, DIGEST_KEY, VERSION_KEY, chart_objects
from trainshed.kubernetes.charts import CHARTS, Chart
from trainshed.kubernetes.client import asking
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.object_diff import FieldChange
from trainshed.kubernetes.object_names import named
from trainshed.kubernetes.object_step import (
    ApplyOutcome,
    ApplyStep,
    apply_object,
    ask_about,
    find_object,
)
from trainshed.kubernetes.objects import KubernetesObject
from trainshed.kubernetes.readiness import not_ready
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.plan.kube_lock import LockedChart

# What an earlier version of a chart may have had; webhooks first, since they refuse things while
# nothing answers. Definitions of resources stay: with one goes all that anybody made of it.
_KINDS: tuple[type[KubernetesObject], ...] = (
    *(MutatingWebhookConfiguration, ValidatingWebhookConfiguration, APIService, Deployment),
    *(Service, ConfigMap, Secret, ServiceAccount),
    *(ClusterRoleBinding, RoleBinding, ClusterRole, Role),
)

_NUMBER = re.compile(r"\d+")


class ChartInstaller:
    """Installs one chart on a control plane, in its locked version.

    Attributes:
        chart: which.

    Args:
        client: of the API server.
        cluster: as EKS has it.
        chart: which.
        locked: its entry in the lock.
        kubernetes: minor version of the control plane.

    Raises:
        Failure: the chart cannot be had, or is not what was locked.
    """

    def __init__(
        self,
        client: Client,
        cluster: EksCluster,
        chart: Chart,
        locked: LockedChart,
        kubernetes: str,
    ) -> None:
        self._client, self._cluster, self.chart, self._locked = client, cluster, chart, locked
        self._objects = chart_objects(chart, locked, kubernetes)
        self._is_others = False

    @property
    def name(self) -> str:
        """What is installed, for instance `chart jobset 0.12.0`."""
        return f"chart {self.chart.name} {self._locked.version}"

    def plan(self) -> tuple[ApplyStep, ...]:
        """Ask the server what would become of the chart; nothing changes.

        Where somebody else has installed the program, it stays as it is.

        Raises:
            Failure: a later version is installed, or the same from another chart; others own
                fields; the server refuses, or does not answer.
        """
        with asking(self._cluster):
            self._is_others = self._find_others()
            if self._is_others:
                return (ApplyStep(name=self.name, outcome=ApplyOutcome.LEFT),)
            steps = ask_about(self._client, self._objects)
            deleted = [named(each) for each in self._unwanted()]
        return (self._step(steps, deleted),)

    def apply(self) -> Iterator[ApplyStep]:
        """Install the chart, delete what it no longer has, and yield one step when that is done.

        Raises:
            Failure: as for `plan`.
        """
        if self._is_others:
            return
        with asking(self._cluster):
            steps = [apply_object(self._client, each, dry_run=False) for each in self._objects]
            unwanted = self._unwanted()
            for each in unwanted:
                delete_applied(self._client, each)
        yield self._step(steps, [named(each) for each in unwanted])

    def waiting(self) -> tuple[str, ...]:
        """Return what is not ready yet, and why; empty when everything is.

        Raises:
            Failure: the server refuses, or does not answer.
        """
        if self._is_others:
            return ()
        with asking(self._cluster):
            return tuple(not_ready(self._client, self._objects))

    def _find_others(self) -> bool:
        """Return whether somebody else has installed it; refuse to install an older one."""
        record = next(each for each in self._objects if isinstance(each, ConfigMap))
        found = find_object(self._client, record)
        if not isinstance(found, ConfigMap) or not is_applied(found):
            definitions = (
                find_object(self._client, each)
                for each in self._objects
                if isinstance(each, CustomResourceDefinition)
            )
            return any(each and not is_applied(each) for each in definitions)
        data = found.data or {}
        version, digest = data.get(VERSION_KEY, ""), data.get(DIGEST_KEY, "")
        if _order(version) > _order(self._locked.version):
            raise Failure(
                f"{self._cluster.name} has {self.chart.title} {version}, and the lock has "
                f"{self._locked.version}: another cluster file's lock is newer; take that lock, or "
                "run: trainshed kube lock"
            )
        if version == self._locked.version and digest != self._locked.digest:
            raise Failure(
                f"{self._cluster.name} has {self.chart.title} {version} from a chart with the "
                f"digest {digest}, and the lock has {self._locked.digest}: releases do not change, "
                "so find out who changed it"
            )
        return False

    def _unwanted(self) -> tuple[KubernetesObject, ...]:
        wanted = {named(each) for each in self._objects}
        found = find_applied(self._client, {CHART_LABEL: self.chart.name}, _KINDS)
        return tuple(each for each in found if named(each) not in wanted)

    def _step(self, steps: list[ApplyStep], deleted: list[str]) -> ApplyStep:
        """Return one step for all objects: a chart has up to a hundred."""
        outcomes = {each.outcome for each in steps}
        if outcomes == {ApplyOutcome.CREATED}:
            return ApplyStep(name=self.name, outcome=ApplyOutcome.CREATED)
        changes = [
            replace(change, field=f"{each.name}: {change.field}")
            for each in steps
            for change in each.changes
        ]
        there, gone = "there", None
        new = (each.name for each in steps if each.outcome is ApplyOutcome.CREATED)
        changes += [FieldChange(field=each, before=gone, after=there) for each in new]
        changes += [FieldChange(field=each, before=there, after=gone) for each in deleted]
        outcome = ApplyOutcome.CHANGED if changes else ApplyOutcome.UNCHANGED
        return ApplyStep(name=self.name, outcome=outcome, changes=tuple(changes))


def chart_installers(
    client: Client, cluster: EksCluster, plan: ControlPlanePlan, show: Callable[[str], None]
) -> tuple[ChartInstaller, ...]:
    """Return what installs the charts of a control plane's lock, in order; none without a lock.

    Args:
        client: of the API server.
        cluster: as EKS has it.
        plan: of its control plane.
        show: called with each step.

    Raises:
        Failure: a chart cannot be had, is not what was locked, or is not known.
    """
    locked = plan.lock.charts if plan.lock else {}
    for name in locked.keys() - {each.name for each in CHARTS}:
        raise Failure(
            f"the lock of {plan.name} has the chart {name}, and this trainshed installs none of "
            "that name; take a newer one, or delete the entry"
        )
    found = []
    for chart in CHARTS:
        if chart.name in locked:
            show(f"rendering chart {chart.name} {locked[chart.name].version}")
            found.append(
                ChartInstaller(client, cluster, chart, locked[chart.name], plan.version.name)
            )
    return tuple(found)


def _order(version: str) -> tuple[int, ...]:
    """Return by what versions are ordered: a release and what came before it are the same here."""
    return tuple(map(int, _NUMBER.findall(version.partition("-")[0])))
