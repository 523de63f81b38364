/**
 * JavaScript lists keys that look like whole numbers first, whatever the document says. This finds the order in which the
 * text names the keys of each object.
 * @param text the JSON document that `value` was parsed from
 * @returns empty when no key looks like a number: then the order of JavaScript is the order of the document
 */
export function keyOrder(text: string, value: unknown): WeakMap<object, readonly string[]> {
  const orders = new WeakMap<object, readonly string[]>();
  if (!/"\d+"\s*:/.test(text)) return orders;
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g);
  const next = () => tokens.next().value?.[0];

  /** Reads one value, of which `first` is the first token; numbers, true, false and null have none. @returns the token after it */
  function walk(first: string | undefined, at: unknown): string | undefined {
    if (first === "{") return walkObject(at);
    if (first === "[") return walkArray(at);
    return first?.startsWith('"') ? next() : first;
  }

  function walkObject(at: unknown): string | undefined {
    const keys = new Set<string>();
    for (let token = next(); token !== undefined && token !== "}"; ) {
      if (token === ",") {
        token = next();
        continue;
      }
      const key = String(JSON.parse(token));
      keys.add(key);
      next();
      token = walk(next(), member(at, key));
    }
    if (at !== null && typeof at === "object") orders.set(at, [...keys]);
    return next();
  }

  function walkArray(at: unknown): string | undefined {
    let index = 0;
    for (let token = next(); token !== undefined && token !== "]"; ) {
      if (token === ",") {
        index += 1;
        token = next();
      } else token = walk(token, member(at, index));
    }
    return next();
  }

  walk(next(), value);
  return orders;
}

/** An own member; what a doubled key hides is not there any more. */
function member(value: unknown, key: string | number): unknown {
  return value !== null && typeof value === "object" ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
}
