// A button that copies a text, or the address of a page given by its path. It says what came of it.
const SHOWN = 2000
const OF_TABLES = ["sort", "all"] // URL keys that the server does not see (table.js)

function addressOf(path) {
  const url = new URL(path, window.location.href)
  const here = new URLSearchParams(window.location.search)
  for (const key of OF_TABLES) {
    if (here.get(key)) url.searchParams.set(key, here.get(key))
  }
  return url.href
}

function byHand(text) {
  // Where the page is not served over https the browser keeps its clipboard to itself.
  const area = document.createElement("textarea")
  area.value = text
  area.style.cssText = "position: fixed; opacity: 0"
  document.body.append(area)
  area.select()
  const done = document.execCommand("copy")
  area.remove()
  return done
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return byHand(text)
  }
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button")
  const said = parentElement.querySelector("[role=status]")
  button.textContent = data.label
  let timer
  button.onclick = async () => {
    const text = data.path === null ? data.text : addressOf(data.path)
    const done = await copy(text)
    said.textContent = done ? "Copied" : "The browser refused to copy"
    clearTimeout(timer)
    timer = setTimeout(() => { said.textContent = "" }, SHOWN)
  }
  return () => clearTimeout(timer)
}
