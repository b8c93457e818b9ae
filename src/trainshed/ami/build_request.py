"""What one bake is: a cell, a template, and the subnets to try."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainshed.ami.revision import revision
from trainshed.ami.subnets import BuildSubnet, find_subnets, read_filter
from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.nodes.cells import Cell
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import ami_recipe, require_current_recipes
from trainshed.spec.pipeline import MOST_BUILD_MINUTES

# Stands for the subnets that only AWS knows.
LISTED = "SUBNET"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """One AMI to bake.

    Attributes:
        accelerator: `habana`, `neuron` or `nvidia`.
        agent: `ec2`, `ecs`, or `eks-` and a minor version of Kubernetes.
        template: folder of the Packer template.
        output: folder for the manifest, the reports and the log.
        base: distribution under the AMI, or None for the template's own choice.
        variables: `NAME=VALUE` of the template.
        variable_files: files of such.
        minutes: after which a build is stopped.
    """

    accelerator: str
    agent: str
    template: Path
    output: Path
    base: str | None = None
    variables: Sequence[str] = ()
    variable_files: Sequence[Path] = ()
    minutes: int

    def command(
        self, program: str, template: Path, region: str, subnet_id: str | None
    ) -> list[str]:
        """Return Packer's command line.

        Args:
            program: Packer.
            template: folder that this Packer can read.
            region: to build in.
            subnet_id: to build in, or None to leave it to the template's variables.
        """
        own = {
            "accelerator": self.accelerator,
            "orchestrator": self.agent,
            "region": region,
            "commit": revision(self.template),
            "output": str(self.output.resolve()),
        }
        if self.base is not None:
            own[f"{self.accelerator}_base"] = self.base
        if subnet_id is not None:
            own["subnet_id"] = subnet_id
        return [
            *(program, "build", "-color=false", "-timestamp-ui"),
            *(f"-var-file={path.resolve()}" for path in self.variable_files),
            *(f"-var={variable}" for variable in self.variables),
            *(f"-var={name}={value}" for name, value in own.items()),
            str(template),
        ]

    def check(self) -> None:
        """Refuse, before AWS is asked, a bake that cannot succeed.

        Raises:
            TrainshedError: there is no such AMI, no template there, or a value is wrong.
        """
        cell = f"{self.accelerator}/{self.agent}"
        if cell not in tuple(Cell):
            raise TrainshedError(f"there is no AMI for {cell}, only for {', '.join(Cell)}")
        if not list(self.template.glob("*.pkr.hcl")):
            raise TrainshedError(
                f"{self.template} has no Packer template (*.pkr.hcl); give the folder that has it"
            )
        for variable in self.variables:
            if "=" not in variable:
                raise TrainshedError(f"the variable {variable!r} is not NAME=VALUE")
        if not 1 <= self.minutes <= MOST_BUILD_MINUTES:
            raise TrainshedError(
                f"minutes must be at least 1 and at most {MOST_BUILD_MINUTES}, got {self.minutes}"
            )
        pins = read_pins(self.template / "pins.json")
        ami_recipe(pins, self.accelerator, self.agent, self.base)
        require_current_recipes(self.template, pins)

    def subnets(
        self, region: Region, *, named: Sequence[str], filters: Sequence[str]
    ) -> Sequence[BuildSubnet | None]:
        """Return the subnets to try in turn; only None when the template's variables choose.

        Args:
            region: to build in.
            named: ids of subnets.
            filters: `NAME=VALUE` of ec2:DescribeSubnets.

        Raises:
            TrainshedError: a malformed filter, or no subnet.
            AwsRefusal: a subnet does not exist, or a permission is missing.
        """
        if self._variables_choose and not (named or filters):
            return [None]
        return find_subnets(region, named=named, filters=filters)

    def foreseen_subnets(
        self, *, named: Sequence[str], filters: Sequence[str]
    ) -> Sequence[str | None]:
        """Return what `subnets` would, as far as it is known without asking AWS.

        Args:
            named: ids of subnets.
            filters: `NAME=VALUE` of ec2:DescribeSubnets.

        Returns:
            Ids; None when the template's variables choose; `SUBNET` for those that AWS would list.

        Raises:
            TrainshedError: a malformed filter.
        """
        for text in filters:
            read_filter(text)
        if named:
            return list(dict.fromkeys(named))
        return [None if self._variables_choose and not filters else LISTED]

    @property
    def _variables_choose(self) -> bool:
        """Whether the template's variables may choose the subnet."""
        return bool(self.variable_files) or any(one.startswith("subnet_") for one in self.variables)
