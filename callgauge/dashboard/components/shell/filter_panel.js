// The panel of filters: a list of values for each dimension, and a chip for each chosen value.
const SHOWN = 8 // values of a dimension that are listed until a text narrows them
const MOST_CHIPS = 2 // chosen values of a dimension with a chip each; more share one
const PATIENCE = 4000 // milliseconds that a click counts before the server has answered it

const capital = (text) => text[0].toUpperCase() + text.slice(1)
const same = (several, others) => several.length === others.length && several.every((place) => others.includes(place))

function chosenOf(state, group) {
  const wish = state.wishes.get(group.name)
  if (!wish) return group.chosen
  if (same(wish.places, group.chosen) || performance.now() > wish.until) {
    state.wishes.delete(group.name)
    return group.chosen
  }
  return wish.places
}

function choose(state, group, places) {
  state.wishes.set(group.name, { places, until: performance.now() + PATIENCE })
  state.send("choose", { name: group.name, values: places.map((place) => ({ place, text: group.values[place] })) })
  state.draw()
}

function toggle(state, group, place) {
  const chosen = chosenOf(state, group)
  choose(state, group, chosen.includes(place) ? chosen.filter((other) => other !== place) : [...chosen, place])
}

function chip(label, remove) {
  const made = element("button", "chip")
  made.type = "button"
  made.append(element("bdi", "", label), element("span", "cross", "×"))
  made.setAttribute("aria-label", `Remove the filter ${label}`)
  made.onclick = remove
  return made
}

function chipsOf(state, group) {
  const chosen = chosenOf(state, group)
  if (chosen.length > MOST_CHIPS) return [chip(`${chosen.length} ${group.plural}`, () => choose(state, group, []))]
  return chosen.map((place) => chip(group.values[place], () => toggle(state, group, place)))
}

function rowOf(state, group, place, isChosen) {
  const row = element("label", "row")
  const box = element("input")
  box.type = "checkbox"
  box.checked = isChosen
  box.dataset.name = group.name
  box.dataset.place = place
  box.onchange = () => toggle(state, group, place)
  row.title = group.values[place]
  row.append(box, element("bdi", "", group.values[place]))
  return row
}

function listOf(state, group, words) {
  const chosen = chosenOf(state, group)
  const places = [...group.values.keys()].filter((place) =>
    words.every((word) => group.values[place].toLowerCase().includes(word)))
  const first = [...places.filter((place) => chosen.includes(place)), ...places.filter((place) => !chosen.includes(place))]
  if (!first.length) return null
  const set = element("fieldset")
  const most = Math.max(SHOWN, chosen.length)
  set.append(element("legend", "", capital(group.plural)))
  set.append(...first.slice(0, most).map((place) => rowOf(state, group, place, chosen.includes(place))))
  if (first.length > most) set.append(element("p", "more", `${first.length - most} more: type to find them`))
  return set
}

function make(root) {
  const state = { wishes: new Map(), groups: [], more: element("details", "rare") }
  const button = element("button", "open")
  const panel = element("div", "panel")
  const search = element("input", "search")
  const lists = element("div", "lists")
  const chips = element("div", "chips")
  button.type = "button"
  panel.id = "filter-panel"
  panel.popover = "auto"
  panel.setAttribute("role", "dialog")
  panel.setAttribute("aria-label", "Filters")
  button.popoverTargetElement = panel
  button.setAttribute("aria-haspopup", "dialog")
  search.type = "text"
  search.placeholder = "Find a value"
  search.setAttribute("aria-label", "Find a value")
  search.spellcheck = false
  search.oninput = () => state.draw()
  search.onkeydown = (event) => {
    const box = lists.querySelector("input")
    if (event.isComposing || !box || !["Enter", "ArrowDown"].includes(event.key)) return
    event.preventDefault()
    if (event.key === "Enter") box.click()
    else box.focus()
  }
  panel.append(search, lists)
  root.append(button, panel, chips)
  const place = () => {
    const box = button.getBoundingClientRect()
    panel.style.top = `${box.bottom + 4}px`
    panel.style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - panel.offsetWidth - 8))}px`
    panel.style.maxHeight = `${window.innerHeight - box.bottom - 16}px`
  }
  panel.addEventListener("toggle", (event) => {
    const isOpen = event.newState === "open"
    button.setAttribute("aria-expanded", String(isOpen))
    if (!isOpen) return
    search.value = ""
    state.draw()
    place()
  })
  window.addEventListener("resize", () => panel.matches(":popover-open") && place())
  document.addEventListener("scroll", () => panel.matches(":popover-open") && place(), { capture: true, passive: true })
  state.draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
    const focused = root.getRootNode().activeElement?.dataset
    const count = state.groups.reduce((sum, group) => sum + chosenOf(state, group).length, 0)
    button.textContent = count ? `Filters (${count})` : "Filters"
    chips.replaceChildren(...state.groups.flatMap((group) => chipsOf(state, group)))
    if (!panel.matches(":popover-open")) return
    const draw = (isRare) => state.groups.filter((group) => group.rare === isRare)
      .map((group) => listOf(state, group, words)).filter(Boolean)
    const [drawn, rare] = [draw(false), draw(true)]
    if (rare.length) {
      state.more.open ||= words.length > 0 || state.groups.some((group) => group.rare && chosenOf(state, group).length)
      state.more.replaceChildren(element("summary", "", "More"), ...rare)
      drawn.push(state.more)
    }
    lists.replaceChildren(...(drawn.length ? drawn : [element("p", "more", "No value contains this text.")]))
    if (focused?.place) lists.querySelector(`[data-name="${focused.name}"][data-place="${focused.place}"]`)?.focus()
  }
  return state
}

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".filters")
  const state = (root.state ??= make(root))
  state.groups = data.groups
  state.send = setTriggerValue
  state.draw()
}
