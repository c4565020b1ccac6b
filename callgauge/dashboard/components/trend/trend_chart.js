// Lines of rates over time: one panel, or a panel for each line. The data, as trend_chart.py sends it:
//   words, unit, intervals, panels, ticks: [[rate, label]]
//   start, end, units: the first day of each unit; spans: [[first, last day]] of each unit
//   lines, whole: {name, colour: number or null, href or null, stretches: [[point]]}
//   point: {at, from, to, rate, low, high, hollow, partial, text}
//   marks: [{text, day, first, last, lines: [number] or null}], levels: [{rate, low, high, goal}]
//   legend: [[kind, colour, label]]
const NS = "http://www.w3.org/2000/svg"
const DAY = 86_400_000, HALF = DAY / 2
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const DASHES = ["", "7 4", "2 3", "7 3 2 3", "11 4", ""]
const ROOM = { left: 42, right: 12, top: 20, bottom: 24 }
const HIGH = 340, PANEL = 190
const NEAR = 32 // pixels between the pointer and a point that it means
const DRAG = 6 // pixels: less is a click
const LABEL = 62 // pixels for the label of a day

const moment = (day) => Date.parse(`${day}T00:00:00Z`)

function say(time, unit, year) {
  const day = new Date(time)
  const month = MONTHS[day.getUTCMonth()]
  const words = unit === "month" ? month : `${day.getUTCDate()} ${month}`
  return year ? `${words} ${day.getUTCFullYear()}` : words
}

function shape(name, attributes, text) {
  const made = document.createElementNS(NS, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  if (text !== undefined) made.textContent = text
  return made
}

class Panel {
  constructor(chart, lines, title) {
    Object.assign(this, { chart, lines })
    this.node = element("div", "panel")
    if (title) this.node.append(title)
    this.svg = shape("svg", { "aria-hidden": "true" })
    this.node.append(this.svg)
    this.svg.addEventListener("pointermove", (event) => this.move(event))
    this.svg.addEventListener("pointerdown", (event) => this.press(event))
    this.svg.addEventListener("pointerup", (event) => this.release(event))
    this.svg.addEventListener("pointercancel", () => chart.drop())
    this.svg.addEventListener("pointerleave", () => chart.hide())
  }

  x(time) {
    const { start, end } = this.chart
    return ROOM.left + ((time - start) / (end - start)) * (this.width - ROOM.left - ROOM.right)
  }

  y(rate) {
    const [bottom, top] = this.chart.scale
    const inside = Math.min(top, Math.max(bottom, rate))
    return this.height - ROOM.bottom - ((inside - bottom) / (top - bottom)) * (this.height - ROOM.top - ROOM.bottom)
  }

  time(x) {
    const { start, end } = this.chart
    const part = (x - ROOM.left) / (this.width - ROOM.left - ROOM.right)
    return start + Math.min(1, Math.max(0, part)) * (end - start)
  }

  draw() {
    const { data } = this.chart
    this.width = Math.max(160, this.node.clientWidth)
    this.height = data.panels ? PANEL : HIGH
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`)
    this.svg.setAttribute("height", this.height)
    const marks = data.marks.filter((mark) => !mark.lines || mark.lines.some((number) => this.lines.includes(data.lines[number])))
    this.svg.replaceChildren(
      ...this.bands(marks), ...this.axes(), ...this.levels(), ...this.marks(marks),
      ...(data.whole ? this.line(data.whole, "whole") : []),
      ...this.lines.flatMap((line) => this.line(line, "")),
    )
    this.chosen = shape("rect", { class: "chosen", y: ROOM.top, height: this.height - ROOM.top - ROOM.bottom, width: 0 })
    this.ring = shape("circle", { class: "ring", r: 7, visibility: "hidden" })
    this.svg.append(this.chosen, this.ring)
  }

  axes() {
    const drawn = []
    const right = this.width - ROOM.right
    for (const [rate, label] of this.chart.data.ticks) {
      const y = this.y(rate)
      drawn.push(shape("line", { class: "grid", x1: ROOM.left, x2: right, y1: y, y2: y }))
      drawn.push(shape("text", { class: "tick", x: ROOM.left - 8, y: y + 4, "text-anchor": "end" }, label))
    }
    const units = this.chart.units
    const fit = Math.max(1, Math.floor((right - ROOM.left) / LABEL))
    const step = [1, 2, 3, 4, 7, 14, 28].find((each) => units.length / each <= fit) ?? Math.ceil(units.length / fit)
    let year = null
    units.forEach((time, number) => {
      if (number % step) return
      const its = new Date(time).getUTCFullYear()
      const words = say(time, this.chart.data.unit, year !== null && its !== year)
      year = its
      drawn.push(shape("text", { class: "tick", x: this.x(time), y: this.height - 6, "text-anchor": "middle" }, words))
    })
    return drawn
  }

  bands(marks) {
    return marks.filter((mark) => mark.first < mark.last).map((mark) => {
      const from = this.x(moment(mark.first) - HALF), to = this.x(moment(mark.last) - HALF)
      return shape("rect", { class: "band", x: from, width: Math.max(0, to - from), y: ROOM.top, height: this.height - ROOM.top - ROOM.bottom })
    })
  }

  marks(marks) {
    return marks.flatMap((mark) => {
      const x = this.x(Math.max(moment(mark.day) - HALF, this.chart.start))
      return [
        shape("line", { class: "mark", x1: x, x2: x, y1: ROOM.top - 2, y2: this.height - ROOM.bottom }),
        shape("text", { class: "letter", x, y: ROOM.top - 7, "text-anchor": "middle" }, mark.text),
      ]
    })
  }

  levels() {
    const [bottom, top] = this.chart.scale
    const ends = { x1: ROOM.left, x2: this.width - ROOM.right }
    return this.chart.data.levels.flatMap((level) => {
      const drawn = []
      if (level.low !== null) {
        const y = this.y(level.high)
        drawn.push(shape("rect", { class: "band", x: ROOM.left, width: ends.x2 - ends.x1, y, height: this.y(level.low) - y }))
      }
      if (bottom <= level.rate && level.rate <= top) {
        const y = this.y(level.rate)
        drawn.push(shape("line", { ...ends, class: level.goal ? "goal" : "level", y1: y, y2: y }))
      }
      return drawn
    })
  }

  line(line, kind) {
    const { data } = this.chart
    const drawn = []
    const style = kind ? "" : `stroke: ${this.chart.colour(line.colour)}`
    const dash = data.panels || kind ? "" : DASHES[line.colour] ?? ""
    for (const points of line.stretches) {
      const whole = points.filter((point, number) => !point.partial || number === 0)
      const path = (several) => several.map((point) => `${this.x(point.x)},${this.y(point.rate)}`).join(" ")
      drawn.push(shape("polyline", { class: `line ${kind}`, points: path(whole), style, "stroke-dasharray": dash }))
      points.forEach((point, number) => {
        if (!point.partial || !number) return
        drawn.push(shape("polyline", { class: `line ${kind}`, points: path([points[number - 1], point]), style, "stroke-dasharray": "1 4" }))
      })
      if (kind) continue
      for (const point of points) {
        const x = this.x(point.x)
        if (data.intervals && point.low !== null && !point.hollow) {
          drawn.push(shape("line", { class: "whisker", style, x1: x, x2: x, y1: this.y(point.low), y2: this.y(point.high) }))
        }
        const fill = point.hollow ? "var(--st-background-color)" : this.chart.colour(line.colour)
        drawn.push(shape("circle", { class: "point", style: `${style}; fill: ${fill}`, cx: x, cy: this.y(point.rate), r: 3 }))
      }
    }
    return drawn
  }

  place(event) {
    const box = this.svg.getBoundingClientRect()
    return [event.clientX - box.left, event.clientY - box.top]
  }

  nearest(event) {
    const [x, y] = this.place(event)
    let best = null, least = NEAR
    for (const line of this.lines) {
      for (const point of line.stretches.flat()) {
        const away = Math.hypot(this.x(point.x) - x, (this.y(point.rate) - y) * (this.chart.data.panels ? 0.5 : 1))
        if (away < least) [best, least] = [{ panel: this, line, point }, away]
      }
    }
    return best
  }

  move(event) {
    const { chart } = this
    if (chart.pressed) {
      const [x] = this.place(event)
      if (Math.abs(x - chart.pressed.x) >= DRAG) chart.pressed.moved = true
      if (chart.pressed.moved) return chart.choose(chart.pressed.time, this.time(x))
    }
    if (event.pointerType === "mouse") chart.show(this.nearest(event))
  }

  press(event) {
    if (event.button) return
    const [x] = this.place(event)
    this.chart.drop()
    this.chart.pressed = { x, time: this.time(x), moved: false }
    this.svg.setPointerCapture(event.pointerId)
  }

  release(event) {
    const { chart } = this
    const pressed = chart.pressed
    chart.pressed = null
    if (!pressed) return
    if (pressed.moved) return chart.goToDays()
    const meant = this.nearest(event)
    if (event.pointerType === "mouse" && meant?.line.href) chart.goToCalls(meant)
    else chart.show(meant) // a finger first reads, and then follows the link
  }
}

class Chart {
  constructor(root, data) {
    Object.assign(this, { root, data, pressed: null, meant: null, days: null })
    for (const line of [...data.lines, ...(data.whole ? [data.whole] : [])]) {
      for (const point of line.stretches.flat()) point.x = moment(point.at)
    }
    this.scale = [data.ticks[0][0], data.ticks.at(-1)[0]]
    const margin = data.unit === "day" ? 0.7 * DAY : data.unit === "week" ? 4 * DAY : 16 * DAY
    this.start = moment(data.start) - margin
    this.end = moment(data.end) + margin
    this.units = data.units.map(moment)
    const palette = getComputedStyle(root).getPropertyValue("--st-chart-categorical-colors")
    this.palette = palette.split(/,(?![^(]*\))/).map((colour) => colour.trim())
    root.setAttribute("aria-label", data.words)
    this.legend = element("div", "legend")
    for (const [kind, number, label] of data.legend) this.legend.append(this.key(kind, number, label))
    this.tip = element("div", "tip")
    this.tip.setAttribute("role", "status")
    this.tip.hidden = true
    this.grid = element("div", data.panels ? "grid several" : "grid")
    this.panels = data.panels
      ? data.lines.map((line) => new Panel(this, [line], this.key("line", line.colour, line.name)))
      : [new Panel(this, data.lines, null)]
    this.grid.append(...this.panels.map((panel) => panel.node))
    root.replaceChildren(...(data.legend.length ? [this.legend] : []), this.grid, this.tip)
    root.onkeydown = (event) => this.press(event)
    root.onblur = (event) => { if (!root.contains(event.relatedTarget)) this.drop() }
    this.draw()
  }

  colour(number) {
    return number === null ? "var(--grey)" : this.palette[number % this.palette.length]
  }

  key(kind, number, label) {
    const made = element("span", "key")
    const swatch = shape("svg", { class: "swatch", width: 26, height: 12, "aria-hidden": "true" })
    const style = kind === "line" ? `stroke: ${this.colour(number)}` : ""
    const dash = kind === "line" && !this.data.panels ? DASHES[number] ?? "" : ""
    swatch.append(shape("line", { class: kind, style, x1: 0, x2: 26, y1: 6, y2: 6, ...(dash && { "stroke-dasharray": dash }) }))
    if (kind === "line") swatch.append(shape("circle", { class: "point", style: `${style}; fill: ${this.colour(number)}`, cx: 13, cy: 6, r: 3 }))
    made.append(swatch, element("span", "name", label))
    return made
  }

  draw() {
    for (const panel of this.panels) panel.draw()
    this.drop()
  }

  show(meant) {
    this.meant = meant
    for (const panel of this.panels) panel.ring.setAttribute("visibility", "hidden")
    this.tip.hidden = !meant
    if (!meant) return
    const { panel, line, point } = meant
    const x = panel.x(point.x), y = panel.y(point.rate)
    panel.ring.setAttribute("cx", x)
    panel.ring.setAttribute("cy", y)
    panel.ring.setAttribute("visibility", "visible")
    panel.svg.style.cursor = line.href ? "pointer" : ""
    this.tip.replaceChildren(element("b", "", line.name), ...point.text.map((text) => element("span", "", text)))
    if (line.href) this.tip.append(link("", "Open these calls", this.address(line, point)))
    const outer = this.root.getBoundingClientRect(), inner = panel.svg.getBoundingClientRect()
    const left = inner.left - outer.left + x, width = this.tip.offsetWidth
    this.tip.style.left = `${Math.max(0, Math.min(left + 12, outer.width - width - 2))}px`
    const above = inner.top - outer.top + y - this.tip.offsetHeight - 12
    this.tip.style.top = `${above > 0 ? above : inner.top - outer.top + y + 14}px`
  }

  hide() {
    // The pointer may be on its way to the link.
    setTimeout(() => { if (!this.tip.matches(":hover") && !this.root.matches(":focus-visible")) this.show(null) }, 150)
  }

  drop() {
    this.pressed = null
    this.choose(null)
    this.show(null)
  }

  // Mark the days between two moments, in all panels.
  choose(from, to) {
    const { data } = this
    const [low, high] = from === null ? [0, 0] : [Math.min(from, to), Math.max(from, to)]
    const inside = from === null ? [] : data.spans.filter(([first, last]) => moment(last) + HALF > low && moment(first) - HALF < high)
    this.days = inside.length ? [inside[0][0], inside.at(-1)[1]] : null
    for (const panel of this.panels) {
      const ends = this.days?.map(moment)
      const left = ends ? panel.x(Math.max(this.start, ends[0] - HALF)) : 0
      const right = ends ? panel.x(Math.min(this.end, ends[1] + HALF)) : 0
      panel.chosen.setAttribute("x", left)
      panel.chosen.setAttribute("width", right - left)
    }
    if (!this.days) return
    this.show(null)
    const [first, last] = this.days.map((day) => say(moment(day), "day", true))
    this.tip.replaceChildren(element("b", "", first === last ? first : `${first} to ${last}`), element("span", "", "Show only these days"))
    this.tip.hidden = false
    const outer = this.root.getBoundingClientRect(), inner = this.panels[0].svg.getBoundingClientRect()
    this.tip.style.left = `${Math.max(0, Math.min(outer.width - this.tip.offsetWidth - 2, outer.width / 2))}px`
    this.tip.style.top = `${inner.top - outer.top + 4}px`
  }

  goToDays() {
    if (!this.days) return
    const [first, last] = this.days
    const url = new URL(window.location.href)
    url.searchParams.set("days", first === last ? first : `${first} to ${last}`)
    go(url.href)
  }

  address(line, point) {
    const url = new URL(line.href, window.location.href)
    url.searchParams.set("days", point.from === point.to ? point.from : `${point.from} to ${point.to}`)
    return url.href
  }

  goToCalls({ line, point }) {
    go(this.address(line, point))
  }

  // Arrows go from point to point; with Shift they mark days. Enter opens what is chosen.
  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (event.key === "Escape") this.drop()
    else if (event.key === "Enter" && event.target === this.root) {
      if (this.days) this.goToDays()
      else if (this.meant?.line.href) this.goToCalls(this.meant)
      else return
    } else if (step && event.shiftKey) this.extend(step)
    else if (step || turn) this.walk(step ?? 0, turn ?? 0)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  walk(step, turn) {
    const { lines } = this.data
    this.anchor = null
    if (this.days) this.choose(null)
    const at = this.meant ? lines.indexOf(this.meant.line) : 0
    const line = lines[(at + turn + lines.length) % lines.length]
    const points = line.stretches.flat()
    if (!points.length) return
    const place = this.meant
      ? points.reduce((best, point, number) => Math.abs(point.x - this.meant.point.x) < Math.abs(points[best].x - this.meant.point.x) ? number : best, 0)
      : points.length - 1
    const point = points[Math.min(points.length - 1, Math.max(0, place + (this.meant ? step : 0)))]
    this.show({ panel: this.panels.find((panel) => panel.lines.includes(line)), line, point })
  }

  extend(step) {
    const { spans } = this.data
    const at = this.meant ? spans.findIndex(([, last]) => moment(last) >= moment(this.meant.point.from)) : spans.length - 1
    this.anchor ??= { from: at, to: at }
    this.anchor.to = Math.min(spans.length - 1, Math.max(0, this.anchor.to + step))
    const [from, to] = [this.anchor.from, this.anchor.to].sort((a, b) => a - b)
    this.choose(moment(spans[from][0]), moment(spans[to][1]))
  }
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".trend")
  const chart = new Chart(root, data)
  let width = root.clientWidth
  const observer = new ResizeObserver(() => {
    if (root.clientWidth === width) return
    width = root.clientWidth
    chart.draw()
  })
  observer.observe(root)
  parentElement.host?.setAttribute("data-drawn", "")
  return () => observer.disconnect()
}
