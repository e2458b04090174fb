"""A running lab, seen from its lab host: bring it up, look at it, run commands on its nodes."""
