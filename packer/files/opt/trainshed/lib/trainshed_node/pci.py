"""What is on the PCI bus: it is there whether or not a driver knows it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path


@dataclass(frozen=True)
class Card:
    """A kind of PCI device, each field a pattern of the file of that name in /sys.

    Attributes:
        vendor: for instance `0x1d0f`, which is Amazon.
        device: for instance `0xefa*`.
        kind: class of the device, for instance `0x0302*`, a GPU without a display.
    """

    vendor: str
    device: str = "*"
    kind: str = "*"

    def fits(self, folder: Path) -> bool:
        """Return whether a folder of /sys is of a device of this kind."""
        wanted = (("vendor", self.vendor), ("device", self.device), ("class", self.kind))
        return all(fnmatch(_read(folder / name), pattern) for name, pattern in wanted)

    def count(self) -> int:
        """Return how many of them this machine has."""
        return sum(self.fits(folder) for folder in Path("/sys/bus/pci/devices").glob("*"))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


# The EC2 user guide and Amazon's driver number EFA's generations 0xefa0, 0xefa1 and so on.
EFA = Card("0x1d0f", device="0xefa*")
# The cards that each driver takes, by its table of PCI ids: Gaudi is an accelerator of Habana's;
# Inferentia and Trainium are 0x7064 to 0x7067, 0x7164, 0x7264, 0x7364, 0x7564 and 0x7565 of
# Amazon's; NVIDIA's data-centre GPUs are 3D controllers, its other GPUs VGA controllers.
ACCELERATORS = {
    "habana": (Card("0x1da3"),),
    "neuron": (Card("0x1d0f", device="0x7[0-9]6[4-7]"),),
    "nvidia": (Card("0x10de", kind="0x0302*"), Card("0x10de", kind="0x0300*")),
}
# As the condition of nvidia-fabricmanager.service has it.
NVSWITCHES = (Card("0x10de", kind="0x0680*"), Card("0x15b3"))


def count(cards: tuple[Card, ...]) -> int:
    """Return how many devices of any of these kinds this machine has."""
    return sum(card.count() for card in cards)
