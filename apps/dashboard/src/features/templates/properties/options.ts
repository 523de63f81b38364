/** The options of choices and lists. Pure. */

/** A value that no option has yet: A to Z, then numbers. */
export function freeValue(taken: readonly string[]): string {
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
  const numbers = taken.map((_, index) => String(index + 1));
  return [...letters, ...numbers, String(taken.length + 1)].find((value) => !taken.includes(value)) ?? "";
}

/** The lines of a text that can be options: without blanks around them, each once, none that is there already. */
export function optionLines(text: string, taken: readonly string[]): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim().slice(0, 200));
  return [...new Set(lines)].filter((line) => line !== "" && !taken.includes(line));
}
