"""Messages of the service in the words of the command line: options in the place of the API's members."""

import re
from collections.abc import Mapping

OPTIONS: Mapping[str, str] = {
    "basis/kernel": "--kernel",
    "basis/width": "--width",
    "budget": "--budget",
    "budget/cpu_seconds": "--budget",
    "class_priors": "--class-priors",
    "coefficients": "--coefficients",
    "components": "--components",
    "constant": "--constant",
    "costs": "--costs",
    "criterion": "--criterion",
    "density": "--density",
    "effort": "--effort",
    "explain": "--explain",
    "groups": "--groups",
    "holdout": "--holdout",
    "dates": "--dates",
    "inputs": "--input",
    "interval": "--interval",
    "keep": "--keep",
    "keep_rows": "--keep-rows",
    "kernel": "--kernel",
    "likelihood": "--likelihood",
    "likelihood/noise_sd": "--noise-sd",
    "likelihood/noise_sd/column": "--noise-column",
    "local": "--local",
    "margin": "--margin",
    "max_functions": "--max-functions",
    "max_score_loss": "--max-score-loss",
    "metric": "--metric",
    "min_explained_variance": "--min-explained-variance",
    "missing": "--missing",
    "model": "--model",
    "noise_sd": "--noise-sd",
    "outputs": "--outputs",
    "positive_class": "--positive-class",
    "prefer": "--prefer",
    "prior": "--prior",
    "priority": "--priority",
    "psnr": "--psnr",
    "reject_cost": "--reject-cost",
    "seed": "--seed",
    "split": "--split",
    "standardise": "--standardise",
    "target": "--target",
    "task": "--task",
    "text": "--text",
    "tolerance": "--tolerance",
    "unknown_categories": "--unknown-categories",
    "nulls": "--nulls",
    "validation": "--validation",
    "width": "--width",
}
"""Options by the path of the member that they set."""

PHRASES: Mapping[str, str] = {
    'send "on_error": "per_row"': "leave out --fail-on-error",
    "kinds=NAME:KIND": "--kind NAME:KIND",
    "request a validation": "pass --validation 5",
}
"""Remedies that are not a member and its value."""

POINTER = re.compile(r"(?m)((?:^ *|\bAt ))(/[a-z][\w/]*)(?=[:,])")
MEMBER_AND_VALUE = re.compile(r'\bsend "(\w+)": "?([\w.]++)"?(?:([^."]*) or "(\w+)")?')
LIKELIHOODS = re.compile(r'\buse ("\w+"(?: or "\w+")*)')
FILE_OPTION = re.compile(r"\b(decimal|thousands|date_format|delimiter|encoding|skip_rows)=")
HEADER = re.compile(r'\bheader="?(true|false)"?')
CUES = ("name", "other", "another", "larger", "without")
MEMBER = re.compile("|".join([r"(?m:^)`\w+`(?= is a | is empty| must be)", *(rf"(?<=\b{cue} )`\w+`" for cue in CUES)]))
MEMBERS = re.compile(r"\(`\w+`(?:, `\w+`)*\)")


def in_options(message: str) -> str:
    """Return a message with options in the place of pointers, of members, and of members with values.

    A name in backticks may be that of a column: it is read as a member only after one of CUES.
    """
    text = POINTER.sub(_pointer, message)
    for phrase, remedy in PHRASES.items():
        text = text.replace(phrase, remedy)
    text = FILE_OPTION.sub(lambda found: f"--{found[1].replace('_', '-')}=", text)
    text = HEADER.sub(lambda found: "--header" if found[1] == "true" else "--no-header", text)
    text = MEMBER_AND_VALUE.sub(_member_and_value, text)
    text = MEMBERS.sub(lambda found: re.sub(r"`\w+`", _member, found[0]), MEMBER.sub(_member, text))
    return LIKELIHOODS.sub(lambda found: f"pass --likelihood {found[1].replace(chr(34), '')}", text)


def _pointer(found: re.Match[str]) -> str:
    before, path = found[1], [step for step in found[2].split("/") if step and not step.isdecimal()]
    for size in range(len(path), 0, -1):
        if (option := OPTIONS.get("/".join(path[:size]))) is not None:
            return f"{before.removesuffix('At ')}{option}"
    return found[0]


def _member_and_value(found: re.Match[str]) -> str:
    option = OPTIONS.get(found[1])
    if option is None:
        return found[0]
    other = "" if found[4] is None else f"{found[3]} or {option} {found[4]}"
    return f"pass {option} {found[2]}{other}"


def _member(found: re.Match[str]) -> str:
    return OPTIONS.get(found[0].strip("`"), found[0])
