"""Instances of compute environments that have no job: those of the minimum, and of a delay.

Batch API reference, ComputeResource, minvCpus: what an environment "should maintain (even if the
compute environment is DISABLED)". CreateComputeEnvironment, state: one that is DISABLED does not
scale out, and bills for "a non-zero minvCpus setting"; an idle instance scales down to minvCpus,
but "the instance size doesn't change", so that one stays if fewer vCPUs would be left without it.
ComputeScalingPolicy: instances stay for minScaleDownDelayMinutes after their last job, not those
that have run none and not those of former settings. User guide, "Perform scaling updates": other
minimum vCPUs launch or end instances, and replace none.

Inferred: an instance that ends is replaced, also while the environment is DISABLED; one that is
drained counts like others; the first type of the environment that can be launched is; a refused
launch is tried again after a minute, as by the Auto Scaling groups of which the environments
consist. AWS documents no time after which Batch ends an instance that is idle without a delay
("some minutes" by experience): here it ends at once.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from embedded_aws.actions import Call, Refusal, Row
from embedded_aws.batch import tables
from embedded_aws.batch.node_groups import members_of
from embedded_aws.batch.node_instances import (
    CannotPlace,
    Need,
    launch,
    minimum_need,
    takes_tasks,
    terminate,
    vcpus_of,
)
from embedded_aws.clock import seconds_here

_TRY_AGAIN_SECONDS = 60
_THERE = ("pending", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Idle:
    """An instance without a job.

    Attributes:
        instance: moto's.
        until: when it may end, by `monotonic`.
    """

    instance: Any
    until: float


class IdleInstances:
    """The instances of one compute environment that have no job.

    Whoever reads or changes them holds the tables' guard, but for `settle`, which launches and
    ends instances.

    Attributes:
        launches: some are being launched.
        deleted: the environment is, so that no instance is kept.

    Args:
        call: that created the environment.
        environment: its row.
        placing: says whether instances are being launched for a job.
        changed: is called when jobs may be placed that could not be.
    """

    def __init__(
        self,
        call: Call,
        environment: Row,
        *,
        placing: Callable[[Row], bool],
        changed: Callable[[], None],
    ) -> None:
        self._call, self._environment = call, environment
        self._placing, self._changed = placing, changed
        self._settling = threading.Lock()
        self._idle: list[_Idle] = []
        self._leaving: list[Any] = []
        self._timer: threading.Timer | None = None
        self.launches = self.deleted = False

    @property
    def vcpus(self) -> int:
        """The vCPUs of all of them."""
        return sum(vcpus_of(each.instance) for each in self._idle)

    def fitting(self, need: Need) -> list[Any]:
        """Return moto's instances that a job can have, in the order in which they are given."""
        return [
            each.instance
            for each in self._idle
            if each.instance.instance_type in need.instance_types
            and takes_tasks(self._call, need, each.instance)
        ]

    def take(self, need: Need, count: int) -> Sequence[Any]:
        """Give a job moto's instances, as many as it lacks or there are."""
        taken = self.fitting(need)[:count]
        self._idle = [each for each in self._idle if each.instance not in taken]
        return taken

    def give_back(self, instances: Iterable[Any]) -> None:
        """Take moto's instances that have had a job; those that are too many or gone will leave."""
        policy = self._environment["computeResources"].get("scalingPolicy", {})
        minutes = policy.get("minScaleDownDelayMinutes", 0)
        until = monotonic() + seconds_here(minutes * 60)
        for instance in instances:
            if instance.state in _THERE:
                self._idle.append(_Idle(instance=instance, until=until))
            else:
                self._leaving.append(instance)
        self._choose_surplus()

    def drop_all(self) -> None:
        """Let all leave, whatever the minimum is; `settle` launches others."""
        self._leaving += [each.instance for each in self._idle]
        self._idle = []

    def ended(self, instance_id: str) -> bool:
        """Note that an instance has ended; return whether it had no job."""
        gone = [each for each in self._idle if each.instance.id == instance_id]
        self._idle = [each for each in self._idle if each not in gone]
        self._leaving += [each.instance for each in gone]
        return bool(gone)

    def settle_soon(self) -> None:
        """Settle, in a thread."""
        threading.Thread(target=self.settle, daemon=True).start()

    def settle(self) -> None:
        """End the instances that leave, and launch those that the minimum lacks."""
        with self._settling:
            try:
                while self._take_step():
                    pass
            finally:
                with tables.guard:
                    self.launches = False
        self._changed()

    def _take_step(self) -> bool:
        """End what leaves and launch what lacks; return whether there may be more to do."""
        with tables.guard:
            self._choose_surplus()
            leaving = list(self._leaving)
            need = self._lacking()
            self.launches = need is not None
            if not (leaving or need):
                self._wait_for_delays()
                return False
        if leaving:
            terminate(self._call, self._environment, leaving)
            with tables.guard:
                self._leaving = [each for each in self._leaving if each not in leaving]
        return need is None or self._launch(need)

    def _launch(self, need: Need) -> bool:
        """Launch instances; if EC2 refuses one, try again later."""
        instances: list[Any] = [None] * need.count
        try:
            launch(self._call, need, instances, for_job=False)
        except (CannotPlace, Refusal):
            # A Refusal: of what the environment names, for instance its launch template.
            self._later(seconds_here(_TRY_AGAIN_SECONDS))
            return False
        finally:
            with tables.guard:
                self._idle += [
                    _Idle(instance=each, until=monotonic()) for each in instances if each
                ]
        return True

    def _lacking(self) -> Need | None:
        """Return the instances that the minimum lacks."""
        if self.deleted or self._placing(self._environment):
            return None
        lacking = self._environment["computeResources"].get("minvCpus", 0) - self._running()
        return minimum_need(self._environment, lacking) if lacking > 0 else None

    def _running(self) -> int:
        """Return the vCPUs of all instances that the environment has, with jobs or without."""
        return sum(
            vcpus_of(each.instance)
            for each in members_of(self._call, self._environment)
            if each.state in _THERE and each.instance not in self._leaving
        )

    def _choose_surplus(self) -> None:
        """Choose those that leave, first those that have had no job for longest."""
        least = self._environment["computeResources"].get("minvCpus", 0)
        running = self._running()
        for each in list(self._idle):
            own = vcpus_of(each.instance)
            if self.deleted or (each.until <= monotonic() and running - own >= least):
                self._idle.remove(each)
                self._leaving.append(each.instance)
                running -= own

    def _wait_for_delays(self) -> None:
        """Settle again when the next delay is over."""
        later = [each.until for each in self._idle if each.until > monotonic()]
        if later and not self.deleted:
            self._later(min(later) - monotonic())

    def _later(self, seconds: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = threading.Timer(max(0, seconds), self.settle)
        self._timer.daemon = True
        self._timer.start()
