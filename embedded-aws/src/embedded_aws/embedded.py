"""An embedded AWS for tests: clients, deployments, reset."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embedded_aws.controls import (
    CAPACITY_BLOCKS_PATH,
    CLOCK_PATH,
    RESET_PATH,
    SPOT_NOTICES_PATH,
    SPOT_PRICES_PATH,
    STORAGE_PATH,
)
from embedded_aws.environment import applied, variables
from embedded_aws.faults import FAULTS_PATH, Fault
from embedded_aws.process import Server
from embedded_aws.role_use import RoleUse, read_role_uses
from embedded_aws.service_quotas.grants import QUOTAS_PATH
from embedded_aws.settings import ServerSettings

if TYPE_CHECKING:
    import pytest

    from embedded_aws.deployment import Deployment


@dataclass(frozen=True, slots=True)
class EmbeddedAws:
    """A running embedded AWS.

    Attributes:
        server: its process.
    """

    server: Server

    @property
    def endpoint(self) -> str:
        """The URL for `endpoint_url` and `AWS_ENDPOINT_URL`."""
        return self.settings.endpoint

    @property
    def settings(self) -> ServerSettings:
        """Its accounts and regions, the default ones first."""
        return self.server.settings

    @property
    def log(self) -> Path:
        """The file with its requests and tracebacks."""
        return self.server.log

    @property
    def changes(self) -> dict[str, str | None]:
        """The variables that point AWS's tools here; None means unset."""
        return variables(self.settings, cdk_home=self.log.parent / "cdk")

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment, pointing here: for `subprocess.run(..., env=...)`."""
        return applied(self.changes, os.environ)

    def lead_here(self, monkeypatch: "pytest.MonkeyPatch") -> None:
        """Make `boto3.client("ec2")` of the code under test call this embedded AWS."""
        for name, value in self.changes.items():
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        # It remembers the secret of the embedded AWS that an earlier test led to.
        monkeypatch.setattr("boto3.DEFAULT_SESSION", None)

    def client(self, service: str, *, account: str | None = None, region: str | None = None) -> Any:
        """Return a boto3 client of an account and region; by default the first ones."""
        return self.settings.client(service, account=account, region=region)

    def client_of_role(self, role: str) -> Callable[[str], Any]:
        """Return what makes boto3 clients, by their services, of a session of a role.

        Args:
            role: its ARN.
        """
        from boto3.session import Session

        given = self.client("sts").assume_role(RoleArn=role, RoleSessionName="role")["Credentials"]
        session = Session(
            given["AccessKeyId"],
            given["SecretAccessKey"],
            given["SessionToken"],
            region_name=self.settings.regions[0],
        )
        return partial(session.client, endpoint_url=self.endpoint)

    def reset(self, *, as_of: str | None = None) -> None:
        """Empty every account and seed it again.

        Args:
            as_of: the day shown from now on, `YYYY-MM-DD`; by default the one of the settings.
        """
        self.settings.controls.post(RESET_PATH, {"as_of": as_of})

    def let_pass(self, *, days: float = 0, hours: float = 0) -> None:
        """Let time pass at once for what waits for hours or days, for instance S3's lifecycles."""
        self.settings.controls.post(CLOCK_PATH, {"days": days, "hours": hours})

    def fail(self, *faults: Fault) -> None:
        """Answer these calls with errors from now on; without arguments, end all faults."""
        self.settings.controls.post(FAULTS_PATH, [asdict(fault) for fault in faults])

    def grant_quota(self, code: str, value: float, *, service: str = "ec2") -> None:
        """Set a quota of the first account and region, as when AWS grants a request.

        Args:
            code: for instance `L-2C3B7624`.
            value: what the account may have from now on.
            service: whose quota it is.
        """
        grant = {"service": service, "code": code, "value": value}
        self.settings.controls.post(QUOTAS_PATH, [grant])

    def notify_spot(
        self, instance_id: str, notice: str = "interruption", *, seconds: float | None = None
    ) -> None:
        """Have EC2 tell a Spot Instance that it takes it back, or that it may.

        Args:
            instance_id: of the instance.
            notice: `interruption`, by which it is terminated later, or `rebalance`.
            seconds: of this machine until it is terminated; by default what AWS's two minutes are.
        """
        found = {"instance": instance_id, "notice": notice, "seconds": seconds}
        self.settings.controls.post(SPOT_NOTICES_PATH, [found])

    def begin_block(self, block: str) -> None:
        """Have a Capacity Block that was bought begin now.

        Args:
            block: its id, `cr-...`.
        """
        found = {"block": block, "window": "begins"}
        self.settings.controls.post(CAPACITY_BLOCKS_PATH, [found])

    def end_block(self, block: str, *, seconds: float | None = None) -> None:
        """Have EC2 warn that a Capacity Block ends, and end its instances later.

        Args:
            block: its id, `cr-...`.
            seconds: of this machine from the warning until its instances are ended; by default what
                AWS's ten minutes are.
        """
        found = {"block": block, "window": "ends", "seconds": seconds}
        self.settings.controls.post(CAPACITY_BLOCKS_PATH, [found])

    def set_spot_price(self, instance_type: str, usd: float) -> None:
        """Set the price of a type on Spot, in USD an hour: what may cost less is taken back."""
        self.settings.controls.post(SPOT_PRICES_PATH, {instance_type: usd})

    def fill_storage(self, file_system: str, gib: float) -> None:
        """Have a Lustre file system hold data beside the files that are here.

        Args:
            file_system: its id, `fs-...`.
            gib: how much, up to its storage capacity; 0 for none.
        """
        found = {"file_system": file_system, "gib": gib}
        self.settings.controls.post(STORAGE_PATH, [found])

    def roles(self, name: str = "") -> list[RoleUse]:
        """Return which granted actions roles used, which they never used, and what was denied.

        Args:
            name: part of the roles' names; by default all roles.
        """
        return read_role_uses(self.settings.controls, name)

    def deploy(
        self,
        template: Mapping[str, Any],
        *,
        stack_name: str = "Stack",
        parameters: Mapping[str, str] | None = None,
    ) -> "Deployment":
        """Deploy a template through CloudFormation's API; no bootstrap, no Node.

        Raises:
            DeploymentFailed: with every resource that failed, and why.
        """
        from embedded_aws.deployment import deploy_template

        return deploy_template(
            self.client("cloudformation"),
            self.client("s3"),
            template,
            stack_name=stack_name,
            parameters=parameters or {},
        )

    def cdk_deploy(self, assembly: Path | str, *stacks: str) -> dict[str, "Deployment"]:
        """Deploy a cloud assembly (`cdk.out`) with the real CDK CLI, bootstrapping if needed.

        Args:
            assembly: the folder that `app.synth().directory` names.
            stacks: names of stacks, which are deployed with their dependencies; by default all of
                the assembly.

        Returns:
            The deployments by stack name.

        Raises:
            DeploymentFailed: with the CDK CLI's output.
        """
        from embedded_aws.deployment import deploy_assembly

        return deploy_assembly(
            self.client("cloudformation"),
            Path(assembly),
            stacks,
            environment=self.environment,
        )
