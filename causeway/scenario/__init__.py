"""Run scenarios: files of scenarios/ that break one thing in a lab and judge what comes of it."""
