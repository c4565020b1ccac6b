"""Makes small mistakes in a module, as a person could make them. Each mistake is one change of the source
text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
OPERATORS: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*"}
ANNOTATED = (ast.AnnAssign, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of the source text. `text` replaces the bytes from `start` to `end`."""

    line: int
    start: int
    end: int
    before: str
    text: str

    def apply_to(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


def find_mutants(source: bytes) -> list[Mutant]:
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    skipped = {id(inner) for node in ast.walk(tree) for inner in _annotations(node)}
    mutants = []
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.expr | ast.Continue | ast.Break):
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        mutants += [Mutant(node.lineno, start, end, before, text) for text in _replacements(node, before)]
    return sorted(mutants, key=lambda mutant: (mutant.start, mutant.end))


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the type annotations of a node. Tests cannot notice changes of annotations."""
    if isinstance(node, ANNOTATED):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if part is not None:
                yield from ast.walk(part)


def _replacements(node: ast.AST, before: str) -> Iterator[str]:
    match node:
        case ast.Compare(left, [operator], [right]):
            yield f"({ast.unparse(left)} {COMPARISONS[type(operator)]} {ast.unparse(right)})"
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield f"({ast.unparse(left)} {OPERATORS[type(operator)]} {ast.unparse(right)})"
        case ast.BoolOp(operator, values):
            word = " or " if isinstance(operator, ast.And) else " and "
            yield "(" + word.join(f"({ast.unparse(value)})" for value in values) + ")"
        case ast.UnaryOp(ast.Not(), operand):
            yield f"bool({ast.unparse(operand)})"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value)):
            yield str(value + 1)
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"
        case ast.IfExp(_, body, orelse):
            yield f"({ast.unparse(body)})"
            yield f"({ast.unparse(orelse)})"
        case _:
            return
