"""The huge pages that our AMIs reserve, by their own rule of udev."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from trainshed.app.sources import packer_folder
from trainshed.files import read_text

_RULES = Path("files/etc/udev/rules.d/60-trainshed-huge-pages.rules")
_RULE = re.compile(r'ATTR\{vendor\}=="(0x[0-9a-f]{4})".*?-ge (\d+)', re.S)
# PCI vendors, by what is found: `efa`, or the maker of the accelerator.
_VENDORS = {"0x1d0f": "efa", "0x1da3": "habana"}


@cache
def huge_pages() -> Mapping[str, int]:
    """Return how many pages of 2 MiB are reserved for each device that a node has."""
    text = read_text(packer_folder() / _RULES)
    return {_VENDORS[vendor]: int(pages) for vendor, pages in _RULE.findall(text)}
