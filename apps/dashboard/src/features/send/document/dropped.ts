/** A file that was dropped on any page, on its way to the page that sends it. */

let waiting: File | null = null;
const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

export function drop(file: File): void {
  waiting = file;
  tell();
}

/** What was dropped, once: the next caller gets null. */
export function takeDropped(): File | null {
  const file = waiting;
  waiting = null;
  return file;
}

export function onDropped(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
