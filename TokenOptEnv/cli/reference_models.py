"""The pages of actions and observations: a table for each model, with the words that stand under its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.resources import files

_PAGES = {
    "actions.md": (
        "Actions",
        "One flat model: an action type, and the fields that it takes. Others are ignored. What may be sent now is in"
        " `legal_actions` of the observation; what a policy of text writes instead is in the prompt itself.",
        ("action", "refusal"),
    ),
    "observations.md": (
        "Observations",
        "What an agent is shown after each step: `TokenOptEnvObservation`, and what it is made of. Until an episode"
        " ends every field follows from what was shown before, the reward included.",
        ("observation", "task", "card", "payloads"),
    ),
}


def model_pages() -> dict[str, str]:
    return {name: _page(name, title, about, modules) for name, (title, about, modules) in _PAGES.items()}


def _page(name: str, title: str, about: str, modules: tuple[str, ...]) -> str:
    parts = [f"# {title}", "Written by `camre reference`.", about]
    if name == "actions.md":
        parts.append(_forms())
    for module in modules:
        source = (files("TokenOptEnv.models") / f"{module}.py").read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                parts += _class(node)
    return "\n\n".join(parts) + "\n"


def _forms() -> str:
    """By action: its fields, those that it cannot do without in bold, and the lists that they choose from."""
    from TokenOptEnv.config import Profile
    from TokenOptEnv.models import V1_ACTIONS
    from TokenOptEnv.observation_builder import FORMS

    rows = []
    for kind, form in FORMS[Profile.V2].items():
        fields = []
        for field in form.fields:
            name = f"**`{field.name}`**" if field.required else f"`{field.name}`"
            source = f" from {' or '.join(field.choices_from)}" if field.choices_from else ""
            most = f", at most {field.max_items}" if field.max_items is not None else ""
            fields.append(f"{name}{source}{most}")
        profile = "v1, v2" if kind in V1_ACTIONS else "v2"
        rows.append(f"| `{kind.value}` | {profile} | {'; '.join(fields)} |")
    return "\n".join(["| action | profile | takes (bold: required) |", "|---|---|---|", *rows])


def _class(node: ast.ClassDef) -> Iterator[str]:
    yield f"## {node.name}"
    if about := ast.get_docstring(node):
        yield about
    rows = list(_rows(node))
    if rows:
        is_enum = any(isinstance(base, ast.Name) and base.id.endswith("Enum") for base in node.bases)
        head = "| value | |\n|---|---|" if is_enum else "| field | type | default | |\n|---|---|---|---|"
        yield "\n".join([head, *rows])


def _rows(node: ast.ClassDef) -> Iterator[str]:
    """A string under a field is what is said of it."""
    for place, line in enumerate(node.body):
        after = node.body[place + 1] if place + 1 < len(node.body) else None
        about = " ".join(_string(after).split()).replace("|", "\\|")
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=value):
                default = "required" if value is None else _default(value)
                yield f"| `{name}` | {_code(kind)} | {default} | {about} |"
            case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=str(value))):
                yield f"| `{value}` | {about} |"


def _default(value: ast.expr) -> str:
    return "empty" if isinstance(value, ast.Call) else _code(value)


def _code(node: ast.expr) -> str:
    return f"`{ast.unparse(node)}`".replace("|", "\\|")


def _string(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""
