"""What constructs raise when they are asked for something that AWS would refuse."""

from constructs import Construct

from trainshed.errors import TrainshedError


class ConstructError(TrainshedError):
    """A construct cannot be built from what it was given.

    Args:
        construct: where in the app.
        message: what is wrong, why, and what to do.
    """

    def __init__(self, construct: Construct, message: str) -> None:
        super().__init__(f"{construct.node.path}: {message}")
