import { useEffect, useState } from "react";
import { pageLanguage } from "../../i18n.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago or ahead, within a day; null further away. */
function distanceOf(at: number, now: number): string | null {
  const distance = at - now;
  const size = Math.abs(distance);
  const relative = new Intl.RelativeTimeFormat(pageLanguage(), { numeric: "auto" });
  if (size < minute) return relative.format(0, "second");
  if (size < hour) return relative.format(Math.trunc(distance / minute), "minute");
  return size < day ? relative.format(Math.trunc(distance / hour), "hour") : null;
}

/** The date in the zone; the year when it is another one than there now. */
function dateOf(at: number, now: number, timeZone: string): string {
  const year = new Intl.DateTimeFormat("en", { year: "numeric", timeZone });
  return new Intl.DateTimeFormat(pageLanguage(), {
    day: "numeric",
    month: "short",
    ...(year.format(at) === year.format(now) ? {} : { year: "numeric" }),
    timeZone,
  }).format(at);
}

/**
 * A moment as people say it; the exact one is its tooltip.
 * @param props.timeZone whose date is shown; the browser's unless given. Both name it, the date to screen readers only: to the eye
 *   there is the tooltip, which they do not read.
 */
export function When({ at, timeZone }: { at: string; timeZone?: string }) {
  const moment = Date.parse(at);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (Math.abs(moment - Date.now()) > day) return;
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, [moment]);
  const exact = new Intl.DateTimeFormat(pageLanguage(), { dateStyle: "full", timeStyle: "long", timeZone });
  const zone = exact.resolvedOptions().timeZone;
  const zoneWords = zone.replaceAll("_", " ");
  const present = Math.max(now, Date.now() - minute);
  const distance = distanceOf(moment, present);
  return (
    <time className="when" dateTime={at} title={`${exact.format(moment)} (${zoneWords})`}>
      {distance ?? (
        <>
          {dateOf(moment, present, zone)}
          <span className="spoken"> ({zoneWords})</span>
        </>
      )}
    </time>
  );
}
