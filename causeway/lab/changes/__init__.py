"""Reversible changes of a lab: commands there and commands back, kept as data. Faults are those that have a name."""
