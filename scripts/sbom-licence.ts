/** Licences under which a part may be shipped in a product whose source is not published: permissive ones, and fonts' own. */
const accepted = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "OFL-1.1",
  "Unlicense",
  "WTFPL",
  "Zlib",
]);

/** The licences that an SPDX expression names. */
export function identifiers(expression: string): string[] {
  return tokens(expression).filter((token) => !["(", ")", "AND", "OR"].includes(token));
}

const tokens = (expression: string) => expression.match(/[()]|[^\s()]+/g) ?? [];

/**
 * Whether an SPDX expression (SPDX 2.3, annex D; AND binds closer than OR) leaves a choice whose every part is accepted.
 * What is no such expression is not accepted.
 */
export function isAccepted(expression: string): boolean {
  const rest = tokens(expression);
  let sound = true;
  const simple = (): boolean => {
    const token = rest.shift();
    if (token === "(") {
      const inside = either();
      if (rest.shift() !== ")") sound = false;
      return inside;
    }
    if (token === undefined) sound = false;
    return token !== undefined && accepted.has(token);
  };
  const both = (): boolean => {
    let all = simple();
    while (rest[0] === "AND") {
      rest.shift();
      all = simple() && all;
    }
    return all;
  };
  const either = (): boolean => {
    let any = both();
    while (rest[0] === "OR") {
      rest.shift();
      any = both() || any;
    }
    return any;
  };
  return either() && sound && rest.length === 0;
}
