"""The vocabulary of scenarios: streams, channels, files, logins, trust, membership, frames."""
