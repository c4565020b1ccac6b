"""Editors, buttons, links, and controls that keep their values in the URL."""
