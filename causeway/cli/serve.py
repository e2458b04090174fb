"""In a UML lab host: this command line, for whoever is outside."""

from causeway.cli.app import main
from causeway.hosts.agent import Agent

if __name__ == "__main__":
    Agent(main).serve()
