/** What a text says as JSON; undefined when it is none. For what others may have written: a schema judges it next. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
