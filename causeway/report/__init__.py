"""The report: takes the results of a run and writes them as JSON, HTML, JUnit XML and terminal tables."""
