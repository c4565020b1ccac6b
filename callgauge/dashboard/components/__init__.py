"""Components that several pages share: cards, tables, marked texts, and controls with state in the URL."""
