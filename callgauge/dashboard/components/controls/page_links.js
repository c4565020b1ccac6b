export default function ({ parentElement, data }) {
  const holder = parentElement.querySelector(".page-link")
  const made = data.href ? link("", data.label, data.href) : element("span", "", data.label)
  if (!data.href) made.setAttribute("aria-disabled", "true")
  holder.replaceChildren(made)
}
