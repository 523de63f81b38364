const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one is dear, and a file asks thousands of times. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(timeZone, format);
  return format;
}

/** How far a zone is ahead of UTC at a moment, in milliseconds. */
function offsetOf(timeZone: string, at: number): number {
  const parts = formatOf(timeZone).formatToParts(new Date(at));
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return local - Math.floor(at / 1000) * 1000;
}

/**
 * The last minute of a day in a time zone, as the service takes it.
 * @param day YYYY-MM-DD
 */
export function endOfDay(day: string, timeZone: string): string {
  const wanted = Date.parse(`${day}T23:59:00.000Z`);
  if (Number.isNaN(wanted)) return day;
  // The offset may change between the guess and the moment itself: the second look settles it.
  let at = wanted - offsetOf(timeZone, wanted);
  at = wanted - offsetOf(timeZone, at);
  return new Date(at).toISOString();
}

/** The day that it is in a time zone, moved on by some days. */
export function dayIn(timeZone: string, now: number, further = 0): string {
  return new Date(now + offsetOf(timeZone, now) + further * 86_400_000).toISOString().slice(0, 10);
}
