/** The certificate of completion: what is known about an envelope and its people, typeset for print. */
import QRCode from "qrcode";
import type Catalogue from "../locales/en/certificate.json";
import { directionOf, type MessageKey, type Translate, translatorOf } from "../locales/translate.ts";
import { monoFont } from "./fonts.ts";
import { widthBound } from "./overlay.ts";
import { PdfError } from "./pdf/objects.ts";
import { readPicture } from "./pdf/picture.ts";
import type { CertificateData, CertificateName, CertificatePerson, CertificateSeal, TaskResult } from "./protocol.ts";
import { typeset } from "./typeset.ts";
import { prepareText, runsLeft, withoutBidi } from "./typst/text.ts";

/** Text ready for the template; null prints as "not recorded". */
type Text = {
  text: string;
  fonts: string[];
  rtl: boolean;
  bidi: boolean;
  /** A bound of its width on one line, in ems; null when there is none. */
  em: number | null;
} | null;
type Say = Translate<typeof Catalogue>;
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
  const fonts = new Set([monoFont]);
  addFonts(content, fonts);
  const { pdf, pageCount } = await typeset({ template: "certificate.typ", data: content, fonts, files });
  return { ok: true, value: { pdf, pageCount } };
}

/** Every font that a text anywhere in the content names. */
function addFonts(content: unknown, fonts: Set<string>): void {
  if (typeof content !== "object" || content === null) return;
  for (const [key, value] of Object.entries(content)) {
    if (key === "fonts" && Array.isArray(value)) for (const font of value) fonts.add(String(font));
    else addFonts(value, fonts);
  }
}

const signatureFile = (index: number, image: Uint8Array): string =>
  `signature-${index}.${image[0] === 0xff ? "jpg" : "png"}`;

function pictureFault(bytes: Uint8Array): string | null {
  try {
    readPicture(bytes, { accepted: true });
    return null;
  } catch (error) {
    if (error instanceof PdfError) return error.message;
    throw error;
  }
}

function contentOf(data: CertificateData): object {
  const t: Say = translatorOf(data.words, data.language);
  const line = lineIn(t);
  return {
    words: ownWords(t, data.language),
    page: paper(data.pageSize),
    date: [...data.completedAt.matchAll(/\d+/g)].slice(0, 6).map((part) => Number(part[0])),
    testMode: data.testMode,
    title: text(data.title, [], true),
    organization: text(data.organization, [], true),
    envelope: data.envelope,
    facts: [
      line("document", data.title),
      line("organization", data.organization),
      line("envelope", data.envelope, true),
      line("template", t("version", { template: apart(data.template), version: data.templateVersion })),
      line("created", time(data.createdAt)),
      line("completed", time(data.completedAt)),
    ],
    revisions: data.revisions.map(({ after, sha256 }) =>
      labelled(after === null ? t("original") : t("after", { name: apart(after) }), sha256, true),
    ),
    people: data.people.map((person, index) => personContent(person, index, t)),
    copies: [
      ...data.cc.map((person) => line("copy", named(person))),
      ...data.viewers.map((person) => line("viewer", named(person))),
    ],
    audit: [line("entries", String(data.audit.length)), line("head", data.audit.headHash, true)],
    seal: sealLines(data.seal, t),
    remarks: remarksOf(data, t).map((remark) => text(remark, [], true)),
    verifyUrl: text(data.verifyUrl, [], true),
  };
}

/** What the template says itself, with the fonts that it takes. */
function ownWords(t: Say, language: string) {
  const fonts = new Set<string>();
  const ready = (words: string): string => {
    const prepared = prepareText(words);
    for (const font of prepared.fonts) fonts.add(font);
    return prepared.text;
  };
  const words = {
    title: ready(t("title")),
    testMode: ready(t("testMode")),
    scan: ready(t("scan")),
    // The template knows the numbers.
    page: ready(t("page", { page: "{page}", pages: "{pages}" })),
    notRecorded: ready(t("notRecorded")),
    noPicture: ready(t("noPicture")),
    open: ready(t("open")),
    verify: ready(t("verify")),
    section: {
      envelope: ready(t("section.envelope")),
      revisions: ready(t("section.revisions")),
      people: ready(t("section.people")),
      copies: ready(t("section.copies")),
      audit: ready(t("section.audit")),
      seal: ready(t("section.seal")),
      remarks: ready(t("section.remarks")),
      verify: ready(t("section.verify")),
    },
  };
  return {
    ...words,
    notRecordedEm: widthBound(words.notRecorded),
    // Typst takes the script and the region apart from it.
    language: new Intl.Locale(language).language,
    rtl: directionOf(language) === "rtl",
    fonts: [...fonts],
  };
}

function sealLines({ made, ...seal }: CertificateSeal, t: Say): Line[] {
  const line = lineIn(t);
  const authority = seal.internalTime ? t("internal", { authority: seal.authority }) : seal.authority;
  const sure = made === null ? seal.goal === "B-T" : made.level === seal.goal;
  const level = sure ? "reached" : made === null ? "goal" : "lowered";
  return [
    line("sealedBy", seal.subject),
    line("certificateHash", seal.certificateSha256, true),
    line("keyHash", seal.keySha256, true),
    line("level", t(level, { level: made?.level ?? seal.goal, goal: seal.goal })),
    line("timeSource", authority),
    line("sealing", time(seal.beganAt)),
    line("stamped", made === null ? t("stampedLater") : time(made.stampedAt)),
    ...(made?.archivedAt ? [line("archived", time(made.archivedAt))] : []),
    ...(made === null ? [] : [line("sealedHash", made.documentSha256, true)]),
  ];
}

function remarksOf({ remarks, seal }: CertificateData, t: Say): string[] {
  const lowered = seal.made !== null && seal.made.level !== seal.goal ? seal.made.level : null;
  return [
    ...remarks.map((remark) => {
      if (remark.code !== "reassigned") return t(`remark.${remark.code}`);
      const { from, to, at, reason } = remark;
      const values = { from: named(from), to: named(to), at: time(at) ?? at, reason: apart(reason) };
      return t("remark.reassigned", values);
    }),
    ...(lowered === null ? [] : [t("remark.raised", { level: lowered, goal: seal.goal })]),
  ];
}

function personContent(person: CertificatePerson, index: number, t: Say) {
  const line = lineIn(t);
  const done = person.kind === "countersigner" ? "countersigned" : "signed";
  const unchecked = person.verification === "none" || person.verification === "automatic";
  const lines = [
    line("check", t(`verification.${person.verification}`)),
    line("confirmed", unchecked ? t("notRequired") : time(person.verifiedAt)),
    line("sent", time(person.sentAt)),
    line("viewed", time(person.viewedAt)),
    line("consented", time(person.consentedAt)),
    person.declinedAt === null ? line(done, time(person.completedAt)) : line("declined", time(person.declinedAt)),
    line("ip", person.ip),
    line("language", person.consentLocale),
  ];
  const wide = [
    line("device", shorten(person.userAgent)),
    line("consent", person.consentSha256, true),
    ...person.attachments.flatMap((file) => [
      labelled(t("attachment", { size: bytes(file.size, t) }), file.filename),
      line("attachmentHash", file.sha256, true),
    ]),
  ];
  const typed = person.signatureText;
  const order = t("order", { order: person.order });
  return {
    name: text(person.name, [], true),
    email: text(person.email, [], true),
    role: text(`${apart(person.role)} · ${t(`kind.${person.kind}`)} · ${order}`, [], true),
    lines,
    wide,
    picture: person.signatureImage ? signatureFile(index, person.signatureImage) : null,
    typed: typed ? text(typed.text, [typed.font]) : null,
  };
}

/** Somebody's own words in a sentence of ours: in a bidirectional isolate (UAX #9 §2.4), so that they turn nothing around them. */
const apart = (words: string): string => (runsLeft(words) ? `\u2068${withoutBidi(words)}\u2069` : words);

function text(value: string, first: string[] = [], breakable = false): Text {
  const { text, fonts, dir, bidi } = prepareText(value, first, breakable);
  const em =
    first.length > 0 ? (first[0] === monoFont && /^[!-~]*$/.test(text) ? 0.6 * text.length : null) : widthBound(text);
  return { text, fonts, rtl: dir === "rtl", bidi, em };
}

/** Hashes and identifiers stand in the monospaced face, whole, so that they can be searched and copied. */
function labelled(label: string, value: string | null, mono = false): Line {
  return {
    label: text(label, [], true),
    value: value === null ? null : text(value, mono ? [monoFont] : [], !mono),
    mono,
  };
}

const lineIn =
  (t: Say) =>
  (label: MessageKey<typeof Catalogue>, value: string | null, mono = false): Line =>
    labelled(t(label), value, mono);

const named = ({ name, email }: CertificateName): string =>
  name === null ? apart(email) : `${apart(name)} <${apart(email)}>`;

/** To the second, as people read it, always in UTC; what is not a time stays as it is. */
function time(at: string | null): string | null {
  const parts = at === null ? null : /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(at);
  return parts ? `${parts[1]} ${parts[2]} UTC` : at;
}

function bytes(size: number, t: Say): string {
  if (size < 1000) return t("bytes", { size });
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

const shorten = (value: string | null): string | null =>
  value !== null && value.length > 240 ? `${value.slice(0, 239)}…` : value;

/** The document's own paper where the certificate can be read on it, else A4. */
function paper({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const fits = (length: number): boolean => length >= 419 && length <= 1700;
  return fits(width) && fits(height) ? { width, height } : A4;
}

let lastCode = { url: "", svg: "" };

/** One path of horizontal runs (ISO/IEC 18004), error correction M. An appliance has one address: the last is kept. */
function qrCode(url: string): string {
  if (lastCode.url !== url) lastCode = { url, svg: drawCode(url) };
  return lastCode.svg;
}

function drawCode(url: string): string {
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
