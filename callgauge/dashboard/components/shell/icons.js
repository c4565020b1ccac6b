// Icons of the pages: one path each, drawn as a line in a box of 24 by 24.
const ICONS = {
  overview: "M4 18.5a9 9 0 1 1 16 0M12 14.5l4.2-5.2M12 14.5h.01",
  models: "M5 20v-6M12 20V4M19 20v-9",
  prompts: "M4 6h16M4 12h9M4 18h6M14 19l6-6M14 19v-2.6M14 19h2.6",
  compare: "M4 8h13M13.5 4.5 17 8l-3.5 3.5M20 16H7M10.5 12.5 7 16l3.5 3.5",
  decisions: "M6.5 3.5h11V20.5L12 16.4 6.5 20.5z",
  trials: "M4 5h10M4 12h10M4 19h10M17.5 5l1.2 1.2L21 3.8M17.5 12l1.2 1.2L21 10.8M17.6 17.6l3 3M20.6 17.6l-3 3",
  tools: "M14.5 4.2a5 5 0 0 0-5.7 6.8L3.9 15.9a2.97 2.97 0 0 0 4.2 4.2l4.9-4.9a5 5 0 0 0 6.8-5.7l-3.2 3.2-3.6-.8-.8-3.6z",
  errors: "M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 1 0 0-17M12 8v5M12 16.3v.01",
  matrix: "M4 4h16v16H4zM4 9.33h16M4 14.67h16M9.33 4v16M14.67 4v16",
  calls: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  sessions: "M4 5h16v11h-9.5L6 20v-4H4z",
  data: "M4.5 6a7.5 2.7 0 1 0 15 0a7.5 2.7 0 1 0-15 0M4.5 6v12a7.5 2.7 0 0 0 15 0V6M4.5 12a7.5 2.7 0 0 0 15 0",
  playground: "M9 3.5h6M10 3.5V9l-5 9a1.7 1.7 0 0 0 1.5 2.5h11A1.7 1.7 0 0 0 19 18l-5-9V3.5M7.8 14.5h8.4",
  glossary: "M6 4h12v16H7.5A1.5 1.5 0 0 1 6 18.5zM6 18.5A1.5 1.5 0 0 1 7.5 17H18M9.5 8h5",
  sql: "M4 5h16v14H4zM7.5 9.5l2.8 2.5-2.8 2.5M12.8 15h3.7",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M15.5 15.5 20.5 20.5",
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  svg.setAttribute("viewBox", "0 0 24 24")
  svg.setAttribute("aria-hidden", "true")
  svg.setAttribute("class", "icon")
  path.setAttribute("d", ICONS[name] ?? "")
  svg.append(path)
  return svg
}

