// A plain text area that reports what is typed after a short pause, and at once when it is left or on Ctrl+Enter.
const PAUSE = 250

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const area = parentElement.querySelector("textarea")
  const label = parentElement.querySelector("label")
  // Another version is another text to begin with: it takes the place of what was typed.
  if (area.dataset.version !== String(data.version)) {
    area.dataset.version = data.version
    if (area.value !== data.text) area.value = data.text // else the caret stays where it is
  }
  label.textContent = data.label
  area.placeholder = data.placeholder
  area.style.height = `${data.height}px`
  parentElement.host?.setAttribute("data-drawn", "") // its place was held until now (shell.css)
  // The pause outlives this call: drawing anew while somebody types must not swallow what was typed last.
  const report = () => {
    clearTimeout(area.pause)
    area.pause = null
    // What is longer than the longest is refused: its end need not travel.
    setStateValue("edit", { text: area.value.slice(0, data.longest), version: data.version })
  }
  area.oninput = () => {
    clearTimeout(area.pause)
    area.pause = setTimeout(() => area.isConnected && report(), PAUSE)
  }
  area.onblur = () => area.pause && report()
  area.onkeydown = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    if (data.runs) setTriggerValue("run", area.value.slice(0, data.longest))
    else report()
  }
}
