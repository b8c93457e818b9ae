"""A text that only a deployment completes."""


class Symbol(str):
    """Text with references in it, for instance `${Group.GroupId}`.

    Two equal symbols become equal texts; what they become, the template does not say.

    Attributes:
        logical_id: the resource whose reference or attribute it is, and nothing else; or None.
    """

    logical_id: str | None

    def __new__(cls, text: str, logical_id: str | None = None) -> "Symbol":
        """Make one of its text."""
        symbol = super().__new__(cls, text)
        symbol.logical_id = logical_id
        return symbol


def logical_id(text: str) -> str | None:
    """Return the resource that a text is the reference or an attribute of, or None."""
    return text.logical_id if isinstance(text, Symbol) else None
