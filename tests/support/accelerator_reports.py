"""What neuron-monitor prints of accelerators at work (its user guide of AWS Neuron)."""

import json
from collections.abc import Mapping
from typing import Any

_MIB = 1024 * 1024


def neuron_report(devices: int, cores: Mapping[int, float], *, uncorrected: int = 0) -> str:
    """A report of neuron-monitor with the groups that are asked for.

    Args:
        devices: how many there are, each with two cores and 32 GiB.
        cores: utilization of those in use, in percent; each has 1,024 MiB.
        uncorrected: errors of device 0.
    """
    usage = {"constants": 24, "model_code": 0, "tensors": 1000}
    counters = [
        {
            "neuron_device_index": index,
            "mem_ecc_corrected": 0,
            "mem_ecc_uncorrected": 0 if index else uncorrected,
            "sram_ecc_corrected": 0,
            "sram_ecc_uncorrected": 0,
        }
        for index in range(devices)
    ]
    of_runtime: dict[str, Any] = {
        "neuroncore_counters": {
            "period": 1.0,
            "neuroncores_in_use": {
                str(core): {"neuroncore_utilization": busy, "flops": 0}
                for core, busy in cores.items()
            },
            "error": "",
        },
        "memory_used": {
            "period": 1.0,
            "neuron_runtime_used_bytes": {
                "host": 0,
                "neuron_device": 0,
                "usage_breakdown": {
                    "neuroncore_memory_usage": {
                        str(core): {kind: mib * _MIB for kind, mib in usage.items()}
                        for core in cores
                    }
                },
            },
            "error": "",
        },
    }
    runtime = {"pid": 1, "neuron_runtime_tag": "1", "error": "", "report": of_runtime}
    return json.dumps(
        {
            "neuron_runtime_data": [runtime] if cores else [],
            "system_data": {"neuron_hw_counters": {"neuron_devices": counters, "error": ""}},
            "neuron_hardware_info": {
                "neuron_device_type": "trainium1",
                "neuroncore_version": "v2",
                "neuron_device_count": devices,
                "neuron_device_memory_size": 32768 * _MIB,
                "neuroncore_per_device_count": 2,
                "logical_neuroncore_config": 1,
                "error": "",
            },
        }
    )


def neuron_monitor(report: str) -> str:
    """A stand-in of neuron-monitor, a shell script: it takes its configuration, and never ends."""
    return f"""#!/bin/sh
[ "$1" = -c ] && grep -q '"period": "1s"' "$2" || exit 1
cat <<'END'
{report}
END
exec sleep 600
"""
