"""A plan for people: the tables of `trainshed explain`, and a picture of one node."""

from trainshed.explain.cluster import Explanation, InterfaceRow, explain
from trainshed.explain.picture import draw_node
from trainshed.explain.selection import cluster_file, is_path, refuse_duplicates

__all__ = [
    "Explanation",
    "InterfaceRow",
    "cluster_file",
    "draw_node",
    "explain",
    "is_path",
    "refuse_duplicates",
]
