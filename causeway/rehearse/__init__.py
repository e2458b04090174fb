"""A change of a site, and what it moves: read, and predicted from the model alone."""
