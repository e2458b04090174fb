"""Labs on a machine's own kernel (`--clock real`), on a machine that is made for it: see __main__."""
