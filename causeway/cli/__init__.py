"""The command line: outside a lab host a command that needs one is passed on into it."""
