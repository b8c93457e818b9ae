"""FSx's own data beside moto's, by id."""

from embedded_aws.actions import table

associations = table("fsx", "associations")
