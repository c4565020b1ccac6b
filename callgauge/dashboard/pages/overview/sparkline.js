// A line without axes: how a rate went, from its lowest to its highest value.
const SVG = "http://www.w3.org/2000/svg"
const WIDTH = 100, HEIGHT = 40, EDGE = 2

export default function ({ parentElement, data }) {
  const place = parentElement.querySelector(".spark")
  const low = Math.min(...data.values), span = Math.max(...data.values) - low
  const step = WIDTH / (data.values.length - 1)
  const points = data.values.map((value, number) => {
    const up = span ? (value - low) / span : 0.5
    return `${number * step},${HEIGHT - EDGE - up * (HEIGHT - 2 * EDGE)}`
  })
  const picture = document.createElementNS(SVG, "svg")
  picture.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`)
  picture.setAttribute("preserveAspectRatio", "none")
  picture.setAttribute("role", "img")
  picture.setAttribute("aria-label", data.words)
  const line = document.createElementNS(SVG, "polyline")
  line.setAttribute("points", points.join(" "))
  picture.append(line)
  place.replaceChildren(picture)
}
