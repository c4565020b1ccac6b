"""Share: the link to what a page shows, the page as Markdown, and as one HTML file."""
