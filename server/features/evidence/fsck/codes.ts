/**
 * What may be wrong, as an operator reads it: the kind of link between stored things, whether it is an error or a note, and
 * what to do about it.
 */

export const fsckKinds = [
  "database",
  "blob",
  "audit-chain",
  "record",
  "revision",
  "submission",
  "sealed-document",
  "leaf",
  "tree",
  "anchor",
  "witness",
  "key",
  "mail",
  "job",
  // What is stored cannot even be read, so that nothing else could be said of it.
  "unreadable",
] as const;
type FsckKind = (typeof fsckKinds)[number];
type About = { kind: FsckKind; level: "error" | "note"; todo: string };

const restore = "Restore it from a backup taken before the damage; keep this data folder for the inquiry.";
const restoreFile = "Restore this one file from a backup into the same folder below blobs/, then run fsck again.";
const tampered =
  "Somebody or something changed a record that only grows. Keep the data folder, compare with a backup and with the audit export, and restore.";
const retry = "See signet jobs list, remove the cause and run signet jobs retry.";
const restart = "Restart the server: it plans what is missing. If fsck still says so, restore from a backup.";
const witness = "Compare the anchors of this installation with what the witness holds: one of the two was changed.";
const tidy = "Nothing: it goes with the next daily collection.";

const error = (kind: FsckKind, todo: string) => ({ kind, level: "error", todo }) as const;
const note = (kind: FsckKind, todo: string) => ({ kind, level: "note", todo }) as const;

export const fsckCodes = {
  "database-page": error("database", "Stop the server and restore the database from a backup."),
  "database-reference": error("database", restore),
  "search-index": error("database", "Restart the server: it makes the index of the search anew from the envelopes."),
  "blob-missing": error("blob", restoreFile),
  "blob-damaged": error("blob", restoreFile),
  "blob-size": error("blob", restoreFile),
  "blob-orphan": note("blob", tidy),
  "file-stray": note("blob", "Look whose it is; what does not belong to Signet may be removed from blobs/."),
  "resume-skipped": note("record", "Run fsck from its beginning to look at those, too."),
  "draft-left": note("blob", "Nothing: a write was interrupted; the next start of the server clears it."),
  "audit-broken": error("audit-chain", tampered),
  "audit-deletion": error("audit-chain", tampered),
  "record-status": error("record", tampered),
  "record-time": error("record", tampered),
  "record-person": error("record", tampered),
  "record-facts": error("record", tampered),
  "admin-audit": error("record", tampered),
  "operator-audit": error("record", tampered),
  "operator-heads-lost": error(
    "record",
    "Somebody took away what is signed of the operators' acts with each anchor, as one would who hides the last of them. Keep the data folder, compare the acts with a backup, and restore.",
  ),
  "operator-audit-unbound": note("record", "Nothing: the next anchor sees it."),
  "revision-original": error("revision", tampered),
  "revision-number": error("revision", restore),
  "revision-size": error("revision", restoreFile),
  "revision-prefix": error("revision", restore),
  "submission-missing": error("submission", restore),
  "submission-count": error("submission", restore),
  "submission-values": error("submission", tampered),
  "submission-signature": error("submission", tampered),
  "submission-document": error("submission", tampered),
  "submission-consent": error("submission", tampered),
  "submission-consent-text": error("submission", restore),
  "submission-attachment": error("submission", tampered),
  "recipient-values": error("submission", tampered),
  "sealed-unnamed": error("sealed-document", restore),
  "sealed-prefix": error("sealed-document", tampered),
  "seal-invalid": error("sealed-document", restoreFile),
  "certificate-invalid": error("sealed-document", restoreFile),
  "certificate-other": error("sealed-document", tampered),
  "leaf-count": error("leaf", tampered),
  "leaf-entry": error("leaf", tampered),
  "leaf-document": error("leaf", tampered),
  "leaf-envelope": error("leaf", tampered),
  "leaf-missing": error("leaf", tampered),
  "leaf-hash": error("leaf", tampered),
  "leaf-columns": error("leaf", tampered),
  "tree-node": error("tree", restore),
  "anchor-envelope": error("anchor", restore),
  "anchor-missing": error("anchor", tampered),
  "anchor-signature": error("anchor", tampered),
  "anchor-order": error("anchor", tampered),
  "anchor-time": error("anchor", tampered),
  "anchor-root": error("anchor", tampered),
  "anchor-consistency": error("anchor", tampered),
  "checkpoint-missing": error("anchor", restore),
  "checkpoint-invalid": error("anchor", tampered),
  "anchor-token": error("anchor", tampered),
  "receipt-invalid": error("witness", witness),
  "key-certificate": error(
    "key",
    "Restore the database from a backup, or put another key into use: signet keys rotate.",
  ),
  "key-private": error(
    "key",
    "Check that the master key is the right one; else put another into use: signet keys rotate.",
  ),
  "key-record": error("key", tampered),
  "mail-ids": error("mail", restore),
  "mail-twice": error("mail", "Nothing can be taken back; tell the person, and report the fault."),
  "mail-untold": error("mail", restart),
  "job-dead": error("job", retry),
  "job-missing": error("job", restart),
  "seal-level": error(
    "job",
    "Restart the server. If the seal stays below its level, see signet doctor for the time-stamping authority.",
  ),
  unreadable: error(
    "unreadable",
    "Look at the message: rights of the files, the disk, or a damaged row; then restore it.",
  ),
} satisfies Record<string, About>;

export type FsckCode = keyof typeof fsckCodes;
export const isFsckCode = (text: string): text is FsckCode => Object.hasOwn(fsckCodes, text);
