/** The certificate of completion: what is known about an envelope and its people, typeset for print. */
import QRCode from "qrcode";
import { monoFont } from "./fonts.ts";
import { PdfError } from "./pdf/objects.ts";
import { readPicture } from "./pdf/picture.ts";
import type { CertificateData, CertificatePerson, TaskResult } from "./protocol.ts";
import { typeset } from "./typeset.ts";
import { prepareText } from "./typst/text.ts";

/** Text ready for the template; null prints as "not recorded". */
type Text = { text: string; fonts: string[]; rtl: boolean } | null;
type Line = { label: Text; value: Text; mono: boolean };

const MAX_PEOPLE = 500;
const A4 = { width: 595.28, height: 841.89 };

/** Typesets the certificate; the same data gives the same bytes. */
export async function certificate(data: CertificateData): Promise<TaskResult<"certificate">> {
  if (data.people.length > MAX_PEOPLE) {
    return { ok: false, error: { code: "too-complex", message: `more than ${MAX_PEOPLE} people` } };
  }
  const files = new Map<string, Uint8Array>([["verify.svg", Buffer.from(qrCode(data.verifyUrl))]]);
  for (const [index, person] of data.people.entries()) {
    if (!person.signatureImage) continue;
    const fault = pictureFault(person.signatureImage);
    if (fault) return { ok: false, error: { code: "bad-image", message: fault, detail: { person: person.name } } };
    files.set(signatureFile(index, person.signatureImage), person.signatureImage);
  }
  const content = contentOf(data);
  const fonts = new Set([monoFont, ...fontsIn(content)]);
  const { pdf, pageCount } = await typeset({ template: "certificate.typ", data: content, fonts, files });
  return { ok: true, value: { pdf, pageCount } };
}

/** Every font that a text anywhere in the content names. */
function* fontsIn(content: unknown): Generator<string> {
  if (typeof content !== "object" || content === null) return;
  for (const [key, value] of Object.entries(content)) {
    if (key === "fonts" && Array.isArray(value)) yield* value.map(String);
    else yield* fontsIn(value);
  }
}

const signatureFile = (index: number, image: Uint8Array): string =>
  `signature-${index}.${image[0] === 0xff ? "jpg" : "png"}`;

function pictureFault(bytes: Uint8Array): string | null {
  try {
    readPicture(bytes);
    return null;
  } catch (error) {
    if (error instanceof PdfError) return error.message;
    throw error;
  }
}

function contentOf(data: CertificateData): object {
  const { seal } = data;
  const source = seal.internalTime
    ? `${seal.timestampAuthority} (internal time source of this appliance)`
    : seal.timestampAuthority;
  return {
    page: paper(data.pageSize),
    date: [...data.completedAt.matchAll(/\d+/g)].slice(0, 6).map((part) => Number(part[0])),
    testMode: data.testMode,
    title: text(data.title, [], true),
    organization: text(data.organization, [], true),
    envelope: data.envelope,
    facts: [
      line("Document", data.title),
      line("Organization", data.organization),
      line("Envelope", data.envelope, true),
      line("Template", `${data.template}, version ${data.templateVersion}`),
      line("Created", time(data.createdAt)),
      line("Completed", time(data.completedAt)),
    ],
    revisions: data.revisions.map((revision) => line(revision.label, revision.sha256, true)),
    people: data.people.map(personContent),
    copies: [
      ...data.cc.map((person) => line("Copy", named(person))),
      ...data.viewers.map((person) => line("Viewer", named(person))),
    ],
    audit: [line("Entries", String(data.audit.length)), line("Head of the hash chain", data.audit.headHash, true)],
    seal: [
      line("Sealed by", seal.subject),
      line("Certificate, SHA-256", seal.certificateSha256, true),
      line("Signature level", `PAdES ${seal.level}`),
      line("Time source", source),
    ],
    warnings: data.warnings.map((warning) => text(warning, [], true)),
    verifyUrl: text(data.verifyUrl, [], true),
  };
}

function personContent(person: CertificatePerson, index: number) {
  const done = person.kind === "countersigner" ? "Countersigned" : "Signed";
  const lines = [
    line("Identity check", person.verification),
    line("Identity confirmed", person.verification === "none" ? "not required" : time(person.verifiedAt)),
    line("Sent", time(person.sentAt)),
    line("Link opened", time(person.viewedAt)),
    line("Consented", time(person.consentedAt)),
    person.declinedAt === null ? line(done, time(person.completedAt)) : line("Declined", time(person.declinedAt)),
    line("IP address", person.ip),
    line("Language read", person.consentLocale),
  ];
  const wide = [
    line("Device", shorten(person.userAgent)),
    line("Consent text, SHA-256", person.consentSha256, true),
    ...person.attachments.flatMap((file) => [
      line(`Attachment, ${bytes(file.size)}`, file.filename),
      line("Its SHA-256", file.sha256, true),
    ]),
  ];
  const typed = person.signatureText;
  return {
    name: text(person.name, [], true),
    email: text(person.email, [], true),
    role: text(`${person.role} · ${person.kind} · order ${person.order}`, [], true),
    lines,
    wide,
    picture: person.signatureImage ? signatureFile(index, person.signatureImage) : null,
    typed: typed ? text(typed.text, [typed.font]) : null,
  };
}

function text(value: string, first: string[] = [], breakable = false): Text {
  const { text, fonts, dir } = prepareText(value, first, breakable);
  return { text, fonts, rtl: dir === "rtl" };
}

/** Hashes and identifiers stand in the monospaced face, whole, so that they can be searched and copied. */
function line(label: string, value: string | null, mono = false): Line {
  return {
    label: text(label, [], true),
    value: value === null ? null : text(value, mono ? [monoFont] : [], !mono),
    mono,
  };
}

const named = (person: { name: string | null; email: string }): string =>
  person.name === null ? person.email : `${person.name} <${person.email}>`;

/** To the second, as people read it, always in UTC; what is not a time stays as it is. */
function time(at: string | null): string | null {
  const parts = at === null ? null : /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(at);
  return parts ? `${parts[1]} ${parts[2]} UTC` : at;
}

function bytes(size: number): string {
  if (size < 1000) return `${size} bytes`;
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

const shorten = (value: string | null): string | null =>
  value !== null && value.length > 240 ? `${value.slice(0, 239)}…` : value;

/** The document's own paper where the certificate can be read on it, else A4. */
function paper({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const fits = (length: number): boolean => length >= 419 && length <= 1700;
  return fits(width) && fits(height) ? { width, height } : A4;
}

/** One path of horizontal runs (ISO/IEC 18004), error correction M. */
function qrCode(url: string): string {
  const { size, data } = QRCode.create(url, { errorCorrectionLevel: "M" }).modules;
  let path = "";
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (!data[y * size + x]) continue;
      const start = x;
      while (x < size && data[y * size + x]) x++;
      path += `M${start} ${y}h${x - start}v1H${start}z`;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}"><path fill="#10244d" d="${path}"/></svg>`;
}
