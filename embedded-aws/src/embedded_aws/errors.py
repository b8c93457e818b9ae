"""Everything the embedded AWS raises on purpose, apart from what AWS itself would answer."""


class EmbeddedAwsError(Exception):
    """A bad input or a contradiction, in words for the person who must act.

    The command line prints the message without a traceback and exits with `exit_code`.
    """

    exit_code = 2
