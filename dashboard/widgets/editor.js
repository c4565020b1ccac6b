// A plain text area that reports what is typed after a short pause, and at once on Ctrl+Enter.
const PAUSE = 250

export default function ({ parentElement, data, setStateValue }) {
  const area = parentElement.querySelector("textarea")
  const label = parentElement.querySelector("label")
  if (!area.dataset.begun) {
    area.dataset.begun = "yes"
    area.value = data.text
  }
  label.textContent = data.label
  area.style.height = `${data.height}px`
  let timer
  const report = () => {
    clearTimeout(timer)
    setStateValue("text", area.value)
  }
  area.oninput = () => {
    clearTimeout(timer)
    timer = setTimeout(report, PAUSE)
  }
  area.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) report()
  }
  return () => clearTimeout(timer)
}
