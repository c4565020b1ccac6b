// The list of pages, in sections. Links keep the filters, so they can be copied and opened in a new tab.
const NARROW = 768 // pixels; below, Streamlit lays the sidebar over the page

function closeOverPage() {
  if (window.innerWidth <= NARROW) document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
}

function entry(page) {
  const item = element("li")
  const made = link("page", null, page.href)
  if (page.current) made.setAttribute("aria-current", "page")
  made.append(icon(page.name), element("span", "", page.title))
  made.addEventListener("click", closeOverPage)
  item.append(made)
  return item
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector("nav")
  const drawn = JSON.stringify(data)
  if (root.drawn === drawn) return
  root.drawn = drawn
  const focused = [...root.querySelectorAll("a")].indexOf(root.getRootNode().activeElement)
  const sections = data.sections.flatMap((section) => {
    const list = element("ul")
    list.append(...section.pages.map(entry))
    if (!section.title) return [list]
    const heading = element("h2", "", section.title)
    heading.id = `section-${section.title.replaceAll(" ", "-")}`
    list.setAttribute("aria-labelledby", heading.id)
    return [heading, list]
  })
  root.replaceChildren(...sections)
  root.querySelectorAll("a")[focused]?.focus()
}
