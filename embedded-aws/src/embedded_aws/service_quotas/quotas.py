"""Quotas in Service Quotas: EC2's and EKS's, of which moto has none, and what moto has.

Documented: the codes, the names and the unit (vCPU). Inferred: the values: AWS's published default
for accelerator instances is 0; accounts differ. EKS user guide, "View and manage Amazon EKS and
Fargate service quotas": those of EKS; their codes are from scripts of others. Documented:
RequestServiceQuotaIncrease makes a request, which is PENDING until somebody at AWS decides; here
the control of `grants.py` sets the value.
"""

import time
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, action, existing, table
from embedded_aws.service_quotas.grants import applied_in

# A quota, as GetServiceQuota returns it.
Quota = dict[str, Any]

_SERVICES = {
    "ec2": "Amazon Elastic Compute Cloud (Amazon EC2)",
    "eks": "Amazon Elastic Kubernetes Service (Amazon EKS)",
}
_EC2 = {
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
    "L-0263D0A3": "EC2-VPC Elastic IPs",
    "L-34B43A08": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
}
_EKS = {
    "L-1194D53C": "Clusters",
    "L-6D54EA21": "Managed node groups per cluster",
    "L-BD136A63": "Nodes per managed node group",
}
_NAMES = {"ec2": _EC2, "eks": _EKS}
_DEFAULTS = {
    **{"L-1216C47A": 5.0, "L-34B43A08": 5.0, "L-0263D0A3": 5.0},
    **{"L-1194D53C": 100.0, "L-6D54EA21": 30.0, "L-BD136A63": 450.0},
}

_requests = table("service-quotas", "requests")


def _quota(call: Call, service: str, code: str) -> Quota:
    return {
        "ServiceCode": service,
        "ServiceName": _SERVICES[service],
        "QuotaArn": call.arn("servicequotas", f"{service}/{code}"),
        "QuotaCode": code,
        "QuotaName": _NAMES[service][code],
        "Value": _DEFAULTS.get(code, 0.0),
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


def _defaults(call: Call, service: str) -> list[Quota]:
    """Return every quota that the embedded AWS has of a service."""
    if service in _NAMES:
        return [_quota(call, service, code) for code in _NAMES[service]]
    found: list[Quota] = call.backend("service-quotas").list_aws_default_service_quotas(service)
    return found


def _applied(call: Call, quota: Quota) -> Quota:
    granted = applied_in(call.account, call.region)
    key = quota["ServiceCode"], quota["QuotaCode"]
    return {**quota, "Value": granted.get(key, quota["Value"])}


def applied_value(call: Call, service: str, code: str) -> float:
    """Return what an account may have of a quota of EC2 or EKS."""
    return float(_applied(call, _quota(call, service, code))["Value"])


def _named(call: Call) -> Quota:
    """Return the default of the quota that a call names."""
    service, code = call.params["ServiceCode"], call.params["QuotaCode"]
    quotas = {quota["QuotaCode"]: quota for quota in _defaults(call, service)}
    return existing(
        quotas.get(code),
        "NoSuchResourceException",
        f"The quota {code} does not exist, or is not one of {service}.",
    )


@action("service-quotas", "GetServiceQuota")
def get_service_quota(call: Call) -> dict[str, Any]:
    """Return what the account may have."""
    return {"Quota": _applied(call, _named(call))}


@action("service-quotas", "GetAWSDefaultServiceQuota")
def get_aws_default_service_quota(call: Call) -> dict[str, Any]:
    """Return what a new account may have."""
    return {"Quota": _named(call)}


@action("service-quotas", "ListServiceQuotas")
def list_service_quotas(call: Call) -> dict[str, Any]:
    """Return what the account may have, of every quota of a service."""
    quotas = _defaults(call, call.params["ServiceCode"])
    return {"Quotas": [_applied(call, quota) for quota in quotas]}


@action("service-quotas", "ListAWSDefaultServiceQuotas")
def list_aws_default_service_quotas(call: Call) -> dict[str, Any]:
    """Return what a new account may have, of every quota of a service."""
    return {"Quotas": _defaults(call, call.params["ServiceCode"])}


@action("service-quotas", "RequestServiceQuotaIncrease")
def request_service_quota_increase(call: Call) -> dict[str, Any]:
    """Note a request; its value comes when it is granted."""
    quota, desired = _applied(call, _named(call)), call.params["DesiredValue"]
    if desired <= quota["Value"]:
        raise Refusal(
            "IllegalArgumentException",
            f"The desired value {desired} must be greater than the current value {quota['Value']}.",
        )
    pending = [
        row
        for row in _shown_requests(call)
        if row["QuotaCode"] == quota["QuotaCode"] and row["Status"] == "PENDING"
    ]
    if pending:
        raise Refusal(
            "ResourceAlreadyExistsException",
            f"There is a request for {quota['QuotaCode']} already: {pending[0]['Id']}.",
        )
    keys = ("ServiceCode", "ServiceName", "QuotaCode", "QuotaName", "QuotaArn", "Unit")
    request: Row = {
        **{key: quota[key] for key in keys},
        "Id": mock_random.get_random_hex(32),
        "DesiredValue": desired,
        "Created": time.time(),
    }
    _requests(call)[request["Id"]] = request
    return {"RequestedQuota": _shown(call, request)}


@action("service-quotas", "GetRequestedServiceQuotaChange")
def get_requested_service_quota_change(call: Call) -> dict[str, Any]:
    """Return a request."""
    request_id = call.params["RequestId"]
    request = existing(
        _requests(call).get(request_id),
        "NoSuchResourceException",
        f"The request {request_id} does not exist.",
    )
    return {"RequestedQuota": _shown(call, request)}


@action("service-quotas", "ListRequestedServiceQuotaChangeHistory")
def list_requested_service_quota_change_history(call: Call) -> dict[str, Any]:
    """Return the requests, of one service and status if these are named."""
    rows = _shown_requests(call)
    for name in ("ServiceCode", "Status"):
        wanted = call.params.get(name)
        rows = [row for row in rows if wanted in (None, row[name])]
    return {"RequestedQuotas": rows}


def _shown_requests(call: Call) -> list[Row]:
    return [_shown(call, request) for request in _requests(call).values()]


def _shown(call: Call, request: Row) -> Row:
    """Return a request with its status: approved when the account may have as much."""
    granted = applied_in(call.account, call.region)
    value = granted.get((request["ServiceCode"], request["QuotaCode"]), 0.0)
    approved = value >= request["DesiredValue"]
    return {**request, "Status": "APPROVED" if approved else "PENDING"}
