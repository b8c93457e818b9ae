"""What a control plane is started with, and what it then says of itself."""

import json
from dataclasses import asdict, dataclass, field

from embedded_aws.kubernetes.certificates import KeyPair, new_authority
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """Where an API server asks who a token is and, where RBAC does not, what a user may do.

    Attributes:
        authenticate: URL that takes a TokenReview.
        authorize: URL that takes a SubjectAccessReview.
    """

    authenticate: str
    authorize: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneSettings:
    """What a control plane is started with.

    Attributes:
        folder: for its data, keys, certificates and logs.
        kubernetes: the minor version.
        service_cidr: address range of services.
        webhooks: whom the API server asks; None for no tokens but those of service accounts, and
            RBAC alone.
        authority: certificate authority of the API server's certificate; by default a new one.
        vpc_access: name of a UNIX socket in the folder, by which the API server reaches nodes, pods
            and services: an HTTP proxy that knows CONNECT. Without it, they are not reached.
        audit_log: name of a file in the folder, to which the API server writes who did what; by
            default it does not.
        jobset: the manager of JobSet runs, as on EKS once its user has installed it.
        kueue: so does that of Kueue, for JobSets.
    """

    folder: str
    kubernetes: str = DEFAULT_KUBERNETES
    service_cidr: str = "10.100.0.0/16"
    webhooks: Webhooks | None = None
    authority: KeyPair = field(default_factory=new_authority, repr=False)
    vpc_access: str = ""
    audit_log: str = ""
    jobset: bool = False
    kueue: bool = False

    def to_json(self) -> str:
        """Return it in one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ControlPlaneSettings":
        """Read what `to_json` has written."""
        values = json.loads(text)
        values["authority"] = KeyPair(**values["authority"])
        if values["webhooks"]:
            values["webhooks"] = Webhooks(**values["webhooks"])
        return cls(**values)
