"""What a site is: its topology file as frozen objects, checked as a whole before anything starts."""
