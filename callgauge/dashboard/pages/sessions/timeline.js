// Draws the window of a session. data:
//   label, lit (what is lit, as text; another text = go there), start (of the window)
//   strip {count, start, end, label, cells: [[kind, turns, title, href]]}
//   jumps [[name, key, href or null]], where, width, earlier, later: [text, href] or null
//   turns [{title, href, lit, tags, facts, prompt, user, answer, steps}]
//   steps [{title, href, lit, facts, text, knots, calls, note}]
//   calls [{tool, href, place, lit, bad, tags, chain, raw, note, finding, result, facts}]
//   tags [[text, tone, help]]; prompt, result {title, text, note}; chain {text, tone, before, after}
//   knots [[tone, above, below, fault or null, help] or null]
const NS = "http://www.w3.org/2000/svg"
// Texts beyond these begin folded: characters and lines.
const MUCH = { text: [420, 7], said: [240, 4] }
const RAW = 160 // characters of raw arguments that are shown whole, white space passed over
// Calls without a fault in one step, until all are asked for: a row of them; on a phone one.
const CALLS = { wide: 3, narrow: 1 }
const NARROW = 640 // pixels
const BOTTOM = 28

function tags(list) {
  return list.map(([text, tone, help]) => {
    const made = element("span", `tone ${tone}`, text)
    if (help) made.title = help
    return made
  })
}

// A button that shows all of what is folded, and folds it again: `className` is on `made` while it is folded.
function unfold(made, className, all) {
  made.classList.add(className)
  const more = element("button", "more", all)
  more.type = "button"
  more.setAttribute("aria-expanded", "false")
  more.onclick = () => {
    const folded = made.classList.toggle(className)
    more.textContent = folded ? all : "Show less"
    more.setAttribute("aria-expanded", String(!folded))
  }
  return more
}

// A long text begins folded; what is folded is all there.
function words(className, text, [most, lines] = MUCH.text) {
  const holder = element("div", `words ${className}`)
  const body = element("div", "body")
  if (!className.startsWith("mono")) body.dir = "auto" // a message reads in its own direction
  body.textContent = text
  holder.append(body)
  if (text.length > most || text.split("\n").length > lines) holder.append(unfold(body, "folded", "Show all"))
  return holder
}

// Of calls side by side, two lines are shown: the call itself has all.
function raw(text, several) {
  if (!several && text.replace(/\s+/g, " ").length > RAW) return words("mono raw", text, [0, 0])
  const holder = words("mono raw", text, [Infinity, Infinity])
  holder.classList.add("flat")
  return holder
}

function fold(said) {
  const made = element("details", "fold")
  made.append(element("summary", "", said.title))
  if (said.text) {
    const body = element("div", "body mono", said.text)
    body.tabIndex = 0 // it scrolls
    made.append(body)
  }
  if (said.note) made.append(element("div", "quiet", said.note))
  return made
}

function chain(said) {
  const made = element("div", `chain ${said.tone}`)
  made.append(element("span", "", said.text))
  if (said.before) made.append(link("", "← before", said.before))
  if (said.after) made.append(link("", "next →", said.after))
  return made
}

function light(made, lit) {
  if (!lit) return
  made.classList.add("lit")
  made.setAttribute("aria-current", "true")
}

function call(said, several) {
  const made = element("article", `call ${said.bad ?? "fine"}`)
  const head = element("div", "head")
  head.append(link("tool", said.tool, said.href), ...tags(said.tags))
  const here = link("here", "#", said.place)
  here.title = "Link to this place"
  here.setAttribute("aria-label", `Link to this call of ${said.tool}`)
  head.append(here)
  made.append(head)
  if (said.chain) made.append(chain(said.chain))
  if (said.finding) made.append(element("div", "finding mono", said.finding))
  if (said.raw) made.append(raw(said.raw, several))
  if (said.note) made.append(element("div", "quiet", said.note))
  if (said.result) made.append(fold(said.result))
  if (said.facts) made.append(element("div", "quiet facts", said.facts))
  light(made, said.lit)
  return made
}

// A thread ties the attempts of one chain together: filled = a fault, hollow = it worked.
function knots(list, lanes) {
  const holder = element("div", "lanes")
  holder.style.width = `${14 * lanes}px`
  list.forEach((knot, lane) => {
    if (!knot) return
    const [tone, above, below, fault, help] = knot
    const thread = element("div", `thread ${tone}${above ? " above" : ""}${below ? " below" : ""}`)
    thread.style.left = `${14 * lane}px`
    if (fault !== null) thread.append(element("span", fault ? "knot" : "knot hollow"))
    thread.title = help
    holder.append(thread)
  })
  return holder
}

function step(said, lanes) {
  const made = element("div", "step")
  const body = element("div", "content")
  const head = element("div", "head")
  head.append(link("number", said.title, said.href), element("span", "quiet", said.facts))
  body.append(head)
  if (said.text) body.append(words("said", said.text.trimEnd(), MUCH.said))
  if (said.calls.length) {
    const several = said.calls.length > 1
    const side = element("div", several ? "calls several" : "calls")
    side.append(...said.calls.map((one) => call(one, several)))
    body.append(side)
    const most = window.innerWidth > NARROW ? CALLS.wide : CALLS.narrow
    const rest = said.calls.map((one, index) => index >= most && !one.bad)
    if (rest.some(Boolean) && !said.calls.some((one, index) => rest[index] && one.lit)) {
      rest.forEach((is, index) => side.children[index].classList.toggle("rest", is))
      body.append(unfold(side, "few", `Show all ${said.calls.length} calls`))
    }
  }
  if (said.note) body.append(element("div", "quiet", said.note))
  light(body, said.lit)
  made.append(knots(said.knots, lanes), body)
  return made
}

function turn(said) {
  const made = element("section", "turn")
  made.setAttribute("aria-label", said.title)
  const head = element("div", "turnhead")
  const title = element("h2")
  title.append(link("", said.title, said.href))
  head.append(title, ...tags(said.tags), element("span", "quiet", said.facts))
  made.append(head)
  light(head, said.lit)
  if (said.prompt) made.append(fold(said.prompt))
  if (said.user !== null) {
    made.append(element("h3", "", "User"), words("user", said.user))
  }
  const lanes = Math.max(0, ...said.steps.map((one) => one.knots.length))
  made.append(...said.steps.map((one) => step(one, lanes)))
  if (said.answer !== null) {
    made.append(element("h3", "", "Answer"), words("answer", said.answer))
  }
  return made
}

// Every place of the session in one strip, where faults stand out; a click goes there.
function strip(data) {
  const holder = element("div", "strip")
  const { cells, count, start, end } = data.strip
  const svg = document.createElementNS(NS, "svg")
  svg.setAttribute("viewBox", `0 0 ${cells.length} ${BOTTOM}`)
  svg.setAttribute("preserveAspectRatio", "none")
  svg.setAttribute("role", "img")
  svg.setAttribute("aria-label", data.strip.label)
  const rect = (className, x, y, width, height, title) => {
    const made = document.createElementNS(NS, "rect")
    const box = { class: className, x, y, width, height }
    for (const [name, value] of Object.entries(box)) made.setAttribute(name, value)
    if (title) {
      const told = document.createElementNS(NS, "title")
      told.textContent = title
      made.append(told)
    }
    svg.append(made)
  }
  const scale = cells.length / count
  rect("view", start * scale, 0, (end - start) * scale, BOTTOM)
  const heights = { bad: 18, warn: 14, call: 8, words: 4 }
  cells.forEach(([kind, turns, title], index) => {
    const height = heights[kind]
    rect(kind, index + 0.08, 20 - height, 0.84, height, title)
    if (turns) rect("begin", index, 22, 0.3, 4)
    rect("hit", index, 0, 1, BOTTOM, title)
  })
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect()
    const index = Math.floor(((event.clientX - box.left) / box.width) * cells.length)
    go(cells[Math.min(cells.length - 1, Math.max(0, index))][3])
  }
  holder.append(svg)
  return holder
}

function bar(data) {
  const made = element("nav", "bar")
  made.setAttribute("aria-label", "Jump in the session")
  for (const [name, key, href] of data.jumps) {
    const one = href ? link("jump", name, href) : element("span", "jump none", name)
    if (href) one.setAttribute("aria-keyshortcuts", key)
    one.dataset.sessionKey = key // keys.js presses it
    one.title = `Key ${key}`
    made.append(one)
  }
  made.append(element("span", "quiet where", data.where))
  if (data.width) made.append(link("", ...data.width))
  return made
}

function edge(said, className) {
  if (!said) return []
  const holder = element("div", `edge ${className}`)
  holder.append(link("jump", said[0], said[1]))
  return [holder]
}

export default function ({ parentElement, data }) {
  const holder = parentElement.querySelector(".timeline")
  const top = element("div", "top")
  top.append(bar(data), strip(data))
  const line = element("div", "line")
  line.tabIndex = 0
  line.setAttribute("role", "region")
  line.setAttribute("aria-label", data.label)
  line.append(...edge(data.earlier, "earlier"), ...data.turns.map(turn), ...edge(data.later, "later"))
  holder.replaceChildren(top, line)
  // Only another place is gone to: what is drawn anew for another reason stays where it is.
  const place = `${data.lit} ${data.start}`
  if (holder.dataset.place === place) return
  const first = holder.dataset.place === undefined
  holder.dataset.place = place
  const lit = holder.querySelector(".lit")
  if (lit) {
    lit.tabIndex = -1
    // What led to a call is read first, unless the call would then be out of sight.
    const step = lit.closest(".step")
    const begin = step && step.offsetHeight < 500 ? step.querySelector(".content") : lit
    requestAnimationFrame(() => {
      begin.scrollIntoView({ block: "start" })
      lit.focus({ preventScroll: true })
    })
  } else if (!first) {
    requestAnimationFrame(() => {
      line.scrollIntoView({ block: "start" })
      line.focus({ preventScroll: true })
    })
  }
}
