"""Documents made of plain data: HTML, Markdown, SVG."""
