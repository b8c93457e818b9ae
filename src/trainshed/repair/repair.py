"""Draining, rebooting and replacing a node, step by step."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from trainshed.account.tags import BOOT_TAG
from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.model import Job, JobState
from trainshed.jobs.nodes import Node, pick_node, running_nodes
from trainshed.jobs.scheduler import Scheduler, find_scheduler
from trainshed.orchestrators import ORCHESTRATOR_OUTPUT, Orchestrator, part, traits
from trainshed.repair.control import NodeControl

_PAUSE_SECONDS = 5.0
# As long as a new cluster of plain EC2 waits for its nodes: a boot may wait half an hour for its
# file system.
_BOOT_SECONDS = 45 * 60
_OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """Takes nodes of one deployed cluster out of service.

    Attributes:
        region: the cluster's.
        scheduler: what runs its jobs.
        control: what takes its nodes out of service.
        keeps_nodes: another node comes at once in the place of one that ends, without a job.
    """

    region: Region
    scheduler: Scheduler
    control: NodeControl
    keeps_nodes: bool

    def find(self, wanted: str) -> Node:
        """Return a node that runs, by its number, its instance id or an address.

        Raises:
            TrainshedError: there is none.
        """
        return pick_node(running_nodes(self.region, self.scheduler.cluster), wanted)

    def jobs_on(self, node: Node) -> tuple[Job, ...]:
        """Return the jobs that a node has."""
        host = self.control.host(node)
        listed = self.scheduler.jobs(unfinished=True) if host else ()
        found = (self.scheduler.job(each.job_id) for each in listed)
        return tuple(job for job in found if job and _has(job, host))

    def drain(self, node: Node) -> None:
        """Give a node no more jobs; those that it has go on."""
        if not self.control.is_drained(node):
            self.control.drain(node)

    def undrain(self, node: Node) -> None:
        """Give a node jobs again."""
        self.control.undrain(node)

    def reboot(self, node: Node, *, force: bool, show: Callable[[str], None]) -> None:
        """Reboot a node when it has no job, wait for its checks, and give it jobs again.

        Args:
            node: the node.
            force: do not wait for its jobs.
            show: gets each step, and an empty text while nothing new happens.

        Raises:
            Failure: nothing would say when it is back; or it fails its checks, or has ended, or
                does not come back in time.
        """
        if not node.boot:
            raise Failure(
                f"{node.instance_id} is not rebooted: it has no tag {BOOT_TAG}, by which a node "
                "says that it has passed its checks; wait until it has booted (only AMIs of "
                "trainshed set the tag)"
            )
        self._empty(node, force=force, show=show)
        # The boot writes it anew: what it says afterwards is of this boot.
        self.region.call(
            "ec2", "delete_tags", Resources=[node.instance_id], Tags=[{"Key": BOOT_TAG}]
        )
        # EC2 API reference, "Eventual consistency": it may be shown for a while yet.
        self._wait(
            lambda: self._without_tag(node), f"{node.instance_id} has kept its tag {BOOT_TAG}", show
        )
        show(f"{node.instance_id}: rebooting")
        self.region.call("ec2", "reboot_instances", InstanceIds=[node.instance_id])
        self._wait(lambda: self._back(node), f"{node.instance_id} has not come back", show)
        self.undrain(node)
        show(f"{node.instance_id}: has passed its checks, and takes jobs")

    def replace(self, node: Node, *, force: bool, show: Callable[[str], None]) -> Node | None:
        """Terminate a node when it has no job; return the one in its place, if one comes at once.

        Args:
            node: the node.
            force: do not wait for its jobs.
            show: gets each step, and an empty text while nothing new happens.

        Raises:
            Failure: no other would be launched, or nothing would say when it has booted; or none
                has booted in time.
        """
        if reason := self.control.why_no_launch():
            raise Failure(f"{node.instance_id} is not replaced: {reason}")
        # One that boots has no tag yet; another one shows that the AMI sets it.
        if self.keeps_nodes and not any(each.boot for each in self._nodes()):
            raise Failure(
                f"{node.instance_id} is not replaced: no node of the cluster has the tag "
                f"{BOOT_TAG}, by which a node says that it has passed its checks; wait until they "
                "have booted. If their AMI is not of trainshed, none gets it: trainshed node drain "
                f"{self.scheduler.cluster} {node.instance_id}, and when it has no job: aws "
                "autoscaling terminate-instance-in-auto-scaling-group "
                f"--no-should-decrement-desired-capacity --instance-id {node.instance_id}"
            )
        self._empty(node, force=force, show=show)
        before = {each.instance_id for each in self._nodes()}
        show(f"{node.instance_id}: terminating")
        self.control.terminate(node)
        if not self.keeps_nodes:
            return None
        show("waiting for another node")
        another = self._wait(
            lambda: next(
                (
                    each
                    for each in self._nodes()
                    if each.instance_id not in before
                    if each.boot == _OK and self.control.is_joined(each)
                ),
                None,
            ),
            f"no other node has booted in the place of {node.instance_id}",
            show,
        )
        show(f"{another.instance_id}: has booted, and takes jobs")
        return another

    def _nodes(self) -> tuple[Node, ...]:
        return running_nodes(self.region, self.scheduler.cluster)

    def _empty(self, node: Node, *, force: bool, show: Callable[[str], None]) -> None:
        self.drain(node)
        show(f"{node.instance_id}: takes no more jobs")
        if force and not self.control.evict(node):
            return
        while jobs := self.jobs_on(node):
            show(f"waiting for {', '.join(job.job_id for job in jobs)}")
            show("")
            time.sleep(_PAUSE_SECONDS)

    def _now(self, node: Node) -> Node | None:
        """Return a node as it is now; None when it does not run any more."""
        return next((each for each in self._nodes() if each.instance_id == node.instance_id), None)

    def _without_tag(self, node: Node) -> Node | None:
        """Return a node when nothing is said of its boot, or it has ended."""
        now = self._now(node) or replace(node, boot="")
        return None if now.boot else now

    def _back(self, node: Node) -> Node | None:
        """Return a node when it has passed its checks."""
        now = self._now(node)
        if now is None or now.boot.startswith("failed: "):
            why = f": {now.boot.removeprefix('failed: ')}" if now else ""
            raise Failure(
                f"{node.instance_id} has not passed its checks after the reboot{why}; it powers "
                "off, and another takes its place when it is needed (docs/node-programs.md)"
            )
        return now if now.boot == _OK and self.control.is_joined(now) else None

    def _wait(
        self, look: Callable[[], Node | None], otherwise: str, show: Callable[[str], None]
    ) -> Node:
        """Look until there is a node.

        Raises:
            Failure: there is none in time.
        """
        last = time.monotonic() + _BOOT_SECONDS
        while (found := look()) is None:
            if time.monotonic() > last:
                raise Failure(
                    f"{otherwise} within {_BOOT_SECONDS // 60} minutes; docs/operate.md, "
                    '"A job waits, and nodes come and go", says where to look'
                )
            show("")
            time.sleep(_PAUSE_SECONDS)
        return found


def repair_of(region: Region, cluster: str) -> Repair:
    """Return what takes nodes of a deployed cluster out of service.

    Args:
        region: the cluster's.
        cluster: its name.

    Raises:
        Failure: it is not deployed, or not wholly.
    """
    scheduler = find_scheduler(region, cluster)
    orchestrator = Orchestrator(scheduler.outputs[ORCHESTRATOR_OUTPUT])
    return Repair(
        region=region,
        scheduler=scheduler,
        control=part(orchestrator, "repair").connect(region, cluster, scheduler.outputs),
        keeps_nodes=traits(orchestrator).keeps_nodes,
    )


def _has(job: Job, host: str) -> bool:
    there = (JobState.STARTING, JobState.RUNNING)
    return any(node.host == host and node.state in there for node in job.nodes)
