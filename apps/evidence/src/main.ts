import "../../shared/validation/platform.ts";
import { z } from "zod";
import { directionOf, nameOf } from "../../../locales/translate.ts";
import { toHex } from "../../../server/features/evidence/anchors/anchor.ts";
import {
  type BundleReport,
  checkBundle,
  type Pins,
  unreadableBundle,
} from "../../../server/features/evidence/bundle/check.ts";
import { attachmentsFolder, bundleFiles } from "../../../server/features/evidence/bundle/contents.ts";
import { pemsIn } from "../../../server/features/evidence/bundle/read.ts";
import { readZip, ZipError } from "../../../server/features/evidence/bundle/zip.ts";
import { saidStep, sha256 } from "../../../server/features/evidence/verify.ts";
import type { FindingValues } from "../../../server/features/evidence/words.ts";
import { type AnchorKey, AnchorKeys } from "../../../server/features/keys/contract.ts";
import { examinePdf, examineToken } from "../../shared/validation/examine.ts";
import { drawReport, element } from "./report.ts";
import { firstLanguage, languageAfter, wordsIn } from "./words.ts";

/**
 * The page that lies in every evidence bundle and checks it from a USB stick: one file, no server, no network, no
 * framework, and nothing that a reader of its source could not follow.
 */

// The policy of the page forbids `new Function`, which zod would try.
z.config({ jitless: true });

const files = find("files", HTMLInputElement);
const kid = find("kid", HTMLInputElement);
const authority = find("authority", HTMLInputElement);
const keyFiles = find("keyfiles", HTMLInputElement);
const stampAuthority = find("stampauthority", HTMLInputElement);
const stampFiles = find("stampfiles", HTMLInputElement);
const keyNote = find("keynote", HTMLElement);
const result = find("result", HTMLElement);
const actions = find("actions", HTMLElement);
const copied = find("copied", HTMLElement);

let spoken = wordsIn(firstLanguage([navigator.language]));
let chosen: File[] = [];
/** What was given as files, by the field that it was given to. */
type Given = { keys: AnchorKey[]; certificates: string[]; fault: string | null };
const nothing: Given = { keys: [], certificates: [], fault: null };
let forSeals = nothing;
let forStamps = nothing;
let latest: BundleReport | null = null;
let round = 0;

files.addEventListener("change", () => choose([...(files.files ?? [])]));
keyFiles.addEventListener("change", () => void takeForSeals([...(keyFiles.files ?? [])]));
stampFiles.addEventListener("change", () => void takeForStamps([...(stampFiles.files ?? [])]));
for (const input of [kid, authority, stampAuthority]) input.addEventListener("input", () => void check());
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const dropped = [...(event.dataTransfer?.files ?? [])];
  // What is dropped on the field for keys comes from elsewhere; the same names elsewhere belong to the bundle.
  const isOn = (id: string) => event.target instanceof Node && find(id, HTMLElement).contains(event.target);
  if (isOn("stamps")) void takeForStamps(dropped);
  else if (isOn("trust")) void takeForSeals(dropped);
  else choose(dropped);
});
find("language", HTMLButtonElement).addEventListener("click", () => {
  spoken = wordsIn(languageAfter(spoken.language));
  speak();
});
find("print", HTMLButtonElement).addEventListener("click", () => window.print());
find("copy", HTMLButtonElement).addEventListener("click", () => void copyReport());
speak();

function choose(list: File[]): void {
  if (list.length === 0) return;
  chosen = list;
  void check();
}

function pinsNow(): Pins {
  return {
    kids: words(kid.value),
    keys: forSeals.keys,
    certificates: [...prints(authority.value), ...forSeals.certificates],
    timestamps: [...prints(stampAuthority.value), ...forStamps.certificates],
  };
}

const prints = (text: string): string[] => words(text).map((print) => print.replaceAll(":", "").toLowerCase());
const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Keys and authorities that came another way than the evidence. */
async function takeForSeals(list: readonly File[]): Promise<void> {
  forSeals = await givenIn(list);
  speak();
  await check();
}

/** The field says what they may vouch for: whoever vouches for time stamps must never vouch for seals. */
async function takeForStamps(list: readonly File[]): Promise<void> {
  forStamps = { ...(await givenIn(list)), keys: [] };
  speak();
  await check();
}

async function givenIn(list: readonly File[]): Promise<Given> {
  const given = { keys: new Map<string, AnchorKey>(), certificates: new Set<string>() };
  let fault: string | null = null;
  for (const file of list) {
    const text = await file.text();
    const certificates = readable(() => pemsIn(text)) ?? [];
    const keys = readable(() => AnchorKeys.parse(JSON.parse(text)).keys) ?? [];
    if (certificates.length + keys.length === 0) fault ??= file.name;
    for (const der of certificates) given.certificates.add(toHex(sha256(der)));
    for (const key of keys) given.keys.set(key.kid, key);
  }
  return { keys: [...given.keys.values()], certificates: [...given.certificates], fault };
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

async function check(): Promise<void> {
  if (chosen.length === 0) return;
  round += 1;
  const own = round;
  latest = null;
  actions.hidden = true;
  result.dataset.verdict = "busy";
  result.replaceChildren(element("p", spoken.page("busy")));
  const report = await reportOn(chosen);
  // Another file was chosen meanwhile.
  if (own !== round) return;
  latest = report;
  show();
}

async function reportOn(list: readonly File[]): Promise<BundleReport> {
  try {
    const { bundle, document: held } = await bundleOf(list);
    const checks = { pdf: examinePdf, token: examineToken, at: new Date().toISOString() };
    return await checkBundle(bundle, pinsNow(), checks, held);
  } catch (error) {
    const values: FindingValues =
      error instanceof ZipError
        ? { fault: error.fault }
        : { reason: error instanceof Error ? error.message : String(error) };
    return unreadableBundle({ ok: false, code: "archive-unreadable", values });
  }
}

/** The ZIP file, with the PDF that somebody holds when there is one beside it; or the files that were in it. */
async function bundleOf(list: readonly File[]) {
  const loaded = await Promise.all(
    list.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })),
  );
  const zip = loaded.find(({ bytes }) => bytes[0] === 0x50 && bytes[1] === 0x4b);
  if (zip) return { bundle: await readZip(zip.bytes, inflate), document: loaded.find((one) => one !== zip)?.bytes };
  const known: readonly string[] = Object.values(bundleFiles);
  const named = loaded.map(
    ({ name, bytes }) => [known.includes(name) ? name : attachmentsFolder + name, bytes] as const,
  );
  return { bundle: new Map(named), document: undefined };
}

/** For a bundle that somebody packed anew; ours are stored. Stops at the size that the archive states. @throws ZipError */
async function inflate(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  const reader = new Blob([Uint8Array.from(bytes)])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .getReader();
  const whole = new Uint8Array(size);
  let at = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      // Throws RangeError beyond the end.
      whole.set(part.value, at);
      at += part.value.length;
    }
  } catch {
    await reader.cancel().catch(() => undefined);
    throw new ZipError("damaged");
  }
  return whole.subarray(0, at);
}

function show(): void {
  if (!latest) return;
  result.dataset.verdict = latest.verdict;
  result.replaceChildren(...drawReport(latest, pinsNow(), spoken));
  actions.hidden = false;
  copied.textContent = "";
}

/** Every word of the page in its language. */
function speak(): void {
  const { page, word, language } = spoken;
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
  document.title = `${page("title")} · Signet`;
  for (const place of document.querySelectorAll<HTMLElement>("[data-word]"))
    place.textContent = word(place.dataset.word ?? "");
  const other = languageAfter(language);
  const button = find("language", HTMLButtonElement);
  button.textContent = nameOf(other);
  button.lang = other;
  const fault = forSeals.fault ?? forStamps.fault;
  const [keys, certificates] = [forSeals.keys, [...forSeals.certificates, ...forStamps.certificates]];
  const taken = keys.length + certificates.length > 0;
  keyNote.textContent = [
    fault === null ? "" : page("keyFileWrong", { file: fault }),
    taken ? page("keyFilesTaken", { keys: keys.length, certificates: certificates.length }) : "",
  ].join(" ");
  show();
}

/** Without the bytes of the evidence itself, which lie beside it. */
async function copyReport(): Promise<void> {
  if (!latest) return;
  const { evidence: _, ...report } = latest;
  const steps = report.steps.map((step) => saidStep(wordsIn("en").evidence, step));
  const text = JSON.stringify({ ...report, steps, pins: pinsNow() }, null, 2);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from a file may not write to the clipboard everywhere: the text stands there to be taken.
    const area = element("textarea", text);
    area.readOnly = true;
    copied.replaceChildren(area);
    area.select();
    return;
  }
  copied.textContent = spoken.page("copied");
}

function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}
