"""The frame around every page: the navigation, the command palette, keyboard shortcuts and the tour."""
