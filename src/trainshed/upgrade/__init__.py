"""How a project gets another version of trainshed: first installed for a review, then pinned."""
