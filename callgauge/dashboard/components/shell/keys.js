// Keys that hold on the whole page. One listener at a time: whoever installs one takes the place of the last.
const GO_PAUSE = 1500 // milliseconds between g and the letter of a page
const FIELDS = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true], [role=combobox], [role=spinbutton], [role=listbox], [role=menu]"
const SEARCH = "input[type=search], input[placeholder*=search i], input[aria-label*=search i]"

function isShown(node) {
  return node.getClientRects().length > 0
}

function mainNodes(selector) {
  // Tables draw in shadow roots, which a selector does not enter.
  const main = document.querySelector("[data-testid=stMain]")
  if (!main) return []
  const roots = [main, ...[...main.querySelectorAll("*")].map((node) => node.shadowRoot).filter(Boolean)]
  return roots.flatMap((root) => [...root.querySelectorAll(selector)]).filter(isShown)
}

function rowLinks() {
  const rows = mainNodes("tbody tr").map((row) => [...row.querySelectorAll("a[href]")].find(isShown))
  return rows.filter(Boolean)
}

function focusedNode() {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node
}

// An open session has keys of its own (timeline.js): j and k for its turns, n and p for its failures.
function stepInSession(key) {
  const [jump] = mainNodes(`[data-session-key="${key}"]`)
  jump?.click()
  return Boolean(jump)
}

// A page with links to the next and the previous item has its own order; else the rows of its tables count.
function step(forward) {
  const button = document.querySelector(`.st-key-${forward ? "step_next" : "step_previous"} :is(button, a)`)
  if (button) return button.click()
  const links = rowLinks()
  const row = focusedNode()?.closest?.("tr")
  const at = links.findIndex((made) => made.closest("tr") === row)
  const first = links.findIndex((made) => made.getBoundingClientRect().top >= 0)
  const next = links[at < 0 ? Math.max(first, 0) : at + (forward ? 1 : -1)]
  next?.focus()
  next?.scrollIntoView({ block: "nearest" })
}

function focusSearch() {
  const [field] = mainNodes(SEARCH)
  field?.focus()
  field?.select()
  return Boolean(field)
}

function openPage(pages, letter) {
  const page = pages.find((one) => one.key === letter)
  if (page) go(page.href)
}

// `actions`: find() opens the palette, help() the list of keys; `pages()` gives the pages with their letters.
function installKeys(actions) {
  window.callgaugeKeys?.abort()
  const installed = new AbortController()
  window.callgaugeKeys = installed
  let goUntil = 0
  const plain = {
    "/": () => focusSearch() || actions.find(),
    "?": actions.help,
    j: () => stepInSession("j") || step(true),
    k: () => stepInSession("k") || step(false),
    n: () => stepInSession("n"),
    p: () => stepInSession("p"),
    g: () => { goUntil = performance.now() + GO_PAUSE },
  }
  const onKey = (event) => {
    const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
    if (command && event.key.toLowerCase() === "k") return act(event, actions.find)
    const target = event.composedPath()[0]
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || target.closest?.(FIELDS)) return
    if (actions.busy(event)) return
    if (performance.now() < goUntil && event.key.length === 1) {
      goUntil = 0
      return act(event, () => openPage(actions.pages(), event.key))
    }
    if (Object.hasOwn(plain, event.key)) act(event, plain[event.key])
  }
  const act = (event, action) => {
    event.preventDefault()
    event.stopImmediatePropagation()
    action()
  }
  window.addEventListener("keydown", onKey, { capture: true, signal: installed.signal })
}

