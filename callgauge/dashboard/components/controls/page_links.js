export default function ({ parentElement, data }) {
  const holder = parentElement.querySelector(".page-link")
  const made = data.href ? link("", data.label, data.href) : element("span", "", data.label)
  if (!data.href) made.setAttribute("aria-disabled", "true")
  holder.replaceChildren(made)
  if (!data.arrives || holder.dataset.href === data.href) return
  holder.dataset.href = data.href
  // Streamlit scrolls to the top first.
  setTimeout(() => made.scrollIntoView({ block: "nearest" }), 150)
}
