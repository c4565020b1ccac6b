"""Draws the lists of notes, alert rules, saved views and baselines. Each line has controls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.alert_rules import RuleFinding, RuleState, judge_rules
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.links import call_link, draw_link, session_link
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.memory.changes import apply_change, may_write, owns, read_records
from callgauge.dashboard.components.memory.compared_days import describe_baseline
from callgauge.dashboard.components.memory.note_list import draw_note
from callgauge.dashboard.components.memory.rule_form import ask_mute, describe_rule
from callgauge.dashboard.components.memory.saved_views import view_link, visible_views
from callgauge.memory.alert_rules import AlertRule, delete_rule
from callgauge.memory.baselines import Baseline, remove_baseline
from callgauge.memory.notes import Note
from callgauge.memory.views import SavedView, delete_view, rename_view, share_view

_SHOWN = 50  # notes before "Show all"
_STATES: Mapping[RuleState, str] = {
    RuleState.FIRES: ":red[fires]",
    RuleState.QUIET: ":green[quiet]",
    RuleState.TOO_FEW: ":gray[too few to tell]",
    RuleState.UNKNOWN: ":gray[rate not known]",
}


def draw_all_notes(notes: Sequence[Note]) -> None:
    """Draw the notes, newest first. Each note links to the subject of the note."""
    if not notes:
        _say_nothing(
            "No notes yet. Add one on a trend, or on the page of a tool, prompt, error, session or call."
        )
        return
    shown = notes if st.session_state.get("all_notes") else notes[:_SHOWN]
    with st.container(border=True, gap="xxsmall", key="memory_notes"):
        for note in shown:
            draw_note(note, _describe_subject(note), _subject_link(note))
    if len(notes) > _SHOWN:
        st.toggle(f"Show all {len(notes)}", key="all_notes")


def _describe_subject(note: Note) -> str:
    if note.kind == "day":
        return ""
    name = note.subject[:12] if note.kind == "signature" else filters.short_label(note.kind, note.subject)
    return f"{note.kind} {name}"


def _subject_link(note: Note) -> str | None:
    if note.kind == "call":
        return call_link(note.subject)
    if note.kind == "session":
        return session_link(note.subject)
    if note.kind == "signature":
        return filters.page_link("errors", {}, {"signature": note.subject})
    if note.kind == "tool":
        return filters.page_link("tools", {}, {"tool_open": note.subject})
    if note.kind == "prompt":
        return filters.page_link("prompts", {}, {"of": note.subject})
    if note.kind == "model":
        return filters.page_link("models", {"model": note.subject}, {})
    return None


def draw_rules(rules: Sequence[AlertRule]) -> None:
    """Draw the alert rules with their result for the newest day. Rules that fire come first."""
    if not rules:
        _say_nothing("No rules yet. Add one on Overview, in Needs attention. It watches the filtered calls.")
        return
    today = datetime.now(UTC).date()
    with st.container(border=True, gap="xxsmall", key="memory_rules"):
        for number, finding in enumerate(judge_rules(store_queries.ask_all, rules)):
            rule = finding.rule
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(_describe_finding(finding), width="content")
                muted = f"muted until {rule.muted_until} · " if rule.is_muted(today) else ""
                by = f"{wording.in_markdown(rule.by, 60)}, " if rule.by else ""
                st.caption(f"{muted}{by}{rule.at:%Y-%m-%d}", width="content")
                if may_write():
                    with st.container(width="content"):
                        draw_popover("Change", f"rule_{number}", lambda rule=rule: _change_rule(rule))  # type: ignore[misc]


def _describe_finding(finding: RuleFinding) -> str:
    name = wording.in_markdown(finding.rule.name, 80)
    what = wording.in_markdown(describe_rule(finding.rule), 200)
    now = ""
    if finding.share is not None and finding.share.n:
        share = finding.share
        now = f": {wording.rate(share.k, share.n)} ({wording.fraction(share.k, share.n)})"
    since = f" since {finding.since}" if finding.fires else ""
    return f"**{name}**: {what} · {_STATES[finding.state]}{since}{wording.in_markdown(now)}"


def _change_rule(rule: AlertRule) -> None:
    place = _digest(rule.name)
    ask_mute(rule, place)
    if owns(rule.by) and st.button("Delete rule", key=f"delete_rule_{place}", type="tertiary"):
        apply_change(lambda file: delete_rule(file, rule.name))


def draw_views(views: Sequence[SavedView]) -> None:
    """Draw the saved views that this person sees. Own views can be renamed, shared and deleted."""
    visible = visible_views(views)
    if not visible:
        _say_nothing("No saved views yet. Press Save this view in the navigation, or Ctrl K on any page.")
        return
    with st.container(border=True, gap="xxsmall", key="memory_views"):
        for number, view in enumerate(visible):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                draw_link(f"view_{number}", wording.one_line(view.name, 80), view_link(view))
                by = f"{view.owner}, " if view.owner else ""
                whose = "for the team" if view.shared else "own"
                caption = f"{view.page} · {whose} · {by}{view.at:%Y-%m-%d}"
                st.caption(wording.in_markdown(caption, 200), width="content")
                if owns(view.owner):
                    with st.container(width="content"):
                        draw_popover("Change", f"change_view_{number}", lambda view=view: _change_view(view))  # type: ignore[misc]


def _change_view(view: SavedView) -> None:
    place = _digest(view.owner, view.name)
    with st.form(f"rename_{place}", border=False):
        name = st.text_input("Name", view.name, key=f"name_{place}", max_chars=200)
        if st.form_submit_button("Rename") and name.strip() != view.name:
            if any((other.owner, other.name) == (view.owner, name.strip()) for other in read_records().views):
                st.error("A view with this name exists. Choose another name.")
            else:
                apply_change(lambda file: rename_view(file, view, name))
    if st.button("Make private" if view.shared else "Share with the team", key=f"share_{place}"):
        apply_change(lambda file: share_view(file, view, shared=not view.shared))
    if st.button("Delete view", key=f"delete_{place}", type="tertiary"):
        apply_change(lambda file: delete_view(file, view))


def draw_baselines(baselines: Sequence[Baseline]) -> None:
    """Draw the baselines, those with the newest days first."""
    if not baselines:
        _say_nothing("No named days yet. Name the chosen days on Overview, above the rates.")
        return
    with st.container(border=True, gap="xxsmall", key="memory_baselines"):
        for number, baseline in enumerate(baselines):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(wording.in_markdown(describe_baseline(baseline), 300), width="content")
                by = f"{wording.in_markdown(baseline.by, 60)}, " if baseline.by else ""
                st.caption(f"{by}{baseline.at:%Y-%m-%d}", width="content")
                if owns(baseline.by) and st.button("Remove", key=f"remove_kept_{number}", type="tertiary"):
                    apply_change(lambda file, name=baseline.name: remove_baseline(file, name))  # type: ignore[misc]


def _say_nothing(words: str) -> None:
    with st.container(border=True):
        st.caption(words)


def _digest(*names: str) -> str:
    return sha256(json.dumps(names).encode()).hexdigest()[:12]
