"""The quotas that plans name."""

from embedded_aws.embedded import EmbeddedAws
from trainshed.catalogue import Quota, all_types, lookup


def test_every_quota_of_the_catalogue_exists(embedded_aws: EmbeddedAws) -> None:
    quotas = embedded_aws.client("service-quotas")
    named = {(quota.code, quota.name) for name in all_types() for quota in _quotas(name)}

    found = {
        (quota["QuotaCode"], quota["QuotaName"])
        for quota in quotas.list_service_quotas(ServiceCode="ec2")["Quotas"]
    }

    assert named <= found


def _quotas(name: str) -> tuple[Quota, Quota]:
    found = lookup(name)
    return found.on_demand_quota, found.spot_quota
