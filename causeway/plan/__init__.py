"""What must happen in a site, computed from its model alone: paths, bond members, rates."""
