"""What several pages are drawn with: cards, tables, marked texts, pickers, the state in the URL."""
