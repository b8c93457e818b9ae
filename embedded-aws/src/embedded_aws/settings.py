"""The settings of one embedded AWS: its accounts, its regions, the day it shows, its port."""

import json
import re
import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from functools import cache
from pkgutil import resolve_name
from typing import Any

from embedded_aws.controls import Controls
from embedded_aws.errors import EmbeddedAwsError, did_you_mean
from embedded_aws.job_settings import JobSettings
from embedded_aws.machine_settings import MachineSettings
from embedded_aws.plugins import plugins

DEFAULT_ACCOUNT = "123456789012"
DEFAULT_REGION = "us-west-2"

# Twelve letters that no real key begins with, then the account to which the key belongs.
_KEY_PREFIX = "OFFLINE0"
_LOOPBACK = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}")
# As long as AWS's.
_SECRET_KEY_BYTES = 30
# The class of machines in JSON.
_KIND = "class"


class SettingsError(EmbeddedAwsError):
    """The requested embedded AWS is not possible."""


def new_secret_key() -> str:
    """Return a secret key that nobody else has."""
    return secrets.token_urlsafe(_SECRET_KEY_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The settings of one embedded AWS.

    Attributes:
        accounts: account ids of 12 digits, the default one first.
        regions: enabled regions; the first one is the default.
        as_of: the day whose instance types exist; None for today's.
        port: TCP port on loopback; 0 for any free one.
        registry: `HOST:PORT` of a container registry on loopback, without authentication, that
            keeps what is pushed to ECR; None for an ECR that takes no pushes.
        machines: what instances are; None for no more than entries of its API.
        jobs: how jobs run.
        kubernetes: clusters of EKS have control planes of Kubernetes, which run on this machine.
        secret_key: secret of the access keys of its accounts, by which it knows its callers; by
            default a new one. It is in no argument of a command and in no log.

    Raises:
        SettingsError: a value is impossible, or AWS does not have the region.
    """

    accounts: tuple[str, ...] = (DEFAULT_ACCOUNT,)
    regions: tuple[str, ...] = (DEFAULT_REGION,)
    as_of: date | None = None
    port: int = 0
    registry: str | None = None
    machines: MachineSettings | None = None
    jobs: JobSettings = field(default_factory=JobSettings)
    kubernetes: bool = False
    secret_key: str = field(default_factory=new_secret_key, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        for account in self.accounts:
            if not re.fullmatch("[0-9]{12}", account):
                raise SettingsError(f"account {account!r} is not an account id of 12 digits")
        plugins()  # Fails now if one is broken, not later in the server.
        # The default needs no check: loading botocore's data takes 0.1 s.
        for region in self.regions:
            if region != DEFAULT_REGION and region not in _known_regions():
                hint = did_you_mean(region, _known_regions())
                raise SettingsError(f"region {region!r} is not known{hint}")
        for kind, names in (("account", self.accounts), ("region", self.regions)):
            if not names or len(set(names)) < len(names):
                raise SettingsError(f"give at least one {kind}, and none twice; got {names}")
        if not (self.port == 0 or 1024 <= self.port <= 65535):
            raise SettingsError(
                f"port {self.port} cannot be used; choose one of 1024 to 65535, or 0 for a free one"
            )
        today = datetime.now(UTC).date()
        if self.as_of and self.as_of > today:
            raise SettingsError(
                f"as-of {self.as_of} is in the future, and the instance types of that day are not "
                f"known; give a month up to {today:%Y-%m}, or none for today"
            )
        if self.registry is not None and not _LOOPBACK.fullmatch(self.registry):
            raise SettingsError(
                f"registry {self.registry!r} is not HOST:PORT on loopback, for instance "
                "127.0.0.1:5000"
            )

    @property
    def endpoint(self) -> str:
        """The URL for `AWS_ENDPOINT_URL`; path-style S3 addressing needs the name `localhost`."""
        return f"http://localhost:{self.port}"

    @property
    def controls(self) -> Controls:
        """The controls."""
        return Controls(
            endpoint=self.endpoint, key=access_key(self.accounts[0]), secret=self.secret_key
        )

    def client(self, service: str, *, account: str | None = None, region: str | None = None) -> Any:
        """Return a boto3 client of an account and region; by default the first ones.

        The same one each time: boto3 takes 0.1 s for one of EC2.

        Args:
            service: name of the service, as boto3 has it.
            account: account id of 12 digits.
            region: region code.
        """
        key = access_key(account or self.accounts[0])
        region = region or self.regions[0]
        return _client(service, self.endpoint, key, self.secret_key, region)

    def to_json(self) -> str:
        """Return the settings as `from_json` reads them."""
        values = asdict(self)
        if kind := type(self.machines) if self.machines else None:
            values["machines"][_KIND] = f"{kind.__module__}:{kind.__name__}"
        return json.dumps(values, default=str)

    @classmethod
    def from_json(cls, text: str) -> "ServerSettings":
        """Read settings.

        Raises:
            ValueError, KeyError, TypeError: they were not written by `to_json`.
        """
        values = json.loads(text)
        as_of, machines = values["as_of"], values["machines"]
        return cls(
            accounts=tuple(values["accounts"]),
            regions=tuple(values["regions"]),
            as_of=date.fromisoformat(as_of) if as_of else None,
            port=values["port"],
            registry=values["registry"],
            machines=resolve_name(machines.pop(_KIND)).from_texts(machines) if machines else None,
            jobs=JobSettings(**values["jobs"]),
            kubernetes=values["kubernetes"],
            secret_key=values["secret_key"],
        )


def parse_as_of(text: str) -> date:
    """Return the day that `YYYY-MM` (its first day), `YYYY-MM-DD` or `today` means.

    Raises:
        SettingsError: the text has none of these forms.
    """
    if text == "today":
        return datetime.now(UTC).date()
    try:
        # date also reads 20260615 and 2026-W10.
        if not re.fullmatch("[0-9]{4}-[0-9]{2}(-[0-9]{2})?", text):
            raise ValueError(text)
        return date.fromisoformat(text if len(text) != len("YYYY-MM") else f"{text}-01")
    except ValueError:
        raise SettingsError(
            f"as-of {text!r} is not a month or a day; write it as YYYY-MM or YYYY-MM-DD, for "
            "instance 2026-06, or today"
        ) from None


def access_key(account: str) -> str:
    """Return the access key id of an account, the same in every embedded AWS.

    The key contains the account, so that tools which cache the account of a key (the CDK CLI does,
    on disk) never confuse two accounts.
    """
    return _KEY_PREFIX + account


def account_of(key: str) -> str | None:
    """Return the account of one of our access key ids, or None for another key."""
    return key.removeprefix(_KEY_PREFIX) if key.startswith(_KEY_PREFIX) else None


@cache
def _client(service: str, endpoint: str, key: str, secret: str, region: str) -> Any:
    # Imported here: starting and stopping a server needs no boto3.
    import boto3

    return boto3.client(
        service,
        endpoint_url=endpoint,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        region_name=region,
    )


@cache
def _known_regions() -> tuple[str, ...]:
    import botocore.session

    return tuple(botocore.session.get_session().get_available_regions("ec2"))
