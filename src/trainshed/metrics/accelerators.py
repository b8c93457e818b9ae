"""What nodes tell about their accelerators, by maker.

Names are those of the makers' exporters:

- NVIDIA: dcgm-exporter, `etc/default-counters.csv`. None is a profiling metric (`DCGM_FI_PROF_*`),
  which would take counters from the profiler of a job. The AMI for EKS has no DCGM, so its own
  exporter prints these names from `nvidia-smi`, which does not tell the last XID.
- Neuron: `neuron-monitor-prometheus.py` of aws-neuronx-tools, as its output is published. A core
  has a ratio only while a runtime uses it: no data means that nothing runs. That program needs a
  Python package that the AMI does not have, so the AMI's own exporter prints these names from
  `neuron-monitor`.
- Habana: Intel's guide "Prometheus Metric Exporter". That exporter is a container only, so the
  AMI's own exporter prints these names from `hl-smi`. `trainshed_hpu_ecc_uncorrected` is a name of
  ours, for Intel's exporter counts no such errors.
"""

from dataclasses import dataclass

from trainshed.metrics.exporters import DCGM, OURS, Exporter
from trainshed.metrics.metric import Metric, MetricUnit, Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorMetrics:
    """The metrics of a maker's accelerators.

    Attributes:
        utilization: how busy a device is.
        full_utilization: its value when a device is busy all the time.
        is_always_sent: each device sends its utilization all the time, so that devices can be
            counted; a core of Neuron sends it only while a runtime uses it.
        memory_used: of a device.
        faults: each above 0 when a device has a fault.
        temperature: in degrees Celsius; None where no exporter tells.
        hottest: above which a device slows down soon; None where no source says it.
        others: further ones.
    """

    utilization: Metric
    full_utilization: float
    is_always_sent: bool = True
    memory_used: Metric
    faults: tuple[Metric, ...]
    temperature: Metric | None = None
    hottest: float | None = None
    others: tuple[Metric, ...] = ()

    @property
    def all(self) -> tuple[Metric, ...]:
        """Each of them."""
        temperature = (self.temperature,) if self.temperature else ()
        return (self.utilization, self.memory_used, *self.faults, *temperature, *self.others)

    @property
    def percent(self) -> float:
        """By what a value of the utilization is multiplied for percent."""
        return 100 / self.full_utilization


def accelerator_metrics(accelerator: str, agent: str) -> AcceleratorMetrics:
    """Return the metrics of a maker's accelerators.

    Args:
        accelerator: `habana`, `neuron` or `nvidia`.
        agent: of the AMI, for instance `ecs` or `eks-1.35`.
    """
    if accelerator == "nvidia":
        return _OF_SMI if agent.startswith("eks") else _OF_DCGM
    return _METRICS[accelerator]


def _gauge(
    exporter: Exporter,
    name: str,
    unit: MetricUnit,
    statistic: Statistic,
    *,
    label: tuple[str, str] | None = None,
) -> Metric:
    return Metric(name=name, unit=unit, statistic=statistic, source=exporter.name, label=label)


def _counter(exporter: Exporter, name: str, *, label: tuple[str, str] | None = None) -> Metric:
    return Metric(
        name=name,
        unit=MetricUnit.COUNT,
        statistic=Statistic.SUM,
        source=exporter.name,
        label=label,
        is_counter=True,
    )


def _nvidia(exporter: Exporter, *others: Metric) -> AcceleratorMetrics:
    """Return the metrics of GPUs that an exporter shows, with further ones."""
    return AcceleratorMetrics(
        utilization=_gauge(exporter, "DCGM_FI_DEV_GPU_UTIL", MetricUnit.PERCENT, Statistic.AVERAGE),
        full_utilization=100,
        memory_used=_gauge(
            exporter, "DCGM_FI_DEV_FB_USED", MetricUnit.MEGABYTES, Statistic.MAXIMUM
        ),
        faults=(
            _counter(exporter, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"),
            _gauge(exporter, "DCGM_FI_DEV_ROW_REMAP_FAILURE", MetricUnit.NONE, Statistic.MAXIMUM),
        ),
        temperature=_gauge(exporter, "DCGM_FI_DEV_GPU_TEMP", MetricUnit.NONE, Statistic.MAXIMUM),
        # `nvidia-smi -q` of an H100 SXM: "GPU Max Operating Temp: 87 C", "GPU Slowdown Temp: 89 C".
        # Inferred: that NVIDIA's other types are alike.
        hottest=87,
        others=(
            _counter(exporter, "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"),
            _gauge(exporter, "DCGM_FI_DEV_POWER_USAGE", MetricUnit.NONE, Statistic.AVERAGE),
            *others,
        ),
    )


# The number of the last XID, until the node boots: a gauge, not a count. It is no fault of the GPU
# by itself: many of them are mistakes of a job (NVIDIA, "XID Errors").
_OF_DCGM = _nvidia(DCGM, _gauge(DCGM, "DCGM_FI_DEV_XID_ERRORS", MetricUnit.NONE, Statistic.MAXIMUM))
_OF_SMI = _nvidia(OURS)
_METRICS = {
    "neuron": AcceleratorMetrics(
        utilization=_gauge(
            OURS, "neuroncore_utilization_ratio", MetricUnit.NONE, Statistic.AVERAGE
        ),
        full_utilization=1,
        is_always_sent=False,
        memory_used=_gauge(
            OURS,
            "neuron_runtime_memory_used_bytes",
            MetricUnit.BYTES,
            Statistic.MAXIMUM,
            label=("memory_location", "neuron_device"),
        ),
        faults=(
            _counter(
                OURS,
                "hardware_ecc_events_total",
                label=("event_type", "(mem|sram)_ecc_uncorrected"),
            ),
            _counter(OURS, "execution_errors_total", label=("error_type", "hardware")),
        ),
    ),
    "habana": AcceleratorMetrics(
        utilization=_gauge(OURS, "habanalabs_utilization", MetricUnit.PERCENT, Statistic.AVERAGE),
        full_utilization=100,
        memory_used=_gauge(
            OURS, "habanalabs_memory_used_bytes", MetricUnit.BYTES, Statistic.MAXIMUM
        ),
        faults=(_counter(OURS, "trainshed_hpu_ecc_uncorrected"),),
        temperature=_gauge(
            OURS, "habanalabs_temperature_onchip", MetricUnit.NONE, Statistic.MAXIMUM
        ),
        others=(_gauge(OURS, "habanalabs_power_mW", MetricUnit.NONE, Statistic.AVERAGE),),
    ),
}
