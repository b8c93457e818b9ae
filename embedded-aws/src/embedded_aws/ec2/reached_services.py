"""Which services an instance reaches from its subnet.

VPC user guide, "Route tables", "NAT gateways": an instance without a public address needs a route
to NAT or another network. AWS PrivateLink guide: an interface endpoint with private names, or a
gateway endpoint of the route table, leads to one service. Not looked at: security groups, network
ACLs, policies of endpoints, and what is behind a route to another network.
"""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import UnknownServiceError
from moto.core.utils import get_service_model

# What an endpoint's service is called in boto3, where that is another name.
_CLIENTS = {"ecr.api": "ecr", "monitoring": "cloudwatch"}
# Nothing listens there: a connection is refused. On AWS it gets no answer until it times out.
_NOWHERE = "http://127.0.0.1:9"


def reaches(instance: Any, service: str) -> bool:
    """Whether moto's instance reaches a service, by its name in boto3."""
    return _has_way_out(instance) or service in _by_endpoints(instance)


def endpoint_of(instance: Any, service: str, endpoint: str) -> str:
    """Return the URL at which moto's instance finds a service.

    Args:
        instance: moto's.
        service: its name in boto3.
        endpoint: URL of the embedded AWS.
    """
    return endpoint if reaches(instance, service) else _NOWHERE


def endpoint_variables(instance: Any, endpoint: str) -> dict[str, str]:
    """Return the variables that lead a process on moto's instance to the services it reaches.

    Args:
        instance: moto's.
        endpoint: URL of the embedded AWS.
    """
    if _has_way_out(instance):
        return {"AWS_ENDPOINT_URL": endpoint}
    variables = {"AWS_ENDPOINT_URL": _NOWHERE}
    for service in _by_endpoints(instance):
        try:
            name = str(get_service_model(service).service_id)
        except UnknownServiceError:
            # It has no API of its own, as ec2messages.
            continue
        variables[f"AWS_ENDPOINT_URL_{name.upper().replace(' ', '_')}"] = endpoint
    return variables


def _route_table(instance: Any) -> Any:
    """Return the subnet's route table, or the VPC's main one."""
    tables = [
        table
        for table in instance.ec2_backend.route_tables.values()
        if table.vpc_id == instance.vpc_id
    ]
    own = (table for table in tables if instance.subnet_id in table._associations.values())
    return next(own, None) or next(table for table in tables if table.main_association_id)


def _has_way_out(instance: Any) -> bool:
    for route in _route_table(instance).routes:
        if route.destination_cidr_block != "0.0.0.0/0":
            continue
        gateway = str(getattr(route.gateway, "id", ""))
        if gateway.startswith("igw-"):
            return bool(instance.public_ip)
        return True
    return False


def _by_endpoints(instance: Any) -> Iterator[str]:
    table = _route_table(instance).id
    for endpoint in instance.ec2_backend.vpc_end_points.values():
        gateway = endpoint.vpc_endpoint_type == "Gateway"
        serves = table in endpoint.route_table_ids if gateway else endpoint.private_dns_enabled
        if endpoint.vpc_id == instance.vpc_id and endpoint.state == "available" and serves:
            name = endpoint.service_name.removeprefix(
                f"com.amazonaws.{instance.ec2_backend.region_name}."
            )
            yield _CLIENTS.get(name, name)
