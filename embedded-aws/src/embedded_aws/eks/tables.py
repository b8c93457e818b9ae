"""What EKS has, as its Describe actions return it: clusters by name, all else by ARN."""

from collections.abc import Iterator

from embedded_aws.actions import Call, Row, Table, table
from embedded_aws.eks.calls import not_found

clusters = table("eks", "clusters")
nodegroups = table("eks", "nodegroups")
addons = table("eks", "addons")
access_entries = table("eks", "access_entries")
pod_identities = table("eks", "pod_identities")


def cluster_of(call: Call, name: str) -> Row:
    """Return a cluster.

    Raises:
        Refusal: there is none of that name.
    """
    if found := clusters(call).get(name):
        return found
    raise not_found(f"No cluster found for name: {name}.")


def of_cluster(rows: Table, name: str) -> list[Row]:
    """Return the rows of a cluster, oldest first."""
    return [row for row in rows.values() if row["clusterName"] == name]


def by_arn(call: Call) -> Iterator[tuple[str, Row]]:
    """Yield everything that has tags, with its ARN."""
    for cluster in clusters(call).values():
        yield cluster["arn"], cluster
    for rows in (nodegroups, addons, access_entries, pod_identities):
        yield from rows(call).items()
