// What the drawn components share. Text only ever enters through textContent: what a log says stays text.
// Each run of right-to-left script is isolated, as wording.isolate does it: "مساعد@2" shows its version last.
const RTL = "\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}"
const LTR = "A-Za-z\\u00aa-\\u024f\\u0370-\\u058f\\u0900-\\u1fff\\u3040-\\u9fff\\uac00-\\ud7af"
const RIGHT_TO_LEFT = new RegExp(`([${RTL}](?:[^${LTR}@\\n]*[${RTL}])?)`, "u")

function isolated(text) {
  return String(text).split(RIGHT_TO_LEFT).map((part, index) => {
    if (index % 2 === 0) return part
    const run = document.createElement("bdi")
    run.textContent = part
    return run
  })
}

function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined && text !== null) made.append(...isolated(text))
  return made
}

// Streamlit follows the browser's history: going to a link this way keeps the session and adds one entry.
function go(href) {
  window.history.pushState({}, "", href)
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }))
}

function follow(event) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  go(event.currentTarget.href)
}

function link(className, text, href) {
  const made = element("a", className, text)
  made.href = href
  made.onclick = follow
  return made
}

