"""The settings of the jobs of one embedded AWS."""

from dataclasses import dataclass

from embedded_aws.errors import EmbeddedAwsError

_FASTEST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """How jobs run.

    Attributes:
        loopback: nodes have addresses of loopback, also where they could have networks of their
            own.
        speed: how many times faster than on AWS the times pass that AWS Batch waits: time-outs,
            time limits of states, the time between SIGTERM and SIGKILL. Those of EC2 Auto Scaling,
            EKS and creation policies, too.

    Raises:
        EmbeddedAwsError: the speed is impossible.
    """

    loopback: bool = False
    speed: float = 1

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if not 0 < self.speed <= _FASTEST:
            raise EmbeddedAwsError(f"job speed {self.speed} must be above 0, at most {_FASTEST}")
