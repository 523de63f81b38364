import type Catalogue from "../../../locales/en/evidence.json";
import type { Translate } from "../../../locales/translate.ts";

/**
 * What the checks say, each cause in a sentence of its own (`locales/<language>/evidence.json`). Isomorphic: the command line, the
 * verification page and the page of a bundle speak from here.
 */

type Words = typeof Catalogue;
export type SayEvidence = Translate<Words>;

export type FindingCode = keyof Words["findings"];
export type StepName = keyof Words["titles"];
export type Problem = keyof Words["problems"];
export type LaterChange = keyof Words["changes"];
export type ArchiveFault = keyof Words["archive"];

/** `problems`, `changes` and `reason` hold codes, `at` and `until` times (ISO 8601). */
export type FindingValues = {
  problems?: readonly Problem[];
  changes?: readonly LaterChange[];
  fault?: ArchiveFault;
  at?: string | number | null;
  until?: string | null;
  [name: string]: string | number | null | readonly string[] | undefined;
};

/** Says a finding. @param time how times are written; as they are when absent */
export function findingText(
  t: SayEvidence,
  code: FindingCode,
  { problems = [], changes = [], fault, ...values }: FindingValues,
  time: (at: string) => string = (at) => at,
): string {
  const plain = Object.entries(values).map(([name, value]): [string, string | number] => {
    if ((name === "at" || name === "until") && typeof value === "string") return [name, time(value)];
    return [name, typeof value === "number" ? value : String(value ?? "–")];
  });
  return t(`findings.${code}`, {
    ...Object.fromEntries(plain),
    problems: problems.map((problem) => t(`problems.${problem}`)).join(" "),
    changes: changes.map((change) => t(`changes.${change}`)).join(", "),
    ...(fault && { reason: t(`archive.${fault}`) }),
  });
}
