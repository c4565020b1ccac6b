// What the drawn components share. Text only ever enters through textContent: what a log says stays text.
function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined && text !== null) made.textContent = text
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

