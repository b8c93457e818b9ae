"""boto3 clients of an embedded AWS, whatever the environment says."""

from functools import cache
from typing import Any

from embedded_aws.settings import SECRET_KEY, ServerSettings, access_key


@cache
def client_of(
    settings: ServerSettings,
    service: str,
    *,
    account: str | None = None,
    region: str | None = None,
) -> Any:
    """Return a boto3 client of an account and region; by default the first ones.

    The same one each time: boto3 takes 0.1 s for one of EC2.

    Args:
        settings: those of the embedded AWS, with the actual port.
        service: name of the service, as boto3 has it.
        account: account id of 12 digits.
        region: region code.
    """
    # Imported here: starting and stopping a server needs no boto3.
    import boto3

    return boto3.client(
        service,
        endpoint_url=settings.endpoint,
        aws_access_key_id=access_key(account or settings.accounts[0]),
        aws_secret_access_key=SECRET_KEY,
        region_name=region or settings.regions[0],
    )
