import { pageLanguage } from "../../../shared/i18n.ts";

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A size as people read it, in steps of a thousand. */
export function bytes(count: number): string {
  let size = count;
  let step = 0;
  while (size >= 1000 && step < units.length - 1) {
    size /= 1000;
    step += 1;
  }
  return new Intl.NumberFormat(pageLanguage(), {
    style: "unit",
    unit: units[step] ?? "byte",
    maximumFractionDigits: size < 10 && step > 0 ? 1 : 0,
  }).format(size);
}
