import type { BundleReport, Pins } from "../../../server/features/evidence/bundle/check.ts";
import { keysUnder, type Step } from "../../../server/features/evidence/verify.ts";
import { findingText, findingWords } from "../../../server/features/evidence/words.ts";
import { type PageLanguage, pageWords } from "./words.ts";

/** Draws a report: text only, for what a bundle says is never markup. */
export function drawReport(report: BundleReport, pins: Pins, language: PageLanguage): (HTMLElement | string)[] {
  const words = pageWords[language];
  const { title, text } = words.verdicts[report.verdict];
  const list = element("ol");
  list.append(...report.steps.map((step) => stepItem(step, language)));
  return [
    element("h2", title),
    element("p", text),
    ...certified(report, language),
    ...broughtAlong(report, pins, language),
    list,
  ];
}

/** What was added is told from the document before anything else is said of it. */
function certified({ certificateOf, verdict }: BundleReport, language: PageLanguage): HTMLElement[] {
  if (certificateOf === null || verdict === "invalid") return [];
  const { envelope, documentSha256 } = certificateOf;
  const text = pageWords[language].certificateOf.replace("{envelope}", envelope).replace("{sha256}", documentSha256);
  return [element("p", text)];
}

function stepItem(step: Step, language: PageLanguage): HTMLElement {
  const words = pageWords[language];
  const { titles, labels } = findingWords[language];
  const item = element("li");
  item.dataset.step = step.name;
  item.dataset.ok = String(step.ok);
  const state = step.ok === null ? words.notJudged : step.ok ? words.ok : words.wrong;
  const said = findingText(step.code, step.values, language, (at) => bothTimes(at, language));
  item.append(element("h3", `${state}: ${titles[step.name]}`), element("p", said));
  if (step.bytes.length === 0) return item;
  const details = element("details");
  details.append(element("summary", words.values));
  for (const { label, value } of step.bytes) {
    const known: Readonly<Record<string, string>> = labels;
    details.append(element("h4", known[label] ?? label), element("code", value));
  }
  item.append(details);
  return item;
}

/** As the reader's own clock has it, and in UTC. */
function bothTimes(at: string, language: PageLanguage): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  // The language of the page in the country of the reader, when both are known.
  const locale = navigator.languages.find((tag) => tag.toLowerCase().startsWith(language)) ?? language;
  const own = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "long" }).format(time);
  return `${own} (${time.toISOString().slice(0, 19).replace("T", " ")} UTC)`;
}

function broughtAlong(report: BundleReport, pins: Pins, language: PageLanguage): HTMLElement[] {
  const { anchorKid, authorities, timestampAuthorities } = report;
  if (anchorKid === null) return [];
  const words = pageWords[language];
  const list = element("dl");
  const entry = (value: string, pinned: boolean) => {
    const description = element("dd");
    description.dataset.pinned = String(pinned);
    description.append(element("code", value), " ", element("strong", pinned ? words.pinned : words.unpinned));
    return description;
  };
  list.append(element("dt", words.anchorKey), entry(anchorKid, keysUnder([], pins).pinnedKids.includes(anchorKid)));
  list.append(element("dt", words.authorities));
  for (const one of authorities) list.append(entry(one, pins.certificates.includes(one)));
  if (timestampAuthorities.length > 0) list.append(element("dt", words.timestampAuthorities));
  const stampers = [...pins.certificates, ...(pins.timestamps ?? [])];
  for (const one of timestampAuthorities) list.append(entry(one, stampers.includes(one)));
  return [element("h3", words.brought), list];
}

export function element<K extends keyof HTMLElementTagNameMap>(name: K, text = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
