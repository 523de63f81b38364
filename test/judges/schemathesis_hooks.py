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


def places(problem):
    """Where the errors are, as in `#/name` of the body, `?limit` of the query, `last-event-id` of the headers."""
    for error in problem.get("errors", []):
        yield error.get("pointer") or error.get("header") or "?" + error["parameter"]


def is_known(entry, failure, response, problem):
    return (
        re.fullmatch(entry.get("operation", ".*"), failure.operation or "")
        and entry["failure"] == type(failure).__name__
        and entry.get("status") in (None, response.status_code)
        and entry.get("code") in (None, problem.get("code"))
        and ("detail" not in entry or re.search(entry["detail"], problem.get("detail", "")))
        and ("place" not in entry or any(re.fullmatch(entry["place"], place) for place in places(problem)))
        and ("errors" not in entry or all(re.fullmatch(entry["errors"], error["code"]) for error in problem["errors"]))
    )


@schemathesis.hook
def filter_failure(context, failure, case, response):
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    problem = problem if isinstance(problem, dict) else {}
    for index, entry in enumerate(known):
        if is_known(entry, failure, response, problem):
            met.write(f"{index}\n")
            return False
    return True
