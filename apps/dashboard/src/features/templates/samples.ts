import { z } from "zod";
import { store, stored } from "../../../../shared/storage.ts";

/** The sample data last used in a preview, by variable: kept in this browser, separately for each template. */

const Samples = z.record(z.string(), z.string());
const keyOf = (template: string) => `signet.samples.${template}`;

export function samplesOf(template: string): Record<string, string> {
  try {
    return Samples.parse(JSON.parse(stored("local", keyOf(template)) ?? "{}"));
  } catch {
    return {};
  }
}

export function keepSamples(template: string, values: Readonly<Record<string, string>>): void {
  const filled = Object.entries(values).filter(([, value]) => value !== "");
  store("local", keyOf(template), filled.length === 0 ? null : JSON.stringify(Object.fromEntries(filled)));
}
