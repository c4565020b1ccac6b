// Draws one table from data, with what drawing.js holds.
const NS = "http://www.w3.org/2000/svg"
const WRAPPING = new Set(["name", "file", "text"])
const FIGURES = new Set(["number", "cell", "tight"])

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

// A long name breaks after a separator before it breaks within a word.
function appendText(place, text) {
  text.split(/(?<=[_:/])(?=[^\s_:/])/).forEach((part, index) => place.append(...(index ? [element("wbr")] : []), ...isolated(part)))
}

// Spans count characters, as Python does; the strings of JavaScript count an emoji as two.
function words(cell, wraps) {
  const className = [cell.mono ? "mono" : "", cell.tone ? `tone ${cell.tone}` : ""].join(" ").trim()
  const made = cell.href ? link(cell.mono ? "mono" : "", null, cell.href) : element("span", className)
  if (cell.diff) {
    const kinds = { "-": "del", "+": "ins" }
    made.append(...cell.text.split("\n").map((line) => element(kinds[line[0]] ?? "span", "line", line)))
    return made
  }
  const letters = cell.marks.length ? [...cell.text] : []
  let end = 0
  for (const [from, to] of cell.marks) {
    made.append(...isolated(letters.slice(end, from).join("")), element("mark", "", letters.slice(from, to).join("")))
    end = to
  }
  if (end) made.append(...isolated(letters.slice(end).join("")))
  else if (wraps) appendText(made, cell.text)
  else made.append(...isolated(cell.text))
  return made
}

function content(cell, column) {
  const holder = document.createDocumentFragment()
  holder.append(words(cell, WRAPPING.has(column.kind)))
  if (cell.at !== null) holder.append(whisker(cell, column.zero))
  if (cell.share !== null) holder.append(bar(cell.share))
  if (cell.bars !== null) holder.append(days(cell.bars))
  if (cell.sub) holder.append(element("span", "sub", cell.sub))
  return holder
}

// A click beside the links of a row follows its first one; a click that ends a selection of text does not.
function opening(made) {
  const first = made.querySelector("a")
  if (!first) return
  made.classList.add("opens")
  made.onclick = (event) => {
    const selection = made.getRootNode().getSelection?.() ?? window.getSelection()
    if (event.target.closest("a") || String(selection)) return
    if (event.metaKey || event.ctrlKey) window.open(first.href)
    else go(first.href)
  }
}

function row(cells, columns, tip) {
  const made = element("tr")
  made.setAttribute("role", "row")
  cells.forEach((cell, index) => {
    const column = columns[index]
    const place = element(index === 0 ? "th" : "td", column.kind + (cell.pale ? " pale" : ""))
    place.setAttribute("role", index === 0 ? "rowheader" : "cell")
    if (index === 0) place.scope = "row"
    if (cell.heat !== null) {
      place.classList.add("heat")
      place.style.setProperty("--heat", `${Math.round(100 * cell.heat)}%`)
    }
    if ((cell.text === "–" || !cell.text) && !cell.sub && cell.heat === null && cell.bars === null) place.classList.add("empty")
    place.dataset.label = column.full ?? column.title
    const value = element("div", "value")
    value.append(content(cell, column))
    place.append(value)
    if (cell.title && cell.title !== cell.text) {
      const anchor = value.querySelector("a, span")
      if (anchor.tagName === "SPAN") anchor.tabIndex = 0
      anchor.setAttribute("aria-description", cell.title)
      tip.explain(place, anchor, cell.title)
    }
    made.append(place)
  })
  return made
}

// A text that opens below its anchor on hover, focus and tap, and closes on Escape.
class Tip {
  constructor(holder) {
    this.box = element("div", "tip")
    this.box.popover = "manual"
    this.box.setAttribute("role", "tooltip")
    holder.append(this.box)
  }

  explain(area, anchor, text) {
    const open = () => this.open(anchor, text)
    area.onmouseenter = open
    area.onmouseleave = () => this.close()
    anchor.onfocus = open
    anchor.onblur = () => this.close()
    if (anchor.tagName !== "A") area.onclick = open
    area.onkeydown = (event) => {
      if (event.key === "Escape") this.close()
    }
  }

  open(anchor, text) {
    this.box.replaceChildren(...isolated(text))
    this.box.showPopover()
    const [at, own] = [anchor.getBoundingClientRect(), this.box.getBoundingClientRect()]
    const below = at.bottom + 6
    this.box.style.top = `${below + own.height < window.innerHeight ? below : Math.max(4, at.top - own.height - 6)}px`
    this.box.style.left = `${Math.max(4, Math.min(at.left, window.innerWidth - own.width - 8))}px`
  }

  close() {
    if (this.box.matches(":popover-open")) this.box.hidePopover()
  }
}

// How a table is sorted and whether it shows all rows stands in the URL, for all tables of the page:
// ?sort=ranking.calls.desc,tools.loss.asc&all=tools. The address changes without a run of the page.
const slug = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, "-").replace(/^-|-$/g, "")

function entriesInUrl(name) {
  return (new URLSearchParams(window.location.search).get(name) ?? "").split(",").filter(Boolean)
}

function writeEntry(name, key, entry) {
  const others = entriesInUrl(name).filter((one) => one.split(".")[0] !== key)
  const listed = entry ? [...others, entry] : others
  const url = new URL(window.location.href)
  if (listed.length) url.searchParams.set(name, listed.join(","))
  else url.searchParams.delete(name)
  window.history.replaceState(window.history.state, "", url.href.replaceAll("%2C", ","))
}

function orderInUrl(key, columns) {
  const entry = entriesInUrl("sort").find((one) => one.split(".")[0] === key)
  if (!entry) return null
  const [, column, way] = entry.split(".")
  const index = columns.findIndex((one) => slug(one.title) === column)
  return index < 0 ? null : { index, descending: way === "desc" }
}

// What has no order (an unmeasured rate, say) stays at the end, whichever way the others go.
function sorted(rows, { index, descending }) {
  const known = rows.filter((cells) => cells[index].order !== null)
  const way = descending ? -1 : 1
  known.sort((one, other) => {
    const [a, b] = [one[index].order, other[index].order]
    return way * (typeof a === "string" ? a.localeCompare(b) : a - b)
  })
  return [...known, ...rows.filter((cells) => cells[index].order === null)]
}

const NARROW = 640 // pixels: the window of a phone
const NARROW_PLACE = 420 // pixels: a table that stands beside something
const FEWEST_CARDS = 3 // of a table, however high they are
const MOST_CARDS = 12
const ROOM = { list: 1, table: 0.6 } // screens for the cards of a list of records, and of one table among several

// What a cell is where table.py sends nothing of it.
const PLAIN = {
  sub: null, href: null, tone: null, mono: false, at: null, low: null, high: null, share: null, title: null,
  pale: false, heat: null, bars: null, order: null, marks: [], leads: false, diff: false,
}

class Sheet {
  constructor(holder, data) {
    this.data = { ...data, rows: data.rows.map((cells) => cells.map((cell) => ({ ...PLAIN, ...cell }))) }
    data = this.data
    this.key = slug(data.key)
    this.body = element("tbody")
    this.body.setAttribute("role", "rowgroup")
    this.tip = new Tip(holder)
    this.leading = data.columns.map((_, index) => data.rows.some((cells) => cells[index].leads))
    const figures = data.columns.filter(({ kind }, index) => index && FIGURES.has(kind) && !this.leading[index]).length
    if (figures > 1) holder.dataset.figures = figures
    else delete holder.dataset.figures
    this.heads = data.columns.map((column, index) => this.head(column, index))
    this.frame = this.makeFrame()
    this.sorter = this.makeSorter()
    this.more = element("button", "more")
    this.more.type = "button"
    this.more.onclick = () => {
      writeEntry("all", this.key, this.all ? null : this.key)
      this.draw()
    }
    this.edges = element("div", "edges")
    this.edges.append(this.frame)
    holder.prepend(...(this.sorter ? [this.sorter] : []), this.edges, this.more)
    this.draw()
    this.showChosen()
    // Sizes are read when the browser has laid the table out, and again when its width changes.
    this.sizes = new ResizeObserver(() => this.arrange())
    this.sizes.observe(this.edges)
    this.onBack = () => this.draw()
    window.addEventListener("popstate", this.onBack)
  }

  remove() {
    this.sizes.disconnect()
    window.removeEventListener("popstate", this.onBack)
  }

  // The columns that can be sorted, each with the way of its first click: numbers from the largest.
  firstWay(index) {
    const orders = this.data.rows.map((cells) => cells[index].order).filter((order) => order !== null)
    if (this.data.rows.length < 2 || !orders.length) return null
    return { index, descending: typeof orders[0] === "number" }
  }

  head(column, index) {
    const title = element("th", column.kind)
    title.scope = "col"
    title.setAttribute("role", "columnheader")
    if (column.width) title.style.width = column.width
    const line = element("span", "headline")
    const first = this.firstWay(index)
    let label = element("span", "", column.title)
    if (column.href) {
      label = link("sort", column.title, column.href)
    } else if (first) {
      label = element("button", "sort", column.title)
      label.type = "button"
      label.onclick = () => this.turn(first)
    }
    if (column.help) {
      // A head explains itself on hover, focus and tap: a sign beside each would outshout the titles.
      label.classList.add("explained")
      if (label.tagName === "SPAN") label.tabIndex = 0
      label.setAttribute("aria-description", column.help)
      const sort = label.onclick
      this.tip.explain(label, label, column.help)
      if (sort) label.onclick = sort
    }
    line.append(label)
    title.append(line)
    if (column.scale) {
      const scale = element("span", "scale")
      for (const end of column.scale) scale.append(element("span", "", end))
      title.append(scale)
    }
    return title
  }

  makeFrame() {
    const table = element("table")
    table.setAttribute("role", "table")
    const top = element("thead")
    top.setAttribute("role", "rowgroup")
    const line = element("tr")
    line.setAttribute("role", "row")
    line.append(...this.heads)
    top.append(line)
    table.append(element("caption", "hidden", this.data.caption), top, this.body)
    const frame = element("div", "frame")
    frame.tabIndex = 0
    frame.setAttribute("role", "region")
    frame.setAttribute("aria-label", this.data.caption)
    frame.append(table)
    frame.onscroll = () => this.showEdges()
    return frame
  }

  // Cards have no heads to sort by.
  makeSorter() {
    const ways = this.data.columns.map((_, index) => this.firstWay(index)).filter(Boolean)
    if (!ways.length) return null
    const label = element("label", "sorter", "Sort by ")
    const select = element("select")
    select.append(new Option("the page's order", ""))
    for (const { index, descending } of ways) {
      const title = this.data.columns[index].title
      for (const way of [descending, !descending]) {
        const words = descending ? (way ? "largest first" : "smallest first") : way ? "Z to A" : "A to Z"
        select.append(new Option(`${title}, ${words}`, `${index}.${way ? "desc" : "asc"}`))
      }
    }
    select.onchange = () => {
      const [index, way] = select.value.split(".")
      this.sortBy(select.value ? { index: Number(index), descending: way === "desc" } : null)
    }
    label.append(select)
    return label
  }

  // A column's first click sorts it, the second turns it round, the third brings the page's order back.
  turn(first) {
    const { order } = this
    if (!order || order.index !== first.index) this.sortBy(first)
    else this.sortBy(order.descending === first.descending ? { ...first, descending: !first.descending } : null)
  }

  sortBy(order) {
    const entry = order && `${this.key}.${slug(this.data.columns[order.index].title)}.${order.descending ? "desc" : "asc"}`
    writeEntry("sort", this.key, entry)
    this.draw()
  }

  draw() {
    const { data } = this
    this.order = orderInUrl(this.key, data.columns)
    this.all = entriesInUrl("all").includes(this.key)
    this.heads.forEach((title, index) => {
      const own = this.order?.index === index && (this.order.descending ? "descending" : "ascending")
      const way = own || (!this.order && data.columns[index].sorted)
      if (way) title.setAttribute("aria-sort", way)
      else title.removeAttribute("aria-sort")
    })
    if (this.sorter) {
      this.sorter.querySelector("select").value = this.order ? `${this.order.index}.${this.order.descending ? "desc" : "asc"}` : ""
    }
    const rows = this.order ? sorted(data.rows, this.order) : data.rows
    this.tip.close()
    this.drawn = rows.map((cells) => this.drawRow(cells))
    this.body.replaceChildren(...this.drawn)
    this.width = null
    this.arrange()
  }

  // Shows the first rows, or all of them once a person has asked for all.
  cut(most) {
    const few = most < this.drawn.length
    this.drawn.forEach((made, index) => made.toggleAttribute("hidden", few && !this.all && index >= most))
    this.more.hidden = !few
    this.more.textContent = this.all ? `Show the first ${most} only` : `Show all ${this.drawn.length.toLocaleString("en-US")}`
  }

  drawRow(cells) {
    const { columns, rows, opens, chosen } = this.data
    const made = row(cells, columns, this.tip)
    this.leading.forEach((leads, index) => made.children[index].classList.toggle("leads", leads))
    if (opens) opening(made)
    if (chosen !== null && cells === rows[chosen]) {
      made.classList.add("chosen")
      made.setAttribute("aria-current", "true")
    }
    return made
  }

  // Streamlit scrolls to the top when a link is followed; on a narrow screen the row is not what was asked for.
  showChosen() {
    if (this.data.chosen === null || window.innerWidth < 1024) return
    setTimeout(() => this.body.querySelector(".chosen")?.scrollIntoView({ block: "nearest" }), 150)
  }

  // Where there is little room, a row that would lose columns becomes a card.
  arrange() {
    const width = this.edges.clientWidth
    if (width && width !== this.width) {
      this.width = width
      const holder = this.edges.parentElement
      holder.classList.remove("cards")
      const narrow = window.innerWidth <= NARROW || width <= NARROW_PLACE
      const cards = narrow && this.frame.scrollWidth > this.frame.clientWidth + 1
      holder.classList.toggle("cards", cards)
      const most = this.data.shown ?? Infinity
      this.cut(cards ? Math.min(most, this.countCards(Math.min(most, this.drawn.length))) : most)
    }
    this.showEdges()
  }

  // How many cards are shown until all are asked for. A single one more is not worth a click.
  countCards(all) {
    const room = window.innerHeight * (this.data.opens ? ROOM.list : ROOM.table)
    const first = this.drawn.slice(0, MOST_CARDS)
    first.forEach((made) => made.removeAttribute("hidden"))
    let height = 0
    const fit = first.findIndex((made) => (height += made.offsetHeight) > room)
    const most = fit < 0 ? MOST_CARDS : Math.max(FEWEST_CARDS, fit)
    return most + 1 >= all ? all : most
  }

  // The first column stays in sight; a shadow at an edge says that columns go on below it.
  showEdges() {
    const { scrollLeft, scrollWidth, clientWidth } = this.frame
    this.edges.classList.toggle("before", scrollLeft > 0)
    this.edges.classList.toggle("after", scrollLeft + clientWidth < scrollWidth - 1)
  }
}

export default function ({ parentElement, data }) {
  const holder = parentElement.querySelector(".sheet")
  holder.replaceChildren()
  const sheet = new Sheet(holder, data)
  parentElement.host?.setAttribute("data-drawn", "")
  return () => sheet.remove()
}
