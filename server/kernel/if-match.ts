/**
 * Whether what the caller saw is still there (RFC 9110 §13.1.1).
 * @param ifMatch the header: a list of strong tags, or `*` for whatever is there
 * @param tag of what is there, with its quotes
 */
export function matchesTag(ifMatch: string, tag: string): boolean {
  const tags = ifMatch.split(",").map((one) => one.trim());
  return tags.includes("*") || tags.includes(tag);
}
