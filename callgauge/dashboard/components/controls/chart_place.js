// The place of a chart: says once that it is in view, or near to it.
const NEAR = "200px"

export default function ({ parentElement, data, setTriggerValue }) {
  const place = parentElement.querySelector(".place")
  place.style.height = `${data.height}px`
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return
    observer.disconnect()
    setTriggerValue("seen", true)
  }, { rootMargin: NEAR })
  observer.observe(place)
  const beforePrint = () => setTriggerValue("seen", true)
  window.addEventListener("beforeprint", beforePrint)
  return () => {
    observer.disconnect()
    window.removeEventListener("beforeprint", beforePrint)
  }
}
