"""How much of the world ranges of addresses are together."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network

from trainshed.review.model import Level

# All of IPv4, and the part of IPv6 from which global addresses come:
# https://www.iana.org/assignments/ipv6-address-space/ipv6-address-space.xhtml
_IPV4, _IPV6 = IPv4Network("0.0.0.0/0"), IPv6Network("2000::/3")
# From an eighth of it on, ranges are meant to be anybody; a 256th, an /8 of IPv4, is still far more
# than one organisation.
_SHARES = {8: Level.HIGH, 256: Level.MEDIUM}


def openness(ranges: Iterable[str]) -> Level | None:
    """Return how dangerous it is that so many public addresses are let in; None for few."""
    networks = [network for each in ranges if (network := _network(each))]
    of_4 = [each for each in networks if isinstance(each, IPv4Network) and not each.is_private]
    of_6 = [each for each in networks if isinstance(each, IPv6Network)]
    # What is wider than all that there is counts as that.
    there = [each for each in of_6 if each.subnet_of(_IPV6)]
    there += [_IPV6 for each in of_6 if _IPV6.subnet_of(each)]
    shares = (
        sum(each.num_addresses for each in collapse_addresses(of_4)) / _IPV4.num_addresses,
        sum(each.num_addresses for each in collapse_addresses(there)) / _IPV6.num_addresses,
    )
    return next((level for part, level in _SHARES.items() if max(shares) * part >= 1), None)


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:  # a group, or a reference
        return None
