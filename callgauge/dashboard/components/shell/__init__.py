"""The frame around every page: the navigation, the palette, the keys and the tour."""
