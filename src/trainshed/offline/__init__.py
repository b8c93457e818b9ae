"""An AWS embedded in the toolkit: moto's server, extended until it says no where AWS does.

It imports nothing of trainshed but the catalogue, and listens on loopback only.
"""
