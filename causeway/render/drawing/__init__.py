"""A site as a drawing in one file: boxes and edges, their places, the SVG, and a page on which paths are clicked."""
