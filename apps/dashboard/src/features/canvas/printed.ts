import type { OpenPdf } from "../../../../shared/pdf/document.ts";
import type { SizeOf } from "./items.ts";
import { type Line, linesOfPage } from "./snap.ts";

export type Printed = {
  /** Lines that are printed on a page, with its middle and margins. What is not known yet is asked for. */
  linesOf: (page: number) => readonly Line[];
};

/** Reads what is printed on the pages that somebody works on, each once. */
export function createPrinted(pdf: OpenPdf | null, sizeOf: SizeOf): Printed {
  const known = new Map<number, readonly Line[]>();
  const ask = (page: number) => {
    const size = sizeOf(page);
    const usual = size ? linesOfPage(size, null) : [];
    known.set(page, usual);
    if (!pdf || !size) return usual;
    pdf
      .lines(page)
      .then(({ rules, baselines, text }) => {
        const marked = (lines: typeof rules, kind: "rule" | "baseline") => lines.map((line) => ({ ...line, kind }));
        known.set(page, [...linesOfPage(size, text), ...marked(rules, "rule"), ...marked(baselines, "baseline")]);
      })
      // Fields can be placed without these lines; a page that cannot be read fails visibly where it is drawn.
      .catch((error: unknown) => console.error(error));
    return usual;
  };
  return { linesOf: (page) => known.get(page) ?? ask(page) };
}
