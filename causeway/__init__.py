"""Causeway: an emulated multicluster testbed, from a topology file to a judged scenario."""
