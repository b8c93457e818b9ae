"""The vendors, served: what tests ask for."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vendors.certificates import make_certificates
from vendors.faults import Fault, write_fault
from vendors.keys import KeyRing
from vendors.pins import Pins
from vendors.server import Tree, claimed_address, serving
from vendors.site import Site
from vendors.template import copy_template


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendors:
    """Every vendor of pins.json, on one loopback address.

    Attributes:
        site: what they offer.
        tree: what the server answers from.
        address: where.
        authority: PEM file of the authority that clients must trust.
        hosts: file with lines for /etc/hosts.
        template: the copy of packer/ that can be baked from them.
    """

    site: Site
    tree: Tree
    address: str
    authority: Path
    hosts: Path
    template: Path

    @contextmanager
    def faulty(self, component: str, fault: Fault) -> Iterator[None]:
        """For a while, have one component's vendor offer what must not be installed."""
        with tempfile.TemporaryDirectory(prefix="vendor-fault-") as folder:
            gone = write_fault(self.site, component, fault, Path(folder))
            self.tree.roots.insert(0, Path(folder))
            self.tree.gone |= gone
            try:
                yield
            finally:
                self.tree.roots.remove(Path(folder))
                self.tree.gone -= gone


@contextmanager
def serve_vendors(packer: Path, folder: Path, *, region: str) -> Iterator[Vendors]:
    """Generate what packer/pins.json asks for into an empty folder, and serve it.

    Args:
        packer: the template's folder.
        folder: an empty folder, for everything.
        region: the AWS Region whose mirror of Amazon Linux is wanted.
    """
    pins = Pins.read(packer)
    www = folder / "www"
    www.mkdir()
    with claimed_address() as address, KeyRing() as keys:
        site = Site(folder=www, pins=pins, keys=keys, region=region)
        site.build()
        make_certificates(folder, site.hosts, address)
        hosts = folder / "hosts"
        hosts.write_text("".join(f"{address} {host}\n" for host in sorted(site.hosts)))
        copy_template(packer, folder / "packer", site)
        tree = Tree(roots=[www])
        with serving(tree, address, folder / "server.pem"):
            yield Vendors(
                site=site,
                tree=tree,
                address=address,
                authority=folder / "authority.crt",
                hosts=hosts,
                template=folder / "packer",
            )
