"""What a control plane is started with, and what it then says of itself."""

import json
from dataclasses import asdict, dataclass

from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneSettings:
    """What a control plane is started with.

    Attributes:
        folder: for its data, keys, certificates and logs.
        kubernetes: the minor version.
        service_cidr: address range of services.
        token_webhook: file of a kubeconfig by which the API server asks who a token is; empty for
            no tokens but those of service accounts.
        jobset: the manager of JobSet runs, as on EKS once its user has installed it.
    """

    folder: str
    kubernetes: str = DEFAULT_KUBERNETES
    service_cidr: str = "10.100.0.0/16"
    token_webhook: str = ""
    jobset: bool = False

    def to_json(self) -> str:
        """Return it in one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ControlPlaneSettings":
        """Read what `to_json` has written."""
        return cls(**json.loads(text))
