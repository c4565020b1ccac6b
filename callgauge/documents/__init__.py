"""Documents for people, as one HTML file or Markdown, made from plain data without Streamlit."""
