"""Where a lab runs: this machine (native), or a User-Mode-Linux kernel as a plain process (uml)."""
