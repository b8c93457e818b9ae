"""Users of a cluster's API server: tokens as the AWS CLI makes them, and what they are answered."""

import base64
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from embedded_aws.embedded import EmbeddedAws

_QUERY = "?Action=GetCallerIdentity&Version=2011-06-15"


def credentials_of(aws: EmbeddedAws, role: str, session: str = "person") -> Credentials:
    """Return those of a session of a role."""
    given = aws.client("sts").assume_role(RoleArn=role, RoleSessionName=session)["Credentials"]
    return Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])


def own_credentials(aws: EmbeddedAws) -> Credentials:
    """Return those of the account."""
    key = aws.settings.controls.key
    return Credentials(key, aws.settings.secret_key)


def token(
    aws: EmbeddedAws,
    cluster: str,
    credentials: Credentials,
    *,
    query: str = _QUERY,
    headers: Mapping[str, str] | None = None,
) -> str:
    """Return a token as `aws eks get-token` makes it.

    Args:
        aws: whose STS is asked.
        cluster: name, for which it is.
        credentials: of the user.
        query: of the call.
        headers: that are signed; by default the cluster's name.
    """
    signed = {"x-k8s-aws-id": cluster} if headers is None else headers
    request = AWSRequest("GET", f"{aws.endpoint}/{query}", headers=dict(signed))
    SigV4QueryAuth(credentials, "sts", "us-west-2", expires=60).add_auth(request)
    return "k8s-aws-v1." + base64.urlsafe_b64encode(request.url.encode()).decode().rstrip("=")


def asked(
    cluster: Mapping[str, Any], bearer: str, method: str, path: str, body: object = None
) -> tuple[int, Any]:
    """Return the status and the answer of a cluster's API server.

    Args:
        cluster: as DescribeCluster shows it, whose certificate authority is trusted.
        bearer: token.
        method: of HTTP.
        path: with its query.
        body: sent as JSON.
    """
    authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
    request = Request(
        cluster["endpoint"] + path,
        json.dumps(body).encode() if body is not None else None,
        {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"},
        method=method,
    )
    context = ssl.create_default_context(cadata=authority)
    try:
        with urlopen(request, context=context) as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
