import {
  isArgumentElement,
  isDateElement,
  isLiteralElement,
  isNumberElement,
  isPluralElement,
  isPoundElement,
  isSelectElement,
  type MessageFormatElement,
  type PluralElement,
  parse,
} from "@formatjs/icu-messageformat-parser";

/** How a message is built: for checking translations, and for beginning one. */

/** @throws SyntaxError when the message is not well-formed */
const parsed = (message: string) => parse(message, { ignoreTag: true, captureLocation: true });

const order = ["zero", "one", "two", "few", "many", "other"] as const;
const isForm = (name: string): boolean => order.some((form) => form === name);

/** The plural forms of a language, as CLDR names them. */
function formsOf(language: string, type: Intl.PluralRulesOptions["type"]): string[] {
  const { pluralCategories } = new Intl.PluralRules(language, { type }).resolvedOptions();
  return order.filter((form) => pluralCategories.includes(form));
}

/** The placeholders of a message, each with the ways in which it is used. */
type Placeholders = Map<string, Set<"text" | "number" | "date" | "plural" | "select">>;

function placeholdersOf(elements: readonly MessageFormatElement[], found: Placeholders = new Map()): Placeholders {
  for (const element of elements) {
    if (isLiteralElement(element) || isPoundElement(element)) continue;
    const kinds = found.get(element.value) ?? new Set();
    found.set(element.value, kinds);
    if (isPluralElement(element)) kinds.add("plural");
    else if (isSelectElement(element)) kinds.add("select");
    else if (isArgumentElement(element)) kinds.add("text");
    else kinds.add(isNumberElement(element) ? "number" : "date");
    if (isPluralElement(element) || isSelectElement(element))
      for (const { value } of Object.values(element.options)) placeholdersOf(value, found);
  }
  return found;
}

/** What is wrong with a message as a translation of the English one, in words; empty when nothing is. */
export function faultsOf(message: string, english: string, language: string): string[] {
  if (message.trim() === "") return ["is empty"];
  let own: MessageFormatElement[];
  try {
    own = parsed(message);
  } catch (error) {
    return [`is not well-formed: ${error instanceof Error ? error.message : String(error)}`];
  }
  return [...placeholderFaults(placeholdersOf(own), placeholdersOf(parsed(english))), ...formFaults(own, language)];
}

function placeholderFaults(own: Placeholders, english: Placeholders): string[] {
  const faults: string[] = [];
  for (const name of english.keys()) if (!own.has(name)) faults.push(`lacks {${name}}`);
  for (const [name, kinds] of own) {
    const wanted = english.get(name);
    // Besides, any value may be shown as it is.
    const odd = [...kinds].filter((kind) => kind !== "text" && !wanted?.has(kind));
    const lacking = [...(wanted ?? [])].filter((kind) => kind !== "text" && !kinds.has(kind));
    if (!wanted) faults.push(`has {${name}}, which English has not`);
    else if (odd.length + lacking.length > 0)
      faults.push(`uses {${name}} as ${[...kinds].join(" and ")}, English as ${[...wanted].join(" and ")}`);
  }
  return faults;
}

function formFaults(elements: readonly MessageFormatElement[], language: string): string[] {
  return elements.flatMap((element) => {
    if (!isPluralElement(element) && !isSelectElement(element)) return [];
    const inside = Object.values(element.options).flatMap(({ value }) => formFaults(value, language));
    return isPluralElement(element) ? [...pluralFaults(element, language), ...inside] : inside;
  });
}

function pluralFaults(element: PluralElement, language: string): string[] {
  const forms = formsOf(language, element.pluralType);
  const named = Object.keys(element.options).filter(isForm);
  const rules = new Intl.PluralRules(language, { type: element.pluralType });
  return [
    ...forms.filter((form) => !named.includes(form)).map((form) => `lacks the form "${form}" of {${element.value}}`),
    ...named
      .filter((form) => !forms.includes(form))
      .map((form) => `has the form "${form}" of {${element.value}}, which the language has not`),
    // "one" is 1, 21 and 31 in some languages: no number can be left out there or written as a word.
    ...named
      .filter((form) => form !== "other" && !saysNumber(element.options[form]?.value ?? [], element.value))
      .filter((form) => takesSeveral(rules, form))
      .map(
        (form) => `leaves the number out of the form "${form}" of {${element.value}}, which more than one number takes`,
      ),
  ];
}

/** Whether more than one number has this form. */
const takesSeveral = (rules: Intl.PluralRules, form: string): boolean =>
  Array.from({ length: 200 }, (_, n) => n).filter((n) => rules.select(n) === form).length > 1;

const saysNumber = (elements: readonly MessageFormatElement[], name: string): boolean =>
  elements.some(
    (element) =>
      isPoundElement(element) ||
      ((isArgumentElement(element) || isNumberElement(element) || isDateElement(element)) && element.value === name),
  );

/**
 * An English message with the plural forms of another language, for translating and until it is translated: each further form says
 * what "other" says. Where the language says "one" of more numbers than 1, a text of English without its number is kept for 1 alone.
 */
export function fittedTo(message: string, language: string): string {
  // Most messages have no plural.
  if (!/plural|selectordinal/.test(message)) return message;
  const options = ({ options: english, pluralType: type, value, offset }: PluralElement): PluralElement["options"] => {
    const { one, other } = english;
    const isForOne =
      one && !saysNumber(one.value, value) && takesSeveral(new Intl.PluralRules(language, { type }), "one");
    const kept = Object.entries(english).filter(([name]) => !isForm(name));
    const wanted = formsOf(language, type).flatMap((form) => {
      const option = (form === "one" && isForOne ? undefined : english[form]) ?? other;
      return option ? [[form, option] as const] : [];
    });
    return Object.fromEntries([...(isForOne ? [[`=${offset + 1}`, one] as const] : []), ...kept, ...wanted]);
  };
  return rewritten(message, { options, literal: (text) => text });
}

type Rewriting = {
  /** The branches of a plural, in the order in which they are written. */
  options: (plural: PluralElement) => PluralElement["options"];
  /** Gets text as it is written in the message, with its quotes. */
  literal: (text: string) => string;
};

/** A message written anew, with other plural forms or other text between its placeholders. */
export function rewritten(message: string, { options, literal }: Rewriting): string {
  const write = (elements: readonly MessageFormatElement[]): string =>
    elements
      .map((element) => {
        const text = message.slice(element.location?.start.offset, element.location?.end.offset);
        if (isLiteralElement(element)) return literal(text);
        if (isSelectElement(element)) return `{${element.value}, select, ${branches(element.options)}}`;
        if (!isPluralElement(element)) return text;
        const kind = element.pluralType === "ordinal" ? "selectordinal" : "plural";
        const offset = element.offset === 0 ? "" : `offset:${element.offset} `;
        return `{${element.value}, ${kind}, ${offset}${branches(options(element))}}`;
      })
      .join("");
  const branches = (all: PluralElement["options"]): string =>
    Object.entries(all)
      .map(([name, { value }]) => `${name} {${write(value)}}`)
      .join(" ");
  return write(parsed(message));
}
