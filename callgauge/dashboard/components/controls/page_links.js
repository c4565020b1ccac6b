export default function ({ parentElement, data }) {
  const holder = parentElement.querySelector(".page-link")
  const made = data.href ? link("", data.label, data.href) : element("span", "", data.label)
  if (!data.href) made.setAttribute("aria-disabled", "true")
  holder.replaceChildren(made)
  if (data.appears && !holder.dataset.appeared) {
    holder.dataset.appeared = "1"
    made.style.scrollMarginTop = "96px" // the page's header covers the top of the window
    const scroll = () => {
      const { top } = made.getBoundingClientRect()
      if (top < 0 || top > innerHeight / 2) made.scrollIntoView({ block: "start" })
    }
    // Streamlit scrolls to the top first, and the content below is drawn later.
    for (const wait of [150, 700, 1500]) setTimeout(scroll, wait)
  }
  if (!data.arrives || holder.dataset.href === data.href) return
  holder.dataset.href = data.href
  // Streamlit scrolls to the top first.
  setTimeout(() => made.scrollIntoView({ block: "nearest" }), 150)
}
