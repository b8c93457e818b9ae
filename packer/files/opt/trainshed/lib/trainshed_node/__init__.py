"""What the programs of a trainshed AMI share: Python 3.9, standard library only."""
