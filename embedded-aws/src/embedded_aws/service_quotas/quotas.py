"""EC2's accelerator quotas in Service Quotas, of which moto has none.

[S] The codes, the names and the unit (vCPU). [I] The values: AWS's published default for
accelerator instances is 0; accounts differ. Here it is 0 until RequestServiceQuotaIncrease, which
the embedded AWS grants at once.
"""

import time
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, action

# A quota, as GetServiceQuota returns it.
Quota = dict[str, Any]

_NAMES = {
    "L-417A185B": "Running On-Demand P instances",
    "L-DB2E81BA": "Running On-Demand G and VT instances",
    "L-6E869C2A": "Running On-Demand DL instances",
    "L-2C3B7624": "Running On-Demand Trn instances",
    "L-1945791B": "Running On-Demand Inf instances",
    "L-F7808C92": "Running On-Demand HPC instances",
    "L-1216C47A": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
    "L-74FC7D96": "Running On-Demand F instances",
    "L-7295265B": "Running On-Demand X instances",
    "L-43DA4232": "Running On-Demand High Memory instances",
    "L-85EED4F7": "All DL Spot Instance Requests",
    "L-6B0D517C": "All Trn Spot Instance Requests",
    "L-7212CCBC": "All P4, P3 and P2 Spot Instance Requests",
    "L-C4BD4855": "All P5 Spot Instance Requests",
    "L-3819A6DF": "All G and VT Spot Instance Requests",
    "L-B5D1601B": "All Inf Spot Instance Requests",
    "L-34B43A08": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
}
_DEFAULTS = {"L-1216C47A": 5.0, "L-34B43A08": 5.0}


def _quota(call: Call, code: str, value: float) -> Quota:
    return {
        "ServiceCode": "ec2",
        "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
        "QuotaArn": call.arn("servicequotas", f"ec2/{code}"),
        "QuotaCode": code,
        "QuotaName": _NAMES[code],
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


@action("service-quotas", "GetServiceQuota", "GetAWSDefaultServiceQuota")
def get_service_quota(call: Call) -> Any:
    """Return an EC2 quota, as applied or by default."""
    if call.params["ServiceCode"] != "ec2":
        return call.moto()
    code = _known(call.params["QuotaCode"])
    value = _DEFAULTS.get(code, 0.0)
    if call.operation == "GetServiceQuota":
        value = _applied(call).get(code, value)
    return {"Quota": _quota(call, code, value)}


@action("service-quotas", "ListServiceQuotas", "ListAWSDefaultServiceQuotas")
def list_service_quotas(call: Call) -> Any:
    """Return every EC2 quota that the embedded AWS has."""
    if call.params["ServiceCode"] != "ec2":
        return call.moto()
    applied = _applied(call) if call.operation == "ListServiceQuotas" else {}
    return {
        "Quotas": [
            _quota(call, code, applied.get(code, _DEFAULTS.get(code, 0.0))) for code in _NAMES
        ]
    }


@action("service-quotas", "RequestServiceQuotaIncrease")
def request_service_quota_increase(call: Call) -> dict[str, Any]:
    """Grant a higher value at once."""
    code, desired = _known(call.params["QuotaCode"]), call.params["DesiredValue"]
    current = _applied(call).get(code, _DEFAULTS.get(code, 0.0))
    if desired <= current:
        raise Refusal(
            "IllegalArgumentException",
            f"The desired value {desired} must be greater than the current value {current}.",
        )
    _applied(call)[code] = desired
    quota = _quota(call, code, desired)
    return {
        "RequestedQuota": {
            **{key: quota[key] for key in ("ServiceCode", "QuotaCode", "QuotaName", "QuotaArn")},
            "Id": mock_random.get_random_hex(32),
            "DesiredValue": desired,
            "Status": "APPROVED",
            "Created": time.time(),
        }
    }


def _applied(call: Call) -> dict[str, float]:
    """Return the quotas that were raised, by code."""
    return call.state("service-quotas", "applied", dict[str, float])


def _known(code: str) -> str:
    if code not in _NAMES:
        raise Refusal(
            "NoSuchResourceException", f"The quota {code} does not exist, or is not EC2's."
        )
    return code
