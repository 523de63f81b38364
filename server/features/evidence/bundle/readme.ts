/** README.txt of an evidence bundle: how to check it with common tools, without us. */
export function bundleReadme(about: {
  title: string;
  envelope: string;
  organization: string;
  baseUrl: string;
  kid: string;
  /** When retention took the documents; null while they are there. */
  deletedAt: string | null;
  verifierKey: string | null;
}): string {
  const { title, envelope, organization, baseUrl, kid, deletedAt, verifierKey } = about;
  return `Evidence of a sealed document

Title:         ${title}
Envelope:      ${envelope}
Organization:  ${organization}
Sealed by:     ${baseUrl}

${
  deletedAt === null
    ? ""
    : `The documents were deleted on ${deletedAt.slice(0, 10)}, as the sender's retention asks. document.pdf, certificate.pdf
and the attachments are therefore not here; their hashes are. A copy that somebody kept is checked with
  signet verify copy.pdf --bundle evidence.zip, or in verify.html by giving it the ZIP file and the copy.

`
}What this folder holds
  document.pdf      the sealed document
  certificate.pdf   the certificate of completion, sealed as well
  attachments/      files that people added while they signed
  audit.json        everything that happened, entry by entry, each one chained to the one before
  leaf.json         what the tree of all sealed documents holds of this one
  proof.json        the path from this leaf to the root of the tree
  anchor.json       the signed root of the tree
  checkpoint.txt    the same root as a signed note (C2SP tlog-checkpoint), when there is one
  keys.json         the public keys that sign anchors (JSON Web Keys)
  certificates.pem  the authorities behind the seals
  timestamp-certificates.pem  those of outside time-stamping authorities, when one has stamped: for time stamps alone
  verify.html       checks all of it in a browser, without a network; give it the ZIP file
This text and verify.html explain; they prove nothing. Nor does "consistency" in anchor.json, which leads from the anchor before.

What to trust
A bundle brings its own keys, so a forger could bring his. Compare these two with what you know from elsewhere:
  the anchor key's thumbprint:       ${kid}
  the fingerprint of the authority:  openssl x509 -in certificates.pem -noout -fingerprint -sha256
They are published at ${baseUrl}/.well-known/svc/keys.json and ${baseUrl}/.well-known/svc/certificates.pem; those of
time stamps at ${baseUrl}/.well-known/svc/timestamp-certificates.pem. An authority of time stamps may certify anybody: never trust
it for seals.
${verifierKey === null ? "" : `Tools for transparency logs know the key as\n  ${verifierKey}\n`}
Check by hand (sha256sum, openssl 3, jq, xxd, base64)
1. The document is the one that the leaf names:
     sha256sum document.pdf                          equals documentSha256 in leaf.json
2. The leaf is the one that the proof starts with:
     { printf '\\000'; cat leaf.json; } | sha256sum    equals leafHash in proof.json
3. The proof leads to the root: for each hash of "path" in proof.json, from first to last, with i = leafIndex and
   n = treeSize - 1. If i is odd or i = n, the next hash is SHA-256(01, hash of path, own hash), and while i is even
   and not 0 halve both i and n; otherwise it is SHA-256(01, own hash, hash of path). Then halve both, rounding down
   (RFC 9162, 2.1.3.2). One step:
     { printf '\\001'; printf %s LEFT RIGHT | xxd -r -p; } | sha256sum
   The last one equals rootHash in anchor.json.
4. The anchor is signed:
     jq -cjS 'del(.anchorHash, .signature, .consistency, .timestampToken)' anchor.json > body
     sha256sum body                                  equals anchorHash in anchor.json
     jq -r .signature anchor.json | base64 -d > signature
     X=$(jq -r --arg kid "$(jq -r .kid anchor.json)" '.keys[] | select(.kid == $kid) | .x' keys.json)
     { printf '302a300506032b6570032100' | xxd -r -p; printf '%s=' "$X" | tr -- '-_' '+/' | base64 -d; } > key.der
     openssl pkeyutl -verify -pubin -inkey key.der -keyform DER -rawin -in body -sigfile signature
5. The audit trail is whole: for every entry,
     jq -cjS '.[0] | del(.hash)' audit.json | sha256sum   equals its hash, and prevHash is the hash of the entry before
   and auditHash in leaf.json is the hash of the last entry, which names the sealed file and the certificate:
     jq -r '.[-1].data.certificateSha256' audit.json      equals sha256sum certificate.pdf
6. The seal inside the PDF: any PDF reader that validates PAdES signatures, or pdfsig, with certificates.pem trusted.

All of it at once:  signet verify document.pdf --bundle evidence.zip --keys keys.json --trust certificates.pem
(with keys.json and certificates.pem that you got from elsewhere), or open verify.html.
`;
}
