"""Documents for people: one HTML file or Markdown, made of plain data; no page, store or Streamlit."""
