"""Tests what all pages have: the navigation, the command palette and the tour."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from callgauge.dashboard.pages import PAGES, PageEntry
from tests.analysis.store_fixture import a_call, publish, small_tables
from tests.browser.conftest import LONGEST_WAIT, App, Served, watch

# This returns the element that has the focus, even if it is within a shadow root.
FOCUSED = """() => {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node
}"""
# Returns true if no other element covers the visible middle of the focused element. Streamlit's stop button
# is ignored, because it appears only during runs.
UNCOVERED = f"""() => {{
  const node = ({FOCUSED})()
  if (node.closest("[data-testid=stStatusWidget]") || !node.isConnected) return true
  const box = node.getBoundingClientRect()
  const x = (Math.max(box.left, 0) + Math.min(box.right, window.innerWidth)) / 2
  const y = (Math.max(box.top, 0) + Math.min(box.bottom, window.innerHeight)) / 2
  let top = document.elementFromPoint(x, y)
  for (let inner = top; inner; inner = inner.shadowRoot?.elementFromPoint(x, y)) {{
    if (inner === top && !top.shadowRoot) break
    top = inner
  }}
  const holds = (outer, inner) => inner && (inner === outer || holds(outer, inner.parentNode ?? inner.host))
  return Boolean(top && (holds(node, top) || holds(top, node)))
}}"""


def opened(app: App, path: str = "/") -> App:
    """Return a page on which the command palette's button is visible. From then on, the palette's keyboard
    shortcuts work.
    """
    app.open(path)
    expect(app.page.get_by_role("button", name="Find", exact=True)).to_be_visible()
    return app


def palette(app: App) -> Locator:
    return app.page.get_by_role("dialog", name="Find")


def open_palette(app: App) -> Locator:
    app.page.keyboard.press("Control+k")
    expect(palette(app)).to_be_visible()
    return app.page.get_by_role("combobox", name="Find a page")


def focused_text(app: App) -> str:
    return str(app.page.evaluate(f"() => ({FOCUSED})()?.textContent ?? ''"))


def test_the_palette_opens_a_model_and_keeps_the_other_filters(app: App) -> None:
    opened(app, "/?tool=read_file")
    field = open_palette(app)
    field.fill("falc")
    option = app.page.get_by_role("option", name="falcon-3")
    expect(option).to_have_attribute("aria-selected", "true")
    expect(option).to_have_attribute("href", re.compile("^models[?]tool=read_file&model=falcon-3"))
    field.press("Enter")
    app.page.wait_for_url("**/models*")
    expect(palette(app)).to_be_hidden()


@pytest.mark.thorough
def test_the_arrows_move_through_the_results_and_escape_closes(app: App) -> None:
    opened(app, "/models")
    field = open_palette(app)
    expect(field).to_be_focused()
    options = app.page.get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    field.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == options.nth(1).get_attribute("id")
    field.press("ArrowUp")
    field.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    field.press("Tab")
    expect(field).to_be_focused()
    field.press("Escape")
    expect(palette(app)).to_be_hidden()


@pytest.mark.thorough
def test_a_pasted_id_finds_its_call_and_its_session(app: App) -> None:
    opened(app)
    field = open_palette(app)
    field.fill("  c41 ")
    option = app.page.get_by_role("option", name=re.compile("^c41"))
    expect(option).to_be_visible()
    option.click()
    app.page.wait_for_url("**/calls?call=c41")
    app.expect("json_parse_error")


@pytest.mark.thorough
def test_a_link_followed_just_after_the_palette_was_closed_is_followed(app: App) -> None:
    opened(app)
    field = open_palette(app)
    field.fill("falcon")  # the frontend sends its request after a delay, unless the palette is closed first
    field.press("Escape")
    app.page.get_by_role("navigation").get_by_role("link", name="Models").click()
    app.page.wait_for_url("**/models")
    app.page.wait_for_timeout(1000)
    expect(app.page.get_by_role("heading", name="Models", level=1)).to_be_visible()


@pytest.mark.thorough
def test_what_is_not_there_is_said(app: App) -> None:
    opened(app)
    open_palette(app).fill("<b>nowhere")
    expect(palette(app)).to_contain_text("Search the arguments of calls for “<b>nowhere”")
    app.page.keyboard.press("Enter")
    app.page.wait_for_url("**/calls?*q=%3Cb%3Enowhere*")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("typed", "name"),
    [("retry", "Retries"), ("falcn", "falcon-3"), ("share", "Share"), ("json_parse", "json_parse_error")],
)
def test_the_palette_knows_other_words_codes_and_a_typing_error(app: App, typed: str, name: str) -> None:
    opened(app)
    open_palette(app).fill(typed)
    expect(palette(app).get_by_role("option", name=re.compile(f"^{name}")).first).to_be_visible()


def test_the_question_mark_opens_the_help_and_the_glossary(app: App) -> None:
    opened(app, "/models")
    app.page.get_by_role("button", name="Help: glossary and keys").click()
    app.page.get_by_role("dialog", name="Help").get_by_role("link", name=re.compile("^Glossary")).click()
    app.page.wait_for_url("**/glossary*")
    expect(app.page.get_by_role("heading", name="Glossary", level=1)).to_be_visible()


@pytest.mark.thorough
def test_letters_open_pages_from_wherever_one_is_and_act_once(app: App) -> None:
    opened(app)
    for letter, page in (("m", "models"), ("e", "errors"), ("l", "calls"), ("q", "sql"), ("o", "")):
        app.page.keyboard.press("g")
        app.page.keyboard.press(letter)
        app.page.wait_for_url(re.compile(f"/{page}$"))
        app.settle()
    app.page.keyboard.press("?")
    expect(app.page.get_by_role("dialog", name="Help")).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(app.page.get_by_role("dialog", name="Help")).to_be_hidden()


@pytest.mark.thorough
def test_the_list_of_keys_names_the_letter_of_every_page(app: App) -> None:
    opened(app, "/sql")
    app.page.keyboard.press("?")
    keys = app.page.get_by_role("dialog", name="Help")
    for entry in PAGES:
        # the menu lists the page Trials only if the store has a trial run
        if not entry.listed or entry.name == "trials":
            continue
        expect(keys).to_contain_text(f"g{entry.key}{entry.title}")
    assert len({entry.key for entry in PAGES}) == len(PAGES)


@pytest.mark.thorough
def test_letters_in_a_field_are_text(app: App) -> None:
    opened(app, "/calls")
    app.page.keyboard.press("/")
    search = app.page.get_by_placeholder("Search raw arguments")
    expect(search).to_be_focused()
    app.page.keyboard.type("gm?/jk")
    expect(search).to_have_value("gm?/jk")
    assert "/calls" in app.page.url
    expect(app.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.thorough
def test_a_slash_opens_the_palette_where_a_page_has_no_search(app: App) -> None:
    opened(app, "/models")
    app.page.keyboard.press("/")
    expect(palette(app)).to_be_visible()


def test_j_and_k_move_over_the_rows(app: App) -> None:
    opened(app, "/calls")
    rows = app.page.get_by_role("region", name="Calls").get_by_role("row")
    expect(rows.nth(3)).to_be_visible()
    app.page.keyboard.press("j")
    app.page.keyboard.press("j")
    app.page.keyboard.press("j")
    app.page.keyboard.press("k")
    expect(rows.nth(2).get_by_role("link").first).to_be_focused()
    app.page.keyboard.press("Enter")
    app.page.wait_for_url("**peek=*")


@pytest.mark.thorough
def test_the_first_page_has_a_name_of_its_own(app: App) -> None:
    opened(app, "/overview?model=falcon-3")
    expect(app.page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(app.page.get_by_role("link", name="Overview", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    assert app.page.get_by_test_id("stDialog").count() == 0
    assert app.page.title() == "Callgauge"


@pytest.mark.thorough
def test_the_focus_goes_through_the_pages_in_their_order_and_can_skip_them(app: App) -> None:
    opened(app, "/errors")
    navigation = app.page.get_by_role("navigation", name="Pages")
    # The menu lists the page Trials only if the store has a trial run.
    names = [entry.title for entry in PAGES if entry.listed and entry.name != "trials"]
    expect(navigation.get_by_role("link")).to_have_text(names)
    reached = []
    for _ in range(len(PAGES) + 4):
        app.page.keyboard.press("Tab")
        reached.append(focused_text(app))
    assert reached[0] == "Skip to main content"
    first = reached.index(names[0])
    assert reached[first : first + len(names)] == names


@pytest.fixture(scope="module")
def small_screen(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    context.set_default_timeout(LONGEST_WAIT)
    yield context
    context.close()


@pytest.fixture
def phone(small_screen: BrowserContext, served: Served) -> Iterator[App]:
    app = App(small_screen.new_page(), served)
    watch(app)
    yield app
    app.page.close()
    assert not app.problems


@pytest.fixture(scope="module")
def phone_for_all(small_screen: BrowserContext, served: Served) -> Iterator[App]:
    app = App(small_screen.new_page(), served)
    watch(app)
    yield app
    app.page.close()


@pytest.mark.thorough
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_the_focus_is_never_under_the_top_bar(phone_for_all: App, entry: PageEntry) -> None:
    page = phone_for_all.go(f"/{entry.name}?days=all").page
    main = page.get_by_test_id("stMain")
    main.get_by_role("heading", level=1).click()
    for key in ("Tab", "Shift+Tab"):  # first forward through the whole page, then backward
        for _ in range(16):
            page.keyboard.press(key)
            page.wait_for_timeout(20)
            assert page.evaluate(UNCOVERED), focused_text(phone_for_all)
        main.evaluate("main => { main.scrollTop += 300 }")
    assert not phone_for_all.problems


@pytest.mark.thorough
def test_on_a_phone_a_page_is_chosen_in_the_list_that_then_closes(phone: App) -> None:
    opened(phone, "/errors")
    phone.page.get_by_role("button", name="Expand sidebar").click()
    phone.page.get_by_role("link", name="Calls", exact=True).click()
    phone.page.wait_for_url("**/calls")
    expect(phone.page.get_by_role("button", name="Expand sidebar")).to_be_visible()
    phone.page.get_by_role("button", name="Find").click()
    expect(palette(phone)).to_be_visible()


@pytest.mark.thorough
def test_the_palette_fits_at_200_percent_and_shows_its_choice_in_forced_colours(app: App) -> None:
    app.page.set_viewport_size({"width": 720, "height": 450})
    app.page.emulate_media(forced_colors="active")
    opened(app, "/models")
    assert app.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    open_palette(app)
    box = palette(app).bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 450
    expect(app.page.get_by_role("option").first).to_have_css("outline-style", "solid")
    assert palette(app).evaluate("dialog => dialog.getAnimations({ subtree: true }).length") == 0


@pytest.mark.thorough
def test_the_tour_is_shown_once_and_then_on_demand(browser: Browser, served: Served) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    # The tour starts by itself only in a browser that no program controls.
    context.add_init_script("Object.defineProperty(navigator, 'webdriver', { get: () => false })")
    app = App(context.new_page(), served)
    watch(app)
    opened(app)
    card = app.page.locator(".tour")
    expect(card).to_contain_text("The answer comes first")
    expect(card).to_contain_text("1 of 5")
    card.get_by_role("button", name="Next").click()
    expect(card).to_contain_text("Filters hold on every page")
    card.get_by_role("button", name="Skip").click()
    expect(card).to_be_hidden()
    opened(app)
    app.page.wait_for_timeout(1500)
    expect(card).to_be_hidden()
    app.page.keyboard.press("?")
    app.page.get_by_role("button", name="Take the tour").click()
    for _ in range(4):
        card.get_by_role("button", name="Next").click()
    card.get_by_role("button", name="Done").click()
    expect(card).to_be_hidden()
    context.close()
    assert not app.problems


@pytest.mark.thorough
def test_the_scripts_come_compressed_and_the_menu_offers_the_theme_alone(
    browser: Browser, served: Served
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    app = App(context.new_page(), served)
    watch(app)
    coded: dict[str, str | None] = {}
    app.page.on(
        "response",
        lambda got: (
            coded.update({got.url.rpartition("/")[2]: got.headers.get("content-encoding")})
            if "/static/js/" in got.url
            else None
        ),
    )
    opened(app, "/errors")
    assert len(coded) > 20
    assert set(coded.values()) <= {"zstd", "gzip"}
    assert not [name for name in coded if name.startswith("Plotly")], "this page has no chart"
    app.page.get_by_role("button", name="Main menu").click()
    menu = app.page.get_by_test_id("stMainMenuPopover")
    expect(menu).to_contain_text("Dark")
    for words in ("Record", "Print", "Made with Streamlit"):
        expect(menu.get_by_text(words)).to_be_hidden()
    context.close()
    assert not app.problems


WORLD = {
    "Chinese": "模型漢字",
    "Japanese": "検索ツール",
    "Korean": "도구",
    "emoji": "🙂",
    "Hebrew": "שלום",
    "Arabic": "مرحبا",
}
FONT = "node => `20px ${getComputedStyle(node).fontFamily}`"
# This returns the characters of `text` that `font` cannot draw.
MISSING = """([text, font]) => {
  const canvas = document.createElement("canvas")
  canvas.width = canvas.height = 40
  const context = canvas.getContext("2d", { willReadFrequently: true })
  const drawn = (character) => {
    context.clearRect(0, 0, 40, 40)
    context.font = font
    context.fillText(character, 4, 30)
    return context.getImageData(0, 0, 40, 40).data.join()
  }
  const missing = ["\\u0378", "\\u{10fffd}"].map(drawn)
  return [...text].filter((character) => missing.includes(drawn(character)))
}"""


@pytest.mark.thorough
def test_text_in_any_script_shows_in_tables_and_in_the_marked_text(app: App) -> None:
    name = "-".join(WORLD.values())
    broken = f'{{"q": "{name}" "n": 1}}'
    calls = [
        *small_tables()["tool_calls"],
        a_call(90, model=name, tool=name, raw_arguments=broken, outcome="failed", fault_layer="syntax"),
    ]
    try:
        publish(app.served.store, small_tables() | {"tool_calls": calls}, number=6)
        app.open("/calls")
        cell = app.page.get_by_role("region", name="Calls").get_by_text(name).first
        expect(cell).to_be_visible()
        font = cell.evaluate(
            "node => { const css = getComputedStyle(node); return `20px ${css.fontFamily}` }"
        )
        app.open("/calls?call=c90")
        app.expect(broken)
        marked = app.page.locator("pre", has_text=name).first
        code = marked.evaluate(
            "node => { const css = getComputedStyle(node); return `20px ${css.fontFamily}` }"
        )
    finally:
        publish(app.served.store, small_tables(), number=7)
    absent = {
        script for script, text in WORLD.items() if app.page.evaluate(MISSING, [text, "20px sans-serif"])
    }
    for script in WORLD.keys() - absent:
        assert not app.page.evaluate(MISSING, [WORLD[script], font]), script
        assert not app.page.evaluate(MISSING, [WORLD[script], code]), script
    if absent:  # `./dev test` installs the fonts if possible
        pytest.skip(f"this machine has no font for {sorted(absent)}")
