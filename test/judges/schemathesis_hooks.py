"""What schemathesis is told beside the interface description: real files, tokens that live, and the failures that are known."""

import itertools
import json
import os
import re

import schemathesis
from hypothesis import strategies as st

given = json.loads(os.environ["SIGNET_JUDGE_GIVEN"])
known = json.loads(open(os.environ["SIGNET_JUDGE_KNOWN"]).read())
met = open(os.environ["SIGNET_JUDGE_MET"], "a", buffering=1)

PDF = open(given["pdf"], "rb").read()
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
schemathesis.openapi.media_type("application/pdf", st.sampled_from([PDF, PDF[: len(PDF) // 2], b"%PDF-1.7\n"]))
schemathesis.openapi.media_type(DOCX, st.sampled_from([b"PK\x03\x04", b"PK\x05\x06" + bytes(18)]))

addresses = itertools.count(1)
signers = itertools.cycle(given["signers"])


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers
    # Each call from an address of its own: limits are for one client.
    n = next(addresses)
    headers["X-Forwarded-For"] = f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"
    # A cookie is good from a page of our own only.
    headers.setdefault("Origin", given["url"])
    # One value would be refused with every other request: most get a value of their own.
    if n % 4 and re.fullmatch("[!-~]{1,200}", headers.get("Idempotency-Key", "")):
        headers["Idempotency-Key"] += f"-{n}"
    # Who declined or signed has nothing left to do: there are many.
    if headers.get("Authorization") == "Bearer " + given["signer"]:
        headers["Authorization"] = "Bearer " + next(signers)


@schemathesis.hook
def filter_case(context, case):
    """The key and what hangs on it must outlive the run."""
    values = json.dumps(case.path_parameters or {}, default=str)
    return case.method != "DELETE" or not any(kept in values for kept in given["kept"])


def fits(entry, failure, response):
    return (
        re.fullmatch(entry.get("operation", ".*"), failure.operation or "")
        and entry["failure"] == type(failure).__name__
        and entry.get("status") in (None, response.status_code)
    )


def covers(entry, error):
    """Where an error is: `#/name` of the body, `?limit` of the query, `last-event-id` of the headers."""
    place = error.get("pointer") or error.get("header") or "?" + error["parameter"]
    return (
        re.fullmatch(entry.get("place", ".*"), place)
        and re.fullmatch(entry.get("error", ".*"), error["code"])
        and re.search(entry.get("detail", ""), error["detail"])
    )


def has_blanks_around(value):
    if isinstance(value, str):
        return value != value.strip()
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(has_blanks_around(member) for member in members)


def known_as(failure, case, response, problem):
    """The entries that explain the failure: one for all of it, or one for each of its errors."""
    fitting = [entry for entry in known if fits(entry, failure, response)]
    whole = [
        entry
        for entry in fitting
        if "place" not in entry
        and "error" not in entry
        and entry.get("code") in (None, problem.get("code"))
        and re.search(entry.get("detail", ""), problem.get("detail", ""))
        and ("blanks" not in entry or has_blanks_around(case.body))
        and ("foreignUrl" not in entry or not str(case.body.get("url", "")).isascii())
    ]
    if whole:
        return whole
    partial = [entry for entry in fitting if "place" in entry or "error" in entry]
    found = [next((entry for entry in partial if covers(entry, error)), None) for error in problem.get("errors", [])]
    return [] if None in found else found


@schemathesis.hook
def filter_failure(context, failure, case, response):
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    entries = known_as(failure, case, response, problem if isinstance(problem, dict) else {})
    for entry in entries:
        met.write(f"{known.index(entry)}\n")
    return not entries
