"""The quotas that plans name."""

from embedded_aws.embedded import EmbeddedAws
from trainshed.catalogue import all_types, lookup


def test_every_quota_of_the_catalogue_exists(embedded_aws: EmbeddedAws) -> None:
    quotas = embedded_aws.client("service-quotas")
    codes = {lookup(name).on_demand_quota for name in all_types()}

    found = {
        quota["QuotaCode"] for quota in quotas.list_service_quotas(ServiceCode="ec2")["Quotas"]
    }

    assert codes <= found
