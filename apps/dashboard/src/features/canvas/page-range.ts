/** Which pages a person means. Pure. */

export type PageChoice = { kind: "all" | "odd" | "even" } | { kind: "range"; text: string };

/**
 * The pages of a choice, in order and each once.
 * @param count how many pages there are
 * @returns null when a range cannot be read, or names a page that there is not
 */
export function pagesOf(choice: PageChoice, count: number): number[] | null {
  if (choice.kind === "range") return rangeOf(choice.text, count);
  const rest = choice.kind === "odd" ? 1 : 0;
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return choice.kind === "all" ? all : all.filter((page) => page % 2 === rest);
}

/** Reads `1-3, 7, 12-`. */
function rangeOf(text: string, count: number): number[] | null {
  const found = new Set<number>();
  for (const part of text.split(/[,;]/)) {
    const [, first, dash, last] = /^\s*(\d{1,4})\s*([-–]?)\s*(\d{0,4})\s*$/.exec(part) ?? [];
    if (first === undefined || (dash === "" && last !== "")) return null;
    const from = Number(first);
    const to = dash === "" ? from : last === "" ? count : Number(last);
    if (from < 1 || to > count || from > to) return null;
    for (let page = from; page <= to; page += 1) found.add(page);
  }
  return [...found].sort((a, b) => a - b);
}
