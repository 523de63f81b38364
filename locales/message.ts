import {
  isArgumentElement,
  isLiteralElement,
  isPluralElement,
  isPoundElement,
  isSelectElement,
  type MessageFormatElement,
} from "@formatjs/icu-messageformat-parser";
import { IntlMessageFormat } from "intl-messageformat";

/** One message of a catalogue (ICU MessageFormat), filled in. Nothing here evaluates code, as the pages' policy demands. */

/** What fills the placeholders of a message, by name. */
export type Values = Readonly<Record<string, string | number>>;

/** By language, then by message. What is kept is bounded by the catalogues. */
const parsed = new Map<string, Map<string, IntlMessageFormat | null>>();

/**
 * Fills in a message. Never throws, so that no page and no mail fails over a text: a placeholder without a value stays as its name
 * in braces, and a message that cannot be parsed stays as it is written.
 * @param language BCP 47 tag whose plural rules and number format apply
 */
export function formatMessage(message: string, values: Values, language: string): string {
  // Most messages are plain text.
  if (!/[{}']/.test(message)) return message;
  const format = parsedMessage(message, language);
  if (format === null) return message;
  try {
    return String(format.format(values));
  } catch {
    return asFarAsKnown(format.getAst(), values, "");
  }
}

function parsedMessage(message: string, language: string): IntlMessageFormat | null {
  let ofLanguage = parsed.get(language);
  if (!ofLanguage) {
    ofLanguage = new Map();
    parsed.set(language, ofLanguage);
  }
  let format = ofLanguage.get(message);
  if (format === undefined) {
    format = parse(message, language);
    ofLanguage.set(message, format);
  }
  return format;
}

function parse(message: string, language: string): IntlMessageFormat | null {
  try {
    return new IntlMessageFormat(message, language, undefined, { ignoreTag: true });
  } catch {
    return null;
  }
}

/** The message with the values that there are, each branch chosen by its name or as "other". */
function asFarAsKnown(elements: readonly MessageFormatElement[], values: Values, count: string): string {
  return elements
    .map((element) => {
      if (isLiteralElement(element)) return element.value;
      if (isPoundElement(element)) return count;
      const value = String(Object.hasOwn(values, element.value) ? values[element.value] : `{${element.value}}`);
      if (isArgumentElement(element) || !(isSelectElement(element) || isPluralElement(element))) return value;
      const branch =
        (Object.hasOwn(element.options, value) ? element.options[value] : undefined) ?? element.options.other;
      return branch ? asFarAsKnown(branch.value, values, isPluralElement(element) ? value : count) : value;
    })
    .join("");
}
