"""From a site to files: a plain containerlab file and, per node, the files its real counterpart has."""
