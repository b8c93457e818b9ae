"""Serves the vendors and an embedded AWS with guests, to bake by hand.

python -m vendors FOLDER: generates everything into a new folder, prints what to type in another
terminal, and ends with Ctrl-C.
"""

import argparse
import shlex
import signal
import sys
from pathlib import Path

from vendors.bench import serve_vendors
from vendors.layers import build_layers

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.guests import GuestSettings, guests_unavailable
from embedded_aws.guests.recipe import prepared
from embedded_aws.process import start
from embedded_aws.settings import DEFAULT_REGION, ServerSettings
from trainshed.ami.packer import find_packer
from trainshed.ami.packer_compat import needs_compatible_copy, write_compatible

_PACKER = Path(__file__).parents[3] / "packer"


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder that is not there yet")
    folder: Path = parser.parse_args().folder.resolve()
    if reason := guests_unavailable():
        raise SystemExit(reason)
    folder.mkdir()
    with serve_vendors(_PACKER, folder, region=DEFAULT_REGION) as vendors:
        build_layers(folder / "layers", prepared(GuestSettings().roots), vendors.site.keys)
        guests = GuestSettings(
            hosts=vendors.hosts,
            certificate_authority=vendors.authority,
            layers=folder / "layers",
        )
        server = start(ServerSettings(machines=guests), log=folder / "server.log")
        try:
            _print_commands(EmbeddedAws(server), _template(vendors.template, folder / "template"))
            signal.pause()
        except KeyboardInterrupt:
            return
        finally:
            server.stop()


def _template(template: Path, compatible: Path) -> Path:
    if not needs_compatible_copy(find_packer().version):
        return template
    write_compatible(template, compatible)
    return compatible


def _print_commands(aws: EmbeddedAws, template: Path) -> None:
    ec2 = aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
    lines = [
        f"export {name}={shlex.quote(value)}" if value is not None else f"unset {name}"
        for name, value in aws.changes.items()
    ]
    lines.append(f"cd {shlex.quote(str(template))}")
    lines.append(
        f"packer build -var accelerator=neuron -var orchestrator=ecs -var subnet_id={subnet} "
        f"-var output={shlex.quote(str(template.parent))} ."
    )
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
