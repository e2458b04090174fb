"""Lessons: a story, tasks, hints, checks of the lab's state, a model solution. One folder of labs/ each."""
