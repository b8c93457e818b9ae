"""A container of a pod waits."""


class Waits(Exception):
    """A container cannot start yet; the message says why.

    Args:
        reason: one word, as kubelets have it, for instance ErrImagePull.
        message: the rest.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
