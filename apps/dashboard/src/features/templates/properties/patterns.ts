/** Forms of text that are often asked for, as regular expressions that the whole value matches. */
export const patternPresets = {
  postcode5: "\\d{5}",
  postcode4: "\\d{4}",
  zip: "\\d{5}(-\\d{4})?",
  postcodeUk: "[A-Za-z]{1,2}\\d[A-Za-z0-9]? ?\\d[A-Za-z]{2}",
  iban: "[A-Z]{2}\\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?",
  vat: "[A-Z]{2} ?[A-Z0-9]{8,12}",
  phone: "\\+?[0-9][0-9 ()/.-]{4,19}",
  email: "[^@ ]+@[^@ ]+\\.[^@ ]+",
  digits: "\\d+",
} as const;
export type PatternPreset = keyof typeof patternPresets;

const names = [
  "postcode5",
  "postcode4",
  "zip",
  "postcodeUk",
  "iban",
  "vat",
  "phone",
  "email",
  "digits",
] as const satisfies readonly PatternPreset[];
export const presetNames: readonly PatternPreset[] = names;

/** The preset that a pattern is; null for one that somebody wrote. */
export const presetOf = (pattern: string | undefined): PatternPreset | null =>
  names.find((name) => patternPresets[name] === pattern) ?? null;
