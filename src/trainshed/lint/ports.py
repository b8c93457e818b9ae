"""What the rules of security groups are for, by the values that EC2 and CloudFormation have."""

ALL_PORTS = range(65536)


def tcp_ports(protocol: str | None, first: int | None, last: int | None) -> range:
    """Return the TCP ports that a rule is for.

    Args:
        protocol: `-1` for all, `tcp`, `6` and so on; None when it is not known.
        first: of its ports; None when it is not known, -1 for all.
        last: of its ports; None for the first one.
    """
    if protocol == "-1":
        return ALL_PORTS
    if protocol not in ("tcp", "6") or first is None:
        return range(0)
    return ALL_PORTS if first == -1 else range(first, (first if last is None else last) + 1)
