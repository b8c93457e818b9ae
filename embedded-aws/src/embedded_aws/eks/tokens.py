"""Who a token of a cluster's user is: a presigned call of STS, which EKS makes to find out.

aws-iam-authenticator, which EKS runs: the prefix, the parameters that the URL may have, its age of
15 minutes at most whatever its own expiry says, and the header with the cluster's name, which is
signed. EKS user guide, "Grant IAM users access to Kubernetes with EKS access entries": the user
name and the groups of an entry.
"""

import re
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.error import URLError
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request, urlopen

from embedded_aws.actions import Call, Row
from embedded_aws.eks.access_entries import entry_for
from embedded_aws.eks.calls import guard
from embedded_aws.service_settings import current
from embedded_aws.signing import TIME

_PREFIX = "k8s-aws-v1."
_HEADER = "x-k8s-aws-id"
_LIFETIME = timedelta(minutes=15)
_PARAMETERS = frozenset(
    ("action", "version", "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires")
) | {"x-amz-security-token", "x-amz-signature", "x-amz-signedheaders"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ARN = re.compile("<Arn>(.+)</Arn>")
_SESSION = re.compile(r"arn:aws:sts::(\d{12}):assumed-role/([^/]+)/(.+)")


class NoUser(Exception):
    """A token is of nobody who may use the cluster; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUser:
    """A user as Kubernetes sees it.

    Attributes:
        username: of Kubernetes.
        groups: of Kubernetes.
        arn: of the caller.
        principal: ARN of the role or the user, which the access entry names.
    """

    username: str
    groups: tuple[str, ...]
    arn: str
    principal: str


def user_of(call: Call, cluster: Row, token: str) -> ClusterUser:
    """Return whose token this is.

    Args:
        call: in whose account and region the cluster is.
        cluster: it.
        token: bearer token.

    Raises:
        NoUser: nobody's who may use the cluster.
    """
    arn = _caller(_presigned(token), cluster["name"])
    session = _SESSION.fullmatch(arn)
    principal = _role(call, session[2]) if session and session[1] == call.account else arn
    mode = cluster["accessConfig"]["authenticationMode"]
    if mode == "CONFIG_MAP":
        raise NoUser("the ConfigMap aws-auth is not read here; use access entries")
    with guard:
        entry = entry_for(call, cluster["name"], principal)
    if entry is None:
        unread = "" if mode == "API" else ", and the ConfigMap aws-auth is not read here"
        raise NoUser(f"{principal} has no access entry{unread}")
    return ClusterUser(
        username=_filled(call, entry["username"], session[3] if session else ""),
        groups=tuple(entry["kubernetesGroups"]),
        arn=arn,
        principal=principal,
    )


def _presigned(token: str) -> str:
    if not token.startswith(_PREFIX):
        raise NoUser(f"it does not begin with {_PREFIX}")
    text = token.removeprefix(_PREFIX)
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
    except (NotBase64, ValueError) as error:
        raise NoUser("it is no URL in base64") from error


def _caller(url: str, cluster: str) -> str:
    """Return the ARN of who has signed a call."""
    try:
        parts = urlsplit(url)
        there = parts.hostname in _LOOPBACK and parts.port == current().port
        pairs = parse_qsl(parts.query, strict_parsing=True)
    except ValueError as error:
        raise NoUser("its URL cannot be read") from error
    if not there:
        raise NoUser("its URL is not of the STS of this embedded AWS")
    if parts.path not in ("", "/"):
        raise NoUser("its URL has a path")
    given = _checked(pairs)
    if _HEADER not in given["x-amz-signedheaders"].lower().split(";"):
        raise NoUser(f"its signature is not of the header {_HEADER}")
    try:
        made = datetime.strptime(given["x-amz-date"], TIME).replace(tzinfo=UTC)
    except ValueError as error:
        raise NoUser("its x-amz-date is no time") from error
    if datetime.now(UTC) > made + _LIFETIME:
        raise NoUser(f"it is older than {_LIFETIME}")
    try:
        with urlopen(Request(url, headers={_HEADER: cluster})) as answer:
            found = _ARN.search(answer.read().decode())
    except URLError as error:
        raise NoUser(f"STS refuses its call: {error}") from error
    if found is None:
        raise NoUser("its call is not GetCallerIdentity")
    return found[1]


def _checked(pairs: list[tuple[str, str]]) -> Mapping[str, str]:
    """Return the query of a presigned call, by names in small letters."""
    given: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        if key not in _PARAMETERS or key in given:
            raise NoUser(f"its URL has the parameter {name}, or twice")
        given[key] = value
    if given.get("action", "").lower() != "getcalleridentity":
        raise NoUser("its call is not GetCallerIdentity")
    for key in ("x-amz-signedheaders", "x-amz-date"):
        if key not in given:
            raise NoUser(f"its URL has no {key}")
    return given


def _role(call: Call, name: str) -> str:
    """Return the ARN of a role, which has its path, other than that of a session."""
    for role in call.backend("iam").roles.values():
        if role.name == name:
            return str(role.arn)
    raise NoUser(f"there is no role {name} any more")


def _filled(call: Call, username: str, session: str) -> str:
    """Fill in what a user name of an entry leaves open."""
    # From memory, the authenticator's: a session may be called as a mail address.
    filled = username.replace("{{SessionName}}", session.replace("@", "-"))
    filled = filled.replace("{{AccountID}}", call.account)
    if "{{EC2PrivateDNSName}}" in filled:
        names = {each.id: each.private_dns_name for each in call.backend("ec2").all_instances()}
        if session not in names:
            raise NoUser(f"no instance is called {session}")
        filled = filled.replace("{{EC2PrivateDNSName}}", names[session])
    return filled
