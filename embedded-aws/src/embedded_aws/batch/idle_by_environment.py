"""The instances without a job of all compute environments."""

from collections.abc import Callable, Sequence
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.batch import tables
from embedded_aws.batch.compute_resources import EC2_TYPES
from embedded_aws.batch.idle_instances import IdleInstances


class IdleByEnvironment:
    """The instances without a job, by compute environment.

    Whoever calls holds the tables' guard, but for `keep_minimum`, and for `delete` and `give_back`,
    which end instances.

    Args:
        placing: says whether instances of an environment are being launched for a job.
        changed: is called when jobs may be placed that could not be.
    """

    def __init__(self, *, placing: Callable[[Row], bool], changed: Callable[[], None]) -> None:
        self._placing, self._changed = placing, changed
        # By the environment's UUID; another one may get its name later.
        self._found: dict[str, IdleInstances] = {}

    def of(self, call: Call, environment: Row) -> IdleInstances:
        """Return those of an environment.

        Args:
            call: in whose account and region.
            environment: its row.
        """
        uuid = environment["uuid"]
        if uuid not in self._found:
            self._found[uuid] = IdleInstances(
                call, environment, placing=self._placing, changed=self._changed
            )
        return self._found[uuid]

    def keep_minimum(self, call: Call, environment: Row) -> None:
        """Launch what an environment's minimum lacks, and end what is too many."""
        if _has_instances(environment):
            with tables.guard:
                self.of(call, environment).settle_soon()

    def delete(self, call: Call, environment: Row) -> None:
        """End those of an environment that is deleted, and launch no others."""
        if not _has_instances(environment):
            return
        with tables.guard:
            idle = self.of(call, environment)
            idle.deleted = True
        idle.settle()

    def give_back(self, call: Call, environment: Row, instances: Sequence[Any]) -> None:
        """Keep instances for other jobs while the minimum or a delay wants them, or end them."""
        with tables.guard:
            idle = self.of(call, environment)
            idle.give_back(instances)
        idle.settle()

    def drop(self, environment: Row) -> None:
        """Let all of an environment leave, whatever its minimum is, when it is next settled."""
        if idle := self._found.get(environment["uuid"]):
            idle.drop_all()

    def try_again(self) -> None:
        """Try launches again that failed."""
        for idle in self._found.values():
            if not idle.deleted:
                idle.settle_soon()

    def ended(self, instance_id: str) -> None:
        """Replace an instance that has ended, if it had no job and the minimum wants it."""
        for idle in self._found.values():
            if idle.ended(instance_id):
                idle.settle_soon()


def _has_instances(environment: Row) -> bool:
    return environment.get("computeResources", {}).get("type") in EC2_TYPES
