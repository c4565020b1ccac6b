// A short tour of the page: a card beside one thing after another. Whoever has seen or skipped it never sees it again.
const SEEN = "callgauge-tour"
const GAP = 12 // pixels between a thing and its card
const STEPS = [
  {
    title: "The answer comes first",
    text: "Each page begins with one sentence that answers its question. The table below it is the proof.",
    find: () => document.querySelector(".st-key-verdict") ?? document.querySelector("[data-testid=stMain] h1"),
  },
  {
    title: "Filters hold on every page",
    text: "Days and filters stay as you move on. Share copies a link that shows a colleague the same numbers, also tomorrow.",
    find: () => document.querySelector(".st-key-filterbar"),
  },
  {
    title: "Numbers are links",
    text: "A rate opens its calls, and a call shows the byte that broke it.",
    find: () => rowLinks()[0],
  },
  {
    title: "From the answer to the cause",
    text: "Models, Prompts and Compare help to decide. Tools and Errors show why. Calls and Sessions list every call. Playground parses your own text.",
    find: () => document.querySelector("[data-testid=stSidebar]"),
  },
  {
    title: "Find anything",
    text: "Find opens pages, models, prompts, tools and codes by name, sessions and calls by id. ? opens the glossary and the keys.",
    find: () => document.querySelector(".st-key-palette"),
  },
]

function remember() {
  try { window.localStorage.setItem(SEEN, "done") } catch { /* then it is shown again */ }
}

function isNew() {
  // Programs that drive a browser (tests, screenshots) are no visitors.
  try { return !navigator.webdriver && window.localStorage.getItem(SEEN) === null } catch { return false }
}

function inView(node) {
  const box = node?.getBoundingClientRect()
  return box && box.width > 0 && box.right > 0 && box.left < window.innerWidth
}

function place(card, ring, node) {
  const box = node.getBoundingClientRect()
  const own = card.getBoundingClientRect()
  const bottom = Math.min(box.bottom, window.innerHeight)
  const [left, top] = [Math.max(2, box.left - 4), Math.max(2, box.top - 4)]
  const [width, height] = [Math.min(box.right + 4, window.innerWidth - 2) - left, Math.min(bottom + 4, window.innerHeight - 2) - top]
  Object.assign(ring.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` })
  const besideIt = box.height > window.innerHeight / 2 && box.right + own.width + GAP < window.innerWidth
  const below = bottom + GAP + own.height < window.innerHeight
  const x = besideIt ? box.right + GAP : box.left
  const y = besideIt ? window.innerHeight / 4 : below ? bottom + GAP : box.top - GAP - own.height
  card.style.left = `${Math.max(GAP, Math.min(x, window.innerWidth - own.width - GAP))}px`
  card.style.top = `${Math.max(GAP, Math.min(y, window.innerHeight - own.height - GAP))}px`
}

function makeTour(root) {
  const ring = element("div", "ring")
  const card = element("section", "tour")
  const title = element("h2")
  const text = element("p")
  const count = element("span", "count")
  const [skip, back, next] = ["Skip", "Back", "Next"].map((word) => element("button", "", word))
  const buttons = element("div", "buttons")
  let steps = []
  let at = 0
  let stopped = new AbortController()
  ring.popover = card.popover = "manual"
  ring.setAttribute("aria-hidden", "true")
  card.setAttribute("role", "dialog")
  card.setAttribute("aria-labelledby", "tour-title")
  title.id = "tour-title"
  next.className = "first"
  for (const button of [skip, back, next]) button.type = "button"
  buttons.append(count, skip, back, next)
  card.append(title, text, buttons)
  root.append(ring, card)

  const end = () => {
    remember()
    stopped.abort()
    ring.hidePopover()
    card.hidePopover()
  }
  const show = () => {
    const step = steps[at]
    title.textContent = step.title
    text.textContent = step.text
    count.textContent = `${at + 1} of ${steps.length}`
    back.hidden = at === 0
    next.textContent = at + 1 === steps.length ? "Done" : "Next"
    const node = step.find()
    if (!node) return
    node.scrollIntoView({ block: "nearest" })
    place(card, ring, node)
  }
  const move = (by) => {
    at += by
    if (at >= steps.length) end()
    else show()
  }
  skip.onclick = end
  back.onclick = () => move(-1)
  next.onclick = () => move(1)
  return {
    isOpen: () => card.matches(":popover-open"),
    end,
    start(focus) {
      steps = STEPS.filter((step) => inView(step.find()))
      at = 0
      stopped = new AbortController()
      const again = () => requestAnimationFrame(() => card.matches(":popover-open") && show())
      window.addEventListener("resize", again, { signal: stopped.signal })
      ring.showPopover()
      card.showPopover()
      show()
      if (focus) next.focus()
    },
  }
}

// Waits until the page is drawn.
function startWhenDrawn(tour, alive) {
  const drawn = document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]") && rowLinks().length
  if (!alive.isConnected || tour.isOpen() || !isNew()) return
  if (drawn) tour.start(false)
  else setTimeout(() => startWhenDrawn(tour, alive), 500)
}

