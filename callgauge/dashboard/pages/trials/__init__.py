"""URL keys of the page Trials, which lists trial runs or shows one trial run with its verdict."""

from callgauge.dashboard.url_keys import PageUrlKeys

URL_KEYS = PageUrlKeys(
    narrowing={"task": "search for a task"},
    place=("arm_shown", "differ_by", "tasks_by", "tasks_page"),
    parts=("show",),
    kept=("trial", "plan_measure", "plan_model", "plan_tool", "plan_arms"),
)
