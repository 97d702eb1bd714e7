"""The description of the service for programs: OpenAPI, with the columns of the models it serves.

Written out rather than derived: rows are checked without models of their fields, and the schema
of a row follows from a model that may be replaced at any time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from splmll import __version__
from splmll.serving.answers import explanations, predictions
from splmll.serving.asking import CSV, FILE_FIELD, FORM, JSON
from splmll.serving.csv_files import predictions_as_csv, rows_as_csv
from splmll.serving.limits import Limits
from splmll.serving.model import EXPLAIN, KINDS, PREDICT, RECOVER, ServedModel
from splmll.serving.registry import ModelRegistry
from splmll.serving.rows import MOST_NUMBER

_SCORE = {"type": "number", "minimum": 0, "maximum": 1}
_NUMBER = {"type": "number"}
_STRING = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_THRESHOLD = {
    "description": "Score from which a label is predicted; by default the model's own rule.",
    "minimum": 0,
    "maximum": 1,
}
_TOP = {"description": "Return only this many of the best labels; by default all.", "minimum": 1}
_EXAMPLE_TOP = 3  # labels in the examples; a model may have thousands
_SUMMARIES = {
    PREDICT: "The labels of rows",
    EXPLAIN: "What each landmark added to the scores of rows",
    RECOVER: "All labels, from answers about the landmarks alone",
}
_ERRORS = {
    "400": "The body cannot be read.",
    "401": "The token is missing or wrong.",
    "403": "The request came from a page of another site, without the token.",
    "404": "There is no such model.",
    "409": "The method of the model has no landmarks.",
    "413": "The body, its rows or the answer would be too large.",
    "415": "The body is neither JSON nor CSV.",
    "422": "The request does not fit the model; the message names the row and column.",
    "503": "Too many requests are waiting; try again later.",
    "504": "The answer took too long.",
}


def describe_service(registry: ModelRegistry, limits: Limits, token: bool) -> dict[str, Any]:
    """Return the OpenAPI document of a service.

    Parameters
    ----------
    registry : ModelRegistry
        Its models.
    limits : Limits
        Its bounds.
    token : bool
        Whether it needs a token.

    Returns
    -------
    document : dict
    """
    models = registry.models
    paths: dict[str, Any] = {
        f"/{kind}": {"post": _question(kind, models, limits, token)} for kind in KINDS
    }
    paths |= {
        "/models": {"get": _listing("The models and their columns", "Models", models, token)},
        "/labels": {"get": _listing("The labels of a model", "Labels", models, token)},
        "/landmarks": {
            "get": _listing(
                "The landmarks of a model and what they add to other labels",
                "Landmarks",
                models,
                token,
                ["409"],
            )
        },
        "/reload": {
            "post": _listing(
                "Reload models whose files have changed", "Reloaded", models, token, ["409"]
            )
        },
        "/health": {"get": _open("Whether the service is running", JSON, _reference("Health"))},
        "/metrics": {
            "get": {
                **_open("Counters for Prometheus", "text/plain", _STRING),
                **({"security": [{"token": []}]} if token else {}),
            }
        },
        "/": {"get": _open("A page to try the models", "text/html", _STRING)},
    }
    if token:
        paths["/metrics"]["get"]["responses"] |= _errors(["401"])
    components: dict[str, Any] = {"schemas": _schemas(models)}
    if token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "splmll",
            "version": __version__,
            "description": "Labels for rows, and the landmarks behind them.",
        },
        "paths": paths,
        "components": components,
    }


# Paths ------------------------------------------------------------------------------------------


def _question(kind: str, models: list[ServedModel], limits: Limits, token: bool) -> dict[str, Any]:
    """Return the operation that asks a model about rows."""
    row = {"anyOf": [_reference(f"{_row_of(kind)}{n}") for n in range(len(models))]}
    if len(models) == 1:
        row = row["anyOf"][0]
    body = {
        "type": "object",
        "required": ["rows"],
        "additionalProperties": False,
        "properties": {
            "rows": {
                "type": "array",
                "items": row,
                "minItems": 1,
                # Not maxItems: more rows are refused with 413, as a body of more bytes is.
                "description": f"At most {limits.rows} rows.",
            },
            "threshold": {"type": ["number", "null"], **_THRESHOLD},
            "top": {"type": ["integer", "null"], **_TOP},
        },
    }
    file = {"type": "string", "format": "binary", "description": "A CSV file with a header."}
    form = {
        "type": "object",
        "required": [FILE_FIELD],
        "additionalProperties": False,
        "properties": {FILE_FIELD: file},
    }
    answer = _reference("Explanations" if kind == EXPLAIN else "Predictions")
    csv_answer: dict[str, Any] = {"schema": _STRING}
    asked: dict[str, Any] = {JSON: {"schema": body}, CSV: {"schema": file}}
    asked[FORM] = {"schema": form, "encoding": {FILE_FIELD: {"contentType": CSV}}}
    answered: dict[str, Any] = {"schema": answer}
    examples = models[0].examples()
    if kind in examples:
        rows, found = examples[kind]
        asked[JSON]["example"] = {"rows": rows, "top": _EXAMPLE_TOP}
        asked[CSV]["example"] = rows_as_csv(rows, models[0], kind)
        if kind == EXPLAIN:
            answered["example"] = explanations(found, models[0], None, _EXAMPLE_TOP)
        else:
            answered["example"] = predictions(found, models[0], None, _EXAMPLE_TOP)
            csv_answer["example"] = predictions_as_csv(found, models[0], None).decode()
    parameters = [
        *_model_parameter(models),
        _parameter("threshold", {"type": "number", **_THRESHOLD}),
        _parameter("top", {"type": "integer", **_TOP}),
        _parameter(
            "scores",
            {"type": "boolean", "description": "Whether a CSV answer has a score for each label."},
        ),
        _parameter(
            "formulas",
            {
                "type": "boolean",
                "description": "Whether CSV cells that a spreadsheet would treat as formulas are "
                "left as they are; by default an apostrophe before them makes "
                "them text.",
            },
        ),
    ]
    failures = ["400", "403", "404", "409", "413", "415", "422", "503", "504"]
    if kind == PREDICT:
        failures.remove("409")
    return {
        "summary": _SUMMARIES[kind],
        "operationId": kind,
        "parameters": parameters,
        "requestBody": {"required": True, "content": asked},
        "responses": {
            "200": {
                "description": "One entry per row, in the same order.",
                "content": {JSON: answered, CSV: csv_answer},
            },
            **_errors([*failures, *(["401"] if token else [])]),
        },
        **({"security": [{"token": []}]} if token else {}),
    }


def _listing(
    summary: str, schema: str, models: list[ServedModel], token: bool, failures: Iterable[str] = ()
) -> dict[str, Any]:
    """Return an operation that takes nothing but the name of a model."""
    return {
        "summary": summary,
        "operationId": schema.lower(),
        "parameters": _model_parameter(models),
        "responses": {
            "200": {
                "description": summary,
                "content": {JSON: {"schema": _reference(schema)}},
            },
            **_errors(["403", "404", "422", *failures, *(["401"] if token else [])]),
        },
        **({"security": [{"token": []}]} if token else {}),
    }


def _open(summary: str, media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return an operation that takes nothing."""
    content = {media_type: {"schema": schema}}
    return {"summary": summary, "responses": {"200": {"description": summary, "content": content}}}


def _errors(statuses: Iterable[str]) -> dict[str, Any]:
    content = {JSON: {"schema": _reference("Error")}}
    return {
        status: {"description": _ERRORS[status], "content": content} for status in sorted(statuses)
    }


def _model_parameter(models: list[ServedModel]) -> list[dict[str, Any]]:
    names = [model.name for model in models]
    return [
        _parameter(
            "model", {"enum": names, "description": "Name of the model; by default the first."}
        )
    ]


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


# Schemas ----------------------------------------------------------------------------------------


def _row_of(kind: str) -> str:
    return "Answers" if kind == RECOVER else "Row"


def _schemas(models: list[ServedModel]) -> dict[str, Any]:
    schemas = {
        "Error": _object(error=_object(code=_STRING, message=_STRING, details={"type": "object"})),
        "Predictions": _object(
            model=_STRING,
            rows=_list(
                _object(
                    labels=_list(_STRING),
                    scores={"type": "object", "additionalProperties": _SCORE},
                )
            ),
        ),
        "Explanations": _object(
            model=_STRING,
            rows=_list(
                _object(
                    labels=_list(
                        _object(
                            name=_STRING,
                            score=_NUMBER,
                            predicted={"type": "boolean"},
                            base=_NUMBER,
                            contributions={"type": "object", "additionalProperties": _NUMBER},
                        )
                    )
                )
            ),
        ),
        "Models": _object(
            models=_list(
                _object(
                    name=_STRING,
                    default={"type": "boolean"},
                    method=_STRING,
                    n_labels=_COUNT,
                    landmarks={"type": ["integer", "null"]},
                    n_rows=_COUNT,
                    columns=_list({"type": "object", "required": ["name", "kind"]}),
                    measures={
                        "type": "object",
                        "additionalProperties": {"type": ["number", "null"]},
                    },
                )
            )
        ),
        "Labels": _object(
            model=_STRING,
            labels=_list(
                _object(
                    name=_STRING,
                    landmark={"type": "boolean"},
                    f1={"type": ["number", "null"]},
                    rows=_COUNT,
                )
            ),
        ),
        "Landmarks": _object(
            model=_STRING,
            landmarks=_list(
                _object(
                    name=_STRING,
                    strength=_NUMBER,
                    predictability=_NUMBER,
                    representativeness=_NUMBER,
                )
            ),
            edges=_list(_object(landmark=_STRING, label=_STRING, weight=_NUMBER)),
        ),
        "Reloaded": _object(reloaded=_list(_STRING), unchanged=_list(_STRING)),
        "Health": _object(status={"const": "ok"}, models=_list(_STRING), version=_STRING),
    }
    for number, model in enumerate(models):
        schemas[f"Row{number}"] = {"title": f"A row of {model.name}", **_row(model)}
        schemas[f"Answers{number}"] = {"title": f"Landmarks of {model.name}", **_answers(model)}
    return schemas


def _row(model: ServedModel) -> dict[str, Any]:
    number = {"minimum": -MOST_NUMBER, "maximum": MOST_NUMBER}
    kinds: dict[str, dict[str, Any]] = {
        "numeric": {"type": ["number", "boolean"], **number},
        "categorical": {"type": ["string", "number"], **number},
        "text": {"type": ["string"]},
    }
    if model.reader.has_gaps:
        kinds = {kind: {**it, "type": [*it["type"], "null"]} for kind, it in kinds.items()}
    columns = model.reader.columns
    return {
        "type": "object",
        "required": columns,
        "additionalProperties": False,
        "properties": {name: kinds[model.reader.kinds[name]] for name in columns},
    }


def _answers(model: ServedModel) -> dict[str, Any]:
    answer = {"enum": [0, 1, True, False, None]}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": dict.fromkeys(model.landmark_names or [], answer),
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}
