"""Play a change in a lab: what is the case before, meanwhile, after, and on the way back."""
