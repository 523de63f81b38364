import type { BundleReport, Pins } from "../../../server/features/evidence/bundle/check.ts";
import { keysUnder, type Step } from "../../../server/features/evidence/verify.ts";
import { findingText } from "../../../server/features/evidence/words.ts";
import type { PageWords } from "./words.ts";

/** Draws a report: text only, for what a bundle says is never markup. */
export function drawReport(report: BundleReport, pins: Pins, words: PageWords): (HTMLElement | string)[] {
  const { verdict } = report;
  const list = element("ol");
  list.append(...report.steps.map((step) => stepItem(step, words)));
  return [
    element("h2", words.page(`verdicts.${verdict}.title`)),
    element("p", words.page(`verdicts.${verdict}.text`)),
    ...certified(report, words),
    ...broughtAlong(report, pins, words),
    list,
  ];
}

/** What was added is told from the document before anything else is said of it. */
function certified({ certificateOf, verdict }: BundleReport, { page }: PageWords): HTMLElement[] {
  if (certificateOf === null || verdict === "invalid") return [];
  const { envelope, documentSha256 } = certificateOf;
  return [element("p", page("certificateOf", { envelope, sha256: documentSha256 }))];
}

function stepItem(step: Step, { page, evidence, label: labelOf, language }: PageWords): HTMLElement {
  const item = element("li");
  item.dataset.step = step.name;
  item.dataset.ok = String(step.ok);
  const state = page(step.ok === null ? "notJudged" : step.ok ? "ok" : "wrong");
  const said = findingText(evidence, step.code, step.values, (at) => bothTimes(at, language));
  item.append(element("h3", `${state}: ${evidence(`titles.${step.name}`)}`), element("p", said));
  if (step.bytes.length === 0) return item;
  const details = element("details");
  details.append(element("summary", page("values")));
  for (const { label, value } of step.bytes) {
    details.append(element("h4", labelOf(label) ?? label), element("code", value));
  }
  item.append(details);
  return item;
}

/** As the reader's own clock has it, and in UTC. */
function bothTimes(at: string, language: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  // The language of the page in the country of the reader, when both are known.
  const locale = navigator.languages.find((tag) => tag.toLowerCase().startsWith(language)) ?? language;
  const own = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "long" }).format(time);
  return `${own} (${time.toISOString().slice(0, 19).replace("T", " ")} UTC)`;
}

function broughtAlong(report: BundleReport, pins: Pins, { page }: PageWords): HTMLElement[] {
  const { anchorKid, authorities, timestampAuthorities } = report;
  if (anchorKid === null) return [];
  const list = element("dl");
  const entry = (value: string, pinned: boolean) => {
    const description = element("dd");
    description.dataset.pinned = String(pinned);
    description.append(element("code", value), " ", element("strong", page(pinned ? "pinned" : "unpinned")));
    return description;
  };
  list.append(element("dt", page("anchorKey")), entry(anchorKid, keysUnder([], pins).pinnedKids.includes(anchorKid)));
  list.append(element("dt", page("authorities")));
  for (const one of authorities) list.append(entry(one, pins.certificates.includes(one)));
  if (timestampAuthorities.length > 0) list.append(element("dt", page("timestampAuthorities")));
  const stampers = [...pins.certificates, ...(pins.timestamps ?? [])];
  for (const one of timestampAuthorities) list.append(entry(one, stampers.includes(one)));
  return [element("h3", page("brought")), list];
}

export function element<K extends keyof HTMLElementTagNameMap>(name: K, text = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
