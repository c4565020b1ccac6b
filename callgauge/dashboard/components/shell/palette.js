// The palette: finds pages, models, prompts, tools and codes by name, sessions and calls by id, and actions.
const ASK_PAUSE = 200 // milliseconds without a key before the server is asked
const SHORTEST = 3 // characters; the server finds ids by no shorter text
const NEAR = 4 // letters of a word that may have a typing error
const MOST = 6 // results a group, once something is typed
// Parts of pages that are found by their title, their sentence or other words: page, URL keys, title, sentence, words.
const PLACES = [
  ["models", { view: "prompt" }, "Best model by prompt", "Models", "matrix heat map cross table"],
  ["models", { view: "tool" }, "Best model by tool", "Models", "matrix heat map cross table"],
  ["models", { view: "host" }, "Hosts of a model", "Models", "provider server latency"],
  ["errors", { tab: "retries" }, "Retries", "A tab of Errors: what failures cost", "retry recovered given up"],
  ["errors", {}, "Triage status of errors", "Errors", "known resolved ignored signature"],
  ["playground", { tab: "stored" }, "Replay", "Stored calls, on Playground", "what if definition policy"],
  ["data", {}, "Unreadable lines and files", "Data", "rejected rejects skipped failed load ingest"],
  ["decisions", { about: "rules" }, "Alert rules", "Decisions", "alarm threshold notify"],
  ["decisions", { about: "notes" }, "Notes", "Decisions", "comment annotation"],
  ["decisions", { about: "views" }, "Saved views", "Decisions", "bookmark favourite"],
  ["glossary", {}, "Glossary", "What the terms mean", "help definition words terms"],
]
const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform)

// Whether two words differ by one letter that is wrong, missing, added, or swapped with its neighbour.
function isNear(typed, word) {
  if (typed.length < NEAR || Math.abs(typed.length - word.length) > 1) return false
  let at = 0
  while (at < typed.length && typed[at] === word[at]) at += 1
  const rest = (text, from) => text.slice(from)
  if (rest(typed, at + 1) === rest(word, at + 1) || rest(typed, at) === rest(word, at + 1) || rest(typed, at + 1) === rest(word, at)) return true
  return typed[at] === word[at + 1] && typed[at + 1] === word[at] && rest(typed, at + 2) === rest(word, at + 2)
}

const beginsNearly = (typed, word) => [-1, 0, 1].some((more) => isNear(typed, word.slice(0, typed.length + more)))

// How well an item fits the words that were typed: 0 = not at all; beginnings of words count more.
function fit(words, { title, about = "", words: others = "" }) {
  const text = title.toLowerCase()
  const more = `${about} ${others}`.toLowerCase()
  let sum = 0
  for (const word of words) {
    const place = text.indexOf(word)
    if (place === 0) sum += 4
    else if (place > 0) sum += /[\p{L}\p{N}]/u.test(text[place - 1]) ? 2 : 3
    else if (more.includes(word)) sum += 1
    else if (`${text} ${more}`.split(/[^\p{L}\p{N}]+/u).some((other) => beginsNearly(word, other))) sum += 0.5
    else return 0
  }
  return sum
}

function best(items, words, most) {
  if (!words.length) return items
  const fitting = items.map((item) => [fit(words, item), item]).filter(([sum]) => sum > 0)
  return fitting.sort(([one], [other]) => other - one).slice(0, most).map(([, item]) => item)
}

// The address of a page with some URL keys; `kept`: those of the filters.
function addressOf(page, query, kept) {
  const params = new URLSearchParams(kept)
  for (const [key, value] of Object.entries(query)) params.set(key, value)
  return `${page}?${params}`
}

function groupsOf(state, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const { pages, kept } = state.data
  const views = state.data.views.map((view) => ({ ...view, icon: view.page }))
  const shown = [["Pages", best(pages.map((page) => ({ ...page, icon: page.name, letter: page.key })), words, MOST)]]
  const places = PLACES.map(([page, query, title, about, others]) => ({ title, about, words: others, icon: page, href: addressOf(page, query, kept) }))
  if (words.length) shown.push(["On a page", best(places, words, MOST)])
  shown.push(["Saved views", best(views, words, MOST).slice(0, MOST)])
  if (words.length) {
    for (const kind of state.values) {
      const items = kind.values.map(([title, value]) => ({ title, icon: kind.page, mono: true, href: addressOf(kind.page, { [kind.key]: value }, kept) }))
      shown.push([kind.title, best(items, words, MOST)])
    }
    if (state.found.text === text.trim()) {
      for (const title of ["Sessions", "Calls"]) shown.push([title, state.found.rows.filter((row) => row.group === title)])
    }
  }
  const acts = state.data.may_save ? [state.save, ...state.help] : state.help
  shown.push(["Do", best(acts, words, MOST)])
  const found = shown.filter(([, items]) => items.length)
  if (found.length || !words.length) return found
  const typed = text.trim()
  return [["Nothing has this name", [
    { title: `Search the arguments of calls for “${typed}”`, icon: "calls", href: addressOf("calls", { q: typed }, kept) },
    { title: "Look it up in the glossary", icon: "glossary", href: addressOf("glossary", {}, kept) },
  ]]]
}

const nameOf = (item) => JSON.stringify([item.href ?? null, item.title])

function optionOf(item, id) {
  const made = element("a", "option")
  made.id = id
  made.href = item.href ?? "#"
  made.tabIndex = -1
  made.setAttribute("role", "option")
  made.append(icon(item.icon), element("span", item.mono ? "title mono" : "title", item.title))
  if (item.about) made.append(element("span", "about", item.about))
  if (item.letter) made.append(element("kbd", "", "g"), element("kbd", "", item.letter))
  return made
}

function makePalette(root, state, askServer) {
  const dialog = element("dialog", "find")
  const field = element("input")
  const list = element("div", "list")
  const hint = element("p", "hint")
  let items = []
  let at = 0
  let timer
  dialog.setAttribute("aria-label", "Find")
  field.type = "text"
  field.placeholder = "Find a page, model, prompt, tool, code, or a session or call by id"
  field.spellcheck = false
  field.autocomplete = "off"
  const named = { role: "combobox", "aria-label": field.placeholder, "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list" }
  for (const [name, value] of Object.entries(named)) field.setAttribute(name, value)
  list.id = "found"
  list.setAttribute("role", "listbox")
  list.setAttribute("aria-label", "Results")
  hint.setAttribute("role", "status")
  const top = element("div", "field")
  top.append(icon("search"), field)
  dialog.append(top, list, hint)
  root.append(dialog)

  const select = (place) => {
    at = items.length ? (place + items.length) % items.length : 0
    items.forEach(([node], index) => node.setAttribute("aria-selected", String(index === at)))
    const chosen = items[at]?.[0]
    if (!chosen) return field.removeAttribute("aria-activedescendant")
    field.setAttribute("aria-activedescendant", chosen.id)
    // The first one brings its heading along.
    if (at === 0) list.scrollTop = 0
    else chosen.scrollIntoView({ block: "nearest" })
  }
  const take = (place, event) => {
    const [node, item] = items[place] ?? []
    if (!item || (event?.metaKey || event?.ctrlKey) && item.href) return
    event?.preventDefault()
    clearTimeout(timer)
    dialog.close()
    if (item.act) item.act()
    else go(node.href)
  }
  // `chosen`: the item that stays selected where it is still listed; else the first is.
  const draw = (chosen) => {
    items = []
    const groups = groupsOf(state, field.value).map(([title, several], number) => {
      const group = element("div", "group")
      const head = element("div", "head", title)
      head.id = `group-${number}`
      group.setAttribute("role", "group")
      group.setAttribute("aria-labelledby", head.id)
      group.append(head)
      for (const item of several) {
        const place = items.length
        const node = optionOf(item, `option-${place}`)
        node.onclick = (event) => take(place, event)
        node.onmousemove = () => place !== at && select(place)
        items.push([node, item])
        group.append(node)
      }
      return group
    })
    list.replaceChildren(...groups)
    const text = field.value.trim()
    const waiting = text.length >= SHORTEST && state.found.text !== text
    hint.textContent = waiting ? "Looking for sessions and calls …" : ""
    select(Math.max(0, items.findIndex(([, item]) => chosen && nameOf(item) === nameOf(chosen))))
  }
  field.oninput = () => {
    clearTimeout(timer)
    const text = field.value.trim()
    if (text.length >= SHORTEST) timer = setTimeout(() => askServer(text), ASK_PAUSE)
    draw()
  }
  const moves = { ArrowDown: () => select(at + 1), ArrowUp: () => select(at - 1), Enter: () => take(at), Tab: () => {} }
  field.onkeydown = (event) => {
    if (event.isComposing || !Object.hasOwn(moves, event.key)) return
    event.preventDefault() // Tab, too: there is nothing else to go to
    moves[event.key]()
  }
  dialog.onclick = (event) => event.target === dialog && dialog.close()
  dialog.onclose = () => clearTimeout(timer) // what is asked after a link was followed would draw the old page again
  return {
    open() {
      if (dialog.open) return
      field.value = ""
      dialog.showModal()
      field.focus()
      draw()
      askServer("")
    },
    // Found values arrive while somebody may already be moving through the list.
    redraw: () => dialog.open && draw(at > 0 ? items[at]?.[1] : undefined),
  }
}

const LISTED = [
  ["Find", [[[IS_MAC ? "⌘" : "Ctrl", "K"], "pages, models, prompts, tools, codes, sessions, calls"], [["/"], "the search of the page"], [["?"], "this list"]]],
  ["In a session", [[["j"], "next turn"], [["k"], "previous turn"], [["n"], "next failure"], [["p"], "previous failure"]]],
  ["In a list", [[["j"], "next"], [["k"], "previous"], [["Enter"], "open"], [["Esc"], "close"]]],
]

function makeHelp(root, state, startTour) {
  const dialog = element("dialog", "keys")
  const title = element("h2", "", "Help")
  const columns = element("div", "columns")
  const buttons = element("div", "buttons")
  const glossary = element("a", "glossary", "Glossary: what the terms mean")
  const tour = element("button", "", "Take the tour")
  const close = element("button", "first", "Close")
  title.id = "keys-title"
  dialog.setAttribute("aria-labelledby", title.id)
  tour.type = close.type = "button"
  tour.onclick = () => { dialog.close(); startTour() }
  close.onclick = () => dialog.close()
  glossary.onclick = (event) => {
    event.preventDefault()
    dialog.close()
    go(glossary.href)
  }
  buttons.append(tour, close)
  dialog.append(title, glossary, columns, buttons)
  dialog.onclick = (event) => event.target === dialog && dialog.close()
  root.append(dialog)
  const section = ([heading, rows]) => {
    const made = element("section")
    const list = element("dl")
    for (const [keys, what] of rows) {
      const term = element("dt")
      term.append(...keys.map((key) => element("kbd", "", key)))
      list.append(term, element("dd", "", what))
    }
    made.append(element("h3", "", heading), list)
    return made
  }
  return {
    open() {
      if (dialog.open) return
      glossary.href = addressOf("glossary", {}, state.data.kept)
      const pages = ["Go to", state.data.pages.map((page) => [["g", page.key], page.title])]
      columns.replaceChildren(...[...LISTED, pages].map(section))
      dialog.showModal()
      close.focus()
    },
  }
}

function openShare() {
  const button = document.querySelector(".st-key-share button")
  button?.focus()
  button?.click()
}

function make(root) {
  const state = { values: [], found: { text: null, rows: [] } }
  const button = element("button", "open")
  button.type = "button"
  button.append(icon("search"), element("span", "word", "Find"), element("kbd", "", IS_MAC ? "⌘ K" : "Ctrl K"))
  button.setAttribute("aria-haspopup", "dialog")
  button.setAttribute("aria-label", "Find") // on a phone only the sign is shown
  const help = element("button", "open help", "?")
  help.type = "button"
  help.setAttribute("aria-haspopup", "dialog")
  help.setAttribute("aria-label", "Help: glossary and keys")
  root.append(button, help)
  state.tour = makeTour(root)
  state.palette = makePalette(root, state, (text) => state.ask("ask", text))
  state.keys = makeHelp(root, state, () => state.tour.start(true))
  state.help = [
    { title: "Share", about: "Copy a link, copy as Markdown, download a report", words: "export send colleague html", icon: "compare", act: openShare },
    { title: "Keys", about: "All keys of the page", words: "keyboard shortcuts", icon: "sql", letter: null, act: () => state.keys.open() },
    { title: "Tour", about: "Five things to know", icon: "overview", act: () => state.tour.start(true) },
  ]
  state.save = { title: "Save this view", about: "The page with its filters, under a name", words: "bookmark favourite", icon: "decisions", letter: null, act: () => state.ask("save", `${Date.now()}`) }
  button.onclick = () => state.palette.open()
  help.onclick = () => state.keys.open()
  return state
}

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".palette")
  const first = !root.state
  const state = (root.state ??= make(root))
  state.data = data
  state.ask = setTriggerValue
  if (data.values) state.values = data.values
  if (data.found) state.found = data.found
  state.palette.redraw()
  if (first && data.tour) startWhenDrawn(state.tour, root)
  // A page without the filter bar has a palette of its own. The one before may be drawn last, and then go.
  const drawn = (window.callgaugePalettes = (window.callgaugePalettes ?? []).filter((each) => each.root !== root && each.root.isConnected))
  drawn.push({ root, state })
  const current = () => (drawn.findLast((each) => each.root.isConnected) ?? drawn.at(-1)).state
  installKeys({
    find: () => current().palette.open(),
    help: () => current().keys.open(),
    pages: () => current().data.pages,
    // While a dialog is open, its own keys count.
    busy(event) {
      const { tour } = current()
      if (event.key === "Escape" && tour.isOpen()) tour.end()
      return drawn.some((each) => each.root.isConnected && each.root.querySelector("dialog[open]") !== null) || document.querySelector("[data-testid=stDialog]") !== null
    },
  })
}
