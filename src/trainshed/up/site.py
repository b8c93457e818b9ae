"""Where a cluster goes, and how commands name it."""

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.app.synthesis import SynthesisedStack, read_app, synthesise, with_needed
from trainshed.aws import Region
from trainshed.plan import ClusterPlan
from trainshed.prices import PriceList, load_prices
from trainshed.region import environment_region


@dataclass(frozen=True, kw_only=True)
class Site:
    """A cluster, the region of the account that it goes to, and the project that it is from.

    Attributes:
        load: plans the cluster, by its file as it is now.
        words: how commands of trainshed name it: the name or file as typed, and its options.
        files: what `-c clusters=` of the project's app is given; None for its own default.
        region: of the account.
        nodes: of the first job.
        given_ami: id of an AMI to publish in place of one that is baked; None to bake it.
    """

    load: Callable[[], ClusterPlan]
    words: tuple[str, ...]
    files: str | None
    region: Region
    nodes: int
    given_ami: str | None = None

    @cached_property
    def plan(self) -> ClusterPlan:
        """The cluster, as its file was when it was first asked for."""
        return self.load()

    @property
    def is_embedded(self) -> bool:
        """The account is one of an embedded AWS, where stand-ins will do."""
        return bool(os.environ.get("AWS_ENDPOINT_URL"))

    @cached_property
    def account(self) -> str:
        """Number of the account that the credentials are of."""
        found: str = self.region.call("sts", "get_caller_identity")["Account"]
        return found

    @cached_property
    def prices(self) -> PriceList:
        """Prices of the region."""
        return load_prices(self.plan.region)

    def ours(self, *command: str) -> str:
        """Return the line of a command of trainshed about the cluster: its name follows."""
        return shlex.join(("trainshed", *command, *self.words))

    def cdk(self, *command: str) -> str:
        """Return the line of a command of the CDK CLI in the project."""
        context = ("-c", f"clusters={self.files}") if self.files else ()
        return self.in_region(shlex.join(("npx", "cdk", *command, *context)))

    def in_region(self, command: str) -> str:
        """Return the line of a command that knows the region by its environment only."""
        name = self.region.name
        return command if name == environment_region(os.environ) else f"AWS_REGION={name} {command}"

    @cached_property
    def stacks(self) -> Mapping[str, SynthesisedStack]:
        """The stacks that the project's app makes of the cluster, in the order of deployment.

        Raises:
            TrainshedError: there is no project here, or it does not synthesise.
        """
        with TemporaryDirectory(prefix="trainshed-up-") as folder:
            return self.synthesise_into(Path(folder))

    def synthesise_into(self, folder: Path) -> Mapping[str, SynthesisedStack]:
        """Synthesise the project's app; return the stacks of the cluster, as `stacks` does.

        Args:
            folder: for the cloud assembly.

        Raises:
            TrainshedError: as `stacks`.
        """
        app = read_app(Path())
        context = {**app.context, **({"clusters": self.files} if self.files else {})}
        app = replace(app, context=context, account=self.account, region=self.region.name)
        return with_needed(self.plan.name, synthesise(app, folder))
