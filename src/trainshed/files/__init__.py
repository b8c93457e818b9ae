"""Files that are read and written."""

from trainshed.files.reading import (
    KIB,
    LARGEST_MADE,
    MIB,
    FoundDirectory,
    MissingFile,
    ReadError,
    TooLarge,
    read_bytes,
    read_text,
)

__all__ = [
    "KIB",
    "LARGEST_MADE",
    "MIB",
    "FoundDirectory",
    "MissingFile",
    "ReadError",
    "TooLarge",
    "read_bytes",
    "read_text",
]
