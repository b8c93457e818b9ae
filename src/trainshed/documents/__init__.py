"""What the files that users write have in common: their models, forms, and mistakes by line."""

from trainshed.documents.messages import empty_message, problems_of, shown
from trainshed.documents.model import Document, Flag, Model, Whole
from trainshed.documents.problems import InvalidDocument, Path, Problem, Where
from trainshed.documents.yaml import DocumentError, YamlDocument, parse_document

__all__ = [
    "Document",
    "DocumentError",
    "Flag",
    "InvalidDocument",
    "Model",
    "Path",
    "Problem",
    "Where",
    "Whole",
    "YamlDocument",
    "empty_message",
    "parse_document",
    "problems_of",
    "shown",
]
