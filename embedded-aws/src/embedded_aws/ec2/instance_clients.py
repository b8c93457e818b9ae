"""Clients of AWS's services as programs on an instance have them: its role, its way to a service.

They are for what stands in for a program in the server's process; programs that run ask for the
same credentials themselves.
"""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from embedded_aws.ec2.reached_services import endpoint_of
from embedded_aws.hosts.hosts import Hosts

_USED = timedelta(hours=5)
# A call that fails is its maker's to repeat.
_CONFIG = Config(retries={"mode": "standard", "total_max_attempts": 1})


class InstanceClients:
    """The clients of one instance.

    Args:
        instance: moto's.
        hosts: of which one is the instance's.
    """

    def __init__(self, instance: Any, hosts: Hosts) -> None:
        self._instance, self._hosts = instance, hosts
        self._credentials: dict[str, str] | None = None
        self._until = datetime.now(UTC)
        self._clients: dict[tuple[str, str], Any] = {}

    def has_role(self) -> bool:
        """Whether the instance has a role, whose credentials are renewed if they are old."""
        if self._credentials is None or datetime.now(UTC) >= self._until:
            # They last for six hours of this machine.
            self._until = datetime.now(UTC) + _USED
            self._credentials = self._hosts.credentials.of(self._instance.id)
            self._clients = {}
        return self._credentials is not None

    def of(self, service: str) -> Any:
        """Return a client of a service, by its name in boto3, once `has_role` was true."""
        assert self._credentials
        endpoint = endpoint_of(self._instance, service, self._hosts.endpoint)
        if (service, endpoint) not in self._clients:
            self._clients[service, endpoint] = _session().client(
                service,
                region_name=self._instance.ec2_backend.region_name,
                endpoint_url=endpoint,
                aws_access_key_id=self._credentials["AccessKeyId"],
                aws_secret_access_key=self._credentials["SecretAccessKey"],
                aws_session_token=self._credentials["Token"],
                config=_CONFIG,
            )
        return self._clients[service, endpoint]


@cache
def _session() -> Any:
    # The models of services are read once for each session.
    return boto3.session.Session()
