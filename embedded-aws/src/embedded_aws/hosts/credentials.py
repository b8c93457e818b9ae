"""The credentials of roles for processes, which ask an endpoint for them.

ECS developer guide, "Task IAM role": a container asks an endpoint, whose answer has these members.
From memory: six hours.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from moto.backends import get_backend

from embedded_aws.actions import Call

CREDENTIALS_PATH = "/_embedded-aws/role-credentials/"
_LIFE = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class _Session:
    call: Call
    role: str
    token: str


class RoleCredentials:
    """The sessions that may ask for credentials.

    Args:
        endpoint: URL of this embedded AWS.
    """

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._sessions: dict[str, _Session] = {}

    def grant(self, call: Call, session: str, role: str) -> dict[str, str]:
        """Let processes ask; return the variables that they need for that.

        Args:
            call: of the role's account.
            session: name of the role's session. Who was granted the same before keeps what it has.
            role: ARN.
        """
        found = self._sessions.get(session)
        token = found.token if found and found.role == role else secrets.token_urlsafe(24)
        self._sessions[session] = _Session(call, role, token)
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{self._endpoint}{CREDENTIALS_PATH}{session}",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": token,
        }

    def revoke(self, session: str) -> None:
        """Answer a session no more."""
        self._sessions.pop(session, None)

    def answer(self, session: str, token: str) -> dict[str, str] | None:
        """Return credentials of a session's role, or None if session or token are unknown."""
        found = self._sessions.get(session)
        if found is None or not secrets.compare_digest(found.token.encode(), token.encode()):
            return None
        return self.of(session)

    def of(self, session: str) -> dict[str, str] | None:
        """Return new credentials of a session's role, or None if the session is unknown."""
        found = self._sessions.get(session)
        if found is None:
            return None
        sts = get_backend("sts")[found.call.account][found.call.response.partition]
        assumed = sts.assume_role(
            region_name=found.call.region,
            role_session_name=session,
            role_arn=found.role,
            policy="",
            duration=int(_LIFE.total_seconds()),
            external_id="",
        )
        return {
            "RoleArn": found.role,
            "AccessKeyId": assumed.access_key_id,
            "SecretAccessKey": assumed.secret_access_key,
            "Token": assumed.session_token,
            "Expiration": (datetime.now(UTC) + _LIFE).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
