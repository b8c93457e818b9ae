"""FSx's own data beside moto's, by id or ARN.

Rows are as Describe actions return them.
"""

from embedded_aws.actions import Call, Table


def data_repository_associations(call: Call) -> Table:
    """Return the FSx data repository associations, by id."""
    return call.state("fsx", "associations", Table)
