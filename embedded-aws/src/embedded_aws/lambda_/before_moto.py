"""Functions are forks of a process without moto and its state, which takes half the time."""

from embedded_aws.lambda_.forks import start

__all__ = ["start"]
