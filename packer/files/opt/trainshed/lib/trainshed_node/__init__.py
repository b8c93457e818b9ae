"""What the programs of a trainshed machine image share: Python 3.9, standard library only."""
