"""The environment variables that point AWS's tools at an embedded AWS, and nowhere else."""

import os
from collections.abc import Mapping
from pathlib import Path

from embedded_aws.settings import ServerSettings, access_key

# Variables that give a tool other credentials, another region or another endpoint.
_MISLEADING = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_USE_FIPS_ENDPOINT",
    "AWS_USE_DUALSTACK_ENDPOINT",
)
_SERVICE_ENDPOINT = "AWS_ENDPOINT_URL_"
# ECR's repositories, whose registry has this path, too, have no two hyphens in their names.
CHART_MIRROR = "/chart--mirror"


def variables(
    settings: ServerSettings,
    *,
    cdk_home: Path,
    outer: Mapping[str, str] = os.environ,
) -> dict[str, str | None]:
    """Return the variables that make AWS the embedded one; None means unset.

    Credentials are those of the embedded AWS, and the user's own `~/.aws` is not read, so that no
    call can act on a real account.

    Args:
        settings: the first account and the first region become the default.
        cdk_home: where the CDK CLI keeps its caches, in place of `~/.cdk`.
        outer: the environment in which the variables will be set.
    """
    account, region = settings.accounts[0], settings.regions[0]
    # Packer polls an instance every 15 s; machines boot in 3.
    patience = {"AWS_POLL_DELAY_SECONDS": "1"} if settings.machines else {}
    empty: dict[str, str | None] = dict.fromkeys(
        [*_MISLEADING, *(name for name in sorted(outer) if name.startswith(_SERVICE_ENDPOINT))]
    )
    return empty | {
        **patience,
        **pointing_at(
            settings.endpoint,
            region=region,
            key=access_key(account),
            secret=settings.secret_key,
        ),
        "OCI_CHART_MIRROR": settings.endpoint + CHART_MIRROR,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "CDK_DEFAULT_ACCOUNT": account,
        "CDK_DEFAULT_REGION": region,
        # The CDK CLI fetches notices and new versions, and sends usage figures.
        "CDK_HOME": str(cdk_home),
        "CDK_NOTICES": "false",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "true",
        "npm_config_update_notifier": "false",
        # Requests to `localhost` would go through a proxy, too.
        "NO_PROXY": _no_proxy(outer.get("NO_PROXY") or outer.get("no_proxy", "")),
        "no_proxy": _no_proxy(outer.get("no_proxy") or outer.get("NO_PROXY", "")),
    }


def pointing_at(endpoint: str, *, region: str, key: str, secret: str) -> dict[str, str]:
    """Return the variables with which an AWS tool calls an embedded AWS.

    Args:
        endpoint: its URL.
        region: for instance `us-west-2`.
        key: an access key id.
        secret: its secret.
    """
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def applied(changes: Mapping[str, str | None], outer: Mapping[str, str]) -> dict[str, str]:
    """Return the environment `outer` with these changes."""
    kept = {name: value for name, value in outer.items() if name not in changes}
    return kept | {name: value for name, value in changes.items() if value is not None}


def _no_proxy(present: str) -> str:
    hosts = [host for host in present.split(",") if host]
    return ",".join([*hosts, *(h for h in ("localhost", "127.0.0.1") if h not in hosts)])
