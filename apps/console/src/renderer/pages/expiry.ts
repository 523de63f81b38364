const dayMs = 86_400_000;

/** How pressing the end of a validity is: a month ahead there is time, afterwards there is none. */
export function expiryTone(validUntil: string): "good" | "waiting" | "bad" {
  const left = Date.parse(validUntil) - Date.now();
  if (left <= 0) return "bad";
  return left < 30 * dayMs ? "waiting" : "good";
}
