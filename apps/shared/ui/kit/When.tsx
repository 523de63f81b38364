import { useEffect, useState } from "react";
import { pageLanguage } from "../../i18n.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago or ahead, within a day; else the date. */
function words(at: number, now: number): string {
  const distance = at - now;
  const size = Math.abs(distance);
  const relative = new Intl.RelativeTimeFormat(pageLanguage(), { numeric: "auto" });
  if (size < minute) return relative.format(0, "second");
  if (size < hour) return relative.format(Math.trunc(distance / minute), "minute");
  if (size < day) return relative.format(Math.trunc(distance / hour), "hour");
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(pageLanguage(), {
    day: "numeric",
    month: "short",
    ...(sameYear ? {} : { year: "numeric" }),
  }).format(at);
}

/** A moment as people say it; the exact one is its tooltip. */
export function When({ at, timeZone }: { at: string; timeZone?: string }) {
  const moment = Date.parse(at);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (Math.abs(moment - Date.now()) > day) return;
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, [moment]);
  const exact = new Intl.DateTimeFormat(pageLanguage(), {
    dateStyle: "full",
    timeStyle: "long",
    ...(timeZone ? { timeZone } : {}),
  });
  return (
    <time className="when" dateTime={at} title={exact.format(moment)}>
      {words(moment, Math.max(now, Date.now() - minute))}
    </time>
  );
}
