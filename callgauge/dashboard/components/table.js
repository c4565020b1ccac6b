// Draws one table from data, with what drawing.js holds.
const NS = "http://www.w3.org/2000/svg"

function whisker(cell, zero) {
  const svg = document.createElementNS(NS, "svg")
  svg.setAttribute("class", "whisker")
  svg.setAttribute("viewBox", "0 0 100 10")
  svg.setAttribute("preserveAspectRatio", "none")
  svg.setAttribute("aria-hidden", "true")
  const part = (className, x, width) => {
    const rect = document.createElementNS(NS, "rect")
    const tall = className === "point" || className === "zero"
    const box = { class: className, x, width, y: tall ? 0 : 3, height: tall ? 10 : 4 }
    for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value)
    svg.append(rect)
  }
  part("track", 0, 100)
  if (zero !== null) part("zero", 100 * zero - 0.3, 0.6)
  const within = (place) => Math.min(1, Math.max(0, place))
  if (cell.high !== null) {
    const low = Math.min(0.99, within(cell.low))
    part("range", 100 * low, Math.max(1, 100 * (within(cell.high) - low)))
  }
  const arrow = (points) => {
    const shape = document.createElementNS(NS, "polygon")
    shape.setAttribute("class", "beyond")
    shape.setAttribute("points", points)
    svg.append(shape)
  }
  if (cell.low < -0.001) arrow("0,5 5,0 5,10")
  if (cell.high > 1.001) arrow("100,5 95,0 95,10")
  if (within(cell.at) === cell.at) part("point", Math.min(98.4, Math.max(0, 100 * cell.at - 0.8)), 1.6)
  return svg
}

function bar(share) {
  const track = element("div", "bar")
  const fill = element("div", "fill")
  fill.style.width = `${100 * share}%`
  track.append(fill)
  return track
}

function days(shares) {
  const svg = document.createElementNS(NS, "svg")
  svg.setAttribute("class", "days")
  svg.setAttribute("viewBox", `0 0 ${6 * shares.length} 16`)
  svg.setAttribute("aria-hidden", "true")
  svg.style.width = `${6 * shares.length}px`
  shares.forEach((share, index) => {
    const rect = document.createElementNS(NS, "rect")
    const height = share > 0 ? Math.max(2, 15 * share) : 1
    const box = { class: share > 0 ? "day" : "none", x: 6 * index, y: 16 - height, width: 5, height }
    for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value)
    svg.append(rect)
  })
  return svg
}

// Spans count characters, as Python does; the strings of JavaScript count an emoji as two.
function words(cell) {
  const className = [cell.mono ? "mono" : "", cell.tone ? `tone ${cell.tone}` : ""].join(" ").trim()
  const made = cell.href ? link(cell.mono ? "mono" : "", null, cell.href) : element("span", className)
  const letters = cell.marks.length ? [...cell.text] : []
  let end = 0
  for (const [from, to] of cell.marks) {
    made.append(letters.slice(end, from).join(""), element("mark", "", letters.slice(from, to).join("")))
    end = to
  }
  made.append(end ? letters.slice(end).join("") : cell.text)
  return made
}

function content(cell, zero) {
  const holder = document.createDocumentFragment()
  holder.append(words(cell))
  if (cell.at !== null) holder.append(whisker(cell, zero))
  if (cell.share !== null) holder.append(bar(cell.share))
  if (cell.bars !== null) holder.append(days(cell.bars))
  if (cell.sub) holder.append(element("span", "sub", cell.sub))
  return holder
}

// A click beside the links of a row follows its first one; a click that ends a selection of text does not.
function opening(made) {
  const first = made.querySelector("a")
  if (!first) return
  made.className = "opens"
  made.onclick = (event) => {
    const selection = made.getRootNode().getSelection?.() ?? window.getSelection()
    if (event.target.closest("a") || String(selection)) return
    if (event.metaKey || event.ctrlKey) window.open(first.href)
    else go(first.href)
  }
}

function row(cells, columns, opens) {
  const made = element("tr")
  cells.forEach((cell, index) => {
    const place = element(index === 0 ? "th" : "td", columns[index].kind + (cell.pale ? " pale" : ""))
    if (index === 0) place.scope = "row"
    if (cell.title) place.title = cell.title
    if (cell.heat !== null) {
      place.classList.add("heat")
      place.style.setProperty("--heat", `${Math.round(100 * cell.heat)}%`)
    }
    place.append(content(cell, columns[index].zero))
    made.append(place)
  })
  if (opens) opening(made)
  return made
}

// What has no order (an unmeasured rate, say) stays at the end, whichever way the others go.
function sorted(rows, index, descending) {
  const known = rows.filter((cells) => cells[index].order !== null)
  const way = descending ? -1 : 1
  known.sort((one, other) => {
    const [a, b] = [one[index].order, other[index].order]
    return way * (typeof a === "string" ? a.localeCompare(b) : a - b)
  })
  return [...known, ...rows.filter((cells) => cells[index].order === null)]
}

function sortable(title, column, index, data, body) {
  const label = element("button", "sort", column.title)
  label.type = "button"
  label.onclick = () => {
    const numbers = data.rows.some((cells) => typeof cells[index].order === "number")
    const before = title.getAttribute("aria-sort")
    const descending = before ? before === "ascending" : numbers
    for (const other of title.parentElement.children) other.removeAttribute("aria-sort")
    title.setAttribute("aria-sort", descending ? "descending" : "ascending")
    body.replaceChildren(...sorted(data.rows, index, descending).map((cells) => row(cells, data.columns, data.opens)))
  }
  title.replaceChildren(label)
}

export default function ({ parentElement, data }) {
  const table = element("table")
  table.append(element("caption", "hidden", data.caption))
  const head = element("tr")
  const body = element("tbody")
  data.columns.forEach((column, index) => {
    const title = element("th", column.kind, column.title)
    title.scope = "col"
    if (column.width) title.style.width = column.width
    if (column.help) title.title = column.help
    if (data.rows.length > 1 && data.rows.some((cells) => cells[index].order !== null)) {
      sortable(title, column, index, data, body)
    }
    if (column.href) title.replaceChildren(link("sort", column.title, column.href))
    if (column.sorted) title.setAttribute("aria-sort", column.sorted)
    if (column.scale) {
      const scale = element("span", "scale")
      for (const end of column.scale) scale.append(element("span", "", end))
      title.append(scale)
    }
    head.append(title)
  })
  const top = element("thead")
  top.append(head)
  data.rows.forEach((cells, index) => {
    const made = row(cells, data.columns, data.opens)
    if (index === data.chosen) {
      made.classList.add("chosen")
      made.setAttribute("aria-current", "true")
    }
    body.append(made)
  })
  table.append(top, body)
  const frame = element("div", "frame")
  frame.tabIndex = 0
  frame.setAttribute("role", "region")
  frame.setAttribute("aria-label", data.caption)
  frame.append(table)
  // The first column stays in sight; its edge shows only while something has gone below it.
  frame.onscroll = () => frame.classList.toggle("scrolled", frame.scrollLeft > 0)
  const holder = parentElement.querySelector(".sheet")
  holder.replaceChildren(frame)
}
