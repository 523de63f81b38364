"""Sends one contract for each row of a spreadsheet that was saved as CSV, with Python alone.

    SIGNET_URL=https://sign.example.com SIGNET_API_KEY=svc_live_… \\
        python3 send-from-spreadsheet.py tpl_… contracts.csv

The file has the columns `number`, `role`, `name`, `email`, and one for each variable of the template. A row that was sent before is
not sent again: its number is the external id of the envelope.
"""

import csv
import json
import os
import sys
import urllib.error
import urllib.request

template, file = sys.argv[1:3]
people = {"number", "role", "name", "email"}

with open(file, newline="", encoding="utf-8-sig") as rows:
    for row in csv.DictReader(rows):
        envelope = {
            "template": template,
            "recipients": [{"role": row["role"], "name": row["name"], "email": row["email"]}],
            "variables": {name: value for name, value in row.items() if name not in people},
            "externalId": row["number"],
            "dedupeOn": "external_id",
        }
        request = urllib.request.Request(
            os.environ["SIGNET_URL"] + "/v1/envelopes",
            json.dumps(envelope).encode(),
            {"content-type": "application/json", "authorization": "Bearer " + os.environ["SIGNET_API_KEY"]},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                again = answer.headers.get("x-deduplicated") == "true"
                print(row["number"], json.load(answer)["id"], "was sent before" if again else "sent")
        except urllib.error.HTTPError as failure:
            problem = json.load(failure)
            print(row["number"], "was refused:", problem["detail"], file=sys.stderr)
            for error in problem.get("errors", []):
                print("   ", error.get("pointer", ""), error["detail"], file=sys.stderr)
