import { type ProblemError, pointer } from "../../kernel/problem.ts";
import { ownMember } from "../../kernel/record.ts";
import type { AttachmentValue, FieldValue } from "../envelopes/contract.ts";
import type { FieldInput, PlacedField } from "../templates/contract.ts";
import { checkFieldInput, computeFormulas, isEmpty, requiredErrors, visibleFields } from "../templates/service.ts";
import type { SubmitSigning } from "./contract.ts";
import { initialValue, isAutomatic, isReadOnly } from "./fields.ts";
import { type ReadPicture, type ReadSignature, readSignature } from "./signatures.ts";
import type { AttachmentRow } from "./tables.ts";

/** Turns what a signer sent into the values that are kept, or into every error in it. Pure, but for the pictures. */

export type SubmissionContext = {
  /** All fields of the version. */
  fields: readonly PlacedField[];
  recipient: { role: string; name: string; email: string };
  /** By field id: what the sender filled in for this role. */
  prefilled: Readonly<Record<string, FieldInput>>;
  attachments: readonly AttachmentRow[];
  methods: readonly string[];
  readPicture: ReadPicture;
};

export type Submission = {
  /**
   * What is kept when it is signed at this moment (ISO 8601).
   * @param others by field id: what everybody who signed before this moment has filled in. Formulas see these numbers and
   *   the signer's own, and are final with the signature: of who signs later they know nothing.
   */
  valuesAt: (signedAt: string, others: Readonly<Record<string, FieldValue>>) => Record<string, FieldValue>;
  signature: ReadSignature | null;
  initials: ReadSignature | null;
  /** Ids of the uploads that stand in `values`. */
  attachments: string[];
  timeZone: string;
};

type Sent = FieldInput | string[];

/** Whether a time zone exists does not depend on the moment. */
const anyMoment = new Date(0).toISOString();

export async function readSubmission(
  context: SubmissionContext,
  input: SubmitSigning,
): Promise<{ submission: Submission } | { errors: ProblemError[] }> {
  const own = context.fields.filter(({ role }) => role === context.recipient.role);
  const errors: ProblemError[] = [];
  const timeZone = input.timeZone ?? "UTC";
  if (dayIn(timeZone, anyMoment) === undefined) {
    errors.push({ pointer: "#/timeZone", code: "reference", detail: "This is not a time zone of the IANA database." });
  }
  for (const [id, value] of Object.entries(input.fields)) errors.push(...checkSent(own, context, id, value));
  const plain = plainValues(own, context, input);
  const shown = visibleFields(own, plain);
  const files = new Map<string, AttachmentRow[]>();
  for (const field of shown) {
    if (field.type === "attachment" || field.type === "image") {
      const found = readFiles(field, ownMember(input.fields, field.id), context.attachments);
      if (Array.isArray(found)) files.set(field.id, found);
      else errors.push(found);
    } else if (!isReadOnly(field) && field.type !== "signature" && field.type !== "initials") {
      errors.push(...checkValue(field, plain[field.id] ?? null));
    }
  }
  const signature = await signatureFor("signature", shown, context, input, errors);
  const initials = await signatureFor("initials", shown, context, input, errors);
  if (errors.length > 0) return { errors };
  const valuesAt: Submission["valuesAt"] = (signedAt, others) => {
    const formulas = computeFormulas(context.fields, { ...numbersOf(others), ...onlyShown(shown, plain) });
    const day = dayIn(timeZone, signedAt);
    const values: Record<string, FieldValue> = {};
    for (const field of shown) {
      const value = fieldValue(field, { plain, formulas, files, signature, initials, day, signedAt });
      if (value !== undefined) values[field.id] = value;
    }
    return values;
  };
  const attachments = [...files.values()].flat().map(({ id }) => id);
  return { submission: { valuesAt, signature, initials, attachments, timeZone } };
}

function fieldPointer(id: string): string {
  return pointer(["fields", id]);
}

/** What may not be sent at all: fields of nobody or of somebody else, fields that the service fills in, changed read-only values. */
function checkSent(own: readonly PlacedField[], context: SubmissionContext, id: string, value: Sent): ProblemError[] {
  const field = own.find((one) => one.id === id);
  const problem = (code: ProblemError["code"], detail: string) => [{ pointer: fieldPointer(id), code, detail }];
  if (field === undefined) return problem("unknown", `\`${id}\` is not a field of this signer.`);
  if (field.type === "signature" || field.type === "initials") {
    return problem("unknown", `Send it as \`${field.type}\`, beside \`fields\`.`);
  }
  if (isReadOnly(field)) {
    const kept = initialValue(field, context.recipient, context.prefilled);
    if (!isAutomatic(field) && value === kept) return [];
    return problem("conflict", "This field cannot be changed.");
  }
  const takesFiles = field.type === "attachment" || field.type === "image";
  if (Array.isArray(value) && !takesFiles) return problem("type", "Send one value, not an array.");
  if (!Array.isArray(value) && value !== null && takesFiles) return problem("type", "Send an array of attachment ids.");
  return [];
}

/** Values by field id before visibility is decided; a text of which nothing can be seen counts as no value. */
function plainValues(
  own: readonly PlacedField[],
  context: SubmissionContext,
  input: SubmitSigning,
): Record<string, FieldInput> {
  const values: Record<string, FieldInput> = {};
  for (const field of own) {
    if (field.type === "signature" || field.type === "initials" || field.type === "formula") continue;
    const initial = initialValue(field, context.recipient, context.prefilled);
    const sent = ownMember(input.fields, field.id);
    const value = sent === undefined || Array.isArray(sent) || isReadOnly(field) ? initial : sent;
    values[field.id] = isEmpty(value) ? null : value;
  }
  return values;
}

function checkValue(field: PlacedField, value: FieldInput): ProblemError[] {
  const at = fieldPointer(field.id);
  const wrong = value === null ? [] : checkFieldInput(field, value, at);
  return wrong.length > 0 ? wrong : requiredErrors(field, value, at);
}

function readFiles(
  field: Extract<PlacedField, { type: "attachment" | "image" }>,
  sent: Sent | undefined,
  uploaded: readonly AttachmentRow[],
): AttachmentRow[] | ProblemError {
  const ids = Array.isArray(sent) ? sent : [];
  const at = fieldPointer(field.id);
  const most = field.type === "attachment" ? (field.maxFiles ?? 1) : 1;
  if (ids.length === 0 && field.required !== false)
    return { pointer: at, code: "required", detail: "A file is required." };
  if (ids.length > most)
    return { pointer: at, code: "max", detail: `At most ${most} ${most === 1 ? "file" : "files"}.` };
  if (new Set(ids).size !== ids.length) return { pointer: at, code: "duplicate", detail: "A file is named twice." };
  const rows = ids.flatMap((id) => uploaded.find((row) => row.id === id && row.field === field.id) ?? []);
  if (rows.length === ids.length) return rows;
  return { pointer: at, code: "reference", detail: "A file was not uploaded for this field, or not within 24 hours." };
}

async function signatureFor(
  member: "signature" | "initials",
  shown: readonly PlacedField[],
  context: SubmissionContext,
  input: SubmitSigning,
  errors: ProblemError[],
): Promise<ReadSignature | null> {
  const wanted = shown.filter(({ type }) => type === member);
  const sent = input[member];
  // What no field shows is not kept.
  if (wanted.length === 0) return null;
  if (sent === undefined) {
    if (wanted.some(({ required }) => required !== false)) {
      errors.push({ pointer: `#/${member}`, code: "required", detail: `\`${member}\` is required.` });
    }
    return null;
  }
  const read = await readSignature(sent, member, context);
  if ("stored" in read) return read;
  errors.push(read);
  return null;
}

type Entered = {
  plain: Readonly<Record<string, FieldInput>>;
  formulas: Readonly<Record<string, number | null>>;
  files: ReadonlyMap<string, AttachmentRow[]>;
  signature: ReadSignature | null;
  initials: ReadSignature | null;
  day: string | undefined;
  signedAt: string;
};

/** Undefined for a field that was left out. */
function fieldValue(field: PlacedField, entered: Entered): FieldValue | undefined {
  switch (field.type) {
    case "signature":
    case "initials": {
      const stored = entered[field.type]?.stored;
      return stored === undefined ? undefined : { method: stored.method, signedAt: entered.signedAt };
    }
    case "date_signed":
      return entered.day;
    case "formula":
      return entered.formulas[field.id] ?? undefined;
    case "attachment":
    case "image": {
      const files = entered.files.get(field.id) ?? [];
      return files.length === 0 ? undefined : files.map(attachmentValue);
    }
    default:
      return entered.plain[field.id] ?? undefined;
  }
}

function attachmentValue(row: AttachmentRow): AttachmentValue {
  const { id, filename, content_type: contentType, size, sha256 } = row;
  return { id, filename, contentType, size, sha256 };
}

/** What is not shown counts as empty, whatever was sent for it. */
export function onlyShown(
  shown: readonly PlacedField[],
  values: Readonly<Record<string, FieldInput>>,
): Record<string, FieldInput> {
  return Object.fromEntries(shown.map(({ id }) => [id, ownMember(values, id) ?? null]));
}

/** The numbers among what people filled in, which are all that a formula sees of it. */
export function numbersOf(values: Readonly<Record<string, FieldValue>>): Record<string, FieldInput> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}

/** The day that it is in a time zone, YYYY-MM-DD; undefined for a zone that does not exist. */
export function dayIn(timeZone: string, at: string): string | undefined {
  try {
    const format = new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
    const parts = new Map(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]));
    return `${parts.get("year")?.padStart(4, "0")}-${parts.get("month")}-${parts.get("day")}`;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
