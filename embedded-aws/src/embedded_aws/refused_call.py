"""The error that answers a call which no service gets."""


class RefusedCall(Exception):
    """A call is answered with an error.

    Attributes:
        service: for which the call is signed; a guess for one that is not signed.
        code: of AWS.
        message: what is wrong, and what to do.
        status: the HTTP status.
    """

    def __init__(self, service: str, code: str, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.service, self.code, self.message, self.status = service, code, message, status
