"""Where the exporters of our AMIs answer; each is a service of its name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """An exporter of metrics for Prometheus.

    Attributes:
        name: of its unit of systemd, and of the job that reads it.
        port: of the loopback.
    """

    name: str
    port: int


# dcgm-exporter's default port.
DCGM = Exporter(name="nvidia-dcgm-exporter", port=9400)
OURS = Exporter(name="trainshed-exporter", port=9401)
EXPORTERS = (DCGM, OURS)
