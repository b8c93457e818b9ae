"""What the jobs of one embedded AWS share of this machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embedded_aws.batch.job_credentials import JobCredentials
from embedded_aws.batch.job_settings import JobSettings
from embedded_aws.batch.node_instances import Host
from embedded_aws.batch.node_network import (
    BridgedNetwork,
    LoopbackNetwork,
    NodeNetwork,
    namespaces_unavailable,
)
from embedded_aws.batch.node_processes import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMachine:
    """Where the processes of jobs run.

    Attributes:
        settings: as this embedded AWS has them.
        folder: for their files.
        lock: open file, locked until none of them is left.
        port: of the embedded AWS.
        answer: serves a connection to it.
        credentials: for them.
    """

    settings: JobSettings
    folder: Path
    lock: int
    port: int
    answer: Answer
    credentials: JobCredentials = field(default_factory=JobCredentials)

    def network(self, hosts: Sequence[Host], folder: Path) -> NodeNetwork:
        """Return a network for the nodes of a job.

        Args:
            hosts: their instances.
            folder: of the job.
        """
        if self.settings.loopback or namespaces_unavailable():
            return LoopbackNetwork(len(hosts))
        addresses = [host.address for host in hosts]
        return BridgedNetwork(addresses, hosts[0].prefix, folder, self.lock)

    def seconds(self, of_batch: float) -> float:
        """Return how long a time of AWS Batch's own lasts here."""
        return of_batch / self.settings.speed
