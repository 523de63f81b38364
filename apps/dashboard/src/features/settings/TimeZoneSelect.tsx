import { Select } from "@mantine/core";
import { useMemo } from "react";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";

/** Drawn at once; the search finds the others. */
const mostShown = 60;

/** "+01:00" of a zone at present, as the browser's language writes it. */
function offsetOf(timeZone: string): string {
  const parts = new Intl.DateTimeFormat(pageLanguage(), { timeZone, timeZoneName: "longOffset" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

type Props = {
  label: string;
  description?: string;
  value: string;
  error?: string | undefined;
  onChange: (zone: string) => void;
};

/** Every time zone that the browser knows, found by any part of its name. */
export function TimeZoneSelect({ label, description, value, error, onChange }: Props) {
  const zones = useMemo(() => {
    const known = new Set([value, "UTC", ...Intl.supportedValuesOf("timeZone")]);
    return [...known].map((zone) => ({ value: zone, label: `${zone.replaceAll("_", " ")} (${offsetOf(zone)})` }));
  }, [value]);
  return (
    <Select
      label={label}
      {...(description ? { description } : {})}
      data={zones}
      value={value}
      onChange={(zone) => zone && onChange(zone)}
      error={error}
      searchable
      allowDeselect={false}
      limit={mostShown}
      nothingFoundMessage={translator("settings")("organization.timeZoneNone")}
      // The list itself scrolls: assistive technology finds it by the role that it has.
      withScrollArea={false}
      styles={{ options: { maxHeight: 280, overflowY: "auto" } }}
    />
  );
}
