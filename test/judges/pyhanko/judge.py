"""What pyHanko says of signed PDFs, offline: now, and in a validation simulated for 2045.

Arguments: roots.pem, then files, or @list with one file a line. Prints one JSON object a line for each file.
"""

import asyncio
import json
import logging
import sys
from datetime import datetime, timezone
from pathlib import Path

from pyhanko.keys import load_certs_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation.ades import ades_lta_validation, simulate_future_ades_lta_validation
from pyhanko.sign.validation.policy_decl import (
    PdfSignatureValidationSpec,
    RevinfoOnlineFetchingRule,
    RevocationInfoGatheringSpec,
    SignatureValidationSpec,
)
from pyhanko_certvalidator.context import CertValidationPolicySpec
from pyhanko_certvalidator.policy_decl import REQUIRE_REVINFO, CertRevTrustPolicy
from pyhanko_certvalidator.registry import SimpleTrustManager

logging.disable(logging.CRITICAL)
LATER = datetime(2045, 1, 1, tzinfo=timezone.utc)


def spec_for(roots):
    policy = CertValidationPolicySpec(
        trust_manager=SimpleTrustManager.build(trust_roots=roots),
        revinfo_policy=CertRevTrustPolicy(REQUIRE_REVINFO),
    )
    gathering = RevocationInfoGatheringSpec(online_fetching_rule=RevinfoOnlineFetchingRule.LOCAL_ONLY)
    return PdfSignatureValidationSpec(
        SignatureValidationSpec(cert_validation_policy=policy, revinfo_gathering_policy=gathering)
    )


def said(result):
    indication = result.ades_subindic
    change = getattr(result.api_status, "modification_level", None)
    return {
        "indication": indication.status.name,
        "subIndication": None if indication.status.name == "PASSED" else indication.name,
        "modifications": change.name if change is not None else None,
    }


def is_strict(file):
    """Whether pyHanko reads it without passing over what its writer did wrong."""
    try:
        with open(file, "rb") as content:
            return PdfFileReader(content).root is not None
    except Exception:  # pylint: disable=broad-except
        return False


def source_of(file):
    """What was uploaded; nothing for a certificate."""
    return Path(file).parent / "sources" / (Path(file).stem.removesuffix("-sealed") + ".pdf")


async def judged(file, spec):
    signatures = []
    # What is wrong with an upload before it is sealed stays in it: MuPDF writes a generation of 65536, poppler a wrong /Size.
    source = source_of(file)
    strict = not source.exists() or is_strict(source)
    with open(file, "rb") as content:
        reader = PdfFileReader(content, strict=strict)
        for signature in reader.embedded_regular_signatures:
            signature.compute_integrity_info()
            now = await ades_lta_validation(signature, spec)
            later = await simulate_future_ades_lta_validation(signature, spec, LATER)
            signatures.append({"now": said(now), "later": said(later)})
    return signatures


def files_in(arguments):
    for argument in arguments:
        if argument.startswith("@"):
            with open(argument[1:], encoding="utf-8") as lines:
                yield from lines.read().splitlines()
        else:
            yield argument


def main():
    spec = spec_for(list(load_certs_from_pemder([sys.argv[1]])))
    for file in files_in(sys.argv[2:]):
        try:
            found = {"failure": None, "signatures": asyncio.run(judged(file, spec))}
        except Exception as error:  # pylint: disable=broad-except
            found = {"failure": f"{type(error).__name__}: {error}", "signatures": []}
        print(json.dumps({"file": file, **found}), flush=True)


main()
